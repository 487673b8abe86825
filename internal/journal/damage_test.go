//go:build unix

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

func kinds(l *testLog) (ks []journal.Kind) {
	for _, w := range l.Warnings() {
		ks = append(ks, w.Kind)
	}
	return ks
}

// TestJournalCutAtEveryByte is a write that was never answered, and, with a
// witness, a cut from outside of commits that were.
func TestJournalCutAtEveryByte(t *testing.T) {
	s := sampleStory(t, t.TempDir())
	whole := takeImage(t, s.dir)
	j := read(t, s.dir, "state.journal")
	for cut := range len(j) {
		for _, answered := range []bool{false, true} {
			scratch(t, func(dir string) {
				whole.put(t, dir)
				write(t, j[:cut], dir, "state.journal")
				if !answered {
					removeAll(t, dir+"/state.head")
				}
				cutJournal(t, s.clone(dir), j[:cut], answered)
				if t.Failed() {
					t.Fatalf("cut at %d, answered %v", cut, answered)
				}
			})
		}
	}
}

func cutJournal(t *testing.T, s *story, j []byte, answered bool) {
	t.Helper()
	first := uint64(7 + max(0, bytes.Count(j, []byte("\n"))-1)) // that is lost; the first line is the header, then c7 to c10
	for seq := first; seq <= 10; seq++ {
		delete(s.acked, fmt.Sprintf("c%d", seq))
	}
	l := open(t, s.dir, nil)
	if got, _ := view(t, l); s.check(got) != nil {
		t.Errorf("read: %v", s.check(got))
	}
	s.updates(t, l, 1)
	s.same(t, l)
	torn := j[bytes.LastIndexByte(j, '\n')+1:]
	var want []journal.Kind
	if answered {
		want = append(want, journal.Lost)
	}
	if len(torn) > 0 {
		want = append(want, journal.Torn)
		if aside := read(t, s.dir, "state.journal.torn"); !bytes.Equal(aside, append(bytes.Clone(torn), '\n')) {
			t.Errorf("set aside %q, want %q", aside, torn)
		}
	}
	if k := kinds(l); !slices.Equal(k, want) {
		t.Errorf("warnings %v, want %v", l.Warnings(), want)
	}
	if !answered {
		return
	}
	var seqs []string
	for seq := first; seq <= 10; seq++ {
		seqs = append(seqs, fmt.Sprint(seq))
	}
	again := open(t, s.dir, nil) // the loss is reported until the file is removed
	if lost := journal.LostIn(again.Stats().SetAside[0]); lost != strings.Join(seqs, ", ") || len(again.Warnings()) > 0 {
		t.Errorf("lost %s, want %v; warnings %v", lost, seqs, again.Warnings())
	}
}

// flips are the ways a byte is damaged: one bit, of neighbours another one each, and the bits
// that make it a line feed.
func flips(at int, b byte) []byte {
	if *long {
		return []byte{1, 2, 4, 8, 16, 32, 64, 128, b ^ '\n'}
	}
	return []byte{1 << (at % 8), b ^ '\n'}
}

// each damages every byte of a file, and hands over each such directory. It
// skips damage that is none, and that of a schema, which reads as a newer one.
func eachFlip(t *testing.T, s *story, file string, check func(at int, l *testLog, s *story)) {
	t.Helper()
	whole := takeImage(t, s.dir)
	data := read(t, s.dir, file)
	refused := 0
	for at, b := range data {
		if at%proctest.Stride != 0 && at < len(data)-1 {
			continue
		}
		for _, with := range flips(at, b) {
			if with == 0 {
				continue
			}
			scratch(t, func(dir string) {
				whole.put(t, dir)
				damaged := flipped(data, at, with)
				if err := os.Remove(dir + "/" + file); err != nil { // only this name of a file of two
					t.Fatal(err)
				}
				write(t, damaged, dir, file)
				l, err := journal.Open(dir, machine{}, nil)
				if errors.Is(err, journal.ErrNewer) {
					refused++
					return
				}
				if err != nil {
					t.Fatalf("byte %d of %s ^ %#x: %v", at, file, with, err)
				}
				defer l.Close()
				check(at, l, s.clone(dir))
				if t.Failed() {
					t.Fatalf("byte %d of %s ^ %#x", at, file, with)
				}
			})
		}
	}
	if refused > 30 {
		t.Errorf("%d flips were taken for a newer version", refused)
	}
}

func TestEveryByteOfTheJournalFlipped(t *testing.T) {
	s := sampleStory(t, t.TempDir())
	j := read(t, s.dir, "state.journal")
	eachFlip(t, s, "state.journal", func(at int, l *testLog, s *story) {
		line := bytes.Count(j[:at], []byte("\n")) // 0 is the header
		hit := fmt.Sprintf("c%d", 6+line)
		feed := j[at] == '\n' && at+1 < len(j)
		got, _ := view(t, l)
		if got[hit] == 0 && line > 0 && !feed {
			delete(s.acked, hit)
		}
		if err := s.check(got); err != nil {
			t.Errorf("read: %v", err)
			return
		}
		lost := line > 0 && got[hit] == 0
		s.updates(t, l, 1)
		s.same(t, l)
		again := open(t, s.dir, nil) // a placeholder keeps the loss known
		if n := len(again.Stats().Lost); lost != (n > 0) && at != len(j)-1 {
			t.Errorf("lost %v, and known after reopening: %d", lost, n)
		}
		again.Close()
		checkLoss(t, l, lost, at == len(j)-1, uint64(6+line))
		s.goesOn(t)
	})
}

