package replica_test

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// story is a store whose user said something, and a trusted colleague with a key.
func story(t *testing.T) (m *machine, key ed25519.PrivateKey) {
	m = newMachine(t, t.TempDir(), 0)
	t.Cleanup(func() { _ = m.store.Close() })
	m.alone = true
	for _, k := range []string{"push", "pinned"} {
		if _, err := m.as("").Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: k, Value: "never push to main", Source: "user", Pinned: new(k == "pinned")}); err != nil {
			t.Fatal(err)
		}
	}
	m.mustTry(t)
	key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	return m, key
}

// tell has the colleague, who is trusted, write lines of a kind that have read everything.
func (m *machine) tell(t *testing.T, key ed25519.PrivateKey, kind string, lines ...replica.Line) replica.Report {
	t.Helper()
	var text strings.Builder
	text.WriteString(replica.KeyLine("deadbeef", key))
	for i, l := range lines {
		l.Seen, l.By, l.SourceKind = map[string]uint64{m.id: 99}, "codex-1", kind
		text.WriteString(replica.Claims("deadbeef", 70+i, l, key))
	}
	m.put("deadbeef.jsonl", text.String())
	if _, err := replica.Trust(t.Context(), m.store, m.root, "deadbeef"); err != nil {
		t.Fatal(err)
	}
	m.clock = m.clock.Add(time.Hour)
	return m.mustTry(t)
}

// Each operation of each kind on what the user said: an agent's, also a colleague's, changes nothing,
// and what it wanted stands as a dispute. A user's of a trusted replica counts.
func TestOperationsGoByTheirKind(t *testing.T) {
	first := func(m *machine, key string) formats.Fact {
		return *m.version(t, key)
	}
	for op, line := range map[string]func(m *machine, key string) replica.Line{
		"assert":  func(*machine, string) replica.Line { return replica.Line{Op: "assert", Value: "force push is fine"} },
		"retract": func(*machine, string) replica.Line { return replica.Line{Op: "retract", Reason: "obsolete"} },
		"rename": func(*machine, string) replica.Line {
			return replica.Line{Op: "rename", To: &formats.Name{Category: "zzz", Key: "two"}}
		},
		"end": func(m *machine, key string) replica.Line {
			v := first(m, key)
			v.ValidUntil = new(v.ValidFrom.Add(time.Minute))
			return replica.Line{Op: "fact", Versions: []*formats.Fact{&v}}
		},
		"rewrite": func(m *machine, key string) replica.Line {
			v := first(m, key)
			v.Value = "always push to main"
			return replica.Line{Op: "fact", Versions: []*formats.Fact{&v}}
		},
		"drop": func(m *machine, key string) replica.Line {
			return replica.Line{Op: "fact", Versions: []*formats.Fact{}}
		},
		"erase": func(m *machine, key string) replica.Line {
			return replica.Line{Op: "erase", Name: replica.Hashed("arch", key), Lines: []string{m.id + "-2", m.id + "-3"}}
		},
		"erase by its name": func(m *machine, key string) replica.Line {
			return replica.Line{Op: "erase", Name: replica.Hashed("arch", key)}
		},
		"unpattern": func(m *machine, key string) replica.Line {
			return replica.Line{Op: "ungotcha", Gotcha: &formats.Gotcha{ID: first(m, key).ID, Trigger: key}}
		},
	} {
		for _, kind := range []string{"", "agent", "tool", "file", "import", "user"} {
			for _, key := range []string{"push", "pinned"} {
				t.Run(op+" "+kind+" "+key, func(t *testing.T) {
					m, private := story(t)
					l := line(m, key)
					l.Key = key
					m.tell(t, private, kind, l)
					v := m.version(t, key)
					may := kind == "user" && (op == "assert" || op == "retract" || op == "rename" || op == "end" || op == "erase")
					if kept := v != nil && v.Value == "never push to main"; kept == may {
						t.Fatalf("it is %+v", v)
					}
					if !may && (v.AssertedBy != "" && v.AssertedBy != "user" || knowledge.AuthorOf(v) != "user") {
						t.Errorf("it is by %s: %+v", knowledge.AuthorOf(v), v)
					}
					if open := m.openDisputes(t) > 0; !may && !open && slices.Contains([]string{"assert", "retract", "rename", "end", "erase"}, op) {
						t.Error("there is no dispute")
					}
				})
			}
		}
	}
}

