package app

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/cmd/internal/config"
	jetstreamlog "leanctx/internal/journal/jetstream"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/proctest"
)

// machines switches between data directories of one project.
type machines struct {
	t    *testing.T
	dir  string
	disk string // the server's
	url  string
	off  bool // the server was stopped

	free atomic.Uint64 // bytes of the server's disk
	*natsserver.Server
}

func newMachines(t *testing.T) *machines {
	m := &machines{t: t, dir: home(t), disk: t.TempDir()}
	m.free.Store(1 << 30)
	s, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: m.disk,
		Free: func(string) (uint64, uint64, error) { return m.free.Load(), 1 << 40, nil }})
	if err != nil {
		t.Fatal(err)
	}
	m.Server, m.url = s, s.URL()
	t.Cleanup(s.Close)
	return m
}

// jetstream is the server as its administrator uses it.
func (m *machines) jetstream() jetstream.JetStream {
	m.t.Helper()
	nc, err := nats.Connect(m.url)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(time.Minute))
	if err != nil {
		m.t.Fatal(err)
	}
	return js
}

// on runs a command on a machine and wants its exit code. On a busy machine the server may
// answer later than a command waits. Then it is run again.
func (m *machines) on(machine string, code int, args ...string) (out, errs string) {
	m.t.Helper()
	m.t.Setenv(config.DataDirVar, filepath.Join(m.dir, machine))
	got, out, errs := do(m.t, "", args...)
	for !m.off && (got == 11 && code != 11 || strings.Contains(out, "not reachable")) {
		got, out, errs = do(m.t, "", args...)
	}
	if got != code {
		m.t.Fatalf("%s: lean-ctx %s: exit code %d, not %d\n%s%s", machine, strings.Join(args, " "), got, code, out, errs)
	}
	return out, errs
}

func (m *machines) says(machine, want string, args ...string) {
	m.t.Helper()
	out, errs := m.on(machine, 0, args...)
	for !m.off && !strings.Contains(out, want) && old(errs) {
		out, errs = m.on(machine, 0, args...)
	}
	if !strings.Contains(out, want) {
		m.t.Errorf("%s: lean-ctx %s does not say %q:\n%s%s", machine, strings.Join(args, " "), want, out, errs)
	}
}

// old reports whether a command answered from a copy because the server was late.
func old(errs string) bool { return strings.Contains(errs, "this is the copy of") }

// register registers an agent. Where two machines are not in a team yet, their agents must be of two
// types: ids of four digits may be equal by chance.
func (m *machines) register(machine, kind string) string {
	m.t.Helper()
	out, _ := m.on(machine, 0, "agent", "register", kind, "--json")
	found := regexp.MustCompile(`"agent_id":\s*"([^"]+)"`).FindStringSubmatch(out)
	if found == nil {
		m.t.Fatal(out)
	}
	return found[1]
}

// shared is an export without what stays on a machine: the counts of retrievals.
func (m *machines) shared(machine string) string {
	m.t.Helper()
	out, errs := m.on(machine, 0, "knowledge", "export")
	for old(errs) {
		out, errs = m.on(machine, 0, "knowledge", "export")
	}
	return regexp.MustCompile(`"(retrieval_count|last_retrieved|project_root|project_hash|updated_at|checksum)":.*`).ReplaceAllString(out, "")
}

