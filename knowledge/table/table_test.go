package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/formats"
	"leanctx/knowledge/table"
)

// genTime is an instant, now and then one whose nanoseconds fit no number.
func genTime(t *rapid.T, name string) time.Time {
	year := rapid.SampledFrom([]int{1, 1600, 2025, 2026, 2027, 2262, 2300, 9999}).Draw(t, name)
	return time.Date(year, 1, rapid.IntRange(1, 28).Draw(t, name), 1, 2, 3, rapid.IntRange(0, 999_999_999).Draw(t, name), time.UTC)
}

func genMaybe(t *rapid.T, name string) *time.Time {
	if rapid.Bool().Draw(t, name) {
		return nil
	}
	return new(genTime(t, name))
}

func genFact(t *rapid.T, n int) *formats.Fact {
	id := formats.VersionID("c", "k", fmt.Sprint(n), time.Time{}, 0)
	if rapid.Bool().Draw(t, "foreign") {
		id = rapid.SampledFrom([]string{"f-", "F-00000000000000AB", "f-00000000000000ZZ", "x", "é"}).Draw(t, "id") + fmt.Sprint(n)
	}
	f := &formats.Fact{
		ID: id, Category: rapid.SampledFrom([]string{"Arch", "arch", "Ünïcode", "testing", ""}).Draw(t, "category"),
		Key: rapid.SampledFrom([]string{"auth", "Auth", "a b", "ключ", "x\"y\n", ""}).Draw(t, "key"), Value: rapid.String().Draw(t, "value"),
		Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"), ConfirmationCount: rapid.IntRange(-1, 9).Draw(t, "count"),
		RetrievalCount: rapid.IntRange(0, 9).Draw(t, "count"), FeedbackUp: rapid.IntRange(0, 9).Draw(t, "count"), FeedbackDown: rapid.IntRange(0, 9).Draw(t, "count"),
		Archetype: rapid.SampledFrom([]string{"fact", "decision"}).Draw(t, "archetype"), Pinned: rapid.Bool().Draw(t, "pinned"),
		CreatedAt: genTime(t, "at"), ValidFrom: genTime(t, "at"), RecordedFrom: genTime(t, "at"), LastConfirmed: genTime(t, "at"),
		ValidUntil: genMaybe(t, "until"), RecordedUntil: genMaybe(t, "until"), LastRetrieved: genMaybe(t, "read"), ArchivedAt: genMaybe(t, "archived"),
	}
	if rapid.Bool().Draw(t, "aliases") {
		f.Aliases = []string{"other"}
	}
	if rapid.Bool().Draw(t, "periods") {
		f.Beliefs = []formats.Belief{{ValidFrom: f.ValidFrom, RecordedFrom: f.RecordedFrom, RecordedUntil: genTime(t, "belief")}}
	}
	return f
}

// known is what a sketch tells of a fact.
func known(f *formats.Fact) formats.Fact {
	k := formats.Fact{
		ID: f.ID, Category: f.Category, Key: f.Key, Archetype: f.Archetype, Pinned: f.Pinned, Confidence: f.Confidence,
		ConfirmationCount: f.ConfirmationCount, RetrievalCount: f.RetrievalCount, FeedbackUp: f.FeedbackUp, FeedbackDown: f.FeedbackDown,
		ValidFrom: f.ValidFrom, RecordedFrom: f.RecordedFrom, LastConfirmed: f.LastConfirmed,
		ValidUntil: f.ValidUntil, RecordedUntil: f.RecordedUntil, LastRetrieved: f.LastRetrieved,
	}
	if f.ArchivedAt != nil {
		k.ArchivedAt = new(time.Time)
	}
	return k
}

// made is the table of a document and the snapshot's text.
func made(t *rapid.T, d *formats.Document) (keys, snapshot []byte, of table.Snapshot) {
	var b bytes.Buffer
	if err := formats.EncodeNative(&b, d); err != nil {
		t.Fatal(err)
	}
	of = table.Snapshot{Seq: 7, Generation: 3, Size: int64(b.Len()), Checksum: "0badcafe"}
	keys, err := table.Build(context.Background(), bytes.NewReader(b.Bytes()), of)
	if err != nil {
		t.Fatal(err)
	}
	return keys, b.Bytes(), of
}

