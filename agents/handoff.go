package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/lease"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// handoffRecord is a handoff, as it is stored.
type handoffRecord struct {
	ID      string        `json:"id"`
	Number  uint64        `json:"number"`
	From    string        `json:"from_agent"`
	Role    string        `json:"role,omitempty"` // the sender's
	To      string        `json:"to_agent"`
	State   string        `json:"state"`
	Summary string        `json:"summary"`
	Tasks   []string      `json:"tasks,omitempty"`
	Claims  []movedClaim  `json:"claims,omitempty"`
	Facts   []string      `json:"facts,omitempty"` // category/key
	Files   []string      `json:"files,omitempty"` // paths that the sender has shared
	Diary   []diary.Entry `json:"diary,omitempty"` // its last entries, the newest first
	At      time.Time     `json:"timestamp"`
}

// movedClaim is a claim that changed its holder.
type movedClaim struct {
	Path  string `json:"path"`
	Token uint64 `json:"token"`
}

// The states of a handoff. A pending one is a promise on disk that tasks and claims will
// move. If its process is killed, the next process that uses the project completes it.
const (
	handoffPending = "pending"
	handoffDone    = "done"
	handoffOff     = "off" // the tasks could not be moved, so nothing was
)

// handoffs holds the unfinished handoffs of a project by id.
type handoffs map[string]*handoffRecord

// put adds or replaces a handoff, or removes one that was called off.
func (s handoffs) put(h *handoffRecord) {
	if h.State == handoffOff {
		delete(s, h.ID)
		return
	}
	s[h.ID] = h
}

// waiting lists the handoffs that wait for an agent or for any one of its type, the oldest
// first.
func (s handoffs) waiting(id, kind string) []*handoffRecord {
	return s.list(func(h *handoffRecord) bool { return (h.To == id || h.To == kind) && h.State == handoffDone })
}

// unreceived counts the handoffs that wait for anybody.
func (s handoffs) unreceived() int {
	return len(s.list(func(h *handoffRecord) bool { return h.State == handoffDone }))
}

// pending lists copies of the handoffs that were not completed yet, the oldest first.
func (s handoffs) pending() []*handoffRecord {
	out := s.list(func(h *handoffRecord) bool { return h.State == handoffPending })
	for i, h := range out {
		out[i] = new(*h)
	}
	return out
}