// What one machine remembers, gives and claims, the others have.
func TestTeam(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "task", "create", "Write docs")
	m.on("a", 0, "remember", "me/note", "only mine", "--privacy", "local")
	m.says("a", "1 fact published, 0 already there; 1 task", "team", "join", m.url)
	m.says("a", "nothing was published again", "team", "join", m.url)
	m.on("b", 0, "remember", "db/engine", "PostgreSQL")
	m.on("b", 0, "remember", "auth/token", "Uses JWT")
	m.says("b", "1 fact published, 1 already there", "team", "join", m.url)

	m.says("b", "Uses JWT", "recall", "JWT")
	m.says("a", "PostgreSQL", "recall", "engine")
	m.says("b", "Write docs", "task", "list")
	m.on("b", 0, "remember", "auth/alg", "RS256")
	m.says("a", "RS256", "recall", "RS256")
	same := func() {
		t.Helper()
		a, b := m.shared("a"), m.shared("b")
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("the exports differ:\n%s", d)
		}
	}
	same()

	id := m.register("a", "cursor")
	m.on("a", 0, "--agent", id, "agent", "claim", "src/auth.ts")
	other := m.register("b", "cursor")
	if other == id {
		t.Errorf("machine b resumed the agent of machine a: %s", id)
	}
	if out, errs := m.on("b", 1, "--agent", other, "agent", "claim", "src/auth.ts"); !strings.Contains(out+errs, id) {
		t.Errorf("the claim of machine a is not seen: %s%s", out, errs)
	}
	m.on("a", 0, "--agent", id, "agent", "diary", "found the cause")
	m.says("b", "found the cause", "agent", "recall_diary", id)
	m.on("a", 0, "--agent", id, "agent", "post", "ready for review")
	m.says("b", "ready for review", "--agent", other, "agent", "read")
	file := filepath.Join(m.dir, "my-app", "notes.md")
	if err := os.WriteFile(file, []byte("shared text"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.on("a", 0, "--agent", id, "share", "push", "notes.md")
	m.says("b", "shared text", "--agent", other, "share", "pull", "--content")

	m.says("b", "last writer", "team", "status")
	m.says("b", "is reachable", "doctor")

	m.says("b", "none is unsent", "team", "leave")
	m.says("b", "RS256", "recall", "RS256")
	m.on("b", 0, "remember", "own/fact", "not shared")
	m.on("a", 0, "remember", "team/fact", "not seen by b")
	m.says("b", "No history", "knowledge", "timeline", "team/fact")
	m.says("b", "1 fact published", "team", "join", m.url) // it comes back with what it learnt
	m.says("a", "not shared", "recall", "own/fact")
	same()

	if out, _ := m.on("b", 0, "recall", "only mine"); strings.Contains(out, "me/note") {
		t.Errorf("a local fact left its machine: %s", out)
	}
	m.on("b", 1, "remember", "me/note", "mine too", "--privacy", "local")
	m.on("b", 0, "remember", "law/one", "the user said so", "--source", "user")
	m.on("b", 1, "remember", "law/one", "a doubt of mine", "--privacy", "local") // a dispute that the team would get
	m.on("b", 1, "sync")
	m.on("a", 0, "team", "leave")
	m.says("a", "only mine", "recall", "only mine")
}

// A project in a team is not sent to sync, which it has not.
func TestTeamWithAMemoryInTheRepository(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "sync")
	m.says("b", "lean-ctx sync", "status") // what the repository brings is told outside a team, to the person
	if out, _ := m.on("b", 0, "knowledge", "wakeup"); strings.Contains(out, "sync") {
		t.Errorf("a briefing tells a model to sync: %s", out)
	}
	for _, machine := range []string{"a", "b"} {
		m.on(machine, 0, "team", "join", m.url)
		m.on(machine, 0, "remember", "db/engine", "PostgreSQL "+machine)
		for _, command := range [][]string{{"doctor"}, {"status"}, {"knowledge", "wakeup"}, {"connect", "cursor"}} {
			t.Setenv(config.DataDirVar, filepath.Join(m.dir, machine))
			_, out, errs := do(t, "", command...)
			if strings.Contains(out+errs, "sync") {
				t.Errorf("%s: lean-ctx %s speaks of sync in a team:\n%s%s", machine, strings.Join(command, " "), out, errs)
			}
		}
	}
}

