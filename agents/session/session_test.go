package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"leanctx/formats/transcript"
	"leanctx/internal/secret"
)

// fixture is a transcript of a real client, under a path as the client has it.
func fixture(t *testing.T, name, as string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "formats", "transcript", "testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return put(t, filepath.Join(t.TempDir(), as), typed(string(text)))
}

// typed is a transcript of a client that a program ran, as if a user had typed the prompts.
func typed(text string) string {
	return strings.NewReplacer(`"entrypoint":"sdk-cli"`, `"entrypoint":"cli"`, `"promptSource":"sdk"`, `"promptSource":"typed"`,
		`"originator":"codex_exec"`, `"originator":"codex_cli_rs"`, `"source":"exec"`, `"source":"cli"`).Replace(text)
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T) *Store {
	return Open(filepath.Join(t.TempDir(), "sessions"), &Options{
		Clean: func(text string) string { clean, _ := secret.BuiltIn().Clean(text); return clean },
		Rel: func(path string) (string, bool) {
			rel, ok := strings.CutPrefix(path, "/home/ann/my-app/")
			return rel, ok
		},
	})
}

func take(t *testing.T, s *Store, path string, most int64) Taken {
	t.Helper()
	got, err := s.TakeIn(t.Context(), "claude-code", path, most)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func turnsOf(t *testing.T, s *Store, id string) (list []Turn) {
	t.Helper()
	r, err := s.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Each(t.Context(), r, func(x *Turn) bool { list = append(list, *x); return true }); err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		if x.N != i+1 {
			t.Fatalf("turn %d has number %d", i+1, x.N)
		}
	}
	return list
}

const (
	sessionName = "e3025ff2-dffb-4c66-9ba6-280d057f55d1.jsonl"
	forkName    = "158db669-5ed7-4b30-9a19-b732c760f5b0.jsonl"
)

func TestARealSessionIsTakenIn(t *testing.T) {
	s, path := open(t), fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	got := take(t, s, path, 0)
	turns := turnsOf(t, s, got.ID)
	if len(turns) != got.Turns || got.Turns != 20 || turns[0].Role != "user" || !strings.HasPrefix(turns[0].Text, "Add RouteCount") {
		t.Fatal(got, turns)
	}
	all, err := os.ReadFile(filepath.Join(s.dir, "claude-code-e3025ff2-dffb-4c66-9ba6-280d057f55d1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(all, []byte("hunter2")) {
		t.Error("what is private was written")
	}
	if info, _ := os.Stat(filepath.Join(s.dir, "claude-code-e3025ff2-dffb-4c66-9ba6-280d057f55d1.jsonl")); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	r, err := s.Find(got.ID[:6])
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fold
	if f.Prompts != 4 || len(f.Changed) != 1 || f.Changed[0] != "mux.go" || len(f.Failed) != 1 || f.Failed[0].Fixed == 0 || f.Failed[0].Needed[0] != "mux.go" || f.Failed[0].Error != "mux_test.go:12: undefined: RouteCount" {
		t.Errorf("%+v", f)
	}
	if again := take(t, s, path, 0); again.Turns != 0 {
		t.Error("taken in twice:", again)
	}
}

// In pieces it is what it is at once.
func TestPiecesAreTheWhole(t *testing.T) {
	path := fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	whole, pieces := open(t), open(t)
	want := turnsOf(t, whole, take(t, whole, path, 0).ID)
	var id string
	for {
		got := take(t, pieces, path, 1)
		if id = got.ID; !got.More {
			break
		}
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(turnsOf(t, pieces, id))
	if !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", a, b)
	}
	x, _ := whole.Find(id)
	y, _ := pieces.Find(id)
	a, _ = json.Marshal(x.Fold)
	b, _ = json.Marshal(y.Fold)
	if !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", a, b)
	}
}

// A fork holds its parent's messages, with their ids.
func TestAForkRepeatsNothing(t *testing.T) {
	s := open(t)
	take(t, s, fixture(t, "claude-code-2.1.197/session.jsonl", sessionName), 0)
	fork := take(t, s, fixture(t, "claude-code-2.1.197/fork.jsonl", forkName), 0)
	if fork.Repeated != 3 || fork.Turns != 4 {
		t.Errorf("%+v", fork)
	}
}