// list returns the matching handoffs sorted by number.
func (s handoffs) list(which func(*handoffRecord) bool) []*handoffRecord {
	var out []*handoffRecord
	for _, h := range s {
		if which(h) {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *handoffRecord) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Bundle is handed-over work as its receiver gets it.
type Bundle struct {
	From    string        `json:"from_agent"`
	Role    string        `json:"role,omitempty"`
	To      string        `json:"to_agent,omitempty"` // where it waits for somebody else
	Summary string        `json:"summary"`
	Tasks   []string      `json:"tasks,omitempty"`
	Claims  []lease.Held  `json:"claims,omitempty"`
	Facts   []string      `json:"facts,omitempty"`
	Files   []string      `json:"files,omitempty"`
	Diary   []diary.Shown `json:"diary,omitempty"`
	At      time.Time     `json:"timestamp"`
}

// received returns the bundles of the handoffs and the claims that now become the agent's:
// those handed to its type. Claims handed to the agent itself are its own already.
func (p *project) received(id string, list []*handoffRecord, now time.Time) (out []Bundle, claims []event) {
	token := p.fence
	for _, h := range list {
		b := Bundle{From: h.From, Role: h.Role, Summary: h.Summary, Tasks: h.Tasks, Facts: h.Facts, Files: h.Files, At: h.At}
		for _, c := range h.Claims {
			if l := p.leases[lease.Key(c.Path)]; h.To != id && l != nil && l.Holder == h.To {
				if l.Expired(now) {
					continue
				}
				token++
				c.Token = token
				claims = append(claims, event{Claim: l.HandedTo(id, token, now)})
			}
			b.Claims = append(b.Claims, lease.Held{Path: c.Path, AgentID: id, Token: c.Token})
		}
		for _, e := range h.Diary {
			b.Diary = append(b.Diary, e.Shown())
		}
		out = append(out, b)
	}
	return out, claims
}

// lines formats a bundle.
func (b Bundle) lines(now time.Time) []string {
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

func (p *project) fileHandoff(h *handoffRecord) {
	p.handed = max(p.handed, h.Number)
	p.handoffs.put(h)
}

// sum is a checksum of who gets which summary.
func (h *handoffRecord) sum() string {
	sum := sha256.Sum256([]byte(h.To + "\x00" + h.Summary))
	return hex.EncodeToString(sum[:8])
}

// HandoffArgs is the arguments of handoff.
type HandoffArgs struct {
	ToAgent string `json:"to_agent" arg:"1" alias:"to" jsonschema:"who goes on: an id, the beginning of one, or a type; the last active agent of that type is taken, else the next one that comes"`
	Message string `json:"message" arg:"2" jsonschema:"what was done, what is left, what to watch for"`
}

// HandedOver is the result of handoff.
type HandedOver struct {
	From    string   `json:"from_agent"`
	To      string   `json:"to_agent"`
	Summary string   `json:"summary"`
	Tasks   []string `json:"tasks"`
	Claims  []string `json:"claims"`
	Nothing bool     `json:"nothing,omitempty"` // nothing was sent: no task and no claim, and the receiver has this summary
	Note    string   `json:"note,omitempty"`

	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's lines.
func (h HandedOver) Text() string {
	if h.Nothing {
		return fmt.Sprintf("No handoff: %s → %s\n  It moves nothing: no open task, no claim, and the same summary as before.", h.From, h.To) + prose.Redacted(h.Redacted)
	}
	text := fmt.Sprintf("Handoff complete: %s → %s\n  Summary: %s\n  Moved: %s, %s",
		h.From, h.To, prose.Brief(h.Summary), named(h.Tasks, "task"), named(h.Claims, "claim"))
	if h.Note != "" {
		text += "\n  " + h.Note
	}
	return text + prose.Redacted(h.Redacted)
}

// named counts things and lists them: 2 tasks (a, b).
func named(list []string, noun string) string {
	if len(list) == 0 {
		return prose.Count(0, noun)
	}
	return prose.Count(len(list), noun) + " (" + prose.Line(strings.Join(list, ", ")) + ")"
}

// The most that a bundle holds.
const (
	bundleDiary = 10
	bundleFacts = 5 // of the sender's session, the newest
	bundleFiles = 30
)

// Handoff passes the caller's open tasks and claims to another agent, with a summary and
// what it needs to continue. The receiver gets them once, with its next read or sync.
//
// Tasks and claims are in two stores. So the handoff is first committed here as pending;
// then the tasks move; then one commit moves the claims and gives the bundle. A kill
// before the first commit leaves nothing done. After a later kill, the next call in the
// project that reads agents, claims or tasks completes the handoff first (see
// [Store.Settle]). An error of the store of tasks calls the handoff off.
func (s *Store) Handoff(ctx context.Context, a HandoffArgs) (HandedOver, error) {
	summary, redacted, err := s.text("message", a.Message, maxText)
	if err != nil {
		return HandedOver{}, err
	}
	if err := s.begin(ctx); err != nil {
		return HandedOver{}, err
	}
	h := handoffRecord{Summary: summary, State: handoffPending}
	var note string
	var since time.Time
	find := func(p *project, now time.Time) (again bool, err error) {
		me, err := s.self(p)
		if err != nil {
			return false, err
		}
		h.From, h.Role, since = me.ID, me.Role, me.joined()
		h.To, note, err = p.successor(me, a.ToAgent, now)
		return me.Handed == h.sum(), err
	}
	sent := false
	if err := s.view(ctx, func(p *project, now time.Time) error { _, err := find(p, now); return err }); err != nil {
		return HandedOver{}, err
	}
	if err := s.pack(ctx, &h, since); err != nil {
		return HandedOver{}, err
	}
	done, err := s.live.Alone(h.From, func() error { sent, err = s.handOver(ctx, &h, find); return err })
	if err == nil && !done {
		err = fmt.Errorf("another handoff of %s is under way; try again", h.From)
	}
	if err != nil {
		return HandedOver{}, err
	}
	r := HandedOver{From: h.From, To: h.To, Summary: summary, Tasks: append([]string{}, h.Tasks...), Claims: []string{}, Note: note, Redacted: redacted}
	for _, c := range h.Claims {
		r.Claims = append(r.Claims, c.Path)
	}
	r.Nothing = !sent
	return r, nil
}

// successor finds the agent that takes over.
func (p *project) successor(me *agent, name string, now time.Time) (id, note string, err error) {
	if strings.TrimSpace(name) == "" {
		return "", "", refusal.Missing("to_agent", "")
	}
	to, err := p.addressee(name)
	if err != nil {
		return "", "", err
	}
	if to.agent == nil {
		others := slices.DeleteFunc(p.ofType(to.kind), func(a *agent) bool { return a.ID == me.ID || !a.present(now) })
		switch {
		case len(p.types[to.kind]) == 0:
			return to.kind, waits(to.kind), nil
		case len(others) == 0:
			return "", "", refusal.NotFound("No agent found: no other %s is here", to.kind)
		}
		to.agent = others[0]
	}
	switch {
	case to.agent.ID == me.ID:
		return "", "", refusal.Argument("to_agent", "to_agent %s is you", me.ID)
	case to.agent.Status == statusFinished:
		return "", "", refusal.Argument("to_agent", "%s has finished: nobody would go on with the work", to.agent.ID)
	}
	return to.agent.ID, absence(now, to.agent), nil
}

// pack adds to a bundle what other stores know. since is when the sender's session began.
func (s *Store) pack(ctx context.Context, h *handoffRecord, since time.Time) (err error) {
	if h.Diary, err = s.diaries.Tail(ctx, h.From, bundleDiary); err != nil {
		return err
	}
	if s.opts.Facts != nil {
		if h.Facts, err = s.opts.Facts(ctx, h.From, since); err != nil {
			return err
		}
		h.Facts = h.Facts[:min(len(h.Facts), bundleFacts)]
	}
	if s.opts.Files != nil {
		if h.Files, err = s.opts.Files(ctx, h.From); err != nil {
			return err
		}
		h.Files = h.Files[:min(len(h.Files), bundleFiles)]
	}
	return nil
}

// handOver commits a pending handoff and carries it out. find completes the record, and tells
// whether it is the sender's last handoff once more.
func (s *Store) handOver(ctx context.Context, h *handoffRecord, find func(*project, time.Time) (again bool, err error)) (sent bool, err error) {
	if s.opts.Tasks != nil {
		tasks, err := s.opts.Tasks.OpenTasks(ctx, h.From)
		if err != nil {
			return false, err
		}
		h.Tasks = tasks
	}
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		again, err := find(p, now)
		if err != nil {
			return nil, err
		}
		held := slices.ContainsFunc(p.leases.Of(h.From), func(l *lease.Lease) bool { return !l.Expired(now) })
		if sent = !again || held || len(h.Tasks) > 0; !sent {
			return nil, nil
		}
		h.Number, h.At = p.handed+1, now
		h.ID = fmt.Sprintf("h-%d", h.Number)
		return []event{{By: h.From, Handoff: new(*h)}}, nil
	})
	if err != nil || !sent {
		return false, err
	}
	ctx = context.WithoutCancel(ctx) // a cancelled call must not leave it half done
	err = s.moveTasks(ctx, h)
	if err != nil && !errors.Is(err, journal.ErrInDoubt) {
		if off := s.callOff(ctx, h); off == nil {
			return false, err
		}
	}
	if err == nil {
		err = s.settle(ctx, h)
	}
	if err != nil {
		return false, fmt.Errorf("the handoff to %s is on record and will be completed by whoever uses agents or tasks next: %w", h.To, err)
	}
	return true, nil
}

// moveTasks moves the tasks. Repeated, it moves nothing more.
func (s *Store) moveTasks(ctx context.Context, h *handoffRecord) error {
	if s.opts.Tasks == nil {
		return nil
	}
	tasks, err := s.opts.Tasks.Reassign(ctx, h.From, h.To, "handed off by "+h.From+": "+prose.Clip(h.Summary, 200))
	if err != nil {
		return err
	}
	for _, id := range tasks {
		if !slices.Contains(h.Tasks, id) {
			h.Tasks = append(h.Tasks, id)
		}
	}
	return nil
}

// settle commits the completion of a pending handoff.
func (s *Store) settle(ctx context.Context, h *handoffRecord) error {
	return s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		was := p.handoffs[h.ID]
		if was == nil || was.State != handoffPending {
			return nil, nil
		}
		return p.complete(h, now), nil
	})
}

