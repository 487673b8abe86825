package replica_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/replica"
)

// Nobody's line sets the time of what is said here, and a sync loses nothing of it: what is said for an
// hour holds for that hour, and by its own date unless one whom we trust has a wrong clock.
func TestLineFromTheFutureSetsNoTime(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for name, x := range map[string]struct {
		key     *ed25519.PrivateKey
		trusted bool
		by      time.Duration
	}{
		"a stranger, unsigned": {nil, false, 24*time.Hour - time.Minute}, "a stranger, signed": {&key, false, 24*time.Hour - time.Minute}, "a stranger, an hour": {&key, false, time.Hour},
		"a colleague with a wrong clock": {&key, true, 23 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			m := attacked(t)
			m.mustTry(t)
			at := m.clock.Add(x.by)
			line := replica.Line{Op: "assert", Key: "lang", Value: "English", At: at}
			var text string
			if x.key == nil {
				text = replica.Claims("deadbeef", 2, line, nil)
			} else {
				text = replica.KeyLine("deadbeef", *x.key) + replica.Claims("deadbeef", 2, line, *x.key)
			}
			m.put("deadbeef.jsonl", text)
			if x.trusted {
				if _, err := replica.Trust(t.Context(), m.store, m.root, "deadbeef"); err != nil {
					t.Fatal(err)
				}
			}
			r := m.mustTry(t)
			if there := m.version(t, "lang") != nil; there != x.trusted || !x.trusted && !strings.Contains(r.Text(), "in the future and not taken in yet") {
				t.Errorf("taken in: %v, %s", there, r.Text())
			}
			for i, until := range []time.Duration{20 * time.Minute, 20 * time.Hour, 30 * time.Hour} {
				m.clock = m.clock.Add(time.Minute)
				name := "freeze" + string(rune('0'+i))
				end := m.clock.Add(until).Format(time.RFC3339Nano)
				if _, err := m.store.As(knowledge.Actor{Kind: knowledge.KindUser}).Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: name, Value: "no deploys", ValidUntil: end}); err != nil {
					t.Fatal(err)
				}
				before := m.version(t, name)
				for range 2 {
					m.clock = m.clock.Add(time.Minute)
					m.mustTry(t)
					v := m.version(t, name)
					if v == nil || v.Value != "no deploys" || v.ValidUntil == nil || v.ValidUntil.Format(time.RFC3339Nano) != end || !x.trusted && !v.ValidFrom.Equal(before.ValidFrom) {
						t.Fatalf("%s: it was %+v and is %+v", name, before, v)
					}
				}
			}
			// What a stranger wrote comes when its time has come.
			m.clock = at.Add(time.Minute)
			m.mustTry(t)
			if m.version(t, "lang") == nil {
				t.Error("it never came")
			}
		})
	}
}