// A table tells of every version what the snapshot does, and where it stands.
func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	rapid.Check(t, func(rt *rapid.T) {
		d := &formats.Document{UpdatedAt: time.Unix(0, 0), Patterns: []formats.Pattern{{Type: "naming", Description: "}\n  ]"}}}
		for n := range rapid.IntRange(0, 12).Draw(rt, "facts") {
			d.Facts = append(d.Facts, genFact(rt, n))
		}
		keys, snapshot, of := made(rt, d)
		if err := os.WriteFile(path, keys, 0o600); err != nil {
			rt.Fatal(err)
		}
		opened, err := table.Open(path, of)
		if err != nil {
			rt.Fatal(err)
		}
		whole, err := formats.DecodeNative(snapshot)
		if err != nil {
			rt.Fatal(err)
		}
		check(rt, opened, whole, snapshot)
		if opened.Err() != nil {
			rt.Error(opened.Err())
		}
	})
}

func check(t *rapid.T, keys *table.Table, d *formats.Document, snapshot []byte) {
	if keys.VersionCount() != len(d.Facts) {
		t.Fatalf("%d versions, want %d", keys.VersionCount(), len(d.Facts))
	}
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	touched := map[int]bool{}
	for i := range keys.TouchedAfter(after) {
		touched[i] = true
	}
	var sk table.Sketch
	var latest time.Time
	for i, f := range d.Facts {
		keys.Draw(i, &sk)
		if diff := cmp.Diff(known(f), sk.Fact); diff != "" || sk.Aliases != (len(f.Aliases) > 0) || sk.Periods != (len(f.Beliefs) > 0) {
			t.Fatalf("version %d (-snapshot +table):\n%s", i, diff)
		}
		if n, ok := keys.ByID(f.ID); !ok || n != i {
			t.Fatalf("id %q is version %d, %v, want %d", f.ID, n, ok, i)
		}
		if touched[i] != (f.RecordedFrom.After(after) || f.LastConfirmed.After(after)) {
			t.Errorf("version %d: touched after: %v", i, touched[i])
		}
		for _, b := range f.Beliefs {
			if b.RecordedUntil.After(latest) {
				latest = b.RecordedUntil
			}
		}
		place(t, keys, i, d, snapshot)
	}
	if !keys.Settled().Equal(latest) {
		t.Errorf("settled %v, want %v", keys.Settled(), latest)
	}
	for _, id := range []string{"", "f-", "f-0000000000000000", "nobody"} {
		if _, ok := keys.ByID(id); ok {
			t.Errorf("there is a version %q", id)
		}
	}
	if _, ok := keys.Find("no", "where"); ok {
		t.Error("there is a fact no/where")
	}
}

// place looks a version's fact up by name and reads it.
func place(t *rapid.T, keys *table.Table, version int, d *formats.Document, snapshot []byte) {
	f := d.Facts[version]
	n, ok := keys.Find(formats.FoldName(f.Category), formats.FoldName(f.Key))
	if !ok || n != keys.FactOf(version) {
		t.Fatalf("%s/%s is fact %d, %v, want %d", f.Category, f.Key, n, ok, keys.FactOf(version))
	}
	at, size, sum := keys.Place(n)
	text := snapshot[at:][:size]
	if table.Sum(text) != sum {
		t.Fatalf("fact %d: the checksum is wrong", n)
	}
	got, err := formats.DecodeFacts(text)
	if err != nil {
		t.Fatal(err)
	}
	first, end := keys.Versions(n)
	if diff := cmp.Diff(d.Facts[first:end], got); diff != "" {
		t.Fatalf("fact %d (-snapshot +read):\n%s", n, diff)
	}
}

// A table that was replaced by that of another snapshot after it was opened is
// not read any further, and says so.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	rapid.Check(t, func(rt *rapid.T) {
		fact := func(key string) *formats.Document {
			f := genFact(rt, 1)
			f.Key = key
			return &formats.Document{UpdatedAt: time.Unix(0, 0), Facts: []*formats.Fact{f}}
		}
		one, _, of := made(rt, fact("one"))
		if err := os.WriteFile(path, one, 0o600); err != nil {
			rt.Fatal(err)
		}
		keys, err := table.Open(path, of)
		if err != nil {
			rt.Fatal(err)
		}
		two, _, _ := made(rt, fact("another one"))
		if err := os.WriteFile(path, two, 0o600); err != nil {
			rt.Fatal(err)
		}
		if keys.Find("", ""); keys.Err() == nil {
			rt.Error("the other table was read")
		}
		if _, err := table.Open(path, table.Snapshot{Checksum: "00000000"}); err == nil {
			rt.Error("the table of another snapshot was opened")
		}
	})
}

// Building ends with its context.
func TestBuildInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	if err := formats.EncodeNative(&b, &formats.Document{UpdatedAt: time.Unix(0, 0), Facts: []*formats.Fact{{ID: "x", Key: "k", Value: "v", CreatedAt: time.Unix(0, 0)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Build(ctx, &b, table.Snapshot{Checksum: "00000000"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
