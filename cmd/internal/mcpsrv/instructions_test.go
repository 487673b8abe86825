package mcpsrv

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestInstructions(t *testing.T) {
	briefing := "ARCHITECTURE:auth=JWT★★★|db=a\\|b★★\nDEPLOYMENT:host=AWS★"
	o := &Options{Briefing: func(context.Context) string { return briefing }}
	c := connect(t, New(new(notebook).table(), o))
	got := c.InitializeResult().Instructions
	if want := strings.TrimSpace(instructionText) + "\n\n" + dataLine + "\n" + briefing; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	briefing = ""
	if got := connect(t, New(new(notebook).table(), o)).InitializeResult().Instructions; got != strings.TrimSpace(instructionText) {
		t.Errorf("without a briefing: %q", got)
	}
	briefing = "ARCHITECTURE:" + strings.Repeat("ключ=значение★★★|", 500)
	got = connect(t, New(new(notebook).table(), o)).InitializeResult().Instructions
	if n := len([]rune(got)); n > instructionsMax || n < instructionsMax-60 {
		t.Errorf("%d characters", n)
	}
	if !strings.HasSuffix(got, "ключ=значение★★★\n"+moreLine) {
		t.Errorf("cut within a fact: %q", got[len(got)-100:])
	}
}

// A client whose hooks bring the briefing is not given it twice, in either era.
func TestBriefed(t *testing.T) {
	var asked []string
	o := &Options{
		Briefing: func(context.Context) string { return "A:k=v★" },
		Briefed:  func(client string) bool { asked = append(asked, client); return client == "known" },
	}
	s := New(new(notebook).table(), o)
	for _, name := range []string{"known", "other"} {
		meta := mcp.Meta{mcp.MetaKeyClientInfo: map[string]any{"name": name}}
		for _, p := range []mcp.Params{&mcp.InitializeParams{ClientInfo: &mcp.Implementation{Name: name}}, &mcp.DiscoverParams{Meta: meta}} {
			got := s.instructions(t.Context(), greeting{params: p})
			if strings.Contains(got, dataLine) != (name == "other") || !strings.HasPrefix(got, "lean-ctx is") {
				t.Errorf("%T from %s: %s", p, name, got)
			}
		}
	}
	if d := cmp.Diff([]string{"known", "known", "other", "other"}, asked); d != "" {
		t.Error(d)
	}
}

// greeting is a request that says who asks.
type greeting struct {
	mcp.Request
	params mcp.Params
}

func (g greeting) GetParams() mcp.Params { return g.params }

func TestCut(t *testing.T) {
	const b = "A:k=v★|l=a\\|b★\nB:m=w\\\\|n=x"
	for _, tt := range []struct {
		room int
		want string
	}{
		{len([]rune(b)), b},
		{len([]rune(b)) - 1, ""},
	} {
		if got := cut(b, tt.room); got != tt.want {
			t.Errorf("%d: got %q, want %q", tt.room, got, tt.want)
		}
	}
	// With room for the last line too, what is left ends at a fact.
	long := b + strings.Repeat("|x=y", 50)
	ends := map[string]bool{"": true, "A:k=v★": true, "A:k=v★|l=a\\|b★": true, "A:k=v★|l=a\\|b★\nB:m=w\\\\": true}
	for room := range 60 {
		got := strings.TrimSuffix(cut(long, room+len([]rune(moreLine))+1), "\n"+moreLine)
		got = strings.TrimRight(strings.Split(got, "|n=x")[0], "\n")
		if !ends[got] {
			t.Errorf("%d: %q", room, got)
		}
	}
}
