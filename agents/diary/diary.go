// Package diary keeps the diaries of agents: what each of them found, decided,
// finished and was held up by. Each diary is one file. It outlives its
// agent, and no other agent's entries have to be read for it.
//
// Who an agent is, and who may write in its name, is not known here.
package diary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// The types of entries. Each is printed as what was done.
const (
	Discovery = "discovery"
	Decision  = "decision"
	Blocker   = "blocker"
	Progress  = "progress"
	Insight   = "insight"
)

func types() []string { return []string{Discovery, Decision, Blocker, Progress, Insight} }

// Verb is how a diary prints a type.
func Verb(kind string) string {
	switch kind {
	case Discovery:
		return "FOUND"
	case Decision:
		return "DECIDED"
	case Blocker:
		return "BLOCKED"
	case Progress:
		return "DONE"
	case Insight:
		return "INSIGHT"
	}
	return prose.Line(strings.ToUpper(kind))
}

// Type reads a type, also as the verb it is printed as. The error is a
// [*refusal.ArgumentError] of the argument category.
func Type(given string) (string, error) {
	name := strings.TrimSpace(given)
	for _, kind := range types() {
		if strings.EqualFold(name, kind) || strings.EqualFold(name, Verb(kind)) {
			return kind, nil
		}
	}
	const maxShown = 60 // runes
	return "", refusal.Argument("category", "category %q is none of %s", prose.Clip(given, maxShown), strings.Join(types(), ", "))
}

// Entry is one of a diary, as it is stored.
type Entry struct {
	Number  int       `json:"number"` // from 1
	Type    string    `json:"entry_type"`
	Text    string    `json:"content"`
	Context string    `json:"context,omitempty"`
	At      time.Time `json:"timestamp"`
}

// Ref names an entry of an agent's diary for good: diary:cursor-a3f8/12.
func (e Entry) Ref(agent string) string { return "diary:" + agent + "/" + strconv.Itoa(e.Number) }

// Shown is an entry as answers have it.
type Shown struct {
	Number  int       `json:"number"`
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Context string    `json:"context,omitempty"`
	At      time.Time `json:"timestamp"`
}

// Shown is an entry for an answer.
func (e Entry) Shown() Shown { return Shown{e.Number, e.Type, e.Text, e.Context, e.At} }

// Line is an entry in one line, with its age.
func (e Shown) Line(now time.Time) string {
	text := fmt.Sprintf("  [%s] %s", Verb(e.Type), prose.Block(e.Message))
	if e.Context != "" {
		text += " [" + prose.Line(e.Context) + "]"
	}
	return text + " (" + prose.Ago(now, e.At) + ")"
}

// Noted is a diary entry that was made.
type Noted struct {
	AgentID  string   `json:"agent_id"`
	Entry    Shown    `json:"entry"`
	Redacted []string `json:"redacted,omitempty"`

	Category string `json:"-"` // the type as the caller named it: done for progress
}

// Text gives the answer's lines.
func (n Noted) Text() string {
	text := fmt.Sprintf("Diary entry [%s] added: %s", n.Entry.Type, prose.Brief(n.Entry.Message))
	if named := prose.Fold(n.Category); named != "" && named != n.Entry.Type {
		text += fmt.Sprintf(" (%s is stored as %s)", named, n.Entry.Type)
	}
	return text + prose.Redacted(n.Redacted)
}

// Recalled is a diary, the newest entry first.
type Recalled struct {
	AgentID string  `json:"agent_id"`
	Total   int     `json:"total"`
	Entries []Shown `json:"entries"`
	now     time.Time
	limit   int
}

// Recall is the last entries of an agent's diary, limit of them at most.
func Recall(agent string, all []Entry, limit int, now time.Time) Recalled {
	r := Recalled{AgentID: agent, Total: len(all), Entries: []Shown{}, now: now, limit: limit}
	for _, e := range slices.Backward(all[max(0, len(all)-limit):]) {
		r.Entries = append(r.Entries, e.Shown())
	}
	return r
}

// Text gives the answer's lines.
func (r Recalled) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Recalled) TextIn(call prose.Syntax) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Diary [%s] (%s)", r.AgentID, prose.Count(r.Total, "entry"))
	if r.Total > 0 {
		b.WriteByte(':')
	}
	for _, e := range r.Entries {
		b.WriteString("\n" + e.Line(r.now))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Entries), r.limit))
	return b.String()
}

// Listed is the diaries of a project, the last written one first.
type Listed struct {
	Diaries []Volume `json:"diaries"`
	Total   int      `json:"total"`
	now     time.Time
	limit   int
}

// Volume is one of them.
type Volume struct {
	AgentID string    `json:"agent_id"`
	Entries int       `json:"entries"`
	Last    time.Time `json:"last_entry"`
}

// List is the diaries that were written last, limit of them at most.
func List(all []Volume, limit int, now time.Time) Listed {
	slices.SortFunc(all, func(a, b Volume) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.AgentID, b.AgentID)) })
	return Listed{Diaries: append([]Volume{}, all[:min(limit, len(all))]...), Total: len(all), now: now, limit: limit}
}

// Text gives the answer's lines.
func (s Listed) Text() string { return s.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (s Listed) TextIn(call prose.Syntax) string {
	if s.Total == 0 {
		return "No diaries."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Agent Diaries (%d):", s.Total)
	for _, v := range s.Diaries {
		fmt.Fprintf(&b, "\n  %s: %s (%s)", v.AgentID, prose.Count(v.Entries, "entry"), prose.Ago(s.now, v.Last))
	}
	b.WriteString(prose.More(call, s.Total-len(s.Diaries), s.limit))
	return b.String()
}
