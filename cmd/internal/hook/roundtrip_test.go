package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/cmd/internal/mcpsrv"
)

// scratch is a machine of its own.
func scratchMachine(dir string) Machine {
	return Machine{
		Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "project"), Data: filepath.Join(dir, "home", ".lean-ctx"),
		Command: server, Getenv: func(string) string { return "" }, OnPath: func(string) bool { return false }, System: "linux", Probe: mcpsrv.Probe,
	}
}

type fatal interface{ Fatal(...any) }

// tree is every file and directory below dir, with what is in it.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] += "\n" + string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// extra is white space with comments, as people leave it.
func extra(t *rapid.T, nl string) string {
	return rapid.SampledFrom([]string{"", "", "", " ", nl, nl + "  ", nl + nl + "\t", " // note" + nl, " /* a */ ", nl + "  // \"mcpServers\": {" + nl + "  "}).Draw(t, "extra")
}

// value is any JSON with comments. Objects use the keys that matter, too.
func value(t *rapid.T, nl string, depth int) string {
	kinds := []string{"scalar", "scalar", "object", "array"}
	if depth == 0 {
		kinds = kinds[:1]
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if kind == "scalar" {
		return rapid.SampledFrom([]string{"1", "null", "true", `"https://x // y"`, `"a \" } ] ,"`, "-2.5e3", `"lean-ctx"`}).Draw(t, "scalar")
	}
	n := rapid.IntRange(0, 3).Draw(t, "items")
	var b strings.Builder
	b.WriteString(map[string]string{"object": "{", "array": "["}[kind])
	b.WriteString(extra(t, nl))
	for i := range n {
		if kind == "object" {
			b.WriteString(`"` + rapid.SampledFrom([]string{"a", "b", "c d", "é"}).Draw(t, "key") + `"` + extra(t, nl) + ":")
		}
		b.WriteString(extra(t, nl) + value(t, nl, depth-1) + extra(t, nl))
		if i < n-1 || rapid.Bool().Draw(t, "trailing") {
			b.WriteString("," + extra(t, nl))
		}
	}
	b.WriteString(map[string]string{"object": "}", "array": "]"}[kind])
	return b.String()
}

// settings is a file as a client might have it: an object in which what we add
// to may be there, with others' entries.
func settings(t *rapid.T, keys []string) string {
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	group := `{"matcher":"x","hooks":[{"type":"command","command":"other hook thing"}]}`
	known := map[string][]string{
		"mcpServers": {"{}", "{ }", `{"other": {"command": "x"}}`, "{" + nl + `    "other": {}, // theirs` + nl + "  }"},
		"hooks":      {"{}", `{"SessionStart": []}`, `{"SessionStart": [` + group + `,]}`, `{"Stop": [` + nl + group + nl + `]}`},
		"version":    {"1"},
		"mcp":        {"{}", `{"x": {"enabled": false}}`},
	}
	var parts []string
	for _, k := range keys {
		if choices := known[k]; choices != nil && rapid.Bool().Draw(t, "has "+k) {
			parts = append(parts, `"`+k+`": `+rapid.SampledFrom(choices).Draw(t, k))
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "others") {
		parts = append(parts, `"`+rapid.SampledFrom([]string{"theme", "model", "x"}).Draw(t, "name")+`":`+extra(t, nl)+value(t, nl, 3)+extra(t, nl))
	}
	parts = rapid.Permutation(parts).Draw(t, "order")
	sep := rapid.SampledFrom([]string{",", ", ", "," + nl + "  ", "," + nl + "\t", ", // c" + nl + "  "}).Draw(t, "separator")
	body := strings.Join(parts, sep)
	if len(parts) > 0 && rapid.Bool().Draw(t, "comma") {
		body += ","
	}
	return rapid.SampledFrom([]string{"", bom}).Draw(t, "mark") + extra(t, nl) + "{" + extra(t, nl) + body + extra(t, nl) + "}" + extra(t, nl) + rapid.SampledFrom([]string{"", "// end"}).Draw(t, "end")
}

// editOf is what a client wants of the file of that name.
func editOf(t fatal, name, file string) edit {
	chosen, err := choose([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range chosen[0].edits(scratchMachine("/nowhere"), User) {
		if filepath.Base(e.path) == file {
			return e
		}
	}
	t.Fatal("no such file")
	return edit{}
}

// roundTrip puts what is wanted into a file and takes it out by structure, as
// when somebody has written the file meanwhile.
func roundTrip(t *rapid.T, e edit, before string) {
	after, err := e.put([]byte(before))
	if err != nil || string(after) == before {
		t.Fatalf("%v\n%s\n%s", err, before, after)
	}
	if again, err := e.put(after); err != nil || string(again) != string(after) {
		t.Fatalf("the second time: %v\n%s\n%s", err, after, again)
	}
	if back, gone, err := e.remove(after, &change{Former: []byte(before), After: sum(after)}); err != nil || gone || string(back) != before {
		t.Fatalf("put back: %v %v %q, want %q", err, gone, back, before)
	}
	for _, was := range []*change{nil, {Former: []byte(before)}} {
		left, _, err := e.remove(after, was)
		if err != nil {
			t.Fatalf("%v\n%s", err, after)
		}
		if strings.Contains(string(left), "lean-ctx hook") || strings.Count(string(left), "//") < strings.Count(before, "//") || strings.Count(string(left), "#") < strings.Count(before, "#") {
			t.Fatalf("%s\n->\n%s", after, left)
		}
		if x, y := rest(t, e, before), rest(t, e, string(left)); !cmp.Equal(x, y) {
			t.Fatalf("%s\n%s\n->\n%s", cmp.Diff(x, y), after, left)
		}
		if x, y := rest(t, e, before), rest(t, e, string(after)); !cmp.Equal(x, y) {
			t.Fatalf("connected: %s\n%s\n->\n%s", cmp.Diff(x, y), before, after)
		}
	}
}

// rest is the meaning of a file without what is ours, and without what holds
// nothing. It goes by the decoded file and knows nothing of edits.
func rest(t *rapid.T, e edit, data string) string {
	m, err := decode(e.format, []byte(data))
	if err != nil && strings.TrimSpace(strings.TrimPrefix(data, bom)) != "" {
		t.Fatalf("%v\n%s", err, data)
	}
	if len(e.keys) > 0 {
		in := m
		for _, k := range e.keys[:len(e.keys)-1] {
			in, _ = in[k].(map[string]any)
		}
		delete(in, server)
	}
	if hooks, ok := m["hooks"].(map[string]any); ok && e.events != nil {
		for name, list := range hooks {
			if all, ok := list.([]any); ok {
				all = slices.DeleteFunc(all, func(x any) bool { return strings.Contains(fmt.Sprint(x), "lean-ctx hook") })
				if hooks[name] = all; len(all) == 0 {
					delete(hooks, name)
				}
			}
		}
		if len(hooks) == 0 {
			delete(m, "hooks")
		}
	}
	if e.version {
		delete(m, "version")
	}
	if len(e.keys) > 0 {
		if all, ok := m[e.keys[0]].(map[string]any); ok && len(all) == 0 || m[e.keys[0]] == nil {
			delete(m, e.keys[0])
		}
	}
	return fmt.Sprint(m)
}

// Whatever JSON a client has, disconnect gives it back to the byte. If nothing was recorded, it
// gives back the content with its comments.
func TestConnectAndBackJSON(t *testing.T) {
	edits := []edit{
		editOf(t, "claude-code", ".claude.json"), editOf(t, "claude-code", "settings.json"), editOf(t, "gemini", "settings.json"),
		editOf(t, "cursor", "hooks.json"), editOf(t, "opencode", "opencode.json"), editOf(t, "copilot", "lean-ctx.json"),
		editOf(t, "vscode", "lean-ctx-vscode.json"), editOf(t, "windsurf", "config.json"),
	}
	rapid.Check(t, func(r *rapid.T) {
		roundTrip(r, rapid.SampledFrom(edits).Draw(r, "edit"), settings(r, []string{"mcpServers", "hooks", "version", "mcp"}))
	})
}

// A file with nothing but comments keeps them before what we add.
func TestOnlyComments(t *testing.T) {
	for _, before := range []string{"// mine", "// mine\n", bom + "/* mine */\r\n// yours\r\n", " \n", bom} {
		for _, e := range []edit{editOf(t, "zed", "settings.json"), editOf(t, "cursor", "hooks.json")} {
			after, err := e.put([]byte(before))
			if err != nil || !strings.HasPrefix(string(after), strings.TrimRight(before, " \r\n")) || !strings.Contains(string(after), server) {
				t.Errorf("%q: %v\n%s", before, err, after)
			}
			if e.isIn([]byte(before)) {
				t.Errorf("%q is taken for ours", before)
			}
			if left, gone, err := e.remove(after, nil); err != nil || gone && strings.Contains(before, "mine") || strings.Contains(string(left), server) || !strings.HasPrefix(string(left), strings.TrimRight(before, " \r\n")) {
				t.Errorf("%q: %v, %v\n%s", before, err, gone, left)
			}
		}
	}
}

// tomlText is a configuration with what makes TOML hard to edit.
func tomlText(t *rapid.T) string {
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	parts := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		`model = "gpt" # note`, "# [mcp_servers.lean-ctx]", "", `text = """` + nl + "[mcp_servers.lean-ctx]" + nl + `command = "x"` + nl + `"""`,
	}), 0, 4, rapid.ID).Draw(t, "top")
	tables := rapid.SampledFrom([][]string{
		nil, {"[mcp_servers.other]", `command = "y"`, `args = [`, `  "a", # b`, `]`}, {"[mcp_servers]", `dotted.command = "z"`},
		{"[profiles.x]", "n = 1_000", "inf = nan", "", "# about the next one", "[[list]]", "when = 2026-01-01T00:00:00Z"},
	}).Draw(t, "tables")
	text := strings.Join(append(parts, tables...), nl)
	return rapid.SampledFrom([]string{"", bom}).Draw(t, "mark") + text + rapid.SampledFrom([]string{"", nl, nl + nl, nl + "# end"}).Draw(t, "end")
}

// Whatever TOML Codex has, disconnect gives it back to the byte.
func TestConnectAndBackTOML(t *testing.T) {
	s := editOf(t, "codex", "config.toml")
	rapid.Check(t, func(r *rapid.T) { roundTrip(r, s, tomlText(r)) })
}

// Whatever YAML goose has, disconnect gives it back to the byte.
func TestConnectAndBackYAML(t *testing.T) {
	s := editOf(t, "goose", "config.yaml")
	rapid.Check(t, func(r *rapid.T) {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "newline")
		head := rapid.SampledFrom([]string{"", "# mine" + nl, "GOOSE_MODEL: x # y" + nl, "text: |" + nl + "  extensions:" + nl + "    lean-ctx:" + nl}).Draw(r, "head")
		ext := rapid.SampledFrom([]string{
			"", "extensions:" + nl, "extensions: {}" + nl, "extensions: # all" + nl + "    # the first" + nl + "    developer:" + nl + "        enabled: true" + nl,
			"extensions:" + nl + "  developer: {enabled: true}" + nl + nl + "  memory:" + nl + "    enabled: false" + nl,
		}).Draw(r, "extensions")
		roundTrip(r, s, head+ext+rapid.SampledFrom([]string{"", "tail: 1", "# end" + nl}).Draw(r, "tail"))
	})
}

// A client may keep megabytes beside our entry.
func BenchmarkLargeJSON(b *testing.B) {
	e := editOf(b, "gemini", "settings.json")
	for name, member := range map[string]string{"values": `{"list": [` + strings.Repeat(`{"a": "b"}, `, 1000) + `1]}`, "keys": "1"} {
		data := bytes.NewBufferString("{\n")
		for i := 0; data.Len() < 10<<20; i++ {
			fmt.Fprintf(data, "  \"k%d\": %s,\n", i, member)
		}
		data.WriteString("}\n")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(data.Len()))
			for b.Loop() {
				if _, err := e.put(data.Bytes()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
