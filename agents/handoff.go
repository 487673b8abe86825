package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
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

// handoffDone is the state of every handoff that is written. Earlier versions also wrote ones that
// were pending or called off.
const handoffDone = "done"

// handoffs holds by id the handoffs that nobody has received yet.
type handoffs map[string]*handoffRecord

// waiting lists the handoffs that wait for an agent or for any one of its type, the oldest
// first.
func (s handoffs) waiting(id, kind string) []*handoffRecord {
	return slices.DeleteFunc(s.all(), func(h *handoffRecord) bool { return h.To != id && h.To != kind })
}

// all lists the handoffs, the oldest first.
func (s handoffs) all() []*handoffRecord {
	return slices.SortedFunc(maps.Values(s), func(a, b *handoffRecord) int { return cmp.Compare(a.Number, b.Number) })
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
// those handed to its type. Claims handed to the agent itself are its own already. A diary entry
// is in one bundle alone.
func (p *project) received(id string, list []*handoffRecord, now time.Time) (out []Bundle, claims []event) {
	token, told := p.fence, map[string]bool{} // diary entries
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
			if ref := e.Ref(h.From); !told[ref] {
				told[ref] = true
				b.Diary = append(b.Diary, e.Shown())
			}
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
		claims[i] = fmt.Sprintf("%s (token %d)", prose.Clip(c.Path, maxName), c.Token)
	}
	for _, part := range []struct {
		name string
		list []string
	}{{"Tasks", b.Tasks}, {"Claims", claims}, {"Facts", b.Facts}, {"Shared files", b.Files}} {
		if len(part.list) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", part.name, joined(part.list)))
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
	if h.State == handoffDone {
		p.handoffs[h.ID] = h
	}
}

// sum is a checksum of who gets which summary.
func (h *handoffRecord) sum() string {
	sum := sha256.Sum256([]byte(h.To + "\x00" + h.Summary))
	return hex.EncodeToString(sum[:8])
}

// HandoffArgs is the arguments of handoff.
type HandoffArgs struct {
	ToAgent string `json:"to_agent" arg:"1" alias:"to" jsonschema:"who takes over: an id, the beginning of one, or a type. Of a type, the agent that was active last takes over, or else the next one to register"`
	Message string `json:"message" arg:"2" short:"m" long:"true" jsonschema:"what was done, what is left, what to watch for"`
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
	return prose.Count(len(list), noun) + " (" + joined(list) + ")"
}

// The most that a list in an answer shows, and how many characters of each name.
const (
	maxListed = 50
	maxName   = 200
)

// joined is a list of names in one line, the first ones of many.
func joined(list []string) string {
	shown := make([]string, min(len(list), maxListed))
	for i := range shown {
		shown[i] = prose.Clip(list[i], maxName)
	}
	text := prose.Line(strings.Join(shown, ", "))
	if more := len(list) - len(shown); more > 0 {
		text += fmt.Sprintf(", … %d more", more)
	}
	return text
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
// Tasks and claims are in two stores. First the tasks move, then one commit moves the claims and
// gives the bundle. If that commit fails, the tasks are given back. A process that is killed
// between the two has moved only the tasks; a repeated handoff does the rest.
func (s *Store) Handoff(ctx context.Context, a HandoffArgs) (HandedOver, error) {
	summary, redacted, err := s.texts.clean("message", a.Message, maxText)
	if err != nil {
		return HandedOver{}, err
	}
	if err := s.Enter(ctx); err != nil {
		return HandedOver{}, err
	}
	h := handoffRecord{Summary: summary, State: handoffDone}
	var note string
	var since time.Time
	err = s.view(ctx, func(p *project, now time.Time) error {
		me, err := s.caller.agent(p)
		if err != nil {
			return err
		}
		h.From, h.Role, since = me.ID, me.Role, me.joined()
		h.To, note, err = p.successor(me, a.ToAgent, now)
		return err
	})
	if err != nil {
		return HandedOver{}, err
	}
	if err := s.pack(ctx, &h, since); err != nil {
		return HandedOver{}, err
	}
	sent, err := s.handOver(ctx, &h)
	if err != nil {
		return HandedOver{}, err
	}
	r := HandedOver{From: h.From, To: h.To, Summary: summary, Tasks: append([]string{}, h.Tasks...), Claims: []string{}, Nothing: !sent, Note: note, Redacted: redacted}
	for _, c := range h.Claims {
		r.Claims = append(r.Claims, c.Path)
	}
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
		all := p.ofType(to.kind)
		others := slices.DeleteFunc(slices.Clone(all), func(a *agent) bool { return a.ID == me.ID || !a.present(now) })
		switch {
		case len(all) == 0:
			return to.kind, waits(to.kind), nil
		case len(others) == 0 && to.kind == me.Type: // it would get its own work back
			return "", "", refusal.NotFound("No agent found: no other %s is here", to.kind)
		case len(others) == 0:
			return to.kind, absence(now, all...), nil
		}
		to.agent = others[0]
	}
	switch {
	case to.agent.ID == me.ID:
		return "", "", refusal.Argument("to_agent", "to_agent %s is you", me.ID)
	case to.agent.Status == statusFinished:
		return "", "", refusal.Argument("to_agent", "%s has finished: nobody would continue the work", to.agent.ID)
	}
	return to.agent.ID, absence(now, to.agent), nil
}

// pack adds to a bundle what other stores know. since is when the sender's session began.
func (s *core) pack(ctx context.Context, h *handoffRecord, since time.Time) (err error) {
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

// handOver moves the tasks and the claims and gives the bundle. sent is false if there is nothing
// to move and the receiver has the same summary already.
func (s *core) handOver(ctx context.Context, h *handoffRecord) (sent bool, err error) {
	if s.opts.Tasks != nil {
		if h.Tasks, err = s.opts.Tasks.Reassign(ctx, h.From, h.To, "handed off by "+h.From+": "+prose.Clip(h.Summary, 200)); err != nil {
			return false, err
		}
	}
	ctx = context.WithoutCancel(ctx) // a cancelled call must not leave it half done
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		me := p.agents[h.From]
		if me == nil {
			return nil, unknownAgent(h.From, "")
		}
		events := p.moveClaims(h, now)
		if sent = me.Handed != h.sum() || len(h.Tasks)+len(h.Claims) > 0; !sent {
			return nil, nil
		}
		if err := p.mayHandOff(h.From, now); err != nil {
			return nil, err
		}
		if me.Status != statusFinished {
			x := *me
			x.Status, x.Message, x.HandedTo, x.Handed = statusIdle, "handed off to "+h.To, h.To, h.sum()
			events = append(events, event{By: h.From, Agent: &x})
		}
		h.Number, h.At = p.handed+1, now
		h.ID = fmt.Sprintf("h-%d", h.Number)
		return append(events, event{Handoff: new(*h)}), nil
	})
	if err != nil && len(h.Tasks) > 0 && !errors.Is(err, journal.ErrInDoubt) {
		if _, back := s.opts.Tasks.Reassign(ctx, h.To, h.From, "the handoff could not be written", h.Tasks...); back != nil {
			err = fmt.Errorf("the tasks were handed to %s, but the message and the claims were not; hand off once more: %w", h.To, err)
		}
	}
	return sent, err
}

// moveClaims returns the events that move the sender's claims, and lists them in the handoff.
func (p *project) moveClaims(h *handoffRecord, now time.Time) (events []event) {
	h.Claims = nil
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
	return events
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

// sizeOf is about the bytes that handoffs take in an answer.
func sizeOf(list []*handoffRecord) (bytes int) {
	for _, h := range list {
		bytes += len(prose.Block(h.Summary)) + 200
		for _, list := range [][]string{h.Tasks, h.Facts, h.Files} {
			for _, name := range list {
				bytes += len(name) + 4
			}
		}
		for _, c := range h.Claims {
			bytes += len(c.Path) + 120
		}
		for _, e := range h.Diary {
			bytes += len(prose.Block(e.Text)) + 100
		}
	}
	return bytes
}

// firstBundles are the handoffs that one answer gives: at least one.
func firstBundles(list []*handoffRecord) []*handoffRecord {
	for i := range list {
		if i > 0 && sizeOf(list[:i+1]) > prose.MaxGiven {
			return list[:i]
		}
	}
	return list
}
