package knowledge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// window is how many bytes of facts are read at once.
const window = 256 << 10

// Facts that are read in passing, of a file of several windows, are those of
// the file, to what nobody knows of them; and a snapshot that is made of them
// is the one that a whole state would write.
func TestStreamWindows(t *testing.T) {
	s := testStore(t, nil)
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, `{"category":"room %d","key":"key %d","value":"%s %d"}`+"\n", i%7, i, strings.Repeat("long ", 800), i)
	}
	if _, err := s.Import(t.Context(), Incoming{Data: strings.NewReader(lines.String())}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Export(t.Context(), Outgoing{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for strings.Contains(out.Data, `"outcome": "created"`) {
		n++
		out.Data = strings.Replace(out.Data, `"outcome": "created"`, fmt.Sprintf(`"outcome": "Created", "later": {"is": [%d]}`, n), 1)
	}
	if n != 300 || len(out.Data) < 4*window {
		t.Fatalf("%d facts in %d bytes", n, len(out.Data))
	}
	other := testStore(t, nil)
	if _, err := other.Import(t.Context(), Incoming{Data: strings.NewReader(out.Data)}); err != nil {
		t.Fatal(err)
	}
	if err := other.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.days(1)
	other.remember(t, Assertion{Category: "room 3", Key: "key 3", Value: "short"})
	other.remember(t, Assertion{Category: "a", Key: "first", Value: "of all"})
	other.remember(t, Assertion{Category: "z", Key: "last", Value: "of all"})
	from := map[int64]string{}
	for _, size := range []int64{inParts, atOnce} {
		dir := copied(t, other.dir)
		s := commanded(t, dir, other.now, size)
		if parted(t, s) != (size == inParts) {
			t.Fatal("the state is not what it is said to be")
		}
		from[size] = exported(t, s)
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "knowledge.json"))
		if err != nil {
			t.Fatal(err)
		}
		if size == inParts && !parted(t, s) {
			t.Error("all facts were read")
		}
		from[size] += string(bytes.TrimSpace(data))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if from[atOnce] != from[inParts] {
		t.Errorf("(-whole +partial):\n%.3000s", cmp.Diff(strings.Split(from[atOnce], "\n"), strings.Split(from[inParts], "\n")))
	}
	if !strings.Contains(from[inParts], `[
          300
        ]`) && !strings.Contains(from[inParts], `"is": [300]`) && !strings.Contains(from[inParts], `{"is":[300]}`) {
		t.Error("what nobody knows is lost")
	}
}