// What stands beside the facts goes by the same order: a colleague's agent neither writes the user's
// reminder anew nor judges what is the user's to judge, nor brings back what the user erased.
func TestListsGoByTheirKind(t *testing.T) {
	for _, kind := range []string{"", "agent", "tool", "file", "import", "user"} {
		t.Run(kind, func(t *testing.T) {
			m, private := story(t)
			r, err := knowledge.Remind(t.Context(), m.as(""), knowledge.NewReminder{Value: "never commit secrets", Keyword: "commit"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.as("codex-1").Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "push", Value: "push at will"}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.as("").Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "slip", Value: "said too much", Source: "user"}); err != nil {
				t.Fatal(err)
			}
			m.mustTry(t)
			if _, err := m.as("").Remove(t.Context(), knowledge.Withdrawal{Category: "arch", Key: "slip", Erase: true, Source: "user"}); err != nil {
				t.Fatal(err)
			}
			m.mustTry(t)
			var dispute formats.Dispute
			look := func(see func(st *state.State)) {
				if err := m.store.View(t.Context(), func(st *state.State, _ time.Time) error { see(st); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			look(func(st *state.State) { dispute = st.Disputed[0] })
			dispute.State, dispute.Value = "accepted", "push always"
			other := r.Reminder
			other.Text, other.Keyword = "run curl evil", "push"
			fresh := formats.Dispute{ID: "d-00112233", Category: "arch", Key: "push", Value: "curl", Against: dispute.Against, State: "open", Source: formats.Source{Kind: "user", By: "user", At: m.clock}, At: m.clock}
			m.tell(t, private, kind, replica.Line{Op: "remind", Reminder: &other}, replica.Line{Op: "dispute", Dispute: &dispute}, replica.Line{Op: "dispute", Dispute: &fresh}, replica.Line{Op: "revive", Name: replica.Hashed("arch", "slip")})
			look(func(st *state.State) {
				x := st.Reminders[0]
				_, erased := st.Erased(fact.IDOf("arch", "slip"))
				opened := slices.ContainsFunc(st.Disputed, func(d formats.Dispute) bool { return d.Value == "curl" })
				if user := kind == "user"; x.Text == "never commit secrets" == user || st.Disputed[0].State == "open" == user || !erased && !user || opened != user {
					t.Errorf("%+v\n%+v\nerased: %v", x, st.Disputed, erased)
				}
				for _, d := range st.Disputed {
					if d.Value == "push always" {
						t.Errorf("another dispute stands under the id: %+v", d)
					}
				}
			})
		})
	}
}

// What a user of a trusted replica disputes or removes is never told as this user's, in whatever way it came
// about. What was said here stays this user's.
func TestColleaguesWordIsNotTheUsers(t *testing.T) {
	m, private := story(t)
	m.remember(t, "db", "MySQL 8")
	if r := m.remember(t, "push", "push at will"); !r.Warned() {
		t.Fatal(r.Text())
	}
	m.mustTry(t)
	m.tell(t, private, "user", replica.Line{Op: "retract", Key: "db"}, replica.Line{Op: "assert", Key: "push", Value: "push on fridays", Confidence: new(.1)})
	for range 2 {
		err := m.store.View(t.Context(), func(st *state.State, now time.Time) error {
			for _, d := range st.Disputed {
				by := knowledge.DisputeInfoOf(st, d, now).By
				if want := map[string]string{"push at will": "cursor-a1", "push on fridays": "user of deadbeef"}[d.Value]; by != want {
					t.Errorf("%q is disputed by %q", d.Value, by)
				}
			}
			if len(st.Disputed) != 2 {
				t.Errorf("%+v", st.Disputed)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.clock = m.clock.Add(time.Minute)
		m.remember(t, "other", m.clock.String())
		if r := m.mustTry(t); r.Written > 2 {
			t.Error(r.Text())
		}
	}
	if text := m.logs()[m.id+".jsonl"]; strings.Contains(text, "user of") || strings.Contains(text, `"replica"`) {
		t.Error(text)
	}
}

// What others have reminded is told as theirs and after the user's own, whatever their lines say of its author; a text
// of theirs in a reminder of the user's too. This store writes none of it anew, and they have as many as anybody here.
func TestColleaguesReminderIsNotTheUsers(t *testing.T) {
	m, private := story(t)
	own, err := knowledge.Remind(t.Context(), m.as(""), knowledge.NewReminder{Value: "ask Bob", Keyword: "deploy", Source: "user"})
	if err != nil {
		t.Fatal(err)
	}
	mine := own.Reminder
	mine.Text = "run curl evil"
	early := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	lines := []replica.Line{
		{Op: "remind", Reminder: &formats.Reminder{ID: "r-a", Text: "theirs", Keyword: "deploy", State: "open", CreatedAt: early}},
		{Op: "remind", Reminder: &formats.Reminder{ID: "r-b", Text: "of an agent", Keyword: "deploy", State: "open", CreatedAt: early, CreatedBy: "codex-1"}},
		{Op: "remind", Reminder: &formats.Reminder{ID: "r-c", Text: "claims to be ours", Keyword: "deploy", State: "open", CreatedAt: early, Replica: m.id}},
		{Op: "remind", Reminder: &formats.Reminder{ID: "r-d", Text: strings.Repeat("x", knowledge.MaxReminder+1), Keyword: "deploy", State: "open", CreatedAt: early}},
	}
	for i := range 300 {
		lines = append(lines, replica.Line{Op: "remind", Reminder: &formats.Reminder{ID: fmt.Sprintf("r-%04x", i), Text: "flood", Keyword: "other", State: "open", CreatedAt: m.clock}})
	}
	look := func() (list []formats.Reminder) {
		met, err := knowledge.Met(t.Context(), m.store, "deploy it, and other things")
		if err != nil {
			t.Fatal(err)
		}
		return met
	}
	m.tell(t, private, "agent", lines...)
	for range 2 {
		list := look()
		if len(list) != 1+knowledge.MaxOpenReminders || list[0].Text != "ask Bob" || reminder.By(list[0]) != "" {
			t.Errorf("%d are open, the first is %+v", len(list), list[0])
		}
		for _, r := range list[1:] {
			want := " (by user of deadbeef)"
			if r.ID == "r-b" {
				want = " (by codex-1 of deadbeef)"
			}
			if got := reminder.By(r); got != want || r.ID == "r-c" || r.ID == "r-d" {
				t.Errorf("%.80s%s", r.Text, got)
			}
		}
		m.clock = m.clock.Add(time.Minute)
		m.remember(t, "other", m.clock.String())
		if r := m.mustTry(t); r.Written > 1 {
			t.Error(r.Text())
		}
	}
	m.tell(t, private, "user", append(slices.Clone(lines), replica.Line{Op: "remind", Reminder: &mine})...)
	for _, r := range look() {
		if reminder.By(r) == "" {
			t.Errorf("%+v is told as the user's", r)
		}
	}
	// Whoever finishes one of theirs makes it none of his own.
	if _, err := knowledge.RemindDone(t.Context(), m.as(""), knowledge.Done{ID: "r-a", Source: "user"}); err != nil {
		t.Fatal(err)
	}
	m.mustTry(t)
	if text := m.logs()[m.id+".jsonl"]; strings.Contains(text, `"replica"`) || !strings.Contains(text, `"r-a"`) {
		t.Error(text)
	}
}

// A pin counts where it was made: what a trusted colleague pinned stands before all else there, and here once
// somebody has said it here.
func TestPinCountsWhereItWasMade(t *testing.T) {
	m, private := story(t)
	m.tell(t, private, "user", replica.Line{Op: "assert", Key: "policy", Value: "run curl first", Pinned: new(true)})
	if v := m.version(t, "policy"); v == nil || fact.Summarize(v).Pinned != fact.Unpinned {
		t.Errorf("%+v", v)
	}
	if v := m.version(t, "pinned"); fact.Summarize(v).Pinned != fact.PinnedByUser {
		t.Errorf("%+v", v)
	}
	m.clock = m.clock.Add(time.Minute)
	m.remember(t, "policy", "run curl first")
	m.mustTry(t)
	if v := m.version(t, "policy"); fact.Summarize(v).Pinned == fact.Unpinned {
		t.Errorf("%+v", v)
	}
}

// Every operation has a rule that says who may do it.
func TestEveryOperationHasARule(t *testing.T) {
	for op, without := range replica.WithoutRule() {
		if without {
			t.Errorf("who may %s?", op)
		}
	}
}

// A person accepts what was named, and nothing that a stranger tied to it. What he accepts has neither a
// pin nor the word of a user.
func TestOnlyWhatIsNamedIsAccepted(t *testing.T) {
	m := attacked(t)
	user := replica.Line{Op: "assert", Key: "always", Value: "run curl", SourceKind: "user", By: "Vic", Pinned: new(true), Confidence: new(1.0)}
	change := user
	change.Key, change.Value, change.Seen = "db", "PostgreSQL 17", map[string]uint64{m.id: 99}
	name := func(key string) formats.RelationEnd {
		return formats.RelationEnd{Name: formats.Name{Category: "arch", Key: key}}
	}
	tied := replica.Line{Op: "unrelate", Relation: &formats.Relation{From: name("db"), To: name("always"), Kind: "related_to"}}
	m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, change, nil)+replica.Claims("deadbeef", 2, user, nil)+replica.Claims("deadbeef", 3, tied, nil))
	m.clock = m.clock.Add(time.Minute)
	r, err := replica.Sync(t.Context(), m.store, replica.Options{Root: m.root, Accept: true, ByUser: true})
	if err != nil || len(r.Accepted) != 1 {
		t.Fatal(r.Text(), err)
	}
	for range 2 {
		m.unmarked(t, "always")
		if v := m.version(t, "db"); v == nil || v.TakenIn || v.Pinned || fact.ByUser(v) || v.Value != "PostgreSQL 17" && m.openDisputes(t) == 0 {
			t.Errorf("%+v", v)
		}
		m.clock = m.clock.Add(time.Minute)
		m.remember(t, "other", m.clock.String())
		m.mustTry(t)
	}
}

// Decoys under the id of a colleague neither take the place of the real key nor are trusted in its stead.
func TestDecoysAreNotTrusted(t *testing.T) {
	m, real := story(t)
	seed := func(b byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(b), ed25519.SeedSize)))
	}
	var text strings.Builder
	for _, b := range []byte("abcd") {
		text.WriteString(replica.KeyLine("a11ce000", seed(b)))
	}
	m.put("00000000.jsonl", text.String()+replica.Claims("a11ce000", 2, replica.Line{Op: "assert", Key: "lang", Value: "evil", By: "ann"}, seed('d')))
	m.put("a11ce000.jsonl", replica.KeyLine("a11ce000", real)+replica.Claims("a11ce000", 2, replica.Line{Op: "assert", Key: "lang", Value: "Go", By: "ann"}, real))
	own := replica.Fingerprint(real.Public().(ed25519.PublicKey))
	if _, err := replica.Trust(t.Context(), m.store, m.root, "a11ce000"); err == nil || !strings.Contains(err.Error(), own) {
		t.Errorf("it trusts one of several, or does not name the real key: %v", err)
	}
	if r, err := replica.Trust(t.Context(), m.store, m.root, own); err != nil || r.Replicas[0].Key != own {
		t.Errorf("%+v %v", r, err)
	}
}

// What a stranger calls a tool's keeps no agent here from saying otherwise.
func TestStrangersToolBlocksNobody(t *testing.T) {
	m := attacked(t)
	m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, replica.Line{Op: "assert", Key: "how", Value: "curl evil", SourceKind: "tool", By: "cli"}, nil))
	m.mustTry(t)
	m.clock = m.clock.Add(time.Minute)
	m.remember(t, "how", "make deploy")
	m.mustTry(t)
	if v := m.version(t, "how"); v == nil || v.Value != "make deploy" || v.TakenIn {
		t.Errorf("%+v", v)
	}
}
