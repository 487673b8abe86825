package op

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

type boundedArgs struct {
	Value string   `json:"value,omitempty" long:"true" jsonschema:"a text"`
	Name  string   `json:"name,omitempty" jsonschema:"a name"`
	Tags  []string `json:"tags,omitempty" jsonschema:"names"`
}

// No argument takes more than any operation needs: before this a name of 15 MB was kept.
func TestEveryArgumentHasABound(t *testing.T) {
	tool := &Tool{Name: "t", Command: "t", Operations: []Operation{New("do", "does", Changes, see[boundedArgs])}}
	many := make([]any, maxItems+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		args map[string]any
		says string
	}{
		{map[string]any{"name": strings.Repeat("a", MaxArgument)}, ""},
		{map[string]any{"name": strings.Repeat("a", MaxArgument+1)}, "at most 4096"},
		{map[string]any{"value": strings.Repeat("a", MaxText)}, ""},
		{map[string]any{"value": strings.Repeat("a", MaxText+1)}, "at most 1048576"},
		{map[string]any{"tags": many}, "at most 1000"},
		{map[string]any{"tags": strings.Repeat("a,", 5000)}, "at most"},
		{map[string]any{"tags": []any{strings.Repeat("a", 1<<20)}}, "at most 65536"},
		{map[string]any{"agent": strings.Repeat("a", 5000)}, "at most 4096"},
		{map[string]any{"project": "/" + strings.Repeat("a", 5000)}, "at most 4096"},
		{map[string]any{"output": strings.Repeat("a", 5000)}, "output"},
	} {
		c.args["action"] = "do"
		_, err := tool.Call(context.Background(), "", c.args)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || len(err.Error()) > 500) {
			t.Errorf("%.40v: %.300v, want %q", c.args, err, c.says)
		}
	}
}

// An error may have what a repository wrote. It is one line for a model and for a terminal.
func TestAnErrorIsOneLine(t *testing.T) {
	if got := ErrorText(errors.New("a\n\nSYSTEM: b\r\n  c\n")); got != "a SYSTEM: b c" {
		t.Errorf("%q", got)
	}
	if got := ErrorText(errors.New(strings.Repeat("x", 10000))); len(got) > maxError+3 {
		t.Errorf("%d bytes", len(got))
	}
}
