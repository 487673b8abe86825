package handoff

import (
	"fmt"
	"strings"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/lease"
	"leanctx/internal/prose"
)

// Bundle is work that an agent receives.
type Bundle struct {
	From    string        `json:"from_agent"`
	Role    string        `json:"role,omitempty"`
	Summary string        `json:"summary"`
	Tasks   []string      `json:"tasks,omitempty"`
	Claims  []lease.Held  `json:"claims,omitempty"`
	Facts   []string      `json:"facts,omitempty"`
	Files   []string      `json:"files,omitempty"`
	Diary   []diary.Shown `json:"diary,omitempty"`
	At      time.Time     `json:"timestamp"`
}

// Bundles is what a receiver gets of handoffs.
func Bundles(list []*Handoff) []Bundle {
	var out []Bundle
	for _, h := range list {
		b := Bundle{From: h.From, Role: h.Role, Summary: h.Summary, Tasks: h.Tasks, Facts: h.Facts, Files: h.Files, At: h.At}
		for _, c := range h.Claims {
			b.Claims = append(b.Claims, lease.Held{Path: c.Path, AgentID: h.To, Token: c.Token})
		}
		for _, e := range h.Diary {
			b.Diary = append(b.Diary, e.Shown())
		}
		out = append(out, b)
	}
	return out
}

// Lines is a bundle as it is read.
func (b Bundle) Lines(now time.Time) []string {
	from := b.From
	if b.Role != "" {
		from += " (" + prose.Line(b.Role) + ")"
	}
	lines := []string{fmt.Sprintf("Handoff from %s (%s): %s", from, prose.Ago(now, b.At), prose.Block(b.Summary))}
	claims := make([]string, len(b.Claims))
	for i, c := range b.Claims {
		claims[i] = fmt.Sprintf("%s (token %d)", c.Path, c.Token)
	}
	for _, part := range []struct {
		name string
		list []string
	}{{"Tasks", b.Tasks}, {"Claims", claims}, {"Facts", b.Facts}, {"Shared files", b.Files}} {
		if len(part.list) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", part.name, prose.Line(strings.Join(part.list, ", "))))
		}
	}
	if len(b.Diary) > 0 {
		lines = append(lines, "  Diary:")
		for _, e := range b.Diary {
			lines = append(lines, "  "+e.Line(now))
		}
	}
	return lines
}
