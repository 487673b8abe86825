package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The file is cut at every byte: it counts as absent, whoever reads it, and
// filling again mends it.
func TestIndexCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 4, 16)
	put(t, Open(dir), a16, texts, vectors)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for size := range whole {
		if err := os.WriteFile(name, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		y := Open(dir)
		if missing := missing(t, y, texts); len(missing) != 4 {
			t.Fatalf("cut to %d bytes: missing %v", size, missing)
		}
		if size%7 != 0 {
			continue
		}
		put(t, y, a16, texts, vectors)
		for _, z := range []*Index{y, Open(dir)} {
			if missing := missing(t, z, texts); len(missing) != 0 {
				t.Fatalf("cut to %d bytes and filled again: missing %v", size, missing)
			}
		}
	}
}

// A byte is flipped anywhere: the file counts as absent, and filling again mends it.
func TestIndexFlippedAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir), a16, texts, vectors)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for at := range whole {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir)
		if got, _ := x.Scan(t.Context(), "a@1", vectors[:1], 3); len(got) > 0 {
			t.Fatalf("byte %d flipped: %d hits", at, len(got))
		}
		put(t, x, a16, texts, vectors)
		if hits := scan(t, Open(dir), "a@1", vectors[0], 3); len(hits) != 3 {
			t.Fatalf("byte %d flipped and filled again: %v", at, hits)
		}
	}
}

// A file of an earlier version, or of none, counts as absent and is replaced. So is one that damage
// made a newer one: its description is of the file before.
func TestOtherVersions(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir), a16, texts, vectors)
	whole := string(readWhole(t, dir))
	for _, before := range []string{"lcvec3 1afd089e\nand what an earlier version wrote", "lcvec5" + whole[6:], "lcvec9 and what nobody described\n", "lcvec4"} {
		if err := os.WriteFile(filepath.Join(dir, vectorFile), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir)
		if got := missing(t, x, texts); len(got) != 3 {
			t.Errorf("%.40q: missing %v", before, got)
		}
		put(t, x, a16, texts, vectors)
		if got := missing(t, Open(dir), texts); len(got) != 0 {
			t.Errorf("%.40q: filled, and still missing %v", before, got)
		}
	}
}

// What a newer version of the program wrote stays as it is. Vectors in memory serve the process, also
// when the newer one writes again. Where an erased fact might be in the file, it is deleted.
func TestNewerVersionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 300, 16)
	newer := func(text string) {
		t.Helper()
		if err := errors.Join(
			os.WriteFile(filepath.Join(dir, vectorFile), []byte("lcvec10 "+text+"\n\x00\x01"), 0o600),
			os.WriteFile(filepath.Join(dir, describingFile), []byte(`{"schema":7,"of":"lcvec10 `+text+`","more":[{}]}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	x := Open(dir)
	put(t, x, a16, texts[:5], vectors[:5])
	newer("first")
	if got := missing(t, x, texts[:5]); len(got) != 5 || !x.Newer() {
		t.Errorf("missing %v", got)
	}
	then := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for range 2 {
		if err := fill(x, a16, texts, vectors); err != nil && !errors.Is(err, ErrNewer) {
			t.Error(err)
		}
		setComplete(t, x, Changes{Texts: texts, To: then})
		if hits := scan(t, x, "a@1", vectors[7], 400); len(hits) != 300 || hits[0].ID != texts[7].ID {
			t.Errorf("%d hits in memory, want 300", len(hits))
		}
		if at := complete(t, x); !at.Equal(then) {
			t.Errorf("complete to %v", at)
		}
		if got := string(readWhole(t, dir)); !strings.HasPrefix(got, "lcvec10 ") {
			t.Fatalf("the file is %q", got)
		}
		newer("second")
	}
	if got := missing(t, Open(dir), texts); len(got) != 300 {
		t.Errorf("another process misses %d", len(got))
	}
	if err := forget(x, "f-erased"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, vectorFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what may hold an erased fact is still there: %v", err)
	}
	put(t, x, a16, texts, vectors)
	if got := missing(t, Open(dir), texts); len(got) != 0 {
		t.Errorf("missing %v", got)
	}
}

// When no fact lasts any more, the vectors in memory go, and not the newer version's file.
func TestNewerVersionOutlivesTheFacts(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 1, 16)
	newer := "lcvec10 first\n\x00\x01"
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, vectorFile), []byte(newer), 0o600),
		os.WriteFile(filepath.Join(dir, describingFile), []byte(`{"of":"lcvec10 first"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	x := Open(dir)
	for _, c := range []Changes{{Texts: texts}, {Over: []string{texts[0].ID}, To: time.Now()}} {
		if _, err := x.Fill(t.Context(), given{a16, map[string][]float32{texts[0].Text: vectors[0]}}, c, nil); !errors.Is(err, ErrNewer) {
			t.Error(err)
		}
	}
	if hits := scan(t, x, "a@1", vectors[0], 1); len(hits) != 0 {
		t.Errorf("%v of what is over", hits)
	}
	if got := string(readWhole(t, dir)); got != newer {
		t.Errorf("the file is %q", got)
	}
}

// A killed writer leaves a file behind. The next one removes it, and Prune does at once: it may hold what
// was erased. One that is being written stays.
func TestLeftByAKilledWriter(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	left := func() {
		t.Helper()
		for name, age := range map[string]time.Duration{".tmp-embeddings.bin-1": time.Hour, ".tmp-embeddings.json-2": time.Hour, ".tmp-embeddings.bin-3": 0, ".tmp-other-4": time.Hour} {
			path, at := filepath.Join(dir, name), time.Now().Add(-age)
			if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, do := range map[string]func() error{
		"[.tmp-embeddings.bin-3 .tmp-other-4]": func() error { return fill(Open(dir), a16, texts, vectors) },
		"[.tmp-other-4]":                       func() error { return forget(Open(dir), texts[0].ID) },
	} {
		left()
		if err := errors.Join(Open(dir).Reset(), fill(Open(dir), a16, texts[:2], vectors[:2])); err != nil {
			t.Fatal(err)
		}
		left()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if got, err := fs.Glob(os.DirFS(dir), ".tmp-*"); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
}

// What other processes do to the files while this one has them in memory.
func TestIndexUnderItsFeet(t *testing.T) {
	texts, vectors := vectorsOf(1, 40, 16)
	for name, change := range map[string]struct {
		do   func(dir string) error
		left int
	}{
		"deleted":  {func(dir string) error { return os.Remove(filepath.Join(dir, vectorFile)) }, 0},
		"folder":   {os.RemoveAll, 0},
		"reset":    {func(dir string) error { return Open(dir).Reset() }, 0},
		"emptied":  {func(dir string) error { return os.Truncate(filepath.Join(dir, vectorFile), 0) }, 0},
		"header":   {func(dir string) error { return os.Remove(filepath.Join(dir, describingFile)) }, 20},
		"nonsense": {func(dir string) error { return os.WriteFile(filepath.Join(dir, vectorFile), []byte("<html>"), 0o600) }, 0},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, vectorFile)), os.Mkdir(filepath.Join(dir, vectorFile), 0o700), os.Mkdir(filepath.Join(dir, vectorFile, "x"), 0o700))
		}, 0},
		"forgotten": {func(dir string) error { return forget(Open(dir), texts[2].ID, texts[3].ID) }, 18},
		"another's": {func(dir string) error {
			return errors.Join(Open(dir).Reset(), fill(Open(dir), a16, texts[:5], vectors[:5]))
		}, 5},
		"added": {func(dir string) error { return fill(Open(dir), a16, texts[20:30], vectors[20:30]) }, 30},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			x := Open(dir)
			put(t, x, a16, texts[:20], vectors[:20])
			if err := change.do(dir); err != nil {
				t.Fatal(err)
			}
			if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != change.left {
				t.Errorf("%d hits, want %d", len(hits), change.left)
			}
			if missing := missing(t, x, texts); len(missing) != 40-change.left {
				t.Errorf("%d missing, want %d", len(missing), 40-change.left)
			}
			err := fill(x, a16, texts, vectors)
			if blocked := name == "a folder"; (err != nil) != blocked {
				t.Error(err)
			}
			if missing := missing(t, x, texts); len(missing) != 0 {
				t.Errorf("filled again, and %d are missing", len(missing))
			}
		})
	}
}

