package demo

import (
	"slices"
	"strings"
	"time"

	"leanctx/formats"
)

// names translates ids. Each run makes random ids, and the story is always printed with
// the same ones. The first agent of a type, the first task and the first dispute have an id in
// the story.
type names struct{ run, story []string }

var (
	newID     = formats.Regexp(`\b(?:Registered: |Task created: |recorded as )([a-z]+-[0-9a-f]{4,})`)
	ages      = formats.Regexp(`\b[0-9]+s ago`)
	costLine  = formats.Regexp(`^(    \S+) +[0-9,]+ tok \([0-9.]+%\)$`)
	totalLine = formats.Regexp(`^(  Total tokens:) [0-9,]+$`)
)

// shown is an answer as the story prints it: with its ids, and with every age 0s.
func (n *names) shown(answer string) string {
	if m := newID().FindStringSubmatch(answer); m != nil {
		kind, _, _ := strings.Cut(m[1], "-")
		for _, id := range storyIDs {
			if strings.HasPrefix(id, kind+"-") {
				n.run, n.story = append(n.run, m[1]), append(n.story, id)
			}
		}
	}
	answer = ages().ReplaceAllString(translate(answer, n.run, n.story), "0s ago")
	answer = strings.ReplaceAll(answer, time.Now().UTC().Format(time.DateOnly), "today")
	if strings.HasPrefix(answer, "COST") {
		return withoutCounts(answer)
	}
	return answer
}

// withoutCounts is a cost report without its numbers and with its lines sorted. The
// numbers depend on the ids, and on a busy machine they are estimates.
func withoutCounts(report string) string {
	report, _, _ = strings.Cut(report, "\n  Of these") // its line ends stay
	lines := strings.Split(report, "\n")
	begin := 0
	for i, line := range lines {
		if !costLine().MatchString(line) {
			begin = i + 1
		}
		lines[i] = totalLine().ReplaceAllString(costLine().ReplaceAllString(line, "$1 … tok (…%)"), "$1 …")
		slices.Sort(lines[begin : i+1])
	}
	return strings.Join(lines, "\n")
}

// sent is a text of the story with the ids of this run.
func (n *names) sent(arguments string) string { return translate(arguments, n.story, n.run) }

func translate(text string, from, to []string) string {
	for i := range from {
		text = strings.ReplaceAll(text, from[i], to[i])
	}
	return text
}
