package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
)

// jsonReader tells the JSON formats apart by the members of an object: of the first one, or, of a list or
// of lines, of the first one that tells. So an odd one at the beginning hides no others.
func jsonReader(text []byte) func(*builder, []byte) error {
	if text[0] == '[' {
		if read := arrayReader(text); read != nil {
			return read
		}
		return lineReader(text)
	}
	own := []string{"schema", "facts", "project_root"}
	first, err := members(json.NewDecoder(bytes.NewReader(text)), own...)
	switch has := holds(first); {
	case err != nil:
	case slices.ContainsFunc(own, func(name string) bool { return has(name) }):
		return nil
	case has("observations", "sessions"), has("observations", "exported_at"):
		return (*builder).engram
	case has("results"):
		return (*builder).mem0
	}
	return lineReader(text)
}

// lineReader is [jsonReader] for a text of lines.
func lineReader(text []byte) func(*builder, []byte) error {
	if bytes.Contains(bytes.TrimSpace(text), []byte("\n")) && json.Valid(text) {
		return nil // one value
	}
	for raw := range bytes.Lines(text) {
		names, err := members(json.NewDecoder(bytes.NewReader(raw)))
		switch has := holds(names); {
		case err != nil:
		case has("type", "name", "entityType"), has("type", "from", "relationType"):
			return (*builder).memoryServer
		case has("id", "title", "status", "issue_type"):
			return func(*builder, []byte) error { return ErrTasks }
		case has("category"), has("key"), has("value"): // ours
			return nil
		}
	}
	return nil
}

// arrayReader is [jsonReader] for a list.
func arrayReader(text []byte) func(*builder, []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		var element json.RawMessage
		if d.Decode(&element) != nil {
			return nil
		}
		names, err := members(json.NewDecoder(bytes.NewReader(element)))
		switch has := holds(names); {
		case err != nil:
		case has("id", "memory"):
			return (*builder).mem0
		case has("category"), has("key"), has("value"): // ours
			return nil
		}
	}
	return nil
}

// holds says whether an object with these members has others.
func holds(members []string) func(names ...string) bool {
	return func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(members, n) })
	}
}

