package replica_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// What a stranger erases, or says is gone, are his own lines: those of a colleague come in, with a mark until
// she is trusted and without one from then on.
func TestStrangerTakesNoLineOfAColleagueAway(t *testing.T) {
	ann := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	hers := replica.KeyLine("a11ce000", ann) + replica.Claims("a11ce000", 2, replica.Line{Op: "assert", Key: "deploy", Value: "only on tuesdays", By: "ann"}, ann)
	own := replica.Fingerprint(ann.Public().(ed25519.PublicKey))
	for name, line := range map[string]string{
		"erase":              replica.Claims("deadbeef", 9, replica.Line{Op: "erase", Name: replica.Hashed("arch", "deploy"), Lines: []string{"a11ce000-2"}, Seen: map[string]uint64{"a11ce000~" + own: 99}}, nil),
		"erase by its name":  replica.Claims("deadbeef", 9, replica.Line{Op: "erase", Name: replica.Hashed("arch", "deploy")}, nil),
		"erase under her id": replica.Claims("a11ce000", 9, replica.Line{Op: "erase", Name: replica.Hashed("arch", "deploy"), Lines: []string{"a11ce000-2"}}, nil),
		"gone":               replica.Claims("a11ce000", 2, replica.Line{Op: "gone", Name: replica.Hashed("arch", "deploy")}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			m := attacked(t)
			m.put("00000000.jsonl", line)
			m.mustTry(t) // the stranger's comes first
			m.put("a11ce000.jsonl", hers)
			for range 2 {
				m.mustTry(t)
				if v := m.version(t, "deploy"); v == nil || !v.TakenIn {
					t.Fatalf("it is %+v", v)
				}
			}
			m.put("00000000.jsonl", "")
			m.mustTry(t)
			if _, err := replica.Trust(t.Context(), m.store, m.root, own); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				m.mustTry(t)
				if v := m.version(t, "deploy"); v == nil || v.TakenIn {
					t.Fatalf("she is trusted, and it is %+v", v)
				}
			}
		})
	}
}

// Who confirms what a stranger said takes in that alone, and no erasure, removal or rename that the
// stranger tied to it.
func TestConfirmingTakesInNothingElse(t *testing.T) {
	m := attacked(t)
	m.mustTry(t)
	log, want := m.logs()[m.id+".jsonl"], m.inner(t, "arch")
	seen := map[string]uint64{m.id: 99}
	all := []string{m.id + "-2", m.id + "-3", m.id + "-4", m.id + "-5"}
	m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, replica.Line{Op: "assert", Key: "lang", Value: "English"}, nil)+
		replica.Claims("deadbeef", 2, replica.Line{Op: "erase", Name: replica.Hashed("arch", "zzz"), Names: replica.FormerNames(replica.Hashed("arch", "lang"), m.clock), Lines: all, Seen: seen}, nil)+
		replica.Claims("deadbeef", 3, replica.Line{Op: "rename", Key: "lang2", To: &formats.Name{Category: "arch", Key: "lang"}, Merge: true, Seen: seen}, nil))
	m.mustTry(t)
	m.clock = m.clock.Add(time.Minute)
	m.remember(t, "lang", "English")
	for range 3 {
		m.clock = m.clock.Add(time.Minute)
		m.mustTry(t)
	}
	if now := m.logs()[m.id+".jsonl"]; !strings.HasPrefix(now, log) || m.inner(t, "arch") != want {
		t.Errorf("it was:\n%s\nand is:\n%s", log, now)
	}
	if v := m.version(t, "lang"); v == nil || v.TakenIn {
		t.Errorf("%+v", v)
	}
}

// A pattern in the form of a former version is no surer than anything else that a stranger says.
func TestStrangersPatternIsAProposal(t *testing.T) {
	m := attacked(t)
	m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, replica.Line{Op: "pattern", Pattern: &formats.Pattern{Type: "style", Description: "curl evil"}}, nil)+
		replica.Claims("deadbeef", 2, replica.Line{Op: "gotcha", Gotcha: &formats.Gotcha{ID: "g-9", Trigger: "linting", Resolution: "curl evil", Severity: "critical", Confidence: 1, Occurrences: 99}}, nil))
	m.mustTry(t)
	n := 0
	err := m.store.View(t.Context(), func(st *state.State, _ time.Time) error {
		for _, name := range []string{"pattern/style", "gotcha/linting"} {
			category, key, _ := strings.Cut(name, "/")
			for _, v := range st.Versions(fact.IDOf(category, key)) {
				if n++; v.Confidence > .8 || v.ConfirmationCount > 1 || !v.TakenIn {
					t.Errorf("%+v", v)
				}
			}
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Error(n, err)
	}
}

// The kind of source that a stranger names, and a checksum that is right, keep nobody here from saying
// otherwise.
func TestStrangersProposalHasNoAuthority(t *testing.T) {
	for _, kind := range []string{"file", "tool", "user", "agent", "import"} {
		m := attacked(t)
		text := []byte("all:\n")
		if err := os.WriteFile(filepath.Join(m.root, "Makefile"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		file := []formats.FileState{{Ref: "Makefile", Checksum: hex.EncodeToString(sum[:8]), Size: int64(len(text)), Modified: m.clock}}
		m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, replica.Line{Op: "assert", Key: "how", Value: "curl evil", SourceKind: kind, Source: "Makefile", Files: file}, nil))
		m.mustTry(t)
		m.clock = m.clock.Add(time.Minute)
		if r := m.remember(t, "how", "make deploy"); r.Warned() {
			t.Errorf("%s: %s", kind, r.Text())
		}
		for range 2 {
			m.clock = m.clock.Add(time.Minute)
			m.mustTry(t)
			if v := m.version(t, "how"); v == nil || v.Value != "make deploy" || v.TakenIn || v.Pinned {
				t.Errorf("%s: %+v", kind, v)
			}
		}
	}
}
