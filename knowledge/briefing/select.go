package briefing

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// Selection is what an agent should know when it begins. The same state on the
// same day gives the same bytes.
type Selection struct {
	Rooms         []formats.Room `json:"rooms"`
	News          []string       `json:"new,omitempty"`    // what others recorded, the newest first; not in Rooms
	Decisions     []string       `json:"recent_decisions"` // the newest, those aside that stand in Rooms
	Gotchas       []string       `json:"gotchas"`
	Reminders     []string       `json:"reminders"`
	Disputes      []string       `json:"disputes,omitempty"`  // open ones, by name
	Tasks         []string       `json:"tasks,omitempty"`     // the caller's open ones
	NextTask      string         `json:"next_task,omitempty"` // what next would give the caller, if it is none of them
	LastTask      string         `json:"last_task,omitempty"` // the project's task last worked on
	Agents        []string       `json:"agents,omitempty"`    // at work, as id(role)
	Unread        int            `json:"unread,omitempty"`    // messages the caller has not read
	MoreFacts     int            `json:"more_facts"`          // left out over the budget
	MoreRooms     int            `json:"more_rooms"`
	MorePinned    int            `json:"more_pinned,omitempty"` // of the facts left out
	MoreNews      int            `json:"more_new,omitempty"`
	MoreTasks     int            `json:"more_tasks,omitempty"`
	MoreGotchas   int            `json:"more_gotchas,omitempty"`
	MoreDisputes  int            `json:"more_disputes,omitempty"`
	MoreReminders int            `json:"more_reminders,omitempty"`
	MoreAgents    int            `json:"more_agents,omitempty"`
	Uncounted     bool           `json:"-"` // the budget has no room for the line that counts facts

	Facts []string `json:"-"` // category/key of those in Rooms and News
}

// choice is the facts that a briefing may choose from.
type choice struct {
	known     state.Reader
	at, today time.Time
	all       candidates
	rooms     map[string]int // facts by folded room

	best candidates // those that were taken out of all, the best first: see [choice.ranked]
}

func newChoice(k state.Reader, at time.Time) *choice {
	return &choice{known: k, at: at, today: fact.StartOfDay(at), rooms: map[string]int{}}
}

// add adds a version; v is nil where it was not read.
func (c *choice) add(n fact.ID, x fact.Summary, v *fact.Version) {
	c.all = append(c.all, &candidate{n, x, v, x.Salience(c.today, fact.Retrievals{})})
	c.rooms[n.Category]++
}

// read is the version of a candidate; nil where it cannot be read, and then the
// answer is rebuilt from the whole state.
func (c *choice) read(x *candidate) *fact.Version {
	if x.version != nil {
		return x.version
	}
	return state.Version(c.known, x.name, x.ID)
}

// drop takes versions out of the choice.
func (c *choice) drop(out map[string]bool) {
	if len(out) == 0 {
		return
	}
	c.all = slices.DeleteFunc(c.all, func(x *candidate) bool {
		if out[x.ID] {
			c.rooms[x.name.Category]--
		}
		return out[x.ID]
	})
}

// candidate is a fact that may stand in a briefing.
type candidate struct {
	name fact.ID
	fact.Summary
	version  *fact.Version // nil: not read yet
	salience float64
}

// candidates is a heap, the best first: a store has a hundred thousand, and a
// briefing takes thirty.
type candidates []*candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool { return bestFirst(c[i], c[j]) < 0 }
func (c *candidates) Push(x any)        { *c = append(*c, x.(*candidate)) }

func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// ranked yields the candidates, the best first. all must be a heap by now.
func (c *choice) ranked(yield func(*candidate) bool) {
	for i := 0; ; i++ {
		if i == len(c.best) {
			if len(c.all) == 0 {
				return
			}
			c.best = append(c.best, heap.Pop(&c.all).(*candidate))
		}
		if !yield(c.best[i]) {
			return
		}
	}
}

// pinned counts the candidates that are pinned.
func (c *choice) pinned() (n int) {
	for _, list := range []candidates{c.all, c.best} {
		for _, x := range list {
			if x.Pinned != fact.Unpinned {
				n++
			}
		}
	}
	return n
}