// members is the names in the object that comes next. It ends early at one of
// stop, since a fact file can be long.
func members(d *json.Decoder, stop ...string) (names []string, err error) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if names = append(names, name); slices.Contains(stop, name) {
			return names, nil
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// memoryServer reads memory.jsonl of @modelcontextprotocol/server-memory: a line
// is an entity with observations or a relation between two entities. An
// observation becomes a fact of the entity's type, a relation a fact of the
// entity that it begins at.
func (b *builder) memoryServer(text []byte) error {
	b.program("MCP memory server")
	b.reads()
	type entry struct {
		Type, Name, EntityType string
		Observations           []string
		From, To, RelationType string
	}
	kinds := map[string]string{} // an entity's type
	type pair struct{ from, kind string }
	targets := map[pair][]string{}
	var order []pair
	firsts := map[pair]int{}
	told := map[[3]string]bool{}
	n := 0
	for raw := range bytes.Lines(text) {
		if n++; len(b.m.Bad) > formats.MaxBad {
			return formats.TooManyBad(n)
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		var l entry
		if err := json.Unmarshal(raw, &l); err != nil {
			b.bad(n, plain(err))
			continue
		}
		switch {
		case l.Type == "entity" && l.Name != "":
			kinds[l.Name] = l.EntityType
			for i, o := range l.Observations {
				b.add(formats.Record{Category: orElse(l.EntityType, "entity"), Key: fmt.Sprintf("%s#%d", l.Name, i+1), Value: o, Source: b.source(line{from: n, to: n})}, n, false)
			}
			if len(l.Observations) == 0 {
				b.leave("entities without observations", 1)
			}
		case l.Type == "relation" && l.From != "" && l.To != "":
			p := pair{l.From, l.RelationType}
			if _, ok := targets[p]; !ok {
				order, firsts[p] = append(order, p), n
			}
			if one := [3]string{l.From, l.RelationType, l.To}; !told[one] {
				told[one], targets[p] = true, append(targets[p], l.To)
			}
		default:
			b.bad(n, fmt.Errorf("neither an entity nor a relation"))
		}
	}
	for _, p := range order {
		b.add(formats.Record{Category: orElse(kinds[p.from], "entity"), Key: p.from + " " + p.kind, Value: strings.Join(targets[p], ", "), Source: b.source(line{from: firsts[p], to: firsts[p]})}, firsts[p], true)
	}
	return nil
}

// engram reads engram's export. An observation becomes a fact under its topic,
// or under its type and title.
func (b *builder) engram(text []byte) error {
	b.program("engram")
	type observation struct {
		Type, Title, Content, Project, Scope string
		TopicKey                             string `json:"topic_key"`
		Created                              string `json:"created_at"`
		Updated                              string `json:"updated_at"`
		Deleted                              string `json:"deleted_at"`
	}
	var e struct{ Sessions, Prompts, Observations []json.RawMessage }
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	b.leave("sessions", len(e.Sessions))
	b.leave("prompts", len(e.Prompts))
	observations := elements[observation](b, e.Observations)
	var projects []string
	for _, o := range observations {
		if o.Project != "" && !slices.Contains(projects, o.Project) {
			projects = append(projects, o.Project)
		}
	}
	ours := func(name string) bool { return name == "" || len(projects) == 1 || strings.EqualFold(name, b.project) }
	if len(projects) > 1 && !slices.ContainsFunc(projects, ours) {
		return &ProjectError{b.project, projects}
	}
	for _, o := range observations {
		switch {
		case o.Deleted != "":
			b.leave("deleted observations", 1)
			continue
		case !ours(o.Project):
			b.leave("observations of other projects", 1)
			continue
		case o.Scope == "personal":
			b.leave("personal observations", 1)
			continue
		}
		r := formats.Record{Category: orElse(o.Type, "note"), Key: slug(o.Title), Value: o.Content, ValidFrom: instant(o.Created), Timestamp: instant(o.Updated)}
		if category, key, ok := strings.Cut(o.TopicKey, "/"); ok {
			r.Category, r.Key = category, key
		}
		if o.Title != "" && !strings.Contains(strings.ToLower(o.Content), strings.ToLower(o.Title)) {
			r.Value = strings.TrimSpace(o.Title + ": " + o.Content)
		}
		b.add(r, 0, false)
	}
	return nil
}

// mem0 reads what mem0's get_all gives, of its platform or of its libraries: an
// object with results, or the results alone.
func (b *builder) mem0(text []byte) error {
	b.program("mem0")
	type item struct {
		Memory     string
		Metadata   map[string]any
		Categories []string
		Created    string `json:"created_at"`
		Updated    string `json:"updated_at"`
		CreatedJS  string `json:"createdAt"`
		UpdatedJS  string `json:"updatedAt"`
		Actor      string `json:"actor_id"`
		mem0Scope
	}
	var all struct{ Results, Relations []json.RawMessage }
	err := json.Unmarshal(text, &all)
	if text = bytes.TrimSpace(text); text[0] == '[' {
		err = json.Unmarshal(text, &all.Results)
	}
	if err != nil {
		return err
	}
	b.leave("relations", len(all.Relations))
	for _, m := range elements[item](b, all.Results) {
		category, _ := m.Metadata["category"].(string)
		if category == "" && len(m.Categories) > 0 {
			category = m.Categories[0]
		}
		r := formats.Record{Category: orElse(category, "memory"), Value: m.Memory, Tags: m.Categories,
			ValidFrom: instant(orElse(m.Created, m.CreatedJS)), Timestamp: instant(orElse(m.Updated, m.UpdatedJS))}
		for name := range m.Metadata {
			if name != "category" {
				b.leave("fields of metadata", 1)
			}
		}
		for _, scope := range []struct{ what, id string }{
			{"user ids", orElse(m.User, m.UserJS)}, {"agent ids", orElse(m.Agent, m.AgentJS)}, {"run ids", orElse(m.Run, m.RunJS)}, {"app ids", orElse(m.App, m.AppJS)}, {"actor ids", m.Actor},
		} {
			if scope.id != "" {
				b.leave(scope.what, 1)
			}
		}
		b.add(r, 0, false)
	}
	return nil
}

// mem0Scope is whose a memory of mem0 is. It is written in two ways, by its libraries.
type mem0Scope struct {
	User    string `json:"user_id"`
	UserJS  string `json:"userId"`
	Agent   string `json:"agent_id"`
	AgentJS string `json:"agentId"`
	Run     string `json:"run_id"`
	RunJS   string `json:"runId"`
	App     string `json:"app_id"`
	AppJS   string `json:"appId"`
}

// elements reads the elements of a list. One that is not as it should be is named.
func elements[T any](b *builder, list []json.RawMessage) (out []T) {
	for i, raw := range list {
		var x T
		if err := json.Unmarshal(raw, &x); err != nil {
			if len(b.m.Bad) > formats.MaxBad {
				continue
			}
			b.m.Bad = append(b.m.Bad, formats.BadLine{Position: formats.Position{Element: i + 1}, Err: plain(err)})
			continue
		}
		out = append(out, x)
	}
	return out
}

// plain says in plain words what is wrong with a JSON text.
func plain(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("is no JSON: %w", err)
	}
	wanted := "text"
	switch e.Type.Kind() {
	case reflect.Slice:
		wanted = "a list"
	case reflect.Struct, reflect.Map:
		wanted = "an object"
	}
	given, ok := map[string]string{"string": "text", "bool": "true or false", "array": "a list", "object": "an object", "number": "a number"}[e.Value]
	if !ok { // number 7
		given = e.Value
	}
	if e.Field == "" {
		return fmt.Errorf("is %s, not %s", given, wanted)
	}
	return fmt.Errorf("%s is %s, not %s", strings.ToLower(e.Field), given, wanted)
}

func (b *builder) bad(line int, err error) {
	b.m.Bad = append(b.m.Bad, formats.BadLine{Position: formats.Position{Line: line}, Err: err})
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}

// instant reads the forms in which the programs write a time; those without a
// zone are UTC. An unreadable one is no time.
func instant(s string) *time.Time {
	for _, form := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05.999999", time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			t = t.UTC()
			return &t
		}
	}
	return nil
}
