package language_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"leanctx/knowledge/words"
)

var update = flag.Bool("update", false, "write frequencies.txt anew")

// TestFrequenciesAreThoseOfThePrompts: the table is made from the prompts beside it. After a change of either, run
// go test ./internal/language -update.
func TestFrequenciesAreThoseOfThePrompts(t *testing.T) {
	data, err := os.ReadFile("testdata/prompts.txt")
	if err != nil {
		t.Fatal(err)
	}
	prompts, of := 0, map[string]int{}
	for line := range strings.Lines(string(data)) {
		prompts++
		seen := map[string]bool{}
		words.Scan(line, func(x words.Token) {
			if x.Kind == words.Word && !seen[x.Term] {
				seen[x.Term] = true
				of[strings.Clone(x.Term)]++
			}
		})
	}
	stems := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	var want bytes.Buffer
	fmt.Fprintf(&want, "prompts %d\n", prompts)
	for _, s := range stems {
		fmt.Fprintf(&want, "%s %d\n", s, of[s])
	}
	if *update {
		if err := os.WriteFile("frequencies.txt", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("frequencies.txt")
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("frequencies.txt is not made from testdata/prompts.txt (%v): go test ./internal/language -update", err)
	}
}