// bestFirst puts pinned facts first, a user's before others, then the more
// salient; ties by name.
func bestFirst(a, b *candidate) int {
	if c := cmp.Or(cmp.Compare(b.Pinned, a.Pinned), cmp.Compare(b.salience, a.salience)); c != 0 {
		return c
	}
	return byName(a, b) // the most expensive comparison, so it is the last
}

func byName(a, b *candidate) int {
	return cmp.Or(a.name.Compare(b.name), cmp.Compare(a.ID, b.ID))
}

// selection makes the briefing of what may be chosen.
func (o *Inputs) selection(c *choice) Selection {
	k, gotchas := c.known, o.gotchaLines(c)
	news, decisions := o.news(c), c.decisions()
	r := Selection{
		Decisions: texts(decisions), Gotchas: gotchas, Reminders: o.dueLines(k.Reminders, c.today),
		Tasks: o.Tasks.Own, NextTask: o.Tasks.Next, LastTask: prose.Clip(o.Tasks.Last, 120), Agents: o.Agents, Unread: o.Unread,
	}
	for _, x := range news {
		r.News = append(r.News, x.line)
	}
	for _, d := range state.OpenDisputes(k, k.Disputed, c.at) {
		r.Disputes = append(r.Disputes, prose.Line(d.Category)+"/"+prose.Line(d.Key)+" ("+d.ID+")")
	}
	whole := cmp.Or(o.Budget, DefaultBudget) * bytesPerToken
	budget := max(whole-len(heading), 0)
	r.fit(budget / 2)
	inNews := map[string]bool{}
	for _, x := range news[:len(r.News)] {
		v := x.version
		if v == nil {
			continue
		}
		if !v.Pinned { // a rule stands in its room too
			inNews[v.ID] = true
		}
		r.Facts = append(r.Facts, nameOf(v))
	}
	c.drop(inNews)
	first := c.related(o.Related)
	heap.Init(&c.all)
	shown := r.fill(c, first, whole/2, budget-len(r.tail()))
	if r.MoreFacts > 0 { // the line that counts them takes room too
		shown = r.fill(c, first, whole/2, budget-len(r.tail())-len(r.more())-len("99"))
		r.Uncounted = len(r.tail())+len(r.more()) > budget
	}
	for _, room := range r.Rooms {
		for _, p := range room.Pairs {
			r.Facts = append(r.Facts, strings.ToLower(room.Category)+"/"+p.Key)
		}
	}
	decisions = slices.DeleteFunc(decisions[:len(r.Decisions)], func(v *fact.Version) bool { return shown[v.ID] || inNews[v.ID] })
	r.Decisions = texts(decisions)
	return r
}

func nameOf(v *fact.Version) string { return strings.ToLower(v.Category) + "/" + v.Key }

// related are the candidates that recall found for the task, in its order.
func (c *choice) related(ids []string) []*candidate {
	if len(ids) == 0 {
		return nil
	}
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	var out []*candidate
	for _, x := range c.all {
		if _, ok := at[x.ID]; ok {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *candidate) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	return out[:min(len(out), maxRelated)]
}

// maxRelated is how many facts for a task are looked at: half of the usual budget
// holds fifteen.
const maxRelated = 32

// maxNews is how many new facts a briefing tells of, and newsRead how many it looks
// at: their authors stand in the facts.
const (
	maxNews  = 8
	newsRead = 64
)

// newsItem is one piece of news.
type newsItem struct {
	at      time.Time
	line    string
	version *fact.Version // nil: it is about a fact that has no value any more, or another name
}

// news are what others recorded, changed or took back, the newest first.
func (o *Inputs) news(c *choice) []newsItem {
	if o.News.Since.IsZero() {
		return nil
	}
	out := slices.Concat(o.recorded(c), o.ended(c), o.renamed(c))
	slices.SortStableFunc(out, func(a, b newsItem) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.line, b.line))
	})
	return out
}

// isOwn reports whether the caller is an author, who may not be known.
func (n News) isOwn(author string) bool { return author != "" && n.Own != nil && n.Own(author) }

