package app

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commit publishes a commit after the last one of a log, valid but for its events.
func (m *machines) commit(log, events string) (seq uint64) {
	m.t.Helper()
	js := m.jetstream()
	subject := "leanctx.shop." + log
	stream, err := js.Stream(m.t.Context(), "shop")
	if err != nil {
		m.t.Fatal(err)
	}
	last, err := stream.GetLastMsgForSubject(m.t.Context(), subject)
	if err != nil {
		m.t.Fatal(err)
	}
	var at struct {
		Seq uint64 `json:"seq"`
	}
	if err := json.Unmarshal(last.Data, &at); err != nil {
		m.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"seq":%d,"prev":"%08x","at":%q,"events":%s}`, at.Seq+1, crc32.Checksum(last.Data, crc32.MakeTable(crc32.Castagnoli)), time.Now().UTC().Format(time.RFC3339Nano), events)
	if _, err := js.Publish(m.t.Context(), subject, []byte(body)); err != nil {
		m.t.Fatal(err)
	}
	return at.Seq + 1
}

// One commit of a member that nobody understands stops no machine from reading, nor from
// leaving: answers come from the state before it, and name it. Writes are refused, as in a store
// of a newer version, until the team was left: then they go on from there.
func TestTeamWithACommitThatIsNotUnderstood(t *testing.T) {
	for name, events := range map[string]string{
		"no list": `"x"`, "a number": `7`, "no objects": `["x"]`, "null": `[null]`, "another type": `[{"put":"x"}]`,
		"an unknown kind": `[{"author":{"by":"codex-1111"}},{"of_a_newer_version":{"category":"a","key":"b"}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachines(t)
			for _, machine := range []string{"a", "b"} {
				m.on(machine, 0, "team", "join", m.url, "--name", "shop")
			}
			m.on("a", 0, "remember", "architecture/auth", "OAuth2 with PKCE", "--source", "user")
			m.says("b", "OAuth2", "recall", "auth")
			seq := m.commit("knowledge", events)
			named := fmt.Sprintf("commit %d is intact and not understood", seq)
			sessions := 0
			hooks := func(machine string) string {
				sessions++
				m.t.Setenv("LEAN_CTX_DATA_DIR", filepath.Join(m.dir, machine))
				_, out, _ := do(t, fmt.Sprintf(`{"session_id":"s-%d","cwd":%q,"source":"startup"}`, sessions, filepath.Join(m.dir, "my-app")), "hook", "claude-code", "session-start")
				return out
			}
			for _, machine := range []string{"a", "b", "a"} { // again, when it is in the copy
				out, errs := m.on(machine, 0, "recall", "auth")
				if !strings.Contains(out, "OAuth2") || !strings.Contains(errs, named) {
					t.Errorf("%s recalls %s%s", machine, out, errs)
				}
				if _, errs = m.on(machine, 12, "remember", "architecture/db", "PostgreSQL 16"); !strings.Contains(errs, named) {
					t.Errorf("%s remembers: %s", machine, errs)
				}
				if out, errs = m.on(machine, 0, "knowledge", "export"); !strings.Contains(out, "OAuth2") || !strings.Contains(errs, named) {
					t.Errorf("%s exports %s%s", machine, out, errs)
				}
				m.says(machine, "OAuth2", "wakeup")
				m.says(machine, "architecture", "knowledge", "rooms")
				m.says(machine, "Team shop", "team", "status")
				if got := hooks(machine); !strings.Contains(got, "OAuth2") {
					t.Errorf("the session-start hook of %s gave %q", machine, got)
				}
			}
			out, _ := m.on("b", 0, "team", "leave")
			if !strings.Contains(out, named) || !strings.Contains(out, "The memory of 1 fact stays here") {
				t.Errorf("left: %s", out)
			}
			m.says("b", "OAuth2", "recall", "auth")
			kept, _ := filepath.Glob(filepath.Join(m.dir, "b", "teams", "*", "knowledge", "knowledge.journal.corrupt-*"))
			late := name == "an unknown kind" || name == "another type" // the first write finds it
			if late != (len(kept) == 0) {
				t.Fatalf("kept aside: %q", kept)
			}
			if _, errs := m.on("b", 0, "remember", "architecture/db", "PostgreSQL 16"); late && !strings.Contains(errs, named) {
				t.Errorf("the commit is not named: %s", errs)
			}
			kept, _ = filepath.Glob(filepath.Join(m.dir, "b", "teams", "*", "knowledge", "knowledge.journal.corrupt-*"))
			if len(kept) != 1 {
				t.Fatalf("kept aside: %q", kept)
			}
			if text, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(text), `"events":`+events) {
				t.Errorf("%s, %v", text, err)
			}
			for _, fact := range []string{"PostgreSQL", "OAuth2"} {
				out, errs := m.on("b", 0, "recall", fact)
				if !strings.Contains(out, fact) || strings.Contains(errs, "not understood") {
					t.Errorf("after the write: %s%s", out, errs)
				}
			}
			m.on("b", 0, "remember", "architecture/queue", "NATS")
			m.on("b", 0, "compact")
			m.says("b", "NATS", "recall", "queue")
		})
	}
}
