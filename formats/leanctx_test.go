package formats

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The sample was made by hand: every member, older facts that lack some, enum
// values and members unknown, a confidence that is none.
func TestReadLeanCtxDir(t *testing.T) {
	d, err := ReadLeanCtxDir(os.DirFS("testdata/leanctx"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Schema != 0 {
		t.Errorf("schema %d", d.Schema)
	}
	golden(t, "testdata/leanctx.golden.json", encoded(t, d))
	again, err := DecodeNative(encoded(t, d))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(encoded(t, d)), string(encoded(t, again))); diff != "" {
		t.Errorf("not the same once ours:\n%s", diff)
	}
}

func TestAdopted(t *testing.T) {
	d, err := ReadLeanCtxDir(os.DirFS("testdata/leanctx"))
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		Value, Privacy, Archetype, Supersedes string
		Confidence                            float64
		Confirmed, Revised                    int
	}
	id := func(i int) string { return d.Facts[i].ID }
	want := []short{
		{"JWT RS256", "project_only", "architecture", "", 0.95, 2, 2},
		{"OAuth2 + PKCE", "linked_projects", "architecture", id(0), 0.9, 1, 3},
		{"Passkeys 🔑", "galaxy_wide", "Prophecy", id(1), 1, 1, 4},
		{"snake_case\nвезде", "project_only", "fact", "0123456789abcdef0123456789abcdef", 0.8, 1, 1},
		{"PostgreSQL 15", "project_only", "dependency", "", 0.7, 1, 1},
		{"PostgreSQL 16", "project_only", "dependency", id(4), 0.7, 1, 1},
		{"only what must be there", "project_only", "fact", "", 0.8, 1, 1},
	}
	var got []short
	for _, f := range d.Facts {
		got = append(got, short{f.Value, f.Privacy, f.Archetype, string(f.Supersedes), f.Confidence, f.ConfirmationCount, f.RevisionCount})
		if !f.RecordedFrom.Equal(f.CreatedAt) {
			t.Errorf("%s: recorded %v, created %v", f.Value, f.RecordedFrom, f.CreatedAt)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(d.Gotchas) != 2 || d.Gotchas[0].Severity != "critical" || d.Gotchas[0].Source != "agent_reported" || d.Gotchas[1].Severity != "Apocalyptic" {
		t.Errorf("gotchas: %+v", d.Gotchas)
	}
	if len(d.Relations) != 2 || d.Relations[0].Count != 2 || string(d.Relations[0].Extra["strength"]) != "0.55" {
		t.Errorf("relations: %+v", d.Relations)
	}
}

func TestReadLeanCtxDirMistakes(t *testing.T) {
	good := `{"project_root": "/x", "facts": []}`
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"no store":         {fstest.MapFS{"gotchas.json": file("{}")}, "file does not exist"},
		"ours":             {fstest.MapFS{"knowledge.json": file(`{"schema": 1, "facts": []}`)}, "our own fact file"},
		"newer":            {fstest.MapFS{"knowledge.json": file(`{"schema": 7}`)}, "knowledge.json: schema 7 is newer"},
		"damaged":          {fstest.MapFS{"knowledge.json": file("{\"facts\": [\n{\"category\": 1}]}")}, "knowledge.json: line 2: facts[0].category: want a string, found a number"},
		"damaged beside":   {fstest.MapFS{"knowledge.json": file(good), "gotchas.json": file(`{"gotchas": [`)}, "gotchas.json: line 1: gotchas: the file ends too early"},
		"wrong relations":  {fstest.MapFS{"knowledge.json": file(good), "relations.json": file(`{"edges": [{"count": "1"}]}`)}, "relations.json: line 1: edges[0].count: want a whole number"},
		"more in the file": {fstest.MapFS{"knowledge.json": file(good), "relations.json": file(`{} {}`)}, "relations.json: line 1: not JSON: invalid character '{' after top-level value"},
	} {
		if _, err := ReadLeanCtxDir(c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	var fsys fs.FS = fstest.MapFS{"knowledge.json": file(good), "gotchas.json": file(""), "relations.json": file("\uFEFF \n")}
	if d, err := ReadLeanCtxDir(fsys); err != nil || len(d.Gotchas)+len(d.Relations) > 0 {
		t.Errorf("files that a crash emptied: %v", err)
	}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
