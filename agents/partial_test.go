package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// large is a registry whose file has an index, of two projects. Some messages
// are odd, urgent or end by themselves.
func large(t *testing.T) (b *bed, me string, file string) {
	t.Helper()
	b = newBed(t)
	s := crowd(t, b, 20, 2200) // a file of 2000 has an index
	me = s.Self()
	for _, p := range []Posting{
		{Message: "urgent \"one\"\n\\ \x7f", Priority: "critical"}, {Message: "short", TTL: "1h"},
		{Message: "for you", ToAgent: me, Private: true}, {Message: "found", Category: "finding"},
	} {
		post(t, s.As(Actor{Client: "a shell\twith \"quotes\""}), p)
	}
	other := *b
	other.opts.ProjectHash = "00000000000000ff"
	post(t, join(t, other.open(), "gemini", ""), Posting{Message: "elsewhere"})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.opts.partsFrom = 1
	return b, me, filepath.Join(b.dir, "registry.json")
}

// partial tells whether a store holds a state that was read in parts.
func partial(t *testing.T, s *Store) (found bool) {
	t.Helper()
	err := s.log.View(t.Context(), func(st *state, _ journalHead) error {
		found = st.source != nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// answers is what somebody sees of the registry.
func answers(t *testing.T, s *Store) []string {
	t.Helper()
	ctx := t.Context()
	in := must[Inbox](t)(s.Inbox(ctx, s.Self()))
	refs, err := s.Copies(ctx, func(text string) bool { return strings.HasPrefix(text, "message 1") || text == "found" })
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Findings(ctx, time.Time{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return append(refs, in.Text(), must[Agents](t)(s.List(ctx, Roll{})).Text(), must[Info](t)(s.Info(ctx, Nothing{})).Text(),
		must[Synced](t)(s.Sync(ctx, Nothing{})).Text(), found[0].Ref)
}

// What is read in parts answers as what is read whole, before and after more
// was written, and makes the same file.
func TestPartial(t *testing.T) {
	b, me, file := large(t)
	whole := *b
	whole.opts.partsFrom = 1 << 40
	parts := b.open().As(Actor{Agent: me})
	if !partial(t, parts) || partial(t, whole.open()) {
		t.Fatal("it is not read in parts, or always")
	}
	same := func() {
		t.Helper()
		if d := gocmp.Diff(answers(t, whole.open().As(Actor{Agent: me})), answers(t, parts)); d != "" {
			t.Error(d)
		}
	}
	same()
	first := read(t, parts)
	if len(first.Messages) != standardPage || first.Messages[0].Priority != "critical" || first.Messages[0].Message != "urgent \"one\"\n\\ \x7f" {
		t.Errorf("%+v", first.Messages[0])
	}
	post(t, parts, Posting{Message: "one more"})
	b.clock.pass(2 * time.Hour)
	same()
	again := read(t, b.open().As(Actor{Agent: me}))
	if again.Unread >= first.Unread || again.Messages[0].Number == first.Messages[0].Number {
		t.Errorf("%d and %d unread", first.Unread, again.Unread)
	}
	if !partial(t, parts) {
		t.Error("it was read whole")
	}
	if err := parts.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	one, err := os.ReadFile(file)
	if err == nil {
		err = whole.open().Compact(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(file)
	if d := gocmp.Diff(padded(one), padded(two)); d != "" || err != nil {
		t.Error(err, d)
	}
}

// padded is the part of a file that holds the scratchpads and their index.
func padded(file []byte) string {
	_, after, _ := bytes.Cut(file, []byte("scratchpad"))
	return string(after)
}

// A file that is damaged anywhere is read whole, and then the journal helps
// itself; nobody sees half a message.
func TestPartialDamaged(t *testing.T) {
	b, me, file := large(t)
	if err := b.open().Compact(t.Context()); err != nil { // there is one before it
		t.Fatal(err)
	}
	want := answers(t, b.open().As(Actor{Agent: me}))
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]int{
		"a message": bytes.Index(good, []byte("message 1:")), "an agent": bytes.Index(good, []byte("implementing")),
		"the index": bytes.Index(good, []byte(`"slips":"`)) + 40, "the names": bytes.Index(good, []byte(`"names"`)) + 12,
		"the layout": len(good) - 20, "the last project": bytes.LastIndex(good, []byte(`"findings"`)) + 3,
	}
	for what, at := range marks {
		t.Run(what, func(t *testing.T) {
			bad := bytes.Clone(good)
			bad[at] ^= 1
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			s := b.open().As(Actor{Agent: me})
			if d := gocmp.Diff(want, answers(t, s)); d != "" {
				t.Error(d)
			}
			if len(s.Notices()) == 0 {
				t.Error("nobody was told")
			}
			if err := os.WriteFile(file, good, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}