// ended are the facts that have no value any more: somebody removed it, or its time was
// over. With them is what others took back of facts that still have a value.
func (o *Inputs) ended(c *choice) (out []newsItem) {
	for _, n := range c.known.Ended(o.News.Since, c.at) {
		vs := c.known.Versions(n)
		m, ok := knowledge.MissingOf(vs, c.at)
		if !ok || !m.At.After(o.News.Since) || m.At.After(c.at) {
			out = append(out, o.takenBack(vs, c.at)...)
			continue
		}
		last, what := fact.LastEnded(vs, c.at), "removed"
		if !m.Removed {
			what = "ended"
		}
		if o.News.isOwn(m.By) || !m.Removed && last != nil && o.News.isOwn(last.AssertedBy) {
			continue
		}
		line := m.Category + "/" + m.Key + " " + what
		if m.Value != "" {
			line += ", was '" + prose.Clip(m.Value, 80) + "'"
		}
		out = append(out, newsItem{at: m.At, line: line + authored(m.By)})
	}
	return out
}

// takenBack are the plans and the single values of a fact that others took back, and the
// ends that they gave it.
func (o *Inputs) takenBack(vs []*fact.Version, at time.Time) (out []newsItem) {
	for _, v := range vs {
		withdrawn := v.RetractedAt
		if withdrawn == nil || !withdrawn.After(o.News.Since) || withdrawn.After(at) || o.News.isOwn(v.RetractedBy) {
			continue
		}
		line := v.Category + "/" + v.Key
		switch value := "'" + prose.Clip(v.Value, 80) + "'"; {
		case !fact.Believed(v):
			line += " plan removed, was " + value + " from " + fact.Day(v.ValidFrom)
		case v.ValidUntil.After(at):
			line += " ends " + fact.Day(*v.ValidUntil) + ", now " + value
		case v.Also:
			line += " value " + value + " removed"
		default:
			continue // another value has taken its place since
		}
		out = append(out, newsItem{at: *withdrawn, line: line + authored(v.RetractedBy)})
	}
	return out
}

// renamed are the facts that have another name. Who gave it, and what it was, is known for
// the last commit of each author.
func (o *Inputs) renamed(c *choice) (out []newsItem) {
	seen := map[fact.ID]bool{}
	for _, x := range c.all {
		if !x.Renamed.After(o.News.Since) || x.RecordedFrom.After(o.News.Since) || seen[x.name] {
			continue
		}
		seen[x.name] = true
		v := c.read(x)
		if v == nil {
			continue
		}
		line, by := v.Category+"/"+v.Key+" renamed", ""
		for _, done := range c.known.Commits {
			if r := done.Renamed; r != nil && fact.IDOf(r.To.Category, r.To.Key) == x.name && !done.Undo {
				line, by = line+" from "+r.From.Category+"/"+r.From.Key, done.By
			}
		}
		if !o.News.isOwn(by) {
			out = append(out, newsItem{at: x.Renamed, line: line + authored(by)})
		}
	}
	return out
}

// authored adds an author, if one is known.
func authored(by string) string {
	if by == "" {
		return ""
	}
	return " (" + prose.Clip(by, 40) + ")"
}

// recorded are the versions that others recorded.
func (o *Inputs) recorded(c *choice) (out []newsItem) {
	var recent []*candidate
	for _, x := range c.all {
		if x.RecordedFrom.After(o.News.Since) {
			recent = append(recent, x)
		}
	}
	slices.SortFunc(recent, func(a, b *candidate) int {
		return cmp.Or(b.RecordedFrom.Compare(a.RecordedFrom), byName(a, b))
	})
	for _, x := range recent[:min(len(recent), newsRead)] {
		if v := c.read(x); v != nil && (o.News.Own == nil || !o.News.Own(v.AssertedBy)) {
			out = append(out, newsItem{x.RecordedFrom, newsLine(v), v})
		}
	}
	return out
}

