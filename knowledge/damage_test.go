package knowledge_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
)

// kept is a store in the middle of its life: two snapshots and a journal.
func kept(t testing.TB) (dir, want string) {
	t.Helper()
	dir = t.TempDir()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 10 {
		s.now = at(1 + i)
		a := Assertion{Category: "room", Key: fmt.Sprint("key ", i%6), Value: fmt.Sprint("value ", i)}
		if _, err := s.Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if i == 4 || i == 7 {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, s.whole(t)
}

func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// A damaged snapshot loses nothing: the one before and the journals take over,
// people are told, and the damaged file is kept.
func TestDamagedSnapshot(t *testing.T) {
	dir, want := kept(t)
	data, err := os.ReadFile(filepath.Join(dir, "knowledge.json"))
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{"empty": {}, "a brace": []byte("{"), "not JSON": []byte("gone\n"), "zeros": make([]byte, len(data))}
	for _, n := range []int{1, len(data) / 2, len(data) - 3} {
		damage[fmt.Sprint("cut at ", n)] = data[:n]
	}
	schema := bytes.IndexByte(data, '1') // another digit there is a newer schema, not damage
	for i := 0; i < len(data); i += pick(max(len(data)*proctest.Stride/60, 1), 1) {
		if i != schema {
			flipped := bytes.Clone(data)
			flipped[i] ^= 0x10
			damage[fmt.Sprint("flipped at ", i)] = flipped
		}
	}
	for name, data := range damage {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "knowledge.json"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, whole(t, dir)); diff != "" {
				t.Fatalf("read (-want +got):\n%s", diff)
			}
			mended(t, dir, data)
		})
	}
}

// mended writes to a store with a damaged snapshot and looks at what it says.
func mended(t *testing.T, dir string, damaged []byte) {
	t.Helper()
	s := &story{dir: dir, now: at(20)}
	s.open(t, nil)
	if h, err := advice.Health(t.Context(), s.Store, Examining{}); err != nil || len(h.Damage) != 1 || !strings.Contains(h.Text(), "nothing is lost") {
		t.Errorf("health before: %s, %v", h.Text(), err)
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "room", Key: "key 9", Value: "after the damage"}); err != nil {
		t.Fatal(err)
	}
	h, err := advice.Health(t.Context(), s.Store, Examining{})
	if err != nil || len(h.Damage) == 0 || len(h.SetAside) != 1 || h.Facts != 7 {
		t.Fatalf("health: %s, %v", h.Text(), err)
	}
	if n := len(s.Notices()); n != len(h.Damage) || len(s.Notices()) != 0 {
		t.Errorf("%d notices, want each of %q once", n, h.Damage)
	}
	if aside, err := os.ReadFile(h.SetAside[0]); err != nil || !bytes.Equal(aside, damaged) {
		t.Errorf("what was set aside is not what was there: %v", err)
	}
	if diff := cmp.Diff(s.whole(t), whole(t, dir)); diff != "" {
		t.Errorf("opened again (-memory +files):\n%s", diff)
	}
}

// An older copy that is put in the place of an open store is searched whole, with what is
// remembered after it: the index has commits that are gone.
func TestOlderCopyIsSearched(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that a process has open is not replaced")
	}
	s := testStore(t, nil)
	say := func(key string) {
		t.Helper()
		if _, err := s.Remember(t.Context(), Assertion{Category: "fruit", Key: key, Value: "basket with " + key}); err != nil {
			t.Fatal(err)
		}
	}
	say("apples")
	older := copied(t, s.dir)
	for _, key := range []string{"pears", "plums", "grapes"} {
		say(key)
	}
	if r, err := s.Recall(t.Context(), Question{Query: "plums"}); err != nil || len(r.Facts) == 0 {
		t.Fatalf("before: %v, %v", r, err)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.dir, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	later := []string{"figs", "dates", "limes", "kiwis"} // one more than are gone
	for _, key := range later {
		say(key)
	}
	for _, key := range later {
		if r, err := s.Recall(t.Context(), Question{Query: key}); err != nil || len(r.Facts) != 1 || r.Facts[0].Key != key || r.Facts[0].Maybe {
			t.Errorf("%s: %v, %v", key, r.Text(), err)
		}
	}
}

// A file of a newer schema, of another program, or damaged with nothing to
// take its place, is refused and not touched.
func TestRefusedFiles(t *testing.T) {
	dir, _ := kept(t)
	data, err := os.ReadFile(filepath.Join(dir, "knowledge.json"))
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(data, []byte(`"schema": 2`), []byte(`"schema": 3`), 1)
	for name, test := range map[string]struct {
		data []byte
		only bool // that file, and no other
		want error
	}{
		"newer":           {newer, false, journal.ErrNewer},
		"newer, cut":      {newer[:len(newer)/2], false, journal.ErrNewer},
		"much newer":      {bytes.Replace(newer, []byte(`"schema": 3`), []byte(`"schema": 1000000`), 1), true, journal.ErrNewer},
		"another program": {[]byte(`{"project_root":"/home/u/app","facts":[]}`), true, journal.ErrForeign},
		"damaged":         {data[:len(data)/2], true, journal.ErrCorrupt},
		"empty":           {nil, true, journal.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			into := t.TempDir()
			if !test.only {
				into = copied(t, dir)
			}
			if err := os.WriteFile(filepath.Join(into, "knowledge.json"), test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			before := files(t, into)
			s, err := begin(into, nil)
			if err == nil {
				_, err = s.Remember(t.Context(), Assertion{Category: "c", Key: "k", Value: "v"})
				defer s.Close()
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), "knowledge.json") {
				t.Errorf("%v, want one that is %v and names the file", err, test.want)
			}
			if diff := cmp.Diff(before, files(t, into)); diff != "" {
				t.Errorf("files changed:\n%s", diff)
			}
		})
	}
}

// A commit made while the clock was wrong is told, and is no damage.
func TestHealthNamesAClockThatWasAhead(t *testing.T) {
	s := testStore(t, nil)
	s.now = s.now.Add(400 * 24 * time.Hour)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "v"})
	again := &story{dir: s.dir, now: s.now.Add(-400 * 24 * time.Hour)}
	again.open(t, nil)
	h, err := advice.Health(t.Context(), again.Store, Examining{})
	if err != nil || !strings.Contains(h.Text(), "Clock: the newest commit is dated 2027-02-19") || !strings.Contains(h.Text(), "Damage: none") {
		t.Errorf("%s, %v", h.Text(), err)
	}
}
