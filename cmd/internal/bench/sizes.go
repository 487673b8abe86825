package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// Sizes reads numbers of facts as people write them: 1000, 20_000, 20k, 1M,
// several of them in one text with commas.
func Sizes(texts []string) ([]int, error) {
	var all []int
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			n, ok := size(strings.TrimSpace(one))
			if !ok {
				return nil, argument("facts", fmt.Sprintf("facts %q is not a number such as 1000, 20k or 1M", one))
			}
			all = append(all, n)
		}
	}
	return all, nil
}

func size(text string) (n int, ok bool) {
	digits := strings.ReplaceAll(strings.ToLower(text), "_", "")
	factor := 1
	if rest, thousands := strings.CutSuffix(digits, "k"); thousands {
		digits, factor = rest, 1_000
	} else if rest, millions := strings.CutSuffix(digits, "m"); millions {
		digits, factor = rest, 1_000_000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > most {
		return 0, false
	}
	return n * factor, true
}
