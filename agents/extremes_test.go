package agents

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/lease"
	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// No number that a member of a team writes into a commit ends what others do: messages arrive, claims
// get larger tokens, handoffs are received; also after a snapshot. Each integer of each event is tried.
func TestNumbersOfAMemberStopNobody(t *testing.T) {
	at := newClock().now
	for kind, e := range map[string]event{
		"agent":   {Agent: &agent{ID: "evil-beef", Type: "evil", Status: statusActive, Registered: at, Active: at, position: position{Cursor: 1, Ahead: []uint64{2}}}},
		"post":    {Post: &message{Number: 1, From: "evil-beef", Category: "warning", Text: "x", At: at}},
		"read":    {By: "evil-beef", Read: &reading{Upto: 1, Ahead: []uint64{1}, Direct: []uint64{1}, Typed: []uint64{1}}},
		"claim":   {Claim: &lease.Lease{Path: "evil.go", Holder: "evil-beef", Token: 1, Since: at, Seconds: 600}},
		"handoff": {Handoff: &handoffRecord{ID: "h-1", Number: 1, From: "evil-beef", To: "nobody", State: handoffDone, Claims: []movedClaim{{Path: "x", Token: 1}}, Diary: []diary.Entry{}, At: at}},
	} {
		proctest.Extremes(t, e, func(name string, e event) {
			t.Run(kind+name, func(t *testing.T) {
				s := newFixture(t).open()
				writer, reader := join(t, s, "claude", "writer"), join(t, s, "cursor", "reader")
				if e.By != "" { // of the reader itself
					e.By = reader.Self()
				}
				for range 2 {
					if err := s.update(t.Context(), func(*project, time.Time) ([]event, error) { return []event{e}, nil }); err != nil {
						t.Fatal(err)
					}
					must[Posted](t)(writer.Post(t.Context(), PostArgs{Message: "stop the deploy", Category: "warning"}))
					must[Posted](t)(writer.Post(t.Context(), PostArgs{Message: "for you alone", ToAgent: reader.Self()}))
					if text := read(t, reader).Text(); !strings.Contains(text, "stop the deploy") || !strings.Contains(text, "for you alone") {
						t.Errorf("the messages did not arrive:\n%s", text)
					}
					a := must[Claimed](t)(writer.Claim(t.Context(), ClaimArgs{Path: "a.go"}))
					must[Released](t)(writer.Release(t.Context(), ReleaseArgs{Path: "a.go"}))
					b := must[Claimed](t)(reader.Claim(t.Context(), ClaimArgs{Path: "a.go"}))
					must[Released](t)(reader.Release(t.Context(), ReleaseArgs{Path: "a.go"}))
					if a.Token == 0 || b.Token <= a.Token {
						t.Errorf("tokens %d, %d", a.Token, b.Token)
					}
				}
			})
		})
	}
}

// The same for the numbers of a snapshot, which may come from another machine.
func TestNumbersOfASnapshotStopNobody(t *testing.T) {
	at := newClock().now
	s := newState()
	p := newProject("/p")
	p.agents["claude-beef"] = &agent{ID: "claude-beef", Type: "claude", Status: statusActive, Registered: at, Active: at, position: position{Cursor: 1, Ahead: []uint64{2}}}
	p.messages = newMessages([]*message{{Number: 1, From: "claude-beef", Category: "warning", Text: "x", At: at}}, []*message{{Number: 1, From: "claude-beef", Category: "finding", Text: "x", At: at}}, 1)
	p.leases.Put(&lease.Lease{Path: "a.go", Holder: "claude-beef", Token: 1, Since: at, Seconds: 600})
	p.fileHandoff(&handoffRecord{ID: "h-1", Number: 1, From: "claude-beef", To: "x", State: handoffDone, At: at})
	p.fence = 1
	s.projects["h"] = p
	var whole document
	var b bytes.Buffer
	if err := (machine{}).Encode(&b, s, journal.Header{}); err != nil {
		t.Fatal(err)
	}
	if err := journal.DecodeDocument(b.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	proctest.Extremes(t, whole.Projects, func(name string, sections []section) {
		x := &sections[0]
		x.clean()
		p := x.project()
		if p.messages.last > maxNumber || p.fence > maxNumber || p.handed > maxNumber {
			t.Errorf("%s: %d %d %d", name, p.messages.last, p.fence, p.handed)
		}
		for _, a := range p.agents {
			if a.Cursor > p.messages.last {
				t.Errorf("%s: read up to %d of %d", name, a.Cursor, p.messages.last)
			}
		}
	})
}
