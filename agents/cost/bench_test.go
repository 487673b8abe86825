package cost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkNote is what a call pays in a running server.
func BenchmarkNote(b *testing.B) {
	l := open(b, b.TempDir(), Options{LongLived: true}).As(Actor{Agent: "cursor-a3f8", Session: "s1"})
	answer := strings.Repeat("[architecture/auth]: OAuth2 + PKCE (conf: 90%)\n", 20)
	for b.Loop() {
		l.Note(Receipt{Tool: "ctx_knowledge", Action: "recall", In: "auth token refresh", Out: answer})
	}
}

// BenchmarkReceipt is what a command pays from Open to Close; the floor is the
// same append by hand.
func BenchmarkReceipt(b *testing.B) {
	b.Run("command", func(b *testing.B) {
		dir := b.TempDir()
		for b.Loop() {
			noted(b, dir, Options{}, sized("cursor-a3f8", "ctx_knowledge", 300))
		}
	})
	b.Run("floor", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "bare")
		text := []byte(strings.Repeat("x", 180) + "\n")
		for b.Loop() {
			f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Write(text); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}

// BenchmarkReport is a report on 20 projects of 500 sessions each; the floor is reading
// the file.
func BenchmarkReport(b *testing.B) {
	dir := b.TempDir()
	const projects, sessions = 20, maxSessions
	l := open(b, dir, Options{})
	for i := range projects * sessions {
		for _, tool := range []string{"ctx_knowledge", "ctx_agent", "ctx_recall"} {
			l.Note(Receipt{
				Project: fmt.Sprintf("%016x", i%projects), Agent: fmt.Sprint("agent-", i%150), Session: fmt.Sprintf("session-%06d", i),
				Tool: tool, Action: "recall", OutSize: 4000 + i, At: noon.Add(time.Duration(i) * time.Minute),
			})
		}
		if i%1000 == 999 {
			l.flush()
		}
	}
	b.Run("report", func(b *testing.B) {
		u := open(b, dir, Options{ProjectHash: fmt.Sprintf("%016x", 1)})
		for b.Loop() {
			if report(b, u).Total.Calls == 0 {
				b.Fatal("nothing was counted")
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.ReadFile(filepath.Join(dir, folder, "2026-03.jsonl")); err != nil {
				b.Fatal(err)
			}
		}
	})
}
