package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/agents/diary"
	"leanctx/internal/refusal"
)

// Note is the arguments of diary: a new entry.
type Note struct {
	Message  string `json:"message" arg:"1" long:"true" jsonschema:"what you found, decided, finished, or are held up by"`
	Category string `json:"category,omitempty" short:"c" enum:"discovery,decision,blocker,progress,insight,found,decided,blocked,done" jsonschema:"what it is (default progress)"`
	Context  string `json:"context,omitempty" jsonschema:"what it is about, e.g. auth or src/auth.ts"`
}

// Diary adds an entry to the caller's diary.
func (s *Store) Diary(ctx context.Context, a Note) (diary.Noted, error) {
	kind, err := diary.Type(cmp.Or(strings.TrimSpace(a.Category), diary.Progress))
	if err != nil {
		return diary.Noted{}, err
	}
	text, redacted, err := s.texts.clean("message", a.Message, maxText)
	if err != nil {
		return diary.Noted{}, err
	}
	about, more := "", []string(nil)
	if strings.TrimSpace(a.Context) != "" {
		if about, more, err = s.texts.clean("context", a.Context, maxPath); err != nil {
			return diary.Noted{}, err
		}
	}
	if err := s.Enter(ctx); err != nil {
		return diary.Noted{}, err
	}
	s.touchQuietly(ctx)
	o := diary.Owner{Project: s.opts.ProjectHash, Root: s.opts.ProjectRoot}
	err = s.view(ctx, func(p *project, _ time.Time) error {
		me, err := s.caller.agent(p)
		if err == nil {
			o.AgentID, o.AgentType = me.ID, me.Type
		}
		return err
	})
	if err != nil {
		return diary.Noted{}, err
	}
	e, err := s.diaries.Enter(ctx, o, diary.Entry{Type: kind, Text: text, Context: about})
	return diary.Noted{AgentID: o.AgentID, Entry: e.Shown(), Redacted: append(redacted, more...), Category: a.Category}, err
}

// DiaryQuery is the arguments of recall_diary.
type DiaryQuery struct {
	AgentID string `json:"agent_id,omitempty" arg:"1" jsonschema:"whose diary: an id or the beginning of one (default: your own)"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most entries to show, the newest first (default 10)"`
}

const defaultDiary = 10

// RecallDiary shows the diary of any agent of the project, also of a finished one.
func (s *Store) RecallDiary(ctx context.Context, q DiaryQuery) (diary.Recalled, error) {
	limit, err := refusal.Limit(q.Limit, defaultDiary)
	if err != nil {
		return diary.Recalled{}, err
	}
	var id string
	err = s.view(ctx, func(p *project, _ time.Time) (err error) {
		var writer *agent
		if strings.TrimSpace(q.AgentID) == "" {
			writer, err = s.caller.agent(p)
		} else {
			writer, err = p.only("agent_id", q.AgentID, "", time.Time{})
		}
		if err == nil {
			id = writer.ID
		}
		return err
	})
	if err != nil {
		return diary.Recalled{}, err
	}
	all, err := s.diaries.Entries(ctx, id)
	return diary.Recall(id, all, limit, s.now()), err
}

// Diaries lists the diaries of the project, also of agents that finished.
func (s *Store) Diaries(ctx context.Context, q ListArgs) (diary.Listed, error) {
	limit, err := refusal.Limit(q.Limit, defaultList)
	if err != nil {
		return diary.Listed{}, err
	}
	ids, err := s.writers(ctx)
	if err != nil {
		return diary.Listed{}, err
	}
	var all []diary.Volume
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return diary.Listed{}, err
		}
		if n := len(list); n > 0 {
			all = append(all, diary.Volume{AgentID: id, Entries: n, Last: list[n-1].At})
		}
	}
	return diary.List(all, limit, s.now()), nil
}

// writers lists the ids of the project's agents that have a diary.
func (s *core) writers(ctx context.Context) (ids []string, err error) {
	all, err := s.diaries.Writers()
	if err != nil {
		return nil, err
	}
	err = s.view(ctx, func(p *project, _ time.Time) error {
		ids = nil
		for _, id := range all {
			if p.agents[id] != nil {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

// Finding is a diary entry or message that may become a fact.
type Finding struct {
	Kind string    // decision, insight, blocker, finding; discovery and progress: a diary's
	Text string    // in the agent's words
	By   string    // agent id
	Ref  string    // its permanent name: diary:cursor-a3f8/12, message:17
	At   time.Time // when it was written
}

// Findings lists what agents wrote since an instant, the oldest first: diary entries
// and unexpired messages of the categories finding, decision, insight and
// blocker. Messages to one agent count too, because the scratchpad belongs to the project.
// Private messages never do.
func (s *core) Findings(ctx context.Context, since time.Time) ([]Finding, error) {
	ids, err := s.writers(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return nil, err
		}
		first, _ := slices.BinarySearchFunc(list, since, func(e diary.Entry, t time.Time) int { return e.At.Compare(t) })
		for _, e := range list[first:] {
			out = append(out, Finding{e.Type, e.Text, id, e.Ref(id), e.At})
		}
	}
	var posted []Finding
	err = s.view(ctx, func(p *project, now time.Time) error {
		posted = nil
		for _, m := range p.messages.findings {
			if !m.At.Before(since) && !m.expired(now) {
				posted = append(posted, Finding{m.Category, m.Text, m.From, m.ref(), m.At})
			}
		}
		return nil
	})
	out = append(out, posted...)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Ref, b.Ref)) })
	return out, err
}
