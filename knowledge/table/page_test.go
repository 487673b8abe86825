package table_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/table"
)

// paged is a table of several pages a section, and the snapshot it is of.
func paged(t testing.TB, facts int) (keys []byte, of table.Snapshot) {
	t.Helper()
	d := &formats.Document{UpdatedAt: time.Unix(0, 0)}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range facts {
		f := &formats.Fact{
			ID: formats.VersionID("c", "k", fmt.Sprint(n), time.Time{}, 0), Category: fmt.Sprint("room-", n%7), Key: fmt.Sprintf("key-%05d", n), Value: "v",
			Archetype: "fact", CreatedAt: at, ValidFrom: at, RecordedFrom: at.Add(time.Duration(n) * time.Second), LastConfirmed: at,
		}
		if n%5 == 0 {
			f.ID = fmt.Sprint("foreign-", n)
		}
		if n%9 == 0 {
			f.Aliases = []string{fmt.Sprint("other-", n)}
		}
		if n%11 == 0 {
			f.ValidUntil = new(time.Date(9000, 1, 1, 0, 0, n, 0, time.UTC))
		}
		d.Facts = append(d.Facts, f)
	}
	var b bytes.Buffer
	if err := formats.EncodeNative(&b, d); err != nil {
		t.Fatal(err)
	}
	of = table.Snapshot{Seq: 7, Generation: 3, Size: int64(b.Len()), Checksum: "0badcafe"}
	keys, err := table.Build(context.Background(), &b, of)
	if err != nil {
		t.Fatal(err)
	}
	return keys, of
}

// told is all that a table tells, asked for in an order that is that of no section.
func told(keys *table.Table) string {
	var b bytes.Buffer
	var sk table.Sketch
	last := -1
	for i := range keys.VersionCount() {
		n := i * 7919 % keys.VersionCount()
		keys.Draw(n, &sk)
		row := keys.FactOf(n)
		at, size, sum := keys.Place(row)
		first, end := keys.Versions(row)
		category, key := keys.Name(row)
		found, ok := keys.Find(category, key)
		by, known := keys.ByID(sk.Fact.ID)
		after, likely := keys.After(last, sk.Fact.ID)
		last = after
		fmt.Fprintln(&b, n, row, at, size, sum, first, end, category, key, found, ok, by, known, after, likely, sk.Fact.ID, sk.Fact.Key, sk.Fact.RecordedFrom, sk.Fact.ValidUntil, sk.Aliases)
	}
	for n := range 20 {
		for v := range keys.Aliased(fmt.Sprint("other-", n)) {
			fmt.Fprintln(&b, n, v)
		}
	}
	for n := range keys.TouchedAfter(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)) {
		fmt.Fprintln(&b, n)
	}
	return b.String()
}

// What is read page by page is what is read at once, and what was built.
func TestPages(t *testing.T) {
	data, of := paged(t, 300)
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := table.New(data, of)
	if err != nil {
		t.Fatal(err)
	}
	want := told(made)
	for _, loaded := range []bool{false, true} {
		keys, err := table.Open(path, of)
		if err != nil {
			t.Fatal(err)
		}
		if loaded {
			keys.Load()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if got := told(keys); got != want || keys.Err() != nil {
			t.Errorf("loaded %v: the file tells something else than what was written to it, %v", loaded, keys.Err())
		}
	}
}

// A byte that changed anywhere is found when its page is read: the table says
// so, and nothing that it tells meanwhile leads out of it. Pages that are not
// needed are not looked at.
func TestDamagedPages(t *testing.T) {
	data, of := paged(t, 300)
	path := filepath.Join(t.TempDir(), "keys")
	unnoticed := 0
	for at := 0; at < len(data); at += 1531 {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		lazy, err := table.Open(path, of)
		if err != nil {
			continue
		}
		whole, err := table.Open(path, of)
		if err != nil {
			t.Fatal(err)
		}
		if whole.Load(); whole.Err() == nil {
			t.Errorf("byte %d of %d changed, and all was read without an error", at, len(data))
		}
		if told(lazy); lazy.Err() == nil {
			t.Errorf("byte %d of %d changed, and everything was told without an error", at, len(data))
		}
		one, err := table.Open(path, of)
		if err != nil {
			t.Fatal(err)
		}
		if one.Name(3); one.Err() == nil {
			unnoticed++
		}
	}
	if unnoticed < len(data)/1531/2 {
		t.Errorf("a name led to %d of %d changes: the table is read whole", len(data)/1531-unnoticed, len(data)/1531)
	}
}

// A table that was cut off, overwritten or deleted after it was opened, and not
// read yet, is in error and gives nothing.
func TestPagesGone(t *testing.T) {
	data, of := paged(t, 300)
	for name, spoil := range map[string]func(path string) error{
		"cut":         func(path string) error { return os.Truncate(path, table.HeaderSize+100) },
		"overwritten": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte{0xff}, len(data)), 0o600) },
		"deleted":     os.Remove,
	} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := table.Open(path, of)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if told(keys); keys.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