func TestOtherClients(t *testing.T) {
	s := open(t)
	for name, client := range map[string]string{"codex-0.171.0/session.jsonl": "codex", "codex-0.118.0/session.jsonl": "codex", "gemini-0.61.0/chats/session.jsonl": "gemini", "gemini-document/chats/session.json": "gemini"} {
		got, err := s.TakeIn(t.Context(), client, fixture(t, name, "rollout-2026-11-28T08-30-31-01a22147.jsonl"[:30+len(name)%10]+filepath.Ext(name)), 0)
		if err != nil || got.Turns+got.Repeated == 0 {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

const userLine = `{"type":"user","uuid":"%s","sessionId":"s","timestamp":"2026-11-22T14:05:00Z","cwd":"/home/ann/my-app","message":{"role":"user","content":%q}}` + "\n"

const toolLines = `{"type":"assistant","uuid":"%[1]sa","sessionId":"s","timestamp":"2026-11-22T14:05:00Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"%[1]st","name":"Bash","input":{"command":%[2]q}}]}}` + "\n" +
	`{"type":"user","uuid":"%[1]sb","sessionId":"s","timestamp":"2026-11-22T14:05:01Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%[1]st","is_error":%[4]v,"content":%[3]q}]}}` + "\n"

func TestSecretsAreNotWritten(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx7Zl3kq9\n", 60) + "-----END RSA PRIVATE KEY-----\n"
	noise := strings.Repeat("a line of a log\n", 4000)
	text := fmt.Sprintf(userLine, "1", "my token is "+token) +
		fmt.Sprintf(userLine, "2", "broken by a blank nobody sees: ghp_16C7e42F292c\u200b6912E7710c838347Ae178B4a") +
		fmt.Sprintf(userLine, "3", strings.Repeat("x ", 40<<10)+token) +
		fmt.Sprintf(userLine, "4", "a <PRIVATE>hunter2</private> b <private>hunter2") +
		fmt.Sprintf(userLine, "5", "<private>"+strings.Repeat("y", 200<<10)+"hunter2</private>visible end") +
		fmt.Sprintf(toolLines, "6", "curl -H 'Authorization: token "+token+"'", noise+key+"done", false) +
		fmt.Sprintf(toolLines, "7", "cat x", "<private>"+noise+"hunter2\n", true) +
		strings.ReplaceAll(fmt.Sprintf(userLine, "8", "ESC[31mredESC[0m and plain"), "ESC", `\u001b`)
	s := open(t)
	got := take(t, s, put(t, filepath.Join(t.TempDir(), sessionName), text), 0)
	names, _ := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, name := range names {
		all, _ := os.ReadFile(name)
		for _, secret := range []string{"6912E7710c838347", "hunter2", "MIIEow"} {
			if bytes.Contains(all, []byte(secret)) {
				t.Errorf("%s holds %s", name, secret)
			}
		}
	}
	turns := turnsOf(t, s, got.ID)
	if x := turns[len(turns)-1]; x.Text != "red and plain" {
		t.Errorf("%q", x.Text)
	}
	for _, x := range turns {
		if len(x.Text) > maxText || x.Role == "tool" && len(x.Text) > maxGiven+10 {
			t.Error(x.Role, len(x.Text))
		}
		if x.Role == "tool" && x.Tool == "Bash" && strings.Contains(x.Text, "done") && (x.LeftOut == 0 || x.From == nil || x.From.At == 0) {
			t.Errorf("%+v", x)
		}
	}
}

// A hook may be killed in the middle of a line, or before it noted the ids.
func TestAKilledWriterLosesAndRepeatsNothing(t *testing.T) {
	path := fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	first := open(t)
	want := len(turnsOf(t, first, take(t, first, path, 0).ID))
	whole, err := os.ReadFile(first.path("claude-code-" + strings.TrimSuffix(sessionName, ".jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(whole); cut += 97 {
		s := open(t)
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, s.path("claude-code-"+strings.TrimSuffix(sessionName, ".jsonl")), string(whole[:cut]))
		got := take(t, s, path, 0)
		if n := len(turnsOf(t, s, got.ID)); n != want {
			t.Fatalf("cut at byte %d: %d turns, want %d", cut, n, want)
		}
	}
	for _, ids := range []string{"", "abc"} { // the ids are a cache
		s := open(t)
		take(t, s, path, 0)
		put(t, filepath.Join(s.dir, idsName), ids)
		if fork := take(t, s, fixture(t, "claude-code-2.1.197/fork.jsonl", forkName), 0); fork.Repeated < 3 {
			t.Errorf("%+v", fork)
		}
	}
}

// A transcript that was rewritten, or is shorter, brings what is new in it.
func TestARewrittenTranscriptRepeatsNothing(t *testing.T) {
	s, path := open(t), filepath.Join(t.TempDir(), sessionName)
	put(t, path, fmt.Sprintf(userLine, "1", "first")+fmt.Sprintf(userLine, "2", "second"))
	take(t, s, path, 0)
	put(t, path, fmt.Sprintf(userLine, "2", "second")+fmt.Sprintf(userLine, "3", "third"))
	got := take(t, s, path, 0)
	if got.Turns != 1 || !got.Again {
		t.Errorf("%+v", got)
	}
	put(t, path, fmt.Sprintf(userLine, "3", "third"))
	if got = take(t, s, path, 0); got.Turns != 0 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsNotTakenIn(t *testing.T) {
	s := open(t)
	s.options.Within = func(dir string) bool { return dir == "/elsewhere" }
	path := fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	if _, err := s.TakeIn(t.Context(), "claude-code", path, 0); !errors.Is(err, ErrElsewhere) {
		t.Error(err)
	}
	s.options.Within = nil
	if got, err := s.TakeIn(t.Context(), "claude-code", filepath.Join(t.TempDir(), "not-yet.jsonl"), 0); err != nil || got.ID != "" {
		t.Error(got, err)
	}
	link := filepath.Join(t.TempDir(), sessionName)
	if os.Symlink(path, link) == nil {
		if _, err := s.TakeIn(t.Context(), "claude-code", link, 0); !errors.Is(err, transcript.ErrNoFile) {
			t.Error(err)
		}
	}
	unlock, err := s.lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TakeIn(t.Context(), "claude-code", path, 0); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	unlock()
	if names, _ := s.files(); len(names) != 0 {
		t.Error("something was kept:", names)
	}
}

func TestAnErasedSessionStaysAway(t *testing.T) {
	s, path := open(t), fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	id := take(t, s, path, 0).ID
	r, err := s.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(t.Context(), []*Record{r}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TakeIn(t.Context(), "claude-code", path, 0); !errors.Is(err, ErrErased) {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(s.dir, idsName)); err != nil {
		t.Fatal(err)
	}
	if fork := take(t, s, fixture(t, "claude-code-2.1.197/fork.jsonl", forkName), 0); fork.Repeated != 3 {
		t.Errorf("its fork brings it back: %+v", fork)
	}
	names, _ := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, name := range names {
		if all, _ := os.ReadFile(name); bytes.Contains(all, []byte("Add RouteCount")) {
			t.Error(name, "holds its words")
		}
	}
}

// The ids of two sessions may differ only in case, and a client's name may be no file's.
func TestNamesOfFiles(t *testing.T) {
	seen := map[string]bool{}
	for _, given := range []string{"abc12345", "ABC12345", "Abc12345", "../../etc/passwd", "a/b12345678", "", ".", "..", strings.Repeat("x", 300), "con", "naïve", "session", "other/session"} {
		name := fileName("claude-code", given)
		if folded := strings.ToLower(name); seen[folded] || name != folded || strings.ContainsAny(name, `/\:`) || len(name) > 140 {
			t.Errorf("%q: %q", given, name)
		}
		seen[strings.ToLower(name)] = true
	}
}

func TestConsent(t *testing.T) {
	data := t.TempDir()
	if _, given := ConsentIn(data); given {
		t.Error("nobody has consented")
	}
	now := time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)
	if fresh, err := Consenting(data, "connect", now, nil, false); !fresh || err != nil {
		t.Error(fresh, err)
	}
	if fresh, err := Consenting(data, "session on", now.AddDate(0, 0, 1), nil, true); fresh || err != nil {
		t.Error(fresh, err)
	}
	if c, given := ConsentIn(data); !given || !c.Since.Equal(now) || c.By != "connect" {
		t.Error(c, given)
	}
	s := Open(Dir(data, "0123456789abcdef"), nil)
	for _, off := range []bool{true, false} {
		if err := s.Switch(off); err != nil || s.Off() != off {
			t.Error(off, err)
		}
	}
}

// The fold of a giant session stays small, and its end is found without reading all of it.
func TestAGiantSession(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, userLine, fmt.Sprint("u", i), fmt.Sprintf("please do the thing number %d with %s", i, strings.Repeat("much care ", 30)))
		fmt.Fprintf(&b, toolLines, fmt.Sprint("t", i), fmt.Sprint("go test ./pkg", i), fmt.Sprint("error number ", i, strings.Repeat(" long", 20)), i%2 == 0)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.Replace(lines[i], "2026-11-22T14:05:00Z", time.Date(2026, 11, 22, 14, 5, i, 0, time.UTC).Format(time.RFC3339), 1)
	}
	path := put(t, filepath.Join(t.TempDir(), sessionName), strings.Join(lines, ""))
	s := open(t)
	began := time.Now()
	got := take(t, s, path, 0)
	t.Logf("%d MiB in %v", b.Len()>>20, time.Since(began))
	r, err := s.Find(got.ID)
	if err != nil || got.Turns != 2*n || r.Fold.Turns != 2*n || r.Fold.Prompts != n {
		t.Fatal(got, err)
	}
	if text, _ := json.Marshal(r.Fold); len(text) > maxFold {
		t.Error(len(text))
	}
	if r.Fold.Asks[0].N != 1 || r.Fold.Asks[len(r.Fold.Asks)-1].N != 2*n-1 {
		t.Errorf("%+v", r.Fold.Asks)
	}
}

func TestOnlyPrompts(t *testing.T) {
	s := open(t)
	s.options.Prompts = true
	got := take(t, s, fixture(t, "claude-code-2.1.197/session.jsonl", sessionName), 0)
	for _, x := range turnsOf(t, s, got.ID) {
		if (x.Role == "user") != (x.Text != "") || x.Input != "" || x.Files != nil {
			t.Errorf("%+v", x)
		}
	}
}

func TestNotesOfHooks(t *testing.T) {
	s := open(t)
	e := Events{Client: "windsurf", Session: "9f8e7d6c-1", Turns: []transcript.Turn{{ID: "a", Role: "user", Text: "we use pnpm"}}}
	for _, want := range []int{1, 0} {
		got, err := s.Note(context.Background(), e)
		if err != nil || got.Turns != want {
			t.Errorf("%+v %v", got, err)
		}
	}
}

func BenchmarkTakeIn(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("..", "..", "formats", "transcript", "testdata", "claude-code-2.1.197", "session.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for i := range 200 {
		all.WriteString(strings.NewReplacer(`"uuid":"`, fmt.Sprint(`"uuid":"`, i), "toolu_", fmt.Sprint("toolu_", i)).Replace(string(text)))
	}
	path := filepath.Join(b.TempDir(), sessionName)
	if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(all.Len()))
	for b.Loop() {
		s := Open(filepath.Join(b.TempDir(), fmt.Sprint(time.Now().UnixNano())), &Options{Clean: func(text string) string { clean, _ := secret.BuiltIn().Clean(text); return clean }})
		if _, err := s.TakeIn(b.Context(), "claude-code", path, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// A secret that reaches over the place where a text is cut is no secret less.
func TestNoSecretIsCutBeforeItIsTakenOut(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	s := open(t)
	for n := range 80 {
		text := strings.Repeat("x", 90+n) + " " + token
		e := Events{Client: "windsurf", Session: fmt.Sprintf("%08x", n), Turns: []transcript.Turn{{
			ID: fmt.Sprint(n), Role: transcript.Tool, Tool: text, Input: "write the list", Todos: &transcript.Todos{All: true, Items: []transcript.Todo{{Text: text}}},
		}}}
		if _, err := s.Note(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	if err != nil || len(files) != 80 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || bytes.Contains(text, []byte("ghp_1")) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// What another agent told a subagent is no user's word.
func TestASubagentHearsNoUser(t *testing.T) {
	s := open(t)
	s.options.Prompts = true
	id := take(t, s, fixture(t, "claude-code-2.1.197/agent-a38da863dc4c5ae44.jsonl", "agent-a38da863dc4c5ae44.jsonl"), 0).ID
	for _, x := range turnsOf(t, s, id) {
		if x.Role == transcript.User || x.Text != "" {
			t.Errorf("%+v", x)
		}
	}
}

// A session goes when it was kept for as long as it is to be, and does not come back.
func TestAnOldSessionGoes(t *testing.T) {
	s, path := open(t), fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	id := take(t, s, path, 0).ID
	s.options.Days = 30
	for _, days := range []int{29, 31} {
		s.options.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
		if err := s.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Find(id); (err == nil) != (days < 30) {
			t.Error(days, err)
		}
	}
	if _, err := s.TakeIn(t.Context(), "claude-code", path, 0); !errors.Is(err, ErrErased) {
		t.Error(err)
	}
	s.options.Days = 0
	if err := s.Expire(t.Context()); err != nil {
		t.Error(err)
	}
}

// A rollout that Codex has compressed is the session that it was before, and is read once.
func TestACompressedTranscriptIsTheSameSession(t *testing.T) {
	plain := fixture(t, "codex-0.171.0/session.jsonl", "rollout-2026-11-22T14-05-00-019f8aa1-c3a4-7c2e-9d11-0123456789ab.jsonl")
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	squeezed := put(t, filepath.Join(t.TempDir(), filepath.Base(plain)+".zst"), string(enc.EncodeAll(text, nil)))
	whole, s := open(t), open(t)
	want, err := whole.TakeIn(t.Context(), "codex", plain, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.TakeIn(t.Context(), "codex", plain, 1)
	if err != nil || !first.More {
		t.Fatal(first, err)
	}
	for i := range 2 {
		rest, err := s.TakeIn(t.Context(), "codex", squeezed, 0)
		if err != nil || rest.ID != want.ID || rest.Again || i == 0 && first.Turns+rest.Turns != want.Turns || i == 1 && rest.Turns != 0 {
			t.Error(first, rest, want, err)
		}
	}
	if _, err := s.TakeIn(t.Context(), "codex", put(t, filepath.Join(t.TempDir(), "rollout-x.jsonl.zst"), "no zstd"), 0); err == nil {
		t.Error("a broken file was read")
	}
}

func TestASessionAsMarkdown(t *testing.T) {
	s, path := open(t), fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	id := take(t, s, path, 0).ID
	x, err := s.Show(t.Context(), Reading{ID: id, MD: true})
	if err != nil || len(x.Turns) != 20 || x.Next != 0 {
		t.Fatal(err, len(x.Turns))
	}
	text := x.Text()
	for _, want := range []string{"# Add RouteCount", "\n## #1 user, 2026-11-", "\n```\n", "\nBash (failed)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if fence := fenceAround("a ```` b"); fence != "`````" {
		t.Error(fence)
	}
	if x, err = s.Show(t.Context(), Reading{ID: id, MD: true, At: 4, Limit: 3}); err != nil || len(x.Turns) != 3 {
		t.Error(err, len(x.Turns))
	}
}

// What takes long is taken in piece by piece, whatever the time that there is, and begun anew by nobody.
func TestSlowTurnsAreTakenInPieceByPiece(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "sessions"), &Options{Clean: func(text string) string {
		time.Sleep(15 * time.Millisecond)
		return text
	}})
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 12))
	for events := 1; ; events++ {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		got, err := s.TakeIn(ctx, "claude-code", path, 0)
		cancel()
		if err != nil || got.Turns == 0 {
			t.Fatal(events, got, err)
		}
		if !got.More {
			if events < 3 {
				t.Error("not in pieces:", events)
			}
			break
		}
	}
	if got := wordsOf(t, s); got != "0 1 2 3 4 5 6 7 8 9 10 11" {
		t.Error(got)
	}
}
