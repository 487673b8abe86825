package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/knowledge"
)

func TestSizes(t *testing.T) {
	got, err := Sizes([]string{"1000", " 20k", "1M,20_000"})
	if diff := cmp.Diff([]int{1_000, 20_000, 1_000_000, 20_000}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{"", "many", "-1", "1.5k", "k", "1e6", "99999999999999999999", "1kk"} {
		if got, err := Sizes([]string{bad}); !wrong(err, "facts") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// wrong reports whether err blames an argument.
func wrong(err error, argument string) bool {
	a, ok := errors.AsType[*knowledge.ArgumentError](err)
	return ok && a.Argument == argument
}

func TestBadOptions(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for argument, o := range map[string]Options{
		"facts": {Facts: []int{99}}, "runs": {Runs: -1}, "rows": {Rows: []string{"recal", "no such row"}}, "keep": {Keep: full},
	} {
		if r, err := Run(t.Context(), o); !wrong(err, argument) {
			t.Errorf("%s: %v, %v", argument, r, err)
		}
	}
	if _, err := Run(t.Context(), Options{Facts: []int{most + 1}}); !wrong(err, "facts") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(full, "mine")); err != nil {
		t.Error(err)
	}
}

func TestDefaults(t *testing.T) {
	o, err := Options{}.checked()
	if diff := cmp.Diff([]int{1_000, 10_000, 100_000}, o.Facts); err != nil || diff != "" || o.Seed != 1 {
		t.Errorf("%v, seed %d %s", err, o.Seed, diff)
	}
	if o, err = (Options{Facts: []int{500, 200, 500}}).checked(); err != nil || !cmp.Equal(o.Facts, []int{200, 500}) {
		t.Errorf("%v, %v", o.Facts, err)
	}
}

// Rows are told apart by group and name, and the rows that figures are about
// are there.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	groups := []string{}
	for _, w := range rows() {
		if name := w.group + ": " + w.name; seen[name] {
			t.Errorf("two rows are called %q", name)
		} else {
			seen[name] = true
		}
		if len(groups) == 0 || groups[len(groups)-1] != w.group {
			groups = append(groups, w.group)
		}
		if w.measure == nil || w.floor == "" || (w.unit != Micros && w.unit != Bytes) {
			t.Errorf("%+v", w)
		}
	}
	if diff := cmp.Diff([]string{groupDisk, groupCommand, groupServer, groupMemory, groupMeaning, groupWhole, groupCrew}, groups); diff != "" {
		t.Errorf("a group comes twice: %s", diff)
	}
	for _, name := range []string{groupCommand + ": " + remember, groupServer + ": " + remember, groupServer + ": " + rememberBare, groupMemory + ": " + resident,
		groupCommand + ": " + recallMissed, groupCommand + ": " + recallHybrid, groupMeaning + ": " + encodeText, groupMeaning + ": " + encodeFirst, groupMeaning + ": " + scanVectors} {
		if !seen[name] {
			t.Errorf("no row is called %q", name)
		}
	}
	for _, w := range chosen([]string{"RECALL", "memory"}) {
		if !strings.Contains(w.group+w.name, "recall") && w.group != groupMemory {
			t.Errorf("%s: %s was not asked for", w.group, w.name)
		}
	}
}

// An empty program is one that does nothing and ends well.
func TestEmptyProgram(t *testing.T) {
	dir := t.TempDir()
	p, err := emptyProgram(t.Context(), dir, os.Environ())
	if err != nil || len(p.path) == 0 {
		t.Fatal(p, err)
	}
	if p.label != floorProgram || len(p.notes) > 0 {
		t.Fatal(p) // a test has a go command
	}
	if d, err := p.floor(dir)(t.Context(), 0); err != nil || d <= 0 {
		t.Error(d, err)
	}
	if (program{}).floor(dir) != nil {
		t.Error("no program is no floor")
	}
}

func TestMachine(t *testing.T) {
	const info = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:30 / /tmp rw - tmpfs tmpfs rw
31 27 0:31 / /tmpfoo rw shared:1 - btrfs /dev/vdb rw
broken
`
	for dir, want := range map[string]string{"/": "ext4", "/tmp": "tmpfs", "/tmp/nowhere/x": "tmpfs", "/nowhere": "ext4", "/tmpfoo/x": "btrfs"} {
		if got := mounted(info, dir); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	for load, want := range map[string]bool{"": false, "x y": false, "0.99 1 1 1/2 3": false, "17.30 2 2 1/2 3": true} {
		if got := busy(load, 2) != ""; got != want {
			t.Errorf("a load average of %q on two cores is busy: %v", load, got)
		}
	}
	if got := colon("a\t: 1\nmodel name\t: Some CPU @ 2:1\n", "model name"); got != "Some CPU @ 2:1" {
		t.Errorf("%q", got)
	}
	if m := machine(t.Context(), t.TempDir()); m.Cores < 1 || m.System == "" || m.Go == "" {
		t.Errorf("%+v", m)
	}
	if got := (Machine{}).String(); got != "unknown CPU, 0 cores, , " {
		t.Errorf("%q", got)
	}
}
