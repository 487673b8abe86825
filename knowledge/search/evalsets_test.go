package search

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines gives each line of a gzip file to use.
func lines(t testing.TB, path string, use func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(z)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			use(line)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func records[T any](t testing.TB, path string) []T {
	var out []T
	lines(t, path, func(line []byte) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	})
	return out
}

type passage struct {
	ID    string `json:"_id"`
	Group string `json:"group"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// collection is a set to search with the answers known.
type collection struct {
	docs, queries []passage
	right         map[string]map[string]bool
}

func loadCollection(t testing.TB, dir string) *collection {
	c := &collection{right: map[string]map[string]bool{}}
	c.docs = records[passage](t, filepath.Join(dir, "corpus.jsonl.gz"))
	c.queries = records[passage](t, filepath.Join(dir, "queries.jsonl.gz"))
	lines(t, filepath.Join(dir, "qrels.tsv.gz"), func(line []byte) {
		f := strings.Split(strings.TrimSpace(string(line)), "\t")
		if f[0] == "query-id" || f[2] == "0" {
			return
		}
		if c.right[f[0]] == nil {
			c.right[f[0]] = map[string]bool{}
		}
		c.right[f[0]][f[1]] = true
	})
	return c
}

// fill puts a collection into one index a group, each passage as shape makes a fact of it.
func (c *collection) fill(t testing.TB, tune tuning, shape func(passage) Doc) map[string]*Index {
	out := map[string]*Index{}
	for _, d := range c.docs {
		x := out[d.Group]
		if x == nil {
			x, _ = Open("", nil)
			x.tune = tune
			out[d.Group] = x
		}
		if err := x.Add(context.Background(), []Doc{shape(d)}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
