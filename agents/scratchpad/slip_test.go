package scratchpad

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

const hash = "00000000000000aa"

// written is a file with one pad.
func written(t testing.TB, p *Pad) []byte {
	t.Helper()
	var b bytes.Buffer
	s := NewSheet(&b)
	_, err := io.WriteString(s, `{"project_hash": "`+hash+`"`)
	if err == nil {
		err = s.Pad(hash, p)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a slip knows of a message is what the message says, however odd it is.
func FuzzSlip(f *testing.F) {
	f.Add(uint64(1), "cursor-a3f8", "", "", "", "hello", int64(0))
	f.Add(uint64(17), `a"b\`, "claude-b7e2", "", "critical", "\n      ]\n", int64(1<<40))
	f.Add(uint64(1<<60), "<shell>", "", "claude", "high", `","to_agent":"x","category":`, int64(-5))
	f.Add(uint64(2), "", "", "", "low", "\n      \"scratchpad\": [\n", int64(1))
	f.Add(uint64(3), "от\x00\xff", "", "", "", "", int64(7))
	f.Fuzz(func(t *testing.T, number uint64, from, to, toType, priority, text string, expires int64) {
		for _, text := range []*string{&from, &to, &toType, &priority, &text} {
			*text = strings.ToValidUTF8(*text, "?") // as texts are before they are stored
		}
		m := &Message{Number: max(number, 1), From: from, To: to, ToType: toType, Priority: priority, Category: "status", Text: text, At: time.Unix(1, 0).UTC()}
		if expires != 0 {
			m.Expires = time.Unix(0, expires).UTC()
		}
		line, err := json.Marshal(m)
		if err != nil {
			t.Skip(err)
		}
		whole := new(Message)
		if err := json.Unmarshal(line, whole); err != nil {
			t.Fatal(err)
		}
		if h, ok := parseHead(line); ok {
			if diff := gocmp.Diff(whole.head(), h, gocmp.AllowUnexported(head{})); diff != "" {
				t.Errorf("head of %s (-whole +slip):\n%s", line, diff)
			}
		} else if from == "cursor-a3f8" && to == "" && toType == "" && priority == "" {
			t.Errorf("%s is not read as a slip", line)
		}
		p := New()
		p.Post(m, Position{})
		file := written(t, p)
		src, rest := Split(file)
		if !json.Valid(rest) || src.Len() != 1 {
			t.Fatalf("%d pads: %s", src.Len(), rest)
		}
		again, err := src.Fill(0, hash)
		if err != nil {
			t.Fatalf("%v: %s", err, file)
		}
		if diff := gocmp.Diff(string(file), string(written(t, again))); diff != "" {
			t.Errorf("again (-want +got):\n%s", diff)
		}
	})
}
