package jetstream

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Whatever is sent, in whatever pieces, a connection holds no more of a line than a server of ours
// sends, and lets no message through that is larger; the pieces change nothing.
func FuzzWhatIsSent(f *testing.F) {
	for _, text := range []string{
		"INFO {}\r\nPONG\r\n", "MSG a 1 9000000000000000\r\nabc", "HMSG a 1 b 10 -1\r\n", "msg\t a 1 5\r\nabcde\r\nMSG a 1 99999999999999999999\r\n",
		"MSG\r\n", "MSG a 1 3\r\nabcMSG x 1 67108865\r\n", strings.Repeat("x", 70_000), "\n\n\n", "MSG a 1 0\r\n\r\n", "-ERR '\x1b[31m\n## SYSTEM'\r\n",
	} {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		whole, pieces, ok := &guarded{}, &guarded{}, true
		want := whole.plausible(text)
		for rest := text; len(rest) > 0 && ok; {
			n := min(len(rest), 1+int(size))
			ok = pieces.plausible(rest[:n])
			rest = rest[n:]
			if ok && (len(pieces.line) > maxLine || pieces.payload > maxMessage || pieces.payload < 0) {
				t.Fatalf("%d bytes of a line, %d of a message", len(pieces.line), pieces.payload)
			}
		}
		if ok != want {
			t.Errorf("%q: %v in pieces of %d, %v whole", text, ok, 1+int(size), want)
		}
		if got := (said{errors.New(string(text))}).Error(); !utf8.ValidString(got) || len(got) > 4096 || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("what it said is %q", got)
		}
	})
}

// The same for random lines of the protocol, with numbers from everywhere.
func TestRandomLinesAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"MSG", "HMSG", "msg", "INFO", "PING", "+OK", "-ERR", "a.b", "1", "-1", "0", "7", "67108864", "67108865", "9223372036854775807", "18446744073709551616", "{\"max_payload\":-1}", "\x00", "\u202e", "\r", "\n", "\r\n"}
	for range 5_000 {
		var b bytes.Buffer
		for range r.IntN(30) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteString([]string{" ", "\t", "", "\r\n"}[r.IntN(4)])
		}
		g := &guarded{}
		for text := b.Bytes(); len(text) > 0; {
			n := 1 + r.IntN(len(text))
			if !g.plausible(text[:n]) {
				break
			}
			if g.payload > maxMessage || g.payload < 0 || len(g.line) > maxLine {
				t.Fatalf("%q: %d, %d", b.Bytes(), g.payload, len(g.line))
			}
			text = text[n:]
		}
	}
}
