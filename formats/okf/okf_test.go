package okf

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var sample = Room{Category: "architecture", At: time.Date(2026, 3, 20, 9, 30, 0, 0, time.UTC), Facts: []Fact{
	{Key: "auth", Value: "OAuth2 + PKCE", ID: "f-1", From: "2026-01-15T00:00:00.000000001Z", Until: "2027-01-01T00:00:00Z"},
	{Key: "db", Value: "PostgreSQL 16\nwith logical replication", ID: "f-2", From: "2026-02-01T00:00:00Z"},
	{Key: "odd **key**", Value: " \x1b[31m ", ID: "f-3"},
}}

const sampleText = `---
type: room
title: "architecture"
generated: {by: lean-ctx, at: "2026-03-20T09:30:00Z"}
leanctx_category: "architecture"
leanctx_facts:
- {key: "auth", id: "f-1", sum: caa044b92, from: "2026-01-15T00:00:00.000000001Z", until: "2027-01-01T00:00:00Z"}
- {key: "db", id: "f-2", sum: c5a5334ad, from: "2026-02-01T00:00:00Z"}
- {key: "odd **key**", id: "f-3", sum: c8a1c24c1}
leanctx_checksum: cdc781474
---

# architecture

- **auth**: OAuth2 + PKCE
- **db**: PostgreSQL 16
  with logical replication
- **"odd \x2a\x2akey\x2a\x2a"**: " \x1b[31m "
`

func write(t testing.TB, r Room) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoomAsText(t *testing.T) {
	if d := cmp.Diff(sampleText, write(t, sample)); d != "" {
		t.Error(d)
	}
	if !IsRoom([]byte(sampleText)) || IsRoom([]byte("---\ntype: note\n---\n")) || IsRoom([]byte("leanctx_category: x")) {
		t.Error("a room is not told from other files")
	}
}

