package op

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens anew")

const goldens = "../../../testdata/tools"

func tables() []*Tool { return All(Stores{}) }

// What MCP clients are told of each tool is under review: a change of it shows
// up as a change of a file.
func TestToolGoldens(t *testing.T) {
	for _, tool := range tables() {
		var got bytes.Buffer
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(struct {
			Name        string          `json:"name"`
			Title       string          `json:"title"`
			Effect      string          `json:"effect"`
			Description []string        `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}{tool.Name, tool.Title, tool.Effect().String(), strings.Split(tool.Description(), "\n"), tool.Schema()}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(goldens, tool.Name+".json")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s is not what %s says. If the change is meant: go test ./cmd/internal/op -update\n%s", tool.Name, file, diff)
		}
	}
}

// Some clients send no argument that the schema does not have.
func TestEveryArgumentStandsInItsToolsSchema(t *testing.T) {
	for _, tool := range tables() {
		var s struct{ Properties map[string]any }
		if err := json.Unmarshal(tool.Schema(), &s); err != nil {
			t.Fatal(err)
		}
		for i := range tool.Operations {
			for _, p := range tool.Operations[i].allParams() {
				if s.Properties[p.Name] == nil && !p.Unlisted {
					t.Errorf("%s %s: %q is not in the schema", tool.Name, tool.Operations[i].Name, p.Name)
				}
			}
		}
	}
}

// Several model APIs refuse a session over one schema that is not flat.
func TestSchemasAreFlat(t *testing.T) {
	for _, tool := range tables() {
		var s struct {
			Type       string
			Properties map[string]map[string]any
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema(), &s); err != nil {
			t.Fatal(err)
		}
		want := []string{"action"}
		if tool.Actionless() {
			want = nil
		}
		if s.Type != "object" || !slices.Equal(s.Required, want) {
			t.Errorf("%s: type %q, required %q", tool.Name, s.Type, s.Required)
		}
		for name, node := range s.Properties {
			kind, _ := node["type"].(string)
			if !slices.Contains([]string{TypeString, TypeNumber, TypeInteger, TypeBoolean, TypeArray}, kind) {
				t.Errorf("%s.%s: type %v", tool.Name, name, node["type"])
			}
			if _, enum := node["enum"]; enum && kind != TypeString {
				t.Errorf("%s.%s: an enum of %s", tool.Name, name, kind)
			}
			if items, _ := node["items"].(map[string]any); kind == TypeArray && items["type"] != TypeString {
				t.Errorf("%s.%s: items %v", tool.Name, name, items)
			}
			for key := range node {
				if !slices.Contains([]string{"type", "description", "enum", "items"}, key) {
					t.Errorf("%s.%s: keyword %s", tool.Name, name, key)
				}
			}
		}
	}
}

func TestDescriptions(t *testing.T) {
	for _, tool := range tables() {
		d := tool.Description()
		if n := len([]rune(d)); n >= 4096 {
			t.Errorf("%s: %d characters", tool.Name, n)
		}
		for _, o := range tool.Operations {
			if taught := strings.Contains(d, "\n"+o.Name+"("); !tool.Actionless() && taught != (o.described != nil) || !strings.HasSuffix(o.Summary, ".") {
				t.Errorf("%s %s: %q", tool.Name, o.Name, o.Summary)
			}
			for _, name := range o.described {
				if p, ok := o.Param(name); !ok || p.Required {
					t.Errorf("%s %s: %s is no optional argument", tool.Name, o.Name, name)
				}
			}
		}
	}
}

func TestKnowledgeActions(t *testing.T) {
	want := strings.Fields(`remember recall pattern gotcha consolidate timeline rooms search wakeup diff why status health remove
		feedback judge relate unrelate relations remind reminders remind_done export import restore
		embeddings_status embeddings_reset embeddings_reindex briefings activity questions disputes check rename undo grep`)
	names := func(tool *Tool) (out []string) {
		for _, o := range tool.Operations {
			out = append(out, o.Name)
		}
		return out
	}
	got := names(All(Stores{})[0])
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	twin := All(Stores{})[1]
	if got := twin.Effect(); got != Reads {
		t.Errorf("the read-only twin %s", got)
	}
	if got := names(twin); len(got) != len(readActions) {
		t.Errorf("the twin has %q", got)
	}
}

// What models are not told of is accepted all the same: each argument of each
// operation, alone and beside the ones it needs.
func TestUntaughtArgumentsAreAccepted(t *testing.T) {
	for _, tool := range tables() {
		for i := range tool.Operations {
			o := &tool.Operations[i]
			for _, p := range append(slices.Clone(o.Params), scopeParams[:]...) {
				args := map[string]any{}
				for _, need := range append([]Param{p}, o.Params...) {
					if need.Required || need.Name == p.Name {
						args[need.Name] = anyValue(need)
					}
				}
				c, err := tool.check(o, args, false)
				if err != nil || len(c.notices) > 0 {
					t.Errorf("%s %s with %s: %v, %q", tool.Name, o.Name, p.Name, err, c.notices)
				}
			}
		}
	}
}

// anyValue is a value of a parameter's type.
func anyValue(p Param) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Type == TypeString:
		return "x"
	case p.Type == TypeArray:
		return []any{"x"}
	case p.Type == TypeBoolean:
		return true
	}
	return 1
}

// The example of each operation is a call that is right.
func TestExamplesAreRight(t *testing.T) {
	for _, tool := range tables() {
		for i := range tool.Operations {
			o := &tool.Operations[i]
			if o.Example == nil {
				t.Errorf("%s %s has no example", tool.Name, o.Name)
			}
			c, err := tool.check(o, o.Example, false)
			if err != nil || len(c.notices) > 0 {
				t.Errorf("%s %s: %v, %q", tool.Name, o.Name, err, c.notices)
			}
		}
	}
}

// One name is one type in a tool: the schema has it once.
func TestParametersAgree(t *testing.T) {
	for _, tool := range tables() {
		kinds := map[string]Param{}
		for _, o := range tool.Operations {
			for _, p := range o.Params {
				if slices.ContainsFunc(scopeParams[:], func(s Param) bool { return s.Name == p.Name }) {
					t.Errorf("%s %s: %s is the tool's", tool.Name, o.Name, p.Name)
				}
				if q, ok := kinds[p.Name]; ok && q.Type != p.Type {
					t.Errorf("%s: %s is a %s and a %s", tool.Name, p.Name, q.Type, p.Type)
				}
				kinds[p.Name] = p
			}
		}
	}
}

func TestTriedNamesAreFree(t *testing.T) {
	tool := All(Stores{})[0]
	owner := map[string]string{}
	for _, o := range tool.Operations {
		for _, also := range o.Also {
			if _, taken := tool.Operation(also); taken || owner[also] != "" {
				t.Errorf("%s of %s is taken by %s", also, o.Name, owner[also])
			}
			owner[also] = o.Name
		}
	}
}

func TestVoteMayBeCalledValue(t *testing.T) {
	tool := All(Stores{})[0]
	o, _ := tool.Operation("feedback")
	c, err := tool.check(o, map[string]any{"category": "a", "key": "k", "value": "UP"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.values["vote"]; got != "up" {
		t.Errorf("vote %v", got)
	}
}

func TestReadOnlyTwinSaysWhereWritesGo(t *testing.T) {
	_, err := All(Stores{})[1].Call(t.Context(), "remember", nil)
	want := `remember is an action of ctx_knowledge, not of ctx_recall. Example: {"action":"remember","category":"architecture","key":"auth","value":"JWT RS256"}`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