// Without the server reads work and say how old they are. Writes are refused.
func TestTeamOffline(t *testing.T) {
	m := newMachines(t)
	network := proctest.NewProxy(t) // it keeps the port: another server could take that of one that was closed
	network.To(strings.TrimPrefix(m.url, "nats://"))
	server := network.Addr()
	m.url = "nats://" + server
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "team", "join", m.url)
	network.Set(proctest.Refuse)
	network.Cut()
	m.off = true
	out, errs := m.on("a", 0, "recall", "JWT")
	if !strings.Contains(out, "Uses JWT") || !strings.Contains(errs, server) || !strings.Contains(errs, "copy of 20") {
		t.Errorf("%s%s", out, errs)
	}
	_, errs = m.on("a", 11, "remember", "auth/alg", "RS256")
	if !strings.Contains(errs, server) {
		t.Errorf("%s", errs)
	}
	for _, command := range []string{"knowledge health", "status", "wakeup", "activity", "overview", "search x", "agent sync", "task list"} {
		if _, errs := m.on("a", 0, strings.Fields(command)...); strings.Count(errs, "newer commits") != 1 {
			t.Errorf("%s does not say once that the server is away:\n%s", command, errs)
		}
	}
	m.says("a", "Writes are refused", "team", "status")
	if out, errs := m.on("a", 1, "doctor"); strings.Count(out+errs, server) != 1 || !strings.Contains(out, "no damage") || strings.Contains(out, "compact") || !strings.Contains(errs, "1 problem found") {
		t.Errorf("doctor without the server:\n%s%s", out, errs)
	}
	m.says("a", "may be missing", "team", "leave")
	m.on("a", 0, "remember", "auth/alg", "RS256")
}

// A server without room says so: to who writes, in the status and in doctor.
func TestTeamFull(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "team", "join", m.url)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.free.Store(0)
	code, errs := 0, ""
	for code != 1 { // the server notices soon
		code, _, errs = do(t, "", "remember", "auth/alg", "RS256")
	}
	if !strings.Contains(errs, "nothing was written: full") {
		t.Errorf("%s", errs)
	}
	m.says("a", "Writes are refused: the server's disk", "team", "status")
	if out, _ := m.on("a", 1, "doctor"); !strings.Contains(out, "the server has no room") {
		t.Errorf("%s", out)
	}
	m.says("a", "Uses JWT", "recall", "JWT")
	m.free.Store(1 << 30)
	for code != 0 {
		code, _, _ = do(t, "", "remember", "auth/alg", "RS256")
	}
	m.says("a", "RS256", "recall", "RS256")
}

// A server that answers without the stream is not told to be away, nor to be started.
func TestTeamWhoseStreamIsGone(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "team", "join", m.url, "--name", "t")
	if err := m.jetstream().DeleteStream(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	m.on("a", 12, "remember", "db/engine", "PostgreSQL")
	for code, command := range [][]string{{"team", "status"}, {"doctor"}} {
		out, _ := m.on("a", code, command...)
		if !strings.Contains(out, setBackAdvice) || strings.Contains(out, "not reachable") || strings.Contains(out, "start the server") {
			t.Errorf("lean-ctx %s:\n%s", strings.Join(command, " "), out)
		}
	}
	m.says("a", "Uses JWT", "recall", "JWT")
}

func TestTeamArguments(t *testing.T) {
	m := newMachines(t)
	for _, url := range []string{"http://host:4222", "host", "nats://user:secret@host:4222"} {
		if _, errs := m.on("a", 2, "team", "join", url); strings.Contains(errs, "secret@") {
			t.Errorf("the answer repeats a secret: %s", errs)
		}
	}
	for _, name := range [][]string{{"--name", "nä me"}, {"--name", "a/b"}, {"--project", "odd näme/app"}, {"--project", "öö"}} {
		if _, errs := m.on("a", 2, append([]string{"team", "join", m.url}, name...)...); !strings.Contains(errs, "digits, - and _") {
			t.Errorf("%s: %s", name, errs)
		}
	}
	m.on("a", 1, "team", "status")
	m.on("a", 1, "team", "leave")
	m.on("a", 3, "team", "join", m.url, "--creds", "nothing.creds")
	m.on("a", 11, "team", "join", "nats://127.0.0.1:1")
	m.on("a", 2, "team", "serve", "--addr", "0.0.0.0:0")
	m.on("a", 0, "remember", "auth/alg", "RS256") // nothing of this counts as having joined
}

