package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/arg"
	"leanctx/agents/diary"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Entry is one of a diary.
type Entry struct {
	Number  int       `json:"number"`
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Context string    `json:"context,omitempty"`
	At      time.Time `json:"timestamp"`
}

func shownEntry(e diary.Entry) Entry { return Entry{e.Number, e.Type, e.Text, e.Context, e.At} }

func (e Entry) line(now time.Time) string {
	text := fmt.Sprintf("  [%s] %s", diary.Verb(e.Type), prose.Block(e.Message))
	if e.Context != "" {
		text += " [" + prose.Line(e.Context) + "]"
	}
	return text + " (" + prose.Ago(now, e.At) + ")"
}

// Note is a diary entry to be.
type Note struct {
	Message  string `json:"message" arg:"1" jsonschema:"what you found, decided, finished, or are held up by"`
	Category string `json:"category,omitempty" short:"c" enum:"discovery,decision,blocker,progress,insight,found,decided,blocked,done" jsonschema:"what it is (default progress)"`
	Context  string `json:"context,omitempty" jsonschema:"what it is about, e.g. auth or src/auth.ts"`
}

// Noted is a diary entry that was made.
type Noted struct {
	AgentID  string   `json:"agent_id"`
	Entry    Entry    `json:"entry"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's lines.
func (n Noted) Text() string {
	return fmt.Sprintf("Diary entry [%s] added: %s", n.Entry.Type, prose.Brief(n.Entry.Message)) + prose.Redacted(n.Redacted)
}

// Diary adds an entry to the caller's diary.
func (s *Store) Diary(ctx context.Context, a Note) (Noted, error) {
	kind, err := diary.Type(cmp.Or(strings.TrimSpace(a.Category), diary.Progress))
	if err != nil {
		return Noted{}, err
	}
	text, redacted, err := s.text("message", a.Message, maxText)
	if err != nil {
		return Noted{}, err
	}
	about, more := "", []string(nil)
	if strings.TrimSpace(a.Context) != "" {
		if about, more, err = s.text("context", a.Context, arg.MaxPath); err != nil {
			return Noted{}, err
		}
	}
	s.alive(ctx)
	o := diary.Owner{Project: s.opts.ProjectHash, Root: s.opts.ProjectRoot}
	err = s.view(ctx, func(p *project, _ moment) error {
		me, err := s.self(p)
		if err == nil {
			o.AgentID, o.AgentType = me.ID, me.Type
		}
		return err
	})
	if err != nil {
		return Noted{}, err
	}
	e, err := s.diaries.Enter(ctx, o, diary.Entry{Type: kind, Text: text, Context: about})
	return Noted{o.AgentID, shownEntry(e), append(redacted, more...)}, err
}

// DiaryQuery names a diary.
type DiaryQuery struct {
	AgentID string `json:"agent_id,omitempty" arg:"1" jsonschema:"whose diary: an id or the beginning of one (default: your own)"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most entries to show, the newest first (default 20)"`
}

// Recalled is a diary, the newest entry first.
type Recalled struct {
	AgentID string  `json:"agent_id"`
	Total   int     `json:"total"`
	Entries []Entry `json:"entries"`
	now     time.Time
	limit   int
}

// Text gives the answer's lines.
func (r Recalled) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Diary [%s] (%s)", r.AgentID, prose.Count(r.Total, "entry"))
	if r.Total > 0 {
		b.WriteByte(':')
	}
	for _, e := range r.Entries {
		b.WriteString("\n" + e.line(r.now))
	}
	if more := r.Total - len(r.Entries); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, r.limit)
	}
	return b.String()
}

const standardDiary = 20

// RecallDiary shows the diary of any agent of the project, also of one that
// has finished.
func (s *Store) RecallDiary(ctx context.Context, q DiaryQuery) (Recalled, error) {
	limit, err := arg.Limit(q.Limit, standardDiary)
	if err != nil {
		return Recalled{}, err
	}
	r := Recalled{limit: limit, Entries: []Entry{}}
	err = s.view(ctx, func(p *project, m moment) error {
		r.now = m.now
		if strings.TrimSpace(q.AgentID) == "" {
			me, err := s.self(p)
			if err == nil {
				r.AgentID = me.ID
			}
			return err
		}
		to, err := p.resolve("agent_id", q.AgentID)
		if err != nil {
			return err
		}
		if to.agent == nil {
			ids := p.types[to.kind]
			if len(ids) > 1 {
				return refusal.Argument("agent_id", "agent_id %q may be %s: give more of the id", to.kind, alternatives(ids))
			}
			to.agent = p.agents[ids[0]]
		}
		r.AgentID = to.agent.ID
		return nil
	})
	if err != nil {
		return r, err
	}
	all, err := s.diaries.Entries(ctx, r.AgentID)
	r.Total = len(all)
	for _, e := range slices.Backward(all[max(0, len(all)-limit):]) {
		r.Entries = append(r.Entries, shownEntry(e))
	}
	return r, err
}

// Shelf is the diaries of the project, the last written one first.
type Shelf struct {
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

// Text gives the answer's lines.
func (s Shelf) Text() string {
	if s.Total == 0 {
		return "No diaries."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Agent Diaries (%d):", s.Total)
	for _, v := range s.Diaries {
		fmt.Fprintf(&b, "\n  %s: %s (%s)", v.AgentID, prose.Count(v.Entries, "entry"), prose.Ago(s.now, v.Last))
	}
	if more := s.Total - len(s.Diaries); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, s.limit)
	}
	return b.String()
}

// Diaries lists the diaries of the project, those of agents that are gone too.
func (s *Store) Diaries(ctx context.Context, q Roll) (Shelf, error) {
	limit, err := arg.Limit(q.Limit, standardList)
	if err != nil {
		return Shelf{}, err
	}
	r := Shelf{limit: limit, Diaries: []Volume{}}
	ids, now, err := s.writers(ctx)
	if err != nil {
		return r, err
	}
	r.now = now
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return r, err
		}
		if n := len(list); n > 0 {
			r.Diaries = append(r.Diaries, Volume{id, n, list[n-1].At})
		}
	}
	slices.SortFunc(r.Diaries, func(a, b Volume) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.AgentID, b.AgentID)) })
	r.Total = len(r.Diaries)
	r.Diaries = r.Diaries[:min(limit, r.Total)]
	return r, nil
}

// writers are the agents of the project that have a diary, by id.
func (s *Store) writers(ctx context.Context) (ids []string, now time.Time, err error) {
	all, err := s.diaries.Writers()
	if err != nil {
		return nil, now, err
	}
	err = s.view(ctx, func(p *project, m moment) error {
		ids, now = nil, m.now
		for _, id := range all {
			if p.agents[id] != nil {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, now, err
}
