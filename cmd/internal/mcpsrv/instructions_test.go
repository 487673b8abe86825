package mcpsrv

import (
	"context"
	"strings"
	"testing"
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
