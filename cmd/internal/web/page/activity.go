package page

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"leanctx/cmd/internal/op"
)

// activityPage is what happened in a period.
type activityPage struct {
	op.Activity
	Since, Kind, Author, Room string // as the address has them
	ByDay                     []activityDay
	Authors                   []string
	Strip                     []stripDay
}

// activityDay is what happened on one day, the newest first.
type activityDay struct {
	Day    string
	Events []op.Happened
}

// stripDays is how many days are drawn: eight weeks.
const stripDays = 56

// stripDay is a day in the strip of the last weeks.
type stripDay struct {
	op.DayCount
	X, Height int
}

// maxActivity is how many events are shown.
const maxActivity = 300

func activity(q *request) (any, error) {
	v := q.URL.Query()
	d := activityPage{Since: strings.TrimSpace(v.Get("since")), Kind: v.Get("kind"), Author: v.Get("author"), Room: v.Get("room")}
	ask := func(since, until string, limit int) (op.Activity, error) {
		args := map[string]any{"limit": limit, "since": since}
		for name, value := range map[string]string{"until": until, "kind": d.Kind, "author": d.Author, "category": d.Room} {
			if value != "" {
				args[name] = value
			}
		}
		return call[op.Activity](q, tool, "activity", args)
	}
	until := ""
	if !q.asOf.IsZero() {
		until = q.asOf.Format(time.RFC3339)
	}
	end := time.Now()
	if !q.asOf.IsZero() {
		end = q.asOf
	}
	since := d.Since
	if since == "" {
		since = day(end.AddDate(0, 0, -7))
	}
	first := end.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-stripDays)
	all, err := ask(day(first), until, 1)
	if err != nil {
		return nil, err
	}
	d.Strip = strip(all.Days, first)
	if on := v.Get("day"); on != "" {
		since, until = on, on
	}
	if d.Activity, err = ask(since, until, maxActivity); err != nil {
		return nil, err
	}
	for _, e := range d.Events {
		if on := day(e.At); len(d.ByDay) == 0 || d.ByDay[len(d.ByDay)-1].Day != on {
			d.ByDay = append(d.ByDay, activityDay{Day: on})
		}
		last := &d.ByDay[len(d.ByDay)-1]
		last.Events = append(last.Events, e)
		if e.By != "" && !slices.Contains(d.Authors, e.By) {
			d.Authors = append(d.Authors, e.By)
		}
	}
	slices.Sort(d.Authors)
	return &d, nil
}

// strip draws days: each has its place, and a height by how much happened.
func strip(counts []op.DayCount, first time.Time) (out []stripDay) {
	const most, width = 32, 10 // pixels
	byDay, top := map[string]op.DayCount{}, 1
	for _, c := range counts {
		byDay[c.Day], top = c, max(top, c.Events)
	}
	for i := range stripDays {
		on := day(first.AddDate(0, 0, i))
		c := byDay[on]
		c.Day = on
		s := stripDay{DayCount: c, X: i * width}
		if c.Events > 0 {
			s.Height = max(3, most*c.Events/top)
		}
		out = append(out, s)
	}
	return out
}

// Y is where the mark of a day begins.
func (s stripDay) Y() int { return 36 - s.Height }

// DayLink is the query of the day in the address of the view.
func (s stripDay) DayLink() string { return url.QueryEscape(s.Day) }