// Any bytes are read without a panic, also those with right checksums.
func FuzzDecode(f *testing.F) {
	row := make([]byte, 8)
	n, err := rewrite(&opened{}, map[string]change{"a@1": {"f-1": {id: "f-1", text: 3, scale: .5, row: row}, "f-2": {id: "f-2", row: row}}})
	if err != nil {
		f.Fatal(err)
	}
	_, head := n.head()
	good := slices.Concat(head, n.body)
	_, rest, _ := bytes.Cut(good, []byte("\n"))
	line, blocks, _ := bytes.Cut(rest, []byte("\n"))
	f.Add([]byte{}, []byte{})
	f.Add(line, blocks)
	f.Add(line, blocks[:40])
	f.Add(line, append(slices.Clone(blocks), 0))
	for _, text := range []string{`[null]`, `[{"name":"a","dim":8192,"entries":9223372036854775807,"blocks":[{"count":9223372036854775807,"size":40}]}]`,
		`[{"name":"a","dim":1,"entries":1,"blocks":[{"count":1,"size":-1}]}]`, `[{"name":"a","dim":1,"entries":2,"blocks":[{"count":2,"size":9223372036854775807}]}]`,
		`[{"name":"a","dim":0,"entries":0}]`, `[{"name":"a","dim":1,"entries":256,"blocks":[{"count":256,"size":40}]}]`} {
		f.Add([]byte(text), []byte(strings.Repeat("x", 40)))
	}
	f.Fuzz(func(t *testing.T, line, blocks []byte) {
		var sets []*set
		if json.Unmarshal(line, &sets) == nil { // as if the first block were as it was written
			for _, s := range sets {
				if s != nil && len(s.Blocks) > 0 && s.Blocks[0].Size >= 0 && s.Blocks[0].Size <= int64(len(blocks)) {
					s.Blocks[0].CRC = crc32.ChecksumIEEE(blocks[:s.Blocks[0].Size])
				}
			}
			line, _ = json.Marshal(sets)
		}
		line = append(line, '\n')
		data := slices.Concat([]byte(firstLine(line)+"\n"), line, blocks)
		c, err := readContents(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		file := &opened{contents: c, from: bytes.NewReader(data)}
		for name := range c.sets {
			_ = file.find(name, []Text{{ID: "f-1"}}, func(_ int, b block, at int) { b.row(at) })
		}
		_, _ = rewrite(file, map[string]change{"a@1": {"f-1": nil, "f-3": {id: "f-3", row: row}}})
	})
}