func TestEditedItems(t *testing.T) {
	edited := strings.NewReplacer("OAuth2 + PKCE", "Passkeys", "- **db**: PostgreSQL 16\n  with logical replication\n", "\n- **cache**: Redis\n\n").Replace(sampleText)
	r, err := Parse([]byte(strings.ReplaceAll(edited, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := Room{Category: "architecture", At: sample.At, Facts: []Fact{
		{Key: "auth", Value: "Passkeys", ID: "f-1", Edited: true, Line: 15},
		{Key: "cache", Value: "Redis", Edited: true, Line: 17},
		{Key: "odd **key**", Value: " \x1b[31m ", ID: "f-3", Line: 19},
	}, Missing: []Fact{{Key: "db", ID: "f-2"}}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
}

func TestMangledRoomsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "line 1: no front matter",
		"# x\n":            "line 1: no front matter",
		"---\na: [\n---\n": "line 2: front matter",
		"---\ntype: note\nleanctx_category: x\n---\n":                            "line 2: the front matter has no type: room",
		strings.Replace(sampleText, "- **db**: P", "- db: P", 1):                 "line 16: neither an item",
		strings.Replace(sampleText, "OAuth2 + PKCE", "", 1):                      "line 15: an item without a value",
		strings.Replace(sampleText, `" \x1b[31m "`, `" \x1b[31m `, 1):            "line 18: a value with wrong quotes",
		strings.Replace(sampleText, "\n  with logical", "\nwith logical", 1):     "line 17: neither an item",
		strings.Replace(sampleText, "- **auth**", "<<<<<<< HEAD\n- **auth**", 1): "line 15: neither an item",
	} {
		r, err := Parse([]byte(text))
		if err == nil && len(r.Mistakes) > 0 {
			err = r.Mistakes[0]
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Of several values the changed ones are known as long as none is gone or new: else one that was
// changed cannot be told from one that took its place.
func TestEditedValuesOfSeveral(t *testing.T) {
	text := write(t, Room{Category: "clients", At: sample.At, Facts: []Fact{
		{Key: "supported", Value: "Claude Code", ID: "f-1"}, {Key: "supported", Value: "Codex", ID: "f-2"}, {Key: "port", Value: "80", ID: "f-3"},
	}})
	for _, c := range []struct {
		from, to string
		facts    []Fact // without their lines
		missing  []Fact
	}{
		{"Codex", "Gemini", []Fact{{Key: "supported", Value: "Claude Code", ID: "f-1", Several: true}, {Key: "supported", Value: "Gemini", ID: "f-2", Several: true, Edited: true}, {Key: "port", Value: "80", ID: "f-3"}}, nil},
		{"- **supported**: Codex\n", "", []Fact{{Key: "supported", Value: "Claude Code", ID: "f-1", Several: true}, {Key: "port", Value: "80", ID: "f-3"}}, []Fact{{Key: "supported", ID: "f-2"}}},
		{"Codex\n", "Gemini\n- **supported**: Zed\n", []Fact{
			{Key: "supported", Value: "Claude Code", ID: "f-1", Several: true}, {Key: "supported", Value: "Gemini", Several: true, Edited: true},
			{Key: "supported", Value: "Zed", Several: true, Edited: true}, {Key: "port", Value: "80", ID: "f-3"},
		}, []Fact{{Key: "supported", ID: "f-2"}}},
		{"**port**: 80", "**port**: 80\n- **port**: 81", []Fact{
			{Key: "supported", Value: "Claude Code", ID: "f-1", Several: true}, {Key: "supported", Value: "Codex", ID: "f-2", Several: true},
			{Key: "port", Value: "80", ID: "f-3", Several: true}, {Key: "port", Value: "81", Several: true, Edited: true},
		}, nil},
	} {
		r, err := Parse([]byte(strings.Replace(text, c.from, c.to, 1)))
		if err != nil || len(r.Mistakes) > 0 {
			t.Fatal(err, r.Mistakes)
		}
		for i := range r.Facts {
			r.Facts[i].Line = 0
		}
		if d := cmp.Diff(c.facts, r.Facts) + cmp.Diff(c.missing, r.Missing); d != "" {
			t.Errorf("%q: %s", c.to, d)
		}
	}
}

// What Git and editors do to line ends is no edit; anything else is one.
func TestSealTellsAnEditedFile(t *testing.T) {
	for text, want := range map[string]bool{
		sampleText: true,
		strings.ReplaceAll(sampleText, "\n", "\r\n"):                             true,
		"\uFEFF" + sampleText + "\n\n":                                           true,
		strings.TrimSpace(sampleText):                                            true,
		sampleText + "note\n":                                                    false,
		strings.Replace(sampleText, "# arch", "# Arch", 1):                       false,
		strings.Replace(sampleText, "type: room", "type: room\ntags: [x]", 1):    false,
		strings.Replace(sampleText, "OAuth2 + PKCE", "Passkeys", 1):              false,
		strings.Replace(sampleText, "- **auth**", "<<<<<<< HEAD\n- **auth**", 1): false,
	} {
		if same, sealed := Sealed([]byte(text)); !sealed || same != want {
			t.Errorf("%v, %v, want %v:\n%s", same, sealed, want, text)
		}
		if r, err := Parse([]byte(text)); want && (err != nil || r.Loose) {
			t.Errorf("%v, %+v:\n%s", err, r, text)
		}
	}
	if _, sealed := Sealed([]byte("---\ntype: room\n---\n")); sealed {
		t.Error("a seal is found where there is none")
	}
}

// Whatever a room holds, nothing of it is edited when it is read again.
func TestRoomRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Room{Category: "a " + rapid.String().Draw(t, "category") + " b", At: sample.At}
		for _, key := range rapid.SliceOfDistinct(rapid.StringN(1, 20, -1), rapid.ID[string]).Draw(t, "keys") {
			if strings.TrimSpace(key) == "" || strings.ContainsRune(key, '\uFFFD') {
				continue
			}
			value := rapid.SampledFrom([]string{"x", "- **a**: b", "a\nb", "a\n\nb", "# a", "---", "\n", "a  \nb", `"q"`, "é\u202e", "a\r\nb"}).Draw(t, "value") + rapid.String().Draw(t, "more")
			if strings.ContainsRune(value, '\uFFFD') {
				continue
			}
			r.Facts = append(r.Facts, Fact{Key: strings.TrimSpace(key), Value: value, ID: "f-1", From: "2026-02-01T00:00:00Z", Until: rapid.SampledFrom([]string{"", "2026-03-01T00:00:00Z"}).Draw(t, "until")})
		}
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if len(got.Facts) != len(r.Facts) || len(got.Missing) > 0 {
			t.Fatalf("%d facts, want %d\n%s", len(got.Facts), len(r.Facts), b.String())
		}
		for i, f := range got.Facts {
			if w := r.Facts[i]; f.Edited || f.Key != w.Key || f.Value != w.Value || f.From != w.From || f.Until != w.Until {
				t.Fatalf("%+v, want %+v\n%s", f, r.Facts[i], b.String())
			}
		}
	})
}