// newsLine is a new fact with its author.
func newsLine(v *fact.Version) string {
	return v.Category + "/" + v.Key + "=" + prose.Clip(v.Value, 120) + " (" + prose.Clip(knowledge.AuthorOf(v), 40) + ")"
}

// maxDecisions is how many recent decisions a briefing has.
const maxDecisions = 3

// decisions are the newest ones, the newest first.
func (c *choice) decisions() (out []*fact.Version) {
	var list []*candidate
	for _, x := range c.all {
		if !x.Decision {
			continue
		}
		i, _ := slices.BinarySearchFunc(list, x, func(a, b *candidate) int {
			return cmp.Or(b.Period.From.Compare(a.Period.From), byName(a, b))
		})
		list = slices.Insert(list, i, x)
		list = list[:min(len(list), maxDecisions)]
	}
	for _, x := range list {
		if v := c.read(x); v != nil {
			out = append(out, v)
		}
	}
	return out
}

func texts(decisions []*fact.Version) []string {
	out := make([]string, len(decisions))
	for i, v := range decisions {
		out[i] = prose.Clip(v.Value, 120)
	}
	return out
}

// gotchasRead is how many gotchas are read for a briefing, which tells of a few.
const gotchasRead = 64

// gotchaLines are the gotchas, those for the task first, then the worst. They are taken out of the
// choice, but for what is pinned: that stands in its room.
func (o *Inputs) gotchaLines(c *choice) []string {
	var list []*candidate
	taken := map[string]bool{}
	for _, x := range c.all {
		if x.name.Category == fact.RoomGotcha && x.Pinned == fact.Unpinned {
			list, taken[x.ID] = append(list, x), true
		}
	}
	c.drop(taken)
	related := func(id string) int {
		if i := slices.Index(o.Related, id); i >= 0 {
			return i
		}
		return len(o.Related)
	}
	critical := func(x *candidate) int {
		if x.Critical {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(related(a.ID), related(b.ID)), cmp.Compare(critical(a), critical(b)), bestFirst(a, b))
	})
	var read []*fact.Version
	for _, x := range list[:min(len(list), gotchasRead)] {
		if v := c.read(x); v != nil {
			read = append(read, v)
		}
	}
	slices.SortStableFunc(read, func(a, b *fact.Version) int {
		return cmp.Or(cmp.Compare(related(a.ID), related(b.ID)), fact.WorstFirst(a, b))
	})
	out := make([]string, len(list))
	for i, v := range read {
		trigger, resolution := fact.GotchaParts(v.Value)
		out[i] = prose.Clip(trigger, 80)
		if resolution != "" {
			out[i] += " → " + prose.Clip(resolution, 120)
		}
		if fact.Unconfirmed(v) {
			out[i] += "?"
		}
	}
	return out
}

// dueLines are the reminders that the work at hand meets, then those due by the end of the day.
// Then come those whose task has come to its state.
func (o *Inputs) dueLines(list []formats.Reminder, today time.Time) []string {
	met, out := []string{}, []string{}
	for _, r := range reminder.Open(list) {
		switch line := prose.Clip(r.Text, 120); {
		case o.Applies != nil && o.Applies(r):
			met = append(met, line)
		case o.Reached[r.ID] || reminder.Due(r, today):
			out = append(out, line)
		}
	}
	return append(met, out...)
}

// maxTail is how many entries each line after the rooms has at most.
const maxTail = 5

// fit shortens the lines after the rooms to what a budget in bytes holds, and
// counts what it leaves out. Decisions are facts, and counted with them.
func (r *Selection) fit(budget int) {
	keep := func(name string, list []string, most int) ([]string, int) {
		cost, n := len(name)+len(":\n"), 0
		for n < min(len(list), most) && cost+len(formats.Escape(list[n]))+len("|") <= budget {
			cost += len(formats.Escape(list[n])) + len("|")
			n++
		}
		if len(list) > 0 {
			budget -= cost
		}
		return list[:n], len(list) - n
	}
	one := func(name, text string) string {
		if text == "" {
			return ""
		}
		shown, _ := keep(name, []string{text}, 1)
		return strings.Join(shown, "")
	}
	r.Tasks, r.MoreTasks = keep("TASKS", r.Tasks, maxTail)
	r.NextTask, r.LastTask = one("NEXT_TASK", r.NextTask), one("LAST_TASK", r.LastTask)
	r.Decisions, _ = keep("RECENT_DECISIONS", r.Decisions, maxDecisions)
	r.Disputes, r.MoreDisputes = keep("DISPUTES", r.Disputes, maxTail)
	r.Gotchas, r.MoreGotchas = keep("GOTCHAS", r.Gotchas, maxTail)
	r.Reminders, r.MoreReminders = keep("REMINDERS", r.Reminders, maxTail)
	r.Agents, r.MoreAgents = keep("AGENTS", r.Agents, maxTail)
	r.News, r.MoreNews = keep("NEW", r.News, maxNews)
}

