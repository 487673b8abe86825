package demo

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// names are the ids that a run gave, and those that stand for them in the
// story: ids are drawn anew each time, and the story is to be told in the same
// words. The first id of an agent's type, and the first task, is the story's.
type names struct{ real, told []string }

var (
	given = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:Registered: |Task created: )([a-z]+-[0-9a-f]{4,})`)
	})
	moments  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9]+s ago`) })
	spending = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(    \S+) +[0-9,]+ tok \([0-9.]+%\)$`) })
	total    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(  Total tokens:) [0-9,]+$`) })
)

// shown is an answer in the story's words. A story of a second has no ages.
func (n *names) shown(answer string) string {
	if m := given().FindStringSubmatch(answer); m != nil {
		kind, _, _ := strings.Cut(m[1], "-")
		for _, id := range told {
			if strings.HasPrefix(id, kind+"-") {
				n.real, n.told = append(n.real, m[1]), append(n.told, id)
			}
		}
	}
	answer = moments().ReplaceAllString(translate(answer, n.real, n.told), "0s ago")
	if strings.HasPrefix(answer, "COST") {
		return priceless(answer)
	}
	return answer
}

// priceless is a report of costs without its numbers, which depend on the ids
// and, where a machine is very busy, are estimates; so does the order of its
// lines.
func priceless(report string) string {
	report, _, _ = strings.Cut(report, "\n\n  Of these")
	lines := strings.Split(report, "\n")
	begin := 0
	for i, line := range lines {
		if !spending().MatchString(line) {
			begin = i + 1
		}
		lines[i] = total().ReplaceAllString(spending().ReplaceAllString(line, "$1 … tok (…%)"), "$1 …")
		slices.Sort(lines[begin : i+1])
	}
	return strings.Join(lines, "\n")
}

// sent is what the story says, with the ids of this run.
func (n *names) sent(arguments string) string { return translate(arguments, n.told, n.real) }

func translate(text string, from, to []string) string {
	for i := range from {
		text = strings.ReplaceAll(text, from[i], to[i])
	}
	return text
}