// complete returns the events that move the claims and give the bundle.
func (p *project) complete(h *handoffRecord, now time.Time) []event {
	h.State, h.Claims = handoffDone, nil
	var events []event
	token := p.fence
	for _, l := range p.leases.Of(h.From) {
		if l.Expired(now) {
			continue
		}
		token++
		x := l.HandedTo(h.To, token, now)
		events = append(events, event{Claim: x})
		h.Claims = append(h.Claims, movedClaim{Path: x.Path, Token: x.Token})
	}
	if a := p.agents[h.From]; a != nil && a.Status != statusFinished {
		x := *a
		x.Status, x.Message, x.HandedTo, x.Handed = statusIdle, "handed off to "+h.To, h.To, h.sum()
		events = append(events, event{Agent: &x})
	}
	return append(events, event{Handoff: new(*h)})
}

// back makes an agent active again that had handed its work off.
func (p *project) back(a *agent) []event {
	if a.HandedTo == "" {
		return nil
	}
	x := *a
	x.Status, x.Message, x.HandedTo = statusActive, "", ""
	return []event{{By: a.ID, Agent: &x}}
}

// callOff cancels a pending handoff.
func (s *Store) callOff(ctx context.Context, h *handoffRecord) error {
	return s.update(ctx, func(p *project, _ time.Time) ([]event, error) {
		if p.handoffs[h.ID] == nil {
			return nil, nil
		}
		x := *h
		x.State = handoffOff
		return []event{{Handoff: &x}}, nil
	})
}