// fillTries is how many facts in a row may be too long for what is left of the
// budget before no more are looked at.
const fillTries = 64

// fill takes facts while they fit in a budget. The first ones take up to half bytes, and at most
// two thirds of it. Then come the others, the best first. Rooms come in the order of
// their best fact. It returns the ids of the versions taken.
func (r *Selection) fill(c *choice, first []*candidate, half, budget int) (shown map[string]bool) {
	shown = map[string]bool{}
	at, taken := map[string]int{}, map[string]int{} // by folded room: its place, and how many facts of it are taken
	r.Rooms, r.MoreFacts, r.MoreRooms, r.MorePinned = nil, len(c.all)+len(c.best), 0, c.pinned()
	take := func(x *candidate, most int) (cost int, ok bool) {
		v := c.read(x)
		if v == nil {
			return 0, false
		}
		i, known := at[x.name.Category]
		room := roomOf(v, c.today)
		if cost = costOf(room, known); cost > most {
			return cost, false
		}
		r.MoreFacts--
		if x.Pinned != fact.Unpinned {
			r.MorePinned--
		}
		shown[x.ID] = true
		taken[x.name.Category]++
		if known {
			r.Rooms[i].Pairs = append(r.Rooms[i].Pairs, room.Pairs...)
			return cost, true
		}
		at[x.name.Category] = len(r.Rooms)
		r.Rooms = append(r.Rooms, room)
		return cost, true
	}
	half = min(half, budget*2/3) // pinned facts are never left without room
	for _, x := range first {
		if cost, ok := take(x, half); ok {
			half -= cost
			budget -= cost
		}
	}
	tries := 0
	for x := range c.ranked {
		if shown[x.ID] {
			continue
		}
		if cost, ok := take(x, budget); ok {
			tries = 0
			budget -= cost
		} else if tries++; tries == fillTries {
			break
		}
	}
	for name, n := range c.rooms {
		if n > taken[name] {
			r.MoreRooms++
		}
	}
	return shown
}

// valueBytes is the most of a value that a briefing shows: 60 tokens.
const valueBytes = 60 * bytesPerToken

// shorten cuts a text at a word, in so many bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	if i := strings.LastIndexFunc(text[:cut+1], unicode.IsSpace); i > cut/2 {
		cut = i
	}
	return strings.TrimRightFunc(text[:cut], unicode.IsSpace) + "…"
}

// roomOf is the room of one fact that has nothing else.
func roomOf(v *fact.Version, today time.Time) formats.Room {
	stars := formats.Stars(fact.DayConfidence(v, today))
	return formats.Room{Category: v.Category, Pairs: []formats.Pair{{Key: v.Key, Value: shorten(fact.Text(v), valueBytes), Stars: stars, Unconfirmed: fact.Unconfirmed(v)}}}
}

// costOf is how many bytes the fact of a room takes, known: where there is a
// line of the room already. It is that of the longer of the two renderings.
func costOf(room formats.Room, known bool) int {
	cost := len(formats.FormatAAAK([]formats.Room{room}))
	if known {
		cost -= len(formats.FormatAAAK([]formats.Room{{Category: room.Category, Pairs: []formats.Pair{{}}}})) - len("=★") - len("|")
	}
	return max(cost, len(overviewFact(room.Category, room.Pairs[0]))+len("|"))
}
