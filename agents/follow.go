package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/lease"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// maxRecent is how many commits are kept for followers, at least.
const maxRecent = 4096

// remember keeps a commit for followers. It is not part of the state: a state that was
// loaded again has none.
func (s *state) remember(c journal.Commit[event]) {
	if s.recent = append(s.recent, c); len(s.recent) >= 2*maxRecent {
		s.recent = slices.Clone(s.recent[maxRecent:])
	}
}

// Watch returns a function that lists the events of the project since its last call, or at
// first since Watch. Events are agents that come and go, messages, claims, releases, handoffs
// and diary entries. Private messages are listed only for their sender and receiver.
func (s *Store) Watch(ctx context.Context) (next func(context.Context) ([]string, error), err error) {
	f := follower{Store: s, written: map[string]int{}}
	err = s.log.View(ctx, func(st *state, h journal.Head) error {
		f.seen, f.fence = h.Seq, st.project(s.opts.ProjectHash).fence
		if me, err := s.self(st.project(s.opts.ProjectHash)); err == nil {
			f.watcher = me.ID
		}
		return nil
	})
	if err == nil {
		_, err = f.entries(ctx)
	}
	return func(ctx context.Context) ([]string, error) {
		lines, err := f.commits(ctx)
		if err != nil {
			return lines, err
		}
		more, err := f.entries(ctx)
		return append(lines, more...), err
	}, err
}

// follower is the progress of one Watch.
type follower struct {
	*Store
	seen    uint64         // the registry's last commit
	written map[string]int // agent id → its diary's last entry
	sizes   map[string]int64
	watcher string // the agent that follows; may be empty
	fence   uint64 // the last token seen: a claim with a token up to it is a renewal
}

// commits are lines for the registry's new commits.
func (f *follower) commits(ctx context.Context) (lines []string, err error) {
	err = f.log.View(ctx, func(st *state, h journal.Head) error {
		first, _ := slices.BinarySearchFunc(st.recent, f.seen+1, func(c journal.Commit[event], seq uint64) int { return cmp.Compare(c.Seq, seq) })
		commits := st.recent[first:]
		if missed := h.Seq - min(h.Seq, f.seen+uint64(len(commits))); missed > 0 {
			lines = append(lines, fmt.Sprintf("… %d changes passed too fast to be shown", missed))
		}
		for _, c := range commits {
			lines = append(lines, f.lines(c)...)
		}
		f.seen = max(f.seen, h.Seq)
		return nil
	})
	return lines, err
}

// entries are lines for new diary entries; none on the first call. It opens only diaries
// whose journal has another size than before.
func (f *follower) entries(ctx context.Context) (lines []string, err error) {
	first := f.sizes == nil
	if first {
		f.sizes = map[string]int64{}
	}
	ids, err := f.writers(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		size, err := f.diaries.Size(id)
		if err != nil || size == f.sizes[id] {
			continue
		}
		list, err := f.diaries.Entries(ctx, id)
		if err != nil {
			return lines, err
		}
		for _, e := range list {
			if !first && e.Number > f.written[id] {
				lines = append(lines, fmt.Sprintf("%s %s [%s] %s", stamp(e.At), id, diary.Verb(e.Type), prose.Block(e.Text)))
			}
			f.written[id] = max(f.written[id], e.Number)
		}
		f.sizes[id] = size
	}
	return lines, nil
}

func stamp(at time.Time) string { return at.Local().Format(time.TimeOnly) }

// lines describes one commit.
func (f *follower) lines(c journal.Commit[event]) []string {
	var out []string
	for _, e := range c.Events {
		if e.Project != f.opts.ProjectHash {
			continue
		}
		text := e.line(f.watcher)
		if e.Claim != nil {
			text = claimLine(e.Claim, f.fence)
			f.fence = max(f.fence, e.Claim.Token)
		}
		if text != "" {
			out = append(out, stamp(c.At)+" "+text)
		}
	}
	return out
}

// line describes one event to a watcher, which may be an agent.
func (e event) line(watcher string) string {
	switch {
	case e.Agent != nil:
		return e.Agent.line()
	case e.Post != nil:
		m := e.Post
		to := "all"
		switch {
		case m.Private && watcher != "" && (watcher == m.From || watcher == m.To):
			to = m.To + " (private)"
		case m.Private:
			return ""
		case m.To != "":
			to = m.To
		case m.ToType != "":
			to = "any " + m.ToType
		}
		return fmt.Sprintf("%s → %s [%s] %s", m.From, to, m.Category, prose.Block(m.Text))
	case e.Release != "" && e.By != "":
		return fmt.Sprintf("%s released %s", e.By, prose.Line(e.Release))
	case e.Handoff != nil && e.Handoff.State == handoffDone:
		return fmt.Sprintf("%s handed off to %s: %s", e.Handoff.From, e.Handoff.To, prose.Block(e.Handoff.Summary))
	}
	return ""
}

// claimLine describes a claim to a watcher that has seen the tokens up to fence.
func claimLine(l *lease.Lease, fence uint64) string {
	verb := "claimed"
	if l.Token <= fence {
		verb = "renewed"
	}
	return fmt.Sprintf("%s %s %s for %s (token %d)", l.Holder, verb, prose.Line(l.Path), prose.Duration(l.TTL()), l.Token)
}

func (a *agent) line() string {
	text := a.name() + " is " + a.Status
	if a.Message != "" {
		text += ": " + prose.Line(prose.Clip(a.Message, 200))
	}
	return text
}