// Two directories without anything in common are two projects, also under one name.
func TestTeamOfAnotherProject(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "team", "join", m.url)
	other := filepath.Join(t.TempDir(), "my-app")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(config.ProjectVar, other)
	if _, errs := m.on("b", 1, "team", "join", m.url); !strings.Contains(errs, "another project's") {
		t.Errorf("%s", errs)
	}
	m.says("b", "Joined team my-app", "team", "join", m.url, "--name", "my-app") // who names it means it
}

// What is still open when a project joins goes with it, and what the team has with another
// value is a dispute. What names a local fact stays at home.
func TestTeamJoinPublishesWhatIsOpen(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "remember", "db/engine", "PostgreSQL")
	m.on("a", 0, "team", "join", m.url)
	other := m.register("a", "claude")
	m.on("a", 0, "--agent", other, "agent", "claim", "taken.go")

	writer := m.register("b", "cursor")
	out, _ := m.on("b", 0, "agent", "register", "reviewer", "--json")
	reader := regexp.MustCompile(`reviewer-[0-9a-f]+`).FindString(out)
	m.on("b", 0, "remember", "db/engine", "MySQL")
	m.on("b", 0, "remember", "me/note", "only mine", "--privacy", "local")
	m.on("b", 0, "knowledge", "relate", "db", "engine", "me/note")
	m.on("b", 0, "--agent", writer, "agent", "post", "everybody has read this")
	m.on("b", 0, "--agent", reader, "agent", "read")
	m.on("b", 0, "--agent", writer, "agent", "post", "nobody has read this")
	m.on("b", 0, "--agent", writer, "agent", "post", "for you alone", "--to", reader)
	m.on("b", 0, "--agent", writer, "agent", "claim", "free.go")
	m.on("b", 0, "--agent", writer, "agent", "handoff", "tester", "half is done")
	m.on("b", 0, "--agent", writer, "agent", "claim", "taken.go")
	if err := os.WriteFile(filepath.Join(m.dir, "my-app", "notes.md"), []byte("shared text"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.on("b", 0, "--agent", writer, "share", "push", "notes.md")

	out, _ = m.on("b", 0, "team", "join", m.url)
	for _, want := range []string{"Still open and published: 2 messages, 1 handoff, 1 share.", "Disputed: 1", "has a claim there: taken.go", "1 local fact set aside"} {
		if !strings.Contains(out, want) {
			t.Errorf("the answer does not say %q: %s", want, out)
		}
	}
	m.says("a", "PostgreSQL", "recall", "engine")
	m.says("a", "MySQL", "knowledge", "disputes")
	if all := m.shared("a"); strings.Contains(all, "me") && strings.Contains(all, "only mine") || strings.Contains(all, `"note"`) {
		t.Errorf("a local fact is named in the team: %s", all)
	}
	if got, _ := m.on("a", 0, "--agent", reader, "agent", "read"); !strings.Contains(got, "nobody has read this") || !strings.Contains(got, "for you alone") || strings.Contains(got, "everybody has") {
		t.Errorf("the messages: %s", got)
	}
	out, _ = m.on("a", 0, "agent", "register", "tester", "--json")
	tester := regexp.MustCompile(`tester-[0-9a-f]+`).FindString(out)
	m.says("a", "half is done", "--agent", tester, "agent", "sync")
	m.says("a", "shared text", "--agent", other, "share", "pull", "--content")

	// It leaves, learns more and joins again. Nothing comes twice.
	m.on("b", 0, "team", "leave")
	m.says("b", "only mine", "recall", "only mine")
	m.says("b", "me/note", "knowledge", "relations")
	m.on("b", 0, "remember", "me/more", "mine too", "--privacy", "local")
	m.on("b", 0, "--agent", writer, "agent", "post", "written while away")
	m.says("b", "Still open and published: 1 message, 0 handoffs, 0 shares.", "team", "join", m.url)
	if got, _ := m.on("a", 0, "--agent", reader, "agent", "read"); !strings.Contains(got, "written while away") || strings.Contains(got, "for you alone") {
		t.Errorf("the messages after it came back: %s", got)
	}
	m.on("b", 0, "team", "leave")
	m.says("b", "mine too", "recall", "mine too")
}

// What changed at home after a join that was interrupted is the newer version of what that join
// published. What somebody else said in the team meanwhile is not.
func TestTeamJoinAfterOneThatWasInterrupted(t *testing.T) {
	m := newMachines(t)
	for _, key := range []string{"changed", "removed", "contested"} {
		m.on("a", 0, "remember", "home/"+key, "the first value")
	}
	m.on("a", 0, "team", "join", m.url)
	files, _ := filepath.Glob(filepath.Join(m.dir, "a", "teams", "*", "team.json"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`"joins": 1`).ReplaceAll(bytes.Replace(text, []byte(`"member"`), []byte(`"joining"`), 1), []byte(`"joins": 0`))
	if err := os.WriteFile(files[0], text, 0o600); err != nil { // as if it had been killed before its last step
		t.Fatal(err)
	}
	m.on("a", 0, "remember", "home/changed", "the second value")
	m.on("a", 0, "knowledge", "remove", "home", "removed")
	m.on("a", 0, "remember", "home/contested", "the second value")
	m.on("b", 0, "team", "join", m.url)
	m.on("b", 0, "remember", "home/contested", "what b says")
	m.says("a", "1 fact published, 2 already there", "team", "join", m.url)
	m.says("b", "Disputes (1)", "knowledge", "disputes")
	m.says("b", "[home/contested] 'the second value'", "knowledge", "disputes")
	m.says("b", "[home/changed]: the second value", "recall", "second value")
	m.says("b", "No current fact [home/removed]", "recall", "removed")
}

// A join that fails half-way leaves the memory that the project had, also one that had left a team.
func TestTeamJoinThatFails(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "team", "join", m.url)
	m.on("a", 0, "team", "leave")
	m.on("a", 0, "remember", "auth/alg", "RS256")
	full := func(bytes int64) {
		t.Helper()
		js := m.jetstream()
		stream, err := js.Stream(t.Context(), "my-app")
		if err != nil {
			t.Fatal(err)
		}
		c := stream.CachedInfo().Config
		c.MaxBytes = bytes
		if _, err := js.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	full(1)
	if _, errs := m.on("a", 1, "team", "join", m.url); !strings.Contains(errs, "its memory is as it was") {
		t.Errorf("%s", errs)
	}
	m.says("a", "RS256", "recall", "RS256")
	m.on("a", 0, "remember", "auth/ttl", "one hour")
	full(-1)
	m.says("a", "2 facts published, 1 already there", "team", "join", m.url)
	m.says("a", "RS256", "recall", "RS256")
}

// The last writer has what it wrote, though it reports that only later.
func TestTeamStatusKnowsThatTheLastWriterIsNotBehind(t *testing.T) {
	state := teamState{Team: "shop", Machine: "a", Reachable: true, Status: jetstreamlog.Status{Last: 7, LastBy: "b", Machines: []jetstreamlog.Machine{{Name: "b", Last: 6}, {Name: "c", Last: 5}}}}
	if got := state.Text(); !strings.Contains(got, "b, 0 behind") || !strings.Contains(got, "c, 2 behind") {
		t.Error(got)
	}
}

// A membership whose server has never proved itself says so, and how it is mended; one that was reached
// by TLS does not.
func TestTeamStatusNamesAServerWithoutProof(t *testing.T) {
	for _, reachable := range []bool{true, false} {
		state := teamState{Team: "shop", Machine: "a", Reachable: reachable, Unproven: true}
		if got := state.Text(); !strings.Contains(got, "No server has proved") || !strings.Contains(got, "--token-file FILE") {
			t.Error(got)
		}
		if state.Unproven = false; strings.Contains(state.Text(), "proved") {
			t.Error(state.Text())
		}
	}
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/ttl", "one hour")
	m.on("a", 0, "team", "join", m.url)
	if out, _ := m.on("a", 0, "team", "status"); !strings.Contains(out, "No server has proved") {
		t.Errorf("the test's server has no certificate: %s", out)
	}
}

// What a member writes past its own redaction has no secret in any answer of another machine, and in
// none of its files, by the other's own rules too. The copy stays one: it goes on, is rebuilt, and is
// left whole.
func TestTeamRedactsWhatComesIn(t *testing.T) {
	m := newMachines(t)
	m.on("b", 0, "sensitive", "add", "acme", `ACME-\d{8}`)
	for _, machine := range []string{"a", "b"} {
		m.on(machine, 0, "team", "join", m.url, "--name", "shop")
	}
	m.on("a", 0, "remember", "architecture/auth", "OAuth2 with PKCE")
	m.says("b", "OAuth2", "recall", "auth")
	secrets := []string{"ghp_0123456789abcdefABCDEF0123456789abcd", "ACME-12345678", "q7Xw9vTr2LmZ4pKd8sNh3bYc"}
	put := func(id, category, key, value, newer string) {
		m.commit("knowledge", `[{"put":{"id":"f-00000000000000`+id+`","category":"`+category+`","key":"`+key+`","value":"`+value+`","source_session":"","confidence":0.8,"created_at":"2026-11-01T00:00:00Z","last_confirmed":"2026-11-01T00:00:00Z","valid_from":"2026-11-01T00:00:00Z","confirmation_count":1,"recorded_from":"2026-11-01T00:00:00Z","sources":[{"kind":"user","at":"2026-11-01T00:00:00Z"}],"newer":{"text":"`+newer+`"}}}]`)
	}
	put("aa", "infra", "deploy", "deploy with "+secrets[0]+" as \\u0041CME-12345678 says", "with "+secrets[0])
	put("ab", "aws", "api-key", secrets[2], "")
	clean := func(when string) {
		t.Helper()
		for _, secret := range secrets {
			if in := holding(t, filepath.Join(m.dir, "b"), secret); len(in) > 0 {
				t.Errorf("%s: %v hold %s", when, in, secret)
			}
		}
		for _, args := range [][]string{{"recall", "deploy"}, {"wakeup"}, {"knowledge", "export"}, {"knowledge", "why", "infra", "deploy", "--json"}, {"knowledge", "timeline", "infra"}} {
			out, errs := m.on("b", 0, args...)
			for _, secret := range secrets {
				if strings.Contains(out+errs, secret) {
					t.Errorf("%s: %v: %s%s", when, args, out, errs)
				}
			}
		}
	}
	m.says("b", "deploy with [REDACTED:github-pat] as [REDACTED:acme] says", "recall", "deploy")
	m.says("b", "[REDACTED:generic-api-key]", "recall", "aws/api-key")
	clean("fetched")
	m.on("b", 0, "remember", "architecture/db", "PostgreSQL")
	m.says("a", "PostgreSQL", "recall", "db")
	m.on("a", 0, "remember", "architecture/cache", "Redis")
	m.says("b", "Redis", "recall", "cache")
	m.on("b", 0, "compact")
	clean("compacted")
	if out, _ := m.on("b", 0, "knowledge", "health"); strings.Contains(out, "lost") || strings.Contains(out, "damage") {
		t.Error(out)
	}
	m.on("b", 0, "team", "leave")
	m.says("b", "deploy with [REDACTED:github-pat]", "recall", "deploy")
	m.on("b", 0, "remember", "architecture/queue", "NATS")
	clean("left")
}
