package lines_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/internal/lines"
)

type record struct {
	Name string `json:"name"`
}

func TestList(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"a": 1`)
	if err := lines.List(&b, "some", slices.Values([]record{{"x\n\""}, {"y"}})); err != nil {
		t.Fatal(err)
	}
	if err := lines.List(&b, "none", slices.Values([]int{})); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n}")
	want := "{\"a\": 1,\n      \"some\": [\n        {\"name\":\"x\\n\\\"\"},\n        {\"name\":\"y\"}\n      ],\n      \"none\": []\n}"
	if d := gocmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if !json.Valid([]byte(b.String())) {
		t.Error("it is no JSON")
	}
}

// full is a disk that has room for so many writes.
type full int

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Every write that fails is told of.
func TestListFails(t *testing.T) {
	for room := range 4 {
		w := full(room)
		if err := lines.List(&w, "some", slices.Values([]int{1, 2})); !errors.Is(err, errFull) {
			t.Errorf("room for %d: %v", room, err)
		}
	}
	if err := lines.List(&strings.Builder{}, "some", slices.Values([]func(){nil})); err == nil {
		t.Error("a function was written")
	}
}

func TestValue(t *testing.T) {
	if got := string(lines.Value("a\"b")); got != `"a\"b"` {
		t.Error(got)
	}
}
