package op

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// sample is the argument struct that the tests use: every type and every tag.
type sample struct {
	Category   string   `json:"category" jsonschema:"the room, or its name" short:"c"`
	Value      string   `json:"value" jsonschema:"what is believed" arg:"1"`
	Key        string   `json:"key,omitempty" jsonschema:"name within the category"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"0..1"`
	Weight     float64  `json:"weight,omitempty"`
	Limit      int      `json:"limit,omitempty"`
	Budget     *int     `json:"budget,omitempty"`
	Correct    bool     `json:"correct,omitempty"`
	Pinned     *bool    `json:"pinned,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Mode       string   `json:"mode,omitempty" enum:"auto,exact" jsonschema:"how"`
	Hidden     string   `json:"-"`
}

type removal struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Erase    bool   `json:"erase,omitempty"`
}

func (r removal) NeedsConfirm() string {
	if r.Erase {
		return "erase=true takes the fact out of every file"
	}
	return ""
}

type ballot struct {
	Vote string `json:"vote" enum:"up,down" alias:"value"`
}

type rehearsal struct {
	File   string `json:"file"`
	DryRun bool   `json:"dry_run,omitempty"`
}

type seen[A any] struct {
	Args  A
	Scope Scope
}

func (s seen[A]) Text() string { return "seen\n" }

func see[A any](_ context.Context, sc Scope, a A) (seen[A], error) { return seen[A]{a, sc}, nil }

func sampleTool() *Tool {
	return &Tool{
		Name: "ctx_sample", Command: "sample", Summary: "A sample.",
		Operations: []Operation{
			New("remember", "Assert.", Adds, see[sample]).
				Shown("category", "architecture", "key", "auth", "value", "JWT RS256").Guesses("store", "save"),
			New("remove", "Retract.", Destroys, see[removal]).Shown("category", "architecture", "key", "auth"),
			New("feedback", "Vote.", Changes, see[ballot]),
			New("import", "Read a file.", Changes, see[rehearsal]),
			New("rooms", "List.", Reads, see[struct{}]),
		},
	}
}

const rememberExample = `Example: {"action":"remember","category":"architecture","key":"auth","value":"JWT RS256"}`

func TestCallErrors(t *testing.T) {
	const actions = `remember, remove, feedback, import, rooms`
	tests := []struct{ name, args, want string }{
		{"one missing", `{"action":"remember","category":"a"}`, `remember needs "value". ` + rememberExample},
		{"two missing", `{"action":"remember"}`, `remember needs "category" and "value". ` + rememberExample},
		{"null and empty are missing", `{"action":"remember","category":null,"value":""}`, `remember needs "category" and "value". ` + rememberExample},
		{"under another name", `{"action":"remember","category":"a","content":"v"}`,
			`remember needs "value"; unknown argument "content". ` + rememberExample},
		{"mistyped", `{"action":"remember","category":"a","value":"v","confidence":"high"}`,
			`remember: "confidence" must be a number, not "high": 0..1. ` + rememberExample},
		{"not a number after all", `{"action":"remember","category":"a","value":"v","confidence":"NaN"}`,
			`remember: "confidence" must be a number, not "NaN": 0..1. ` + rememberExample},
		{"not whole", `{"action":"remember","category":"a","value":"v","limit":10.5}`,
			`remember: "limit" must be a whole number, not 10.5. ` + rememberExample},
		{"too long for a whole number", `{"action":"remember","category":"a","value":"v","limit":1e30}`,
			`remember: "limit" must be at most 1099511627776, not 1e30. ` + rememberExample},
		{"not a truth value", `{"action":"remember","category":"a","value":"v","correct":"maybe"}`,
			`remember: "correct" must be true or false, not "maybe". ` + rememberExample},
		{"object for text", `{"action":"remember","category":"a","value":{"x":1}}`,
			`remember: "value" must be text, not {"x":1}. ` + rememberExample},
		{"nested list", `{"action":"remember","category":"a","value":"v","tags":[["x"]]}`,
			`remember: "tags" must be a list of texts, not [["x"]]. ` + rememberExample},
		{"enum", `{"action":"remember","category":"a","value":"v","mode":"exakt"}`,
			`remember: "mode" must be one of auto, exact, not "exakt"; did you mean "exact"? ` + rememberExample},
		{"all at once", `{"action":"remember","value":"v","confidence":"x","categroy":"a"}`,
			`remember needs "category"; unknown argument "categroy"; did you mean "category"?; "confidence" must be a number, not "x": 0..1. ` + rememberExample},
		{"output", `{"action":"rooms","output":"yaml"}`,
			`rooms: "output" must be one of text, json, not "yaml". Example: {"action":"rooms"}`},
		{"unknown action", `{"action":"remebmer"}`, `unknown action "remebmer"; did you mean "remember"? Actions: ` + actions + `. ` + rememberExample},
		{"action people try", `{"action":"store"}`, `unknown action "store"; did you mean "remember"? Actions: ` + actions + `. ` + rememberExample},
		{"far action", `{"action":"zzzzzzzz"}`, `unknown action "zzzzzzzz". Actions: ` + actions + `. ` + rememberExample},
		{"no action", `{}`, `ctx_sample needs "action": one of ` + actions + `. ` + rememberExample},
		{"action of another type", `{"action":["remember"]}`, `"action" must be one of ` + actions + `, not ["remember"]. ` + rememberExample},
		{"unconfirmed", `{"action":"remove","category":"a","key":"k","erase":true}`,
			`remove: erase=true takes the fact out of every file: repeat with "confirm":true. Example: {"action":"remove","category":"a","confirm":true,"erase":true,"key":"k"}`},
		{"no dry run here", `{"action":"remove","category":"a","key":"k","dry_run":true}`,
			`remove: there is no "dry_run", so nothing was done. Example: {"action":"remove","category":"architecture","key":"auth"}`},
	}
	tool := sampleTool()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tool.Call(t.Context(), "", decode(t, tt.args))
			if _, ok := errors.AsType[*UsageError](err); !ok || Classify(err) != Usage {
				t.Fatalf("got %v, want a usage error", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallCoerces(t *testing.T) {
	tool := sampleTool()
	base := sample{Category: "a", Value: "v"}
	with := func(change func(*sample)) sample { s := base; change(&s); return s }
	tests := []struct {
		name, args string
		want       sample
	}{
		{"as they are", `{"confidence":0.9,"weight":2,"limit":3,"budget":0,"correct":true,"pinned":false,"tags":["x","y"]}`,
			with(func(s *sample) {
				s.Confidence, s.Weight, s.Limit, s.Budget = new(0.9), 2, 3, new(0)
				s.Correct, s.Pinned, s.Tags = true, new(false), []string{"x", "y"}
			})},
		{"as text", `{"confidence":"0.9","limit":" 10 ","correct":"true","pinned":"no"}`,
			with(func(s *sample) { s.Confidence, s.Limit, s.Correct, s.Pinned = new(0.9), 10, true, new(false) })},
		{"nothing given", `{"confidence":null,"limit":"","correct":null,"tags":null,"key":"","mode":""}`, base},
		{"null as a text", `{"confidence":"null","limit":"undefined","budget":"None","correct":"null","tags":"null","mode":"null"}`, base},
		{"null in a list", `{"tags":["null"],"mode":null}`, base},
		{"nulls in a list", `{"tags":[null,null]}`, base},
		{"null in the text of a list", `{"tags":"[\"null\"]"}`, base},
		{"null beside others", `{"tags":[null,"null","sql"],"key":"null"}`, with(func(s *sample) { s.Tags, s.Key = []string{"null", "sql"}, "null" })},
		{"whole float", `{"limit":10.0,"budget":1e2}`, with(func(s *sample) { s.Limit, s.Budget = 10, new(100) })},
		{"numbers for truth", `{"correct":1}`, with(func(s *sample) { s.Correct = true })},
		{"number for text", `{"key":12345678901234567890}`, with(func(s *sample) { s.Key = "12345678901234567890" })},
		{"version for text", `{"key":1.10}`, with(func(s *sample) { s.Key = "1.10" })},
		{"truth for text", `{"key":false}`, with(func(s *sample) { s.Key = "false" })},
		{"list of one for text", `{"key":["k"]}`, with(func(s *sample) { s.Key = "k" })},
		{"text for list", `{"tags":"x"}`, with(func(s *sample) { s.Tags = []string{"x"} })},
		{"commas for list", `{"tags":"x, y,"}`, with(func(s *sample) { s.Tags = []string{"x", "y"} })},
		{"JSON for list", `{"tags":"[\"x,y\", 2]"}`, with(func(s *sample) { s.Tags = []string{"x,y", "2"} })},
		{"case of an enum", `{"mode":"EXACT"}`, with(func(s *sample) { s.Mode = "exact" })},
		{"case of a name", `{"Key":"k","LIMIT":2}`, with(func(s *sample) { s.Key, s.Limit = "k", 2 })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := decode(t, tt.args)
			args["category"], args["value"] = "a", "v"
			a, err := tool.Call(t.Context(), "Remember", args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, a.Result.(seen[sample]).Args); diff != "" {
				t.Error(diff)
			}
			if len(a.Notices) != 0 {
				t.Errorf("notices: %q", a.Notices)
			}
		})
	}
}

func TestCallNotices(t *testing.T) {
	tool := sampleTool()
	tests := []struct {
		name, args string
		want       []string
	}{
		{"another action's", `{"action":"rooms","category":"a","value":"v"}`,
			[]string{`"category" is not an argument of rooms and was ignored`, `"value" is not an argument of rooms and was ignored`}},
		{"another action's, but empty", `{"action":"rooms","category":"","limit":0,"tags":[],"correct":false,"key":null}`, nil},
		{"another action's, but null as a text", `{"action":"rooms","category":"null","tags":["null"],"key":"undefined"}`, nil},
		{"nobody's", `{"action":"feedback","vote":"up","flavour":"mint"}`,
			[]string{`unknown argument "flavour" was ignored; feedback takes vote, project, agent, output`}},
		{"nobody's, but empty", `{"action":"rooms","flavour":""}`, nil},
		{"an alias", `{"action":"feedback","value":"Down"}`, nil},
		{"dry run of what only reads", `{"action":"rooms","dry_run":true}`, []string{`"dry_run" is not an argument of rooms and was ignored`}},
		{"confirmed", `{"action":"remove","category":"a","key":"k","erase":"true","confirm":"true"}`, nil},
		{"confirm where it is not needed", `{"action":"remove","category":"a","key":"k","confirm":true}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := tool.Call(t.Context(), "", decode(t, tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, a.Notices); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScope(t *testing.T) {
	caller := Caller{Kind: "agent", Name: "claude-code", Session: "s1"}
	args := decode(t, `{"project":"/p","agent":"cursor-a3f8","output":"JSON"}`)
	a, err := sampleTool().Call(WithCaller(t.Context(), caller), "rooms", args)
	if err != nil {
		t.Fatal(err)
	}
	want := Scope{Project: "/p", Agent: "cursor-a3f8", Output: "json", Caller: caller} // it reads
	if diff := cmp.Diff(want, a.Result.(seen[struct{}]).Scope); diff != "" {
		t.Error(diff)
	}
	got, err := a.Render()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"Args":{},"Scope":{"Project":"/p","Agent":"cursor-a3f8","Output":"json","Effect":0,"Caller":{"Kind":"agent","Name":"claude-code","Session":"s1"},"Grant":null}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzCall(f *testing.F) {
	f.Add(`{"action":"remember","category":"a","value":"v","confidence":"0.9","tags":"[\"x\"]"}`)
	f.Add(`{"action":"remember","limit":1e309,"weight":"-Inf","value":[[]],"mode":{"a":null}}`)
	f.Add(`{"action":"\u0000","":1,"categry":"\ud800"}`)
	tool := sampleTool()
	f.Fuzz(func(t *testing.T, s string) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var args map[string]any
		if d.Decode(&args) != nil {
			return
		}
		a, err := tool.Call(t.Context(), "", args)
		if err == nil {
			if _, err := a.Render(); err != nil {
				t.Fatal(err)
			}
			return
		}
		// Whatever was sent, the example in the answer is a call that works.
		u, ok := errors.AsType[*UsageError](err)
		if !ok {
			t.Fatalf("%T: %v", err, err)
		}
		example := map[string]any{confirmName: u.Example[confirmName]}
		maps.Copy(example, u.Example)
		if _, err := tool.Call(t.Context(), u.Action, example); err != nil {
			t.Fatalf("the example of %q fails: %v", u, err)
		}
	})
}

func decode(t *testing.T, s string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var args map[string]any
	if err := d.Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}

// What a caller gives to import is the caller's mistake, whatever is wrong with it.
func TestUnreadableContentIsAMistakeOfTheCaller(t *testing.T) {
	for _, content := range []string{"not json", `{"category":"c","key":"no value"}`, `{"schema":1,"facts":7}`} {
		s, err := knowledge.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = transfer.Import(t.Context(), s, transfer.Incoming{Data: strings.NewReader(content)})
		if err == nil || Classify(err) != Usage {
			t.Errorf("%s: %v is of class %v", content, err, Classify(err))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An error shows a correct call. It can do so only if each row that needs arguments has one.
func TestEveryRowThatNeedsArgumentsHasAnExample(t *testing.T) {
	for _, tool := range append(All(Stores{}), TokenReport(Stores{})) {
		for _, o := range tool.Operations {
			for _, p := range o.Params {
				if _, ok := o.Example[p.Name]; p.Required && !ok {
					t.Errorf("%s %s: the example lacks %s", tool.Name, o.Name, p.Name)
				}
			}
		}
	}
}

// Models send an empty list for a field that they leave out.
func TestAnEmptyListIsMissing(t *testing.T) {
	_, err := Share(Stores{}).Call(t.Context(), "push", decode(t, `{"paths":[]}`))
	if err == nil || !strings.HasPrefix(err.Error(), `push needs "paths". `) {
		t.Errorf("got %v", err)
	}
}

// A client that cannot send null sends its name. No filter of a question is that; what somebody says or changes may be.
func TestNullAsATextIsNoFilter(t *testing.T) {
	type query struct {
		Query    string   `json:"query,omitempty"`
		Category string   `json:"category,omitempty"`
		AsOf     string   `json:"as_of,omitempty"`
		Tags     []string `json:"tags,omitempty"`
	}
	tool := &Tool{Name: "ctx_sample", Operations: []Operation{New("recall", "Ask.", Reads, see[query]), New("remove", "Retract.", Destroys, see[query])}}
	args := `{"query":"null","category":"null","as_of":"undefined","tags":["null"]}`
	for _, tt := range []struct {
		action string
		ctx    context.Context
		want   query
	}{
		{"recall", t.Context(), query{Query: "null"}},
		{"remove", t.Context(), query{Query: "null", Category: "null", AsOf: "undefined"}},
		{"recall", InShell(t.Context()), query{"null", "null", "undefined", []string{"null"}}},
	} {
		a, err := tool.Call(tt.ctx, tt.action, decode(t, args))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, a.Result.(seen[query]).Args); diff != "" {
			t.Errorf("%s: %s", tt.action, diff)
		}
	}
}

// voted is what the tests' feedback is called with.
type voted struct {
	Category string `json:"category"`
	Vote     string `json:"vote,omitempty" enum:"up,down" alias:"value,about"`
}

// A caller that fills in every field of a schema gives an argument's own name and other names of it. Its own name counts.
func TestAnArgumentsOwnNameComesFirst(t *testing.T) {
	tool := &Tool{Name: "ctx_sample", Operations: []Operation{New("feedback", "Vote.", Changes, see[voted])}}
	for args, want := range map[string]string{
		`{"action":"feedback","category":"c","about":"down","vote":"up","value":"what"}`: "up",
		`{"action":"feedback","category":"c","about":"down"}`:                            "down",
		`{"action":"feedback","category":"c","about":"","value":"up"}`:                   "up",
	} {
		a, err := tool.Call(t.Context(), "", decode(t, args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if got := a.Result.(seen[voted]).Args.Vote; got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
