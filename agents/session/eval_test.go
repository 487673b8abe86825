package session

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats/transcript"
)

// each reads a set of the evaluation folder, a JSON value a line.
func each[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("NOT MEASURED: LEAN_CTX_EVAL_DIR names no folder with evaluation sets")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skip("NOT MEASURED:", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var x T
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

type locomoSession struct {
	Dialogue string `json:"dialogue"`
	Session  int    `json:"session"`
	At       string `json:"at"`
	Turns    []struct {
		ID, Speaker, Text string
	} `json:"turns"`
}

type locomoQuestion struct {
	Dialogue string   `json:"dialogue"`
	Evidence []string `json:"evidence"`
	Question string   `json:"question"`
}

// TestLocomoSessions reports how well sessions and turns are found: five dialogues in one store.
func TestLocomoSessions(t *testing.T) {
	all := each[locomoSession](t, "locomo-sessions/sessions.jsonl.gz")
	questions := each[locomoQuestion](t, "locomo-sessions/questions.jsonl.gz")
	s := Open(t.TempDir(), nil)
	turns := map[string]map[string]string{} // dialogue → evidence → session#n
	for i, x := range all {
		at, err := time.Parse("3:04 pm on 2 January, 2006", x.At)
		if err != nil {
			t.Fatal(err)
		}
		e := Events{Client: "locomo", Session: fmt.Sprintf("%s-%08x", x.Dialogue, i)}
		for j, turn := range x.Turns {
			role := transcript.User
			if turn.Speaker != x.Turns[0].Speaker {
				role = transcript.Agent
			}
			e.Turns = append(e.Turns, transcript.Turn{ID: turn.ID + x.Dialogue, Role: role, At: at.Add(time.Duration(j) * time.Second), Text: turn.Speaker + ": " + turn.Text})
		}
		got, err := s.Note(t.Context(), e)
		if err != nil || got.Turns != len(x.Turns) {
			t.Fatal(got, err)
		}
		if turns[x.Dialogue] == nil {
			turns[x.Dialogue] = map[string]string{}
		}
		for j, turn := range x.Turns {
			turns[x.Dialogue][turn.ID] = fmt.Sprintf("%s#%d", got.ID, j+1)
		}
	}
	type figures struct{ one, five, mrr, line1, line3, n float64 }
	measure := func() (f figures) {
		for _, q := range questions {
			want, sessions := map[string]bool{}, map[string]bool{}
			for _, e := range q.Evidence {
				if turn, ok := turns[q.Dialogue][e]; ok {
					want[turn] = true
					sessions[strings.Split(turn, "#")[0]] = true
				}
			}
			if len(want) == 0 {
				continue
			}
			f.n++
			list, _, err := s.rank(t.Context(), nil, search{query: q.Question})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range list {
				if sessions[x.id] {
					f.mrr += 1 / float64(i+1)
					if i < 1 {
						f.one++
					}
					if i < 5 {
						f.five++
					}
					break
				}
			}
			for i, x := range lines(list, 3) {
				if want[fmt.Sprintf("%s#%d", x.session, x.ref.n)] {
					f.line3++
					if i == 0 {
						f.line1++
					}
					break
				}
			}
		}
		return f
	}
	f := measure()
	t.Logf("without the word list: n=%.0f session@1 %.3f @5 %.3f MRR %.3f turn@1 %.3f @3 %.3f", f.n, f.one/f.n, f.five/f.n, f.mrr/f.n, f.line1/f.n, f.line3/f.n)
	if err := s.Index(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	f = measure()
	t.Logf("n=%.0f session@1 %.3f @5 %.3f MRR %.3f turn@1 %.3f @3 %.3f", f.n, f.one/f.n, f.five/f.n, f.mrr/f.n, f.line1/f.n, f.line3/f.n)
	if f.one/f.n < .70 || f.five/f.n < .90 || f.mrr/f.n < .79 || f.line3/f.n < .58 {
		t.Error("worse than it was")
	}
}
