package session

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"leanctx/formats/transcript"
)

// syllables spell a number.
func syllables(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 200; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		k := n % uint64(len(consonants)*len(vowels))
		b.WriteByte(consonants[k/uint64(len(vowels))])
		b.WriteByte(vowels[k%uint64(len(vowels))])
	}
	return b.String()
}

// manySessions are sessions of 200 turns: a prompt, an answer, and three calls of tools, in turns.
func manySessions(b *testing.B, sessions int) *Store {
	b.Helper()
	s := Open(b.TempDir(), nil)
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 30_000)
	text := func(words int) string {
		var t strings.Builder
		for range words {
			t.WriteString(syllables(zipf.Uint64()))
			t.WriteByte(' ')
		}
		return t.String()
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range sessions {
		e := Events{Client: "windsurf", Session: fmt.Sprintf("%08x", i)}
		for j := range 200 {
			x := transcript.Turn{ID: fmt.Sprint(i, j), At: at.Add(time.Duration(i*200+j) * time.Minute), Role: transcript.Tool, Tool: "Bash", Input: text(8), Text: text(60)}
			switch j % 5 {
			case 0:
				x = transcript.Turn{ID: x.ID, At: x.At, Role: transcript.User, Text: text(20)}
			case 1:
				x = transcript.Turn{ID: x.ID, At: x.At, Role: transcript.Agent, Text: text(60)}
			}
			e.Turns = append(e.Turns, x)
		}
		if _, err := s.Note(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkSearch is a search of 200 and of 1,000 sessions, of 40,000 and 200,000 turns.
func BenchmarkSearch(b *testing.B) {
	for _, sessions := range []int{20, 200, 1000} {
		s := manySessions(b, sessions)
		_, bytes := s.Size()
		question := strings.Join([]string{syllables(3), syllables(12), syllables(80), syllables(300), syllables(2000), syllables(9000)}, " ")
		for _, q := range []struct {
			name string
			search
		}{
			{"rare", search{query: syllables(15_000)}},
			{"question", search{query: question}},
			{"common", search{query: syllables(0)}},
			{"question to users", search{query: question, user: true}},
		} {
			b.Run(fmt.Sprintf("%d/%s", sessions, q.name), func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for b.Loop() {
					if _, _, err := s.rank(b.Context(), nil, q.search); err != nil {
						b.Fatal(err)
					}
				}
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<20), "MB/op")
				b.ReportMetric(float64(bytes)/(1<<20), "MB")
			})
		}
		b.Run(fmt.Sprintf("%d/list", sessions), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(b.Context(), Listing{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