// begin runs at the start of a call. It records the caller's activity and completes
// handoffs whose process was killed. A handoff that cannot be completed yet becomes a
// notice and does not stop the call.
func (s *Store) begin(ctx context.Context) error {
	var pending []*handoffRecord
	var x activity
	err := s.view(ctx, func(p *project, now time.Time) error {
		x = s.activity(p, now)
		pending = p.handoffs.pending()
		return nil
	})
	if err != nil {
		return err
	}
	s.logTouch(s.touch(ctx, x))
	if err := s.resumeAll(ctx, pending); err != nil {
		s.notices.Add("%v", err)
	}
	return nil
}

// Settle completes the handoffs whose process was killed, so that the next reader of tasks
// sees them with their new agent. Without such handoffs it costs one view of the state. It
// skips a handoff that another process is completing. The error names each one that cannot
// be completed yet.
func (s *Store) Settle(ctx context.Context) error {
	var pending []*handoffRecord
	err := s.view(ctx, func(p *project, _ time.Time) error {
		pending = p.handoffs.pending()
		return nil
	})
	if err != nil {
		return err
	}
	return s.resumeAll(ctx, pending)
}

// resumeAll completes handoffs, each unless another process is completing it.
func (s *Store) resumeAll(ctx context.Context, pending []*handoffRecord) error {
	var errs []error
	for _, h := range pending {
		if _, err := s.live.Alone(h.From, func() error { return s.resumeHandoff(ctx, h) }); err != nil {
			errs = append(errs, fmt.Errorf("the handoff of %s to %s was interrupted and is not complete yet: %w", h.From, h.To, err))
		}
	}
	return errors.Join(errs...)
}

// resumeHandoff completes a handoff that is still pending once the lock is held. It never
// calls one off: the tasks may have moved already.
func (s *Store) resumeHandoff(ctx context.Context, h *handoffRecord) error {
	open := false
	err := s.view(ctx, func(p *project, _ time.Time) error {
		was := p.handoffs[h.ID]
		open = was != nil && was.State == handoffPending
		return nil
	})
	if err != nil || !open {
		return err
	}
	if err := s.moveTasks(ctx, h); err != nil {
		return err
	}
	return s.settle(ctx, h)
}