// checkLoss checks that a loss is reported, and only a loss.
func checkLoss(t *testing.T, l *testLog, lost, last bool, seq uint64) {
	t.Helper()
	switch k := kinds(l); {
	case last:
		if !slices.Equal(k, []journal.Kind{journal.Lost, journal.Torn}) {
			t.Errorf("the last line feed: warnings %v", l.Warnings())
		}
	case !lost:
		if slices.Contains(k, journal.Lost) || !slices.Contains(k, journal.Damaged) {
			t.Errorf("nothing lost: warnings %v", l.Warnings())
		}
	default:
		i := slices.IndexFunc(l.Warnings(), func(w journal.Warning) bool { return w.Kind == journal.Lost && w.Seq == seq })
		if i < 0 || !strings.HasPrefix(l.Warnings()[i].File, "state.journal.corrupt-") || !slices.Contains(strings.Split(journal.LostIn(l.Warnings()[i].File), ", "), fmt.Sprint(seq)) {
			t.Errorf("commit %d lost: warnings %v", seq, l.Warnings())
		}
	}
	aside := slices.ContainsFunc(l.Stats().SetAside, func(n string) bool { return strings.HasPrefix(n, "state.journal.corrupt-") })
	if !aside {
		t.Errorf("set aside: %v", l.Stats().SetAside)
	}
}

func TestEveryByteOfTheSnapshotFlipped(t *testing.T) {
	s := sampleStory(t, t.TempDir())
	eachFlip(t, s, "state.json", func(at int, l *testLog, s *story) {
		got, _ := view(t, l)
		if err := s.check(got); err != nil {
			t.Errorf("read: %v", err)
			return
		}
		s.updates(t, l, 1)
		s.same(t, l)
		if k := kinds(l); !slices.Contains(k, journal.Replaced) || slices.Contains(k, journal.Lost) {
			t.Errorf("warnings %v", l.Warnings())
		}
		if aside := l.Stats().SetAside; len(aside) != 1 || !strings.HasPrefix(aside[0], "state.json.corrupt-") {
			t.Errorf("set aside: %v", aside)
		}
		s.goesOn(t)
	})
}

func TestSnapshotDamagedAgainAndAgain(t *testing.T) {
	s := sampleStory(t, t.TempDir())
	for i := range 6 {
		data := read(t, s.dir, "state.json")
		if err := os.Remove(s.dir + "/state.json"); err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0:
			write(t, flipped(data, len(data)/2, 4), s.dir, "state.json")
		case 1:
			write(t, nil, s.dir, "state.json")
		}
		s.goesOn(t)
	}
}

func TestDamageBeyondRepairIsRefused(t *testing.T) {
	tests := map[string]struct {
		damage func(dir string, m image)
		want   error
	}{
		"both snapshots": {func(dir string, m image) {
			write(t, []byte("{"), dir, "state.json")
			write(t, nil, dir, "state.json.prev")
		}, journal.ErrCorrupt},
		"an empty snapshot alone": {func(dir string, m image) {
			for name := range m.names {
				os.Remove(dir + "/" + name)
			}
			write(t, nil, dir, "state.json")
		}, journal.ErrCorrupt},
		"snapshots gone": {func(dir string, m image) {
			os.Remove(dir + "/state.json")
			os.Remove(dir + "/state.json.prev")
		}, journal.ErrCorrupt},
		"newer": {func(dir string, m image) {
			write(t, []byte(`{"schema": 2, "checksum": "`), dir, "state.json")
		}, journal.ErrNewer},
		"newer previous one": {func(dir string, m image) {
			write(t, nil, dir, "state.json")
			write(t, []byte(`{"schema": 2}`), dir, "state.json.prev")
		}, journal.ErrNewer},
		"newer journal": {func(dir string, m image) {
			write(t, []byte("00000000 {\"journal\":1,\"schema\":2}\n"), dir, "state.journal")
		}, journal.ErrNewer},
		"newer format": {func(dir string, m image) {
			write(t, []byte("00000000 {\"journal\":2}\n"), dir, "state.journal")
		}, journal.ErrNewer},
		"foreign": {func(dir string, m image) {
			write(t, []byte(`{"project_root": "/p", "facts": [{"schema": 1}]}`), dir, "state.json")
		}, journal.ErrForeign},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sampleStory(t, t.TempDir())
			running := open(t, s.dir, nil)
			dir := t.TempDir()
			m := takeImage(t, s.dir)
			m.put(t, dir)
			tt.damage(dir, m)
			before := takeImage(t, dir)
			if _, err := journal.Open(dir, machine{}, nil); !errors.Is(err, tt.want) {
				t.Errorf("open: %v, want %v", err, tt.want)
			}
			if fmt.Sprint(before) != fmt.Sprint(takeImage(t, dir)) {
				t.Error("a refused directory was written")
			}
			tt.damage(s.dir, m)
			if tt.want == journal.ErrNewer && strings.Contains(name, "newer ") && !strings.Contains(name, "previous") {
				if _, err := running.Update(t.Context(), add("x")); !errors.Is(err, tt.want) {
					t.Errorf("update of a running log: %v, want %v", err, tt.want)
				}
			}
		})
	}
}
