package app

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
)

// two is a follower of two lines.
type two struct{}

func (two) Follow(_ context.Context, line func(string) error) error {
	if err := line(`cursor-a3f8 posted "x"`); err != nil {
		return err
	}
	return line("a\nb")
}

func TestWatchedAsJSON(t *testing.T) {
	var out, errs bytes.Buffer
	r := &run{out: &out, errs: &errs}
	err := r.watch(t.Context(), cli.Globals{JSON: true}, func(context.Context, op.Scope) (follower, error) { return two{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var x struct {
			At   time.Time
			Text string
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.At.IsZero() {
			t.Errorf("%s: %v", line, err)
		}
		got = append(got, x.Text)
	}
	if strings.Join(got, "|") != "cursor-a3f8 posted \"x\"|a\nb" {
		t.Errorf("got %q", got)
	}
}
