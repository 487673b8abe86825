package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// automatic is the context of a diary entry that no agent wrote.
const automatic = "automatic"

const (
	maxSummarized = 100 // entries that a summary looks at
	maxNamed      = 10  // things that a paragraph of a summary names
)

// Summarize adds an entry to the caller's diary at the end of its session: what it wrote since
// the last such entry, its open tasks and its claims. It adds none if nothing is new.
func (s *Store) Summarize(ctx context.Context, openTasks []string) error {
	entries, err := s.diaries.Entries(ctx, s.Self())
	if err != nil {
		return err
	}
	var claims []string
	err = s.view(ctx, func(p *project, now time.Time) error {
		claims = nil
		for _, l := range p.leases.Holding(now) {
			if l.Holder == s.Self() {
				claims = append(claims, l.Path)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var wrote []string
	last := ""
	for _, e := range slices.Backward(entries[max(0, len(entries)-maxSummarized):]) {
		if e.Context == automatic {
			last = e.Text
			break
		}
		wrote = append(wrote, e.Type+": "+e.Text)
	}
	slices.Reverse(wrote)
	open := paragraph("Open tasks", openTasks) + paragraph("Claims", claims)
	if len(wrote) == 0 && (open == "" || strings.HasSuffix(last, open)) {
		return nil
	}
	_, err = s.Diary(ctx, Note{Message: "Session summary." + paragraph("Diary", wrote) + open, Context: automatic})
	return err
}

// paragraph names the last things of a list, each as one short line.
func paragraph(title string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	var named []string
	for _, text := range list[max(0, len(list)-maxNamed):] {
		named = append(named, prose.Line(prose.Clip(strings.Join(strings.Fields(text), " "), 400)))
	}
	text := "\n" + title + ": " + strings.Join(named, "; ")
	if more := len(list) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d before", more)
	}
	return text
}
