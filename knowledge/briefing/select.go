package briefing

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/internal/tokens"
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
	Map           string         `json:"-"` // the line that counts the facts left out, by room; empty where the budget has no room for it

	Facts []string `json:"-"` // category/key of those in Rooms and News

	Chosen []Chosen `json:"-"` // the facts that are told, and why each was chosen
}

// choice is the facts that a briefing may choose from.
type choice struct {
	known     state.Reader
	at, today time.Time
	all       candidates
	rooms     map[string]int  // facts by folded room
	ours      map[string]bool // folded rooms in which something is confirmed here

	pins candidates // those that are pinned, in order
	best candidates // those that were taken out of all, the best first: see [choice.ranked]
}

func newChoice(k state.Reader, at time.Time) *choice {
	return &choice{known: k, at: at, today: fact.StartOfDay(at), rooms: map[string]int{}, ours: map[string]bool{}}
}

// add adds a version; v is nil where it was not read.
func (c *choice) add(n fact.ID, x fact.Summary, v *fact.Version) {
	c.all = append(c.all, &candidate{name: n, Summary: x, version: v, salience: x.Salience(c.today, fact.Retrievals{}), class: classOf(&x)})
	c.rooms[n.Category]++
	if !x.Unconfirmed {
		c.ours[n.Category] = true
	}
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

	class class
	turn  float64 // among the standing facts of its room, the first one has 0
}

// class is where a fact stands in the order of a briefing.
type class uint8

// The classes, in their order.
const (
	critical class = iota
	userStanding
	userOther
	standing
	topical
	unconfirmed // what comes from elsewhere comes after all that was said here
)

var classNames = [...]string{"critical", "user's rule", "user's", "rule", "by salience", "unconfirmed"}

// classOf tells the class of a fact.
func classOf(x *fact.Summary) class {
	switch {
	case x.Unconfirmed:
		return unconfirmed
	case x.Critical:
		return critical
	case x.User && x.Standing:
		return userStanding
	case x.User:
		return userOther
	case x.Standing:
		return standing
	}
	return topical
}

// pinned reports whether a fact is pinned here: a pin that came with what is not confirmed does not count.
func (x *candidate) pinned() bool { return x.Pinned != fact.Unpinned && !x.Unconfirmed }

// takeTurns gives each standing fact its turn: of each room the last confirmed one comes first, then the second of each,
// so that no room takes the place of the others. Where not all of a user's fit, few is true: then what demands something comes
// first in its room, a long one and one that only tells how something is waits, and a room that holds more has its turns
// sooner. MEASURED.md has the experiments.
func (c *choice) takeTurns(few bool) {
	type group struct {
		class class
		room  string
	}
	groups := map[group]candidates{}
	for _, x := range slices.Concat(c.all, c.best) {
		if x.class == userStanding || x.class == standing {
			g := group{x.class, x.name.Category}
			if few && x.Form { // one turn for all rooms whose names tell nothing: they are many
				g.room = ""
			}
			groups[g] = append(groups[g], x)
		}
	}
	for g, list := range groups {
		slices.SortFunc(list, func(a, b *candidate) int {
			if few && a.Demands != b.Demands {
				if a.Demands {
					return -1
				}
				return 1
			}
			return byConfirmation(a, b)
		})
		for i, x := range list {
			x.turn = float64(i)
			if !few || g.class != userStanding {
				continue
			}
			if x.turn /= math.Sqrt(float64(len(list))); !x.Demands {
				x.turn++
			}
			if x.Long {
				x.turn += .75
			}
		}
	}
}

// again puts all candidates back where they were before one was taken, in an order of few places.
func (c *choice) again() {
	c.takeTurns(true)
	c.all, c.best = append(c.all, c.best...), nil
	heap.Init(&c.all)
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

// bestFirst is the order of a briefing after what is pinned. Standing facts take turns by room. All others
// of a class come by salience. Ties go by name.
func bestFirst(a, b *candidate) int {
	if c := cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.turn, b.turn)); c != 0 {
		return c
	}
	if a.class == userStanding || a.class == standing {
		return byConfirmation(a, b)
	}
	return bySalience(a, b)
}

// pinnedFirst is the order of what is pinned: a user's before others, then by salience.
func pinnedFirst(a, b *candidate) int {
	if c := cmp.Compare(b.Pinned, a.Pinned); c != 0 {
		return c
	}
	return bySalience(a, b)
}

func bySalience(a, b *candidate) int {
	if c := cmp.Compare(b.salience, a.salience); c != 0 {
		return c
	}
	return byName(a, b) // the most expensive comparison, so it is the last
}

// byConfirmation puts what was confirmed later first.
func byConfirmation(a, b *candidate) int {
	if c := b.LastConfirmed.Compare(a.LastConfirmed); c != 0 {
		return c
	}
	return byName(a, b)
}

func byName(a, b *candidate) int {
	return cmp.Or(a.name.Compare(b.name), cmp.Compare(a.ID, b.ID))
}

// The shares of a budget. What is not used of one is free for what comes after.
const (
	pinnedShare  = 4 // a quarter for what is pinned
	taskShare    = 2 // half for the task
	newsShare    = 4
	gotchaShare  = 4  // for critical gotchas
	tailShare    = 10 // for the lines that follow the facts
	fewShare     = 3  // of the tail's share, where a user's standing facts do not all fit
	foreignShare = 4  // for what is not confirmed, of what a task needs and of what is told beside a prompt
)

// selection makes the briefing of what may be chosen.
func (o *Inputs) selection(c *choice) Selection {
	k := c.known
	gotchas, worst, told := o.gotchaLines(c)
	news, decisions := o.news(c), o.decisions(c)
	all := Selection{
		Decisions: texts(decisions), Gotchas: gotchas, Reminders: o.dueLines(k.Reminders, c.today),
		Tasks: o.Tasks.Own, NextTask: o.Tasks.Next, LastTask: prose.Clip(o.Tasks.Last, 120), Agents: o.Agents, Unread: o.Unread,
	}
	for _, x := range news {
		all.News = append(all.News, x.line)
	}
	for _, d := range state.OpenDisputes(k, k.Disputed, c.at) {
		all.Disputes = append(all.Disputes, d.Category+"/"+d.Key+" ("+d.ID+")")
	}
	whole := cmp.Or(o.Budget, DefaultBudget) * bytesPerToken
	budget := max(whole-len(heading), 0)
	tail := budget / tailShare
	r := all
	r.Decisions = nil // they get what the facts leave: decisions of the store are seldom what a session needs
	r.fitNews(budget / newsShare)
	r.fit(tail, budget/gotchaShare, worst)
	inNews := map[string]bool{}
	for _, x := range news[:len(r.News)] {
		v := x.version
		if v == nil {
			continue
		}
		if !fact.PinnedHere(v) { // a rule stands in its room too
			inNews[v.ID] = true
		}
		r.take(v, "new", true)
	}
	c.drop(inNews)
	first := c.related(o.Related)
	c.takeTurns(false)
	for _, x := range c.all {
		if x.pinned() {
			c.pins = append(c.pins, x)
		}
	}
	slices.SortFunc(c.pins, pinnedFirst)
	heap.Init(&c.all)
	chosen := r.Chosen
	taken, fits := r.fill(c, first, whole, budget-weigh(r.tail()), false)
	if !fits { // a user's rules need the place more than what follows them
		tail /= fewShare
		less := all
		less.Decisions = nil
		less.fit(tail, budget/gotchaShare, worst)
		less.News, less.MoreNews, less.Chosen = r.News, r.MoreNews, chosen
		r = less
		c.again()
		taken, _ = r.fill(c, first, whole, budget-weigh(r.tail()), true)
	}
	if r.MoreFacts > 0 { // the line that counts them takes room too
		r.Chosen = chosen
		most := min(maxMap, max(minMap, budget/5))
		if taken, fits = r.fill(c, first, whole, budget-weigh(r.tail())-most, taken.cut); !fits {
			r.Chosen = chosen
			c.again()
			taken, _ = r.fill(c, first, whole, budget-weigh(r.tail())-most, true)
		}
		if r.Map = r.mapLine(c, taken.inRoom, most); weigh(r.tail())+len(r.Map) > budget {
			r.Map = ""
		}
	}
	// What the facts left of the budget is for the lines that follow them. A part of their share may be in what is left.
	rest := budget - weigh(formats.FormatAAAK(r.Rooms)) - len(r.Map)
	for left := rest - weigh(r.tail()); left > 0; {
		full := all // of decisions too
		full.News, full.MoreNews = r.News, r.MoreNews
		full.fit(tail+left, budget/gotchaShare, worst)
		if over := weigh(full.tail()) - rest; over > 0 {
			left -= over
			continue
		}
		full.Rooms, full.Map, full.Chosen = r.Rooms, r.Map, r.Chosen
		full.MoreFacts, full.MoreRooms, full.MorePinned = r.MoreFacts, r.MoreRooms, r.MorePinned
		r = full
		break
	}
	slices.SortStableFunc(r.Gotchas, func(a, b string) int { return fact.UsersFirst(told[a], told[b]) })
	for _, text := range r.Gotchas {
		r.take(told[text], "gotcha", true)
	}
	for _, x := range r.Chosen {
		r.Facts = append(r.Facts, x.Category+"/"+x.Key)
	}
	decisions = slices.DeleteFunc(decisions[:len(r.Decisions)], func(d decision) bool { return d.id != "" && (taken.shown[d.id] || inNews[d.id]) })
	r.Decisions = texts(decisions)
	return r
}

// Chosen is a fact that was chosen to be told.
type Chosen struct {
	ID            string // of the version
	Category, Key string
	Why           string // in a few words
	Whole         bool   // all of its value is told
}

// take notes that a version is told.
func (r *Selection) take(v *fact.Version, why string, whole bool) {
	r.Chosen = append(r.Chosen, Chosen{v.ID, strings.ToLower(v.Category), v.Key, why, whole})
}

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
			line += ", was '" + prose.Clip(m.Value, 80) + "'" + m.Mark()
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
		switch value := "'" + prose.Clip(v.Value, 80) + "'" + fact.TrustIn(v).Mark(); {
		case !fact.Believed(v):
			line += " plan removed, was " + value + " from " + fact.Day(v.ValidFrom)
		case v.ValidUntil.After(at):
			line += " ends " + fact.Day(*v.ValidUntil) + ", now " + value
		case v.Also:
			line += " value " + value + " removed"
		default:
			continue // another value has taken its place since
		}
		out = append(out, newsItem{at: *withdrawn, line: line + authored(fact.RetractedBy(v))})
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
			out = append(out, newsItem{x.RecordedFrom, newsLine(v, before(c.known.Versions(x.name), v, o.News.Since)), v})
		}
	}
	return out
}

// before is the value in whose place v came since an instant; nil where there is none.
func before(vs []*fact.Version, v *fact.Version, since time.Time) *fact.Version {
	if v.Also {
		return nil
	}
	for _, w := range slices.Backward(vs) {
		if p, ok := fact.HeldAt(w, since); ok && p.Contains(since) && w.ID != v.ID && !w.Also && strings.TrimSpace(w.Value) != strings.TrimSpace(v.Value) {
			return w
		}
	}
	return nil
}

// newsLine is a new fact with its author, and the value that it had.
func newsLine(v, was *fact.Version) string {
	line := v.Category + "/" + v.Key + "=" + prose.Clip(v.Value, 120) + fact.TrustIn(v).Mark()
	if was != nil {
		line += ", was '" + prose.Clip(was.Value, 80) + "'" + fact.TrustIn(was).Mark()
	}
	return line + " (" + prose.Clip(knowledge.AuthorOf(v), 40) + ")"
}

// maxDecisions is how many recent decisions a briefing has.
const maxDecisions = 3

// decision is a fact, or an entry of a diary that is none yet and has no id.
type decision struct {
	id, text string
	at       time.Time
}

// decisions are the newest ones, the newest first.
func (o *Inputs) decisions(c *choice) (out []decision) {
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
			out = append(out, decision{v.ID, prose.Clip(v.Value, 120) + fact.TrustIn(v).Mark(), x.Period.From})
		}
	}
	for _, f := range o.Logged {
		out = append(out, decision{"", prose.Clip(f.Text, 120) + fact.Trust{Unconfirmed: true}.Mark(), f.At})
	}
	slices.SortStableFunc(out, func(a, b decision) int { return b.at.Compare(a.at) })
	return out[:min(len(out), maxDecisions)]
}

func texts(decisions []decision) []string {
	out := make([]string, len(decisions))
	for i, d := range decisions {
		out[i] = d.text
	}
	return out
}

// gotchasRead is how many gotchas are read for a briefing, which tells of a few. agentsGotchas is how many critical ones of agents
// stand before a user's that are not critical.
const (
	gotchasRead   = 64
	agentsGotchas = 2
)

// gotchaLines are the gotchas: the critical ones first, of those and of the others the user's, then those for the task, then the
// worst. What is not confirmed comes last. It counts the critical ones. Agents may write any number, and call each critical: more
// than leave place for the user's are no critical ones. They are taken out of the choice, but for what is pinned: that stands in
// its room. What to do is never cut. told are those of the lines.
func (o *Inputs) gotchaLines(c *choice) (out []string, worst int, told map[string]*fact.Version) {
	var list []*candidate
	taken := map[string]bool{}
	for _, x := range c.all {
		if x.name.Category == fact.RoomGotcha && !x.pinned() {
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
	const usersCritical, agentsCritical, users, agents, foreign = 0, 1, 2, 3, 4
	group := func(x *candidate) int {
		switch {
		case x.Unconfirmed:
			return foreign
		case x.User && x.Critical:
			return usersCritical
		case x.User:
			return users
		case x.Critical:
			return agentsCritical
		}
		return agents
	}
	readFirst := [...]int{usersCritical: 0, users: 1, agentsCritical: 2, agents: 3, foreign: 4}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(readFirst[group(a)], readFirst[group(b)]), cmp.Compare(related(a.ID), related(b.ID)), bySalience(a, b))
	})
	type gotcha struct {
		group   int
		version *fact.Version
	}
	var read []gotcha
	said := 0 // by the user
	for _, x := range list[:min(len(list), gotchasRead)] {
		if v := c.read(x); v != nil {
			g := gotcha{group(x), v}
			if g.group == usersCritical || g.group == users {
				said++
			}
			read = append(read, g)
		}
	}
	sort := func() {
		slices.SortStableFunc(read, func(a, b gotcha) int {
			return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(related(a.version.ID), related(b.version.ID)), fact.WorstFirst(a.version, b.version))
		})
	}
	sort()
	most := max(agentsGotchas, maxTail-said)
	for i := range read {
		if read[i].group == agentsCritical {
			if most--; most < 0 {
				read[i].group = agents
			}
		}
	}
	sort()
	out = make([]string, len(list)) // those that are not read are counted
	told = map[string]*fact.Version{}
	for i, g := range read {
		trigger, resolution := fact.GotchaParts(g.version.Value)
		out[i] = prose.Clip(trigger, 80)
		if resolution != "" {
			out[i] += " → " + strings.Join(strings.Fields(resolution), " ")
		}
		switch {
		case g.group == foreign:
			out[i] += "?"
		case g.group == agentsCritical || g.group == agents:
			out[i] += knowledge.MarkOf(g.version)
		}
		if g.group <= agentsCritical {
			worst++
		}
		told[out[i]] = g.version
	}
	return out, worst, told
}

// dueLines are the reminders that the work at hand meets, then those due by the end of the day.
// Then come those whose task has come to its state.
func (o *Inputs) dueLines(list []formats.Reminder, today time.Time) []string {
	met, out := []string{}, []string{}
	for _, r := range reminder.Open(list) {
		switch line := prose.Clip(r.Text, 120) + reminder.By(r); {
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

// keep keeps the first entries of a line, most of them at most, that a budget in bytes holds. It counts what it leaves out.
func keep(budget *int, name string, list []string, most int) ([]string, int) {
	cost, n := len(name)+len(":\n"), 0
	for n < min(len(list), most) {
		one := weigh(formats.Escape(list[n])) + len("|")
		if cost+one > *budget {
			break
		}
		cost += one
		n++
	}
	if n > 0 {
		*budget -= cost
	}
	return list[:n], len(list) - n
}

// fitNews shortens the news to a budget in bytes.
func (r *Selection) fitNews(budget int) { r.News, r.MoreNews = keep(&budget, "NEW", r.News, maxNews) }

// fit shortens the lines after the rooms to what a budget in bytes holds, and
// counts what it leaves out. Critical gotchas, the first ones, have one of their own. Decisions are facts, and counted with them.
func (r *Selection) fit(budget, critical, worst int) {
	one := func(name, text string) string {
		if text == "" {
			return ""
		}
		shown, _ := keep(&budget, name, []string{text}, 1)
		return strings.Join(shown, "")
	}
	gotchas := r.Gotchas
	var first []string
	for _, text := range gotchas[:worst] { // a long one does not hide those behind it
		if kept, _ := keep(&critical, "GOTCHAS", []string{text}, 1); len(first) < maxTail {
			first = append(first, kept...)
		}
	}
	r.Tasks, r.MoreTasks = keep(&budget, "TASKS", r.Tasks, maxTail)
	r.NextTask, r.LastTask = one("NEXT_TASK", r.NextTask), one("LAST_TASK", r.LastTask)
	r.Disputes, r.MoreDisputes = keep(&budget, "DISPUTES", r.Disputes, maxTail)
	others, _ := keep(&budget, "GOTCHAS", gotchas[worst:], maxTail-len(first))
	r.Gotchas = append(first, others...)
	r.MoreGotchas = len(gotchas) - len(r.Gotchas)
	r.Reminders, r.MoreReminders = keep(&budget, "REMINDERS", r.Reminders, maxTail)
	r.Agents, r.MoreAgents = keep(&budget, "AGENTS", r.Agents, maxTail)
	r.Decisions, _ = keep(&budget, "RECENT_DECISIONS", r.Decisions, maxDecisions)
}

// fillTries is how many facts in a row may be too long for what is left of the
// budget before no more are looked at.
const fillTries = 64

// How many bytes the line that counts the facts left out has at most, in a large budget and in a small one.
const (
	maxMap = 160
	minMap = 44
)

// mapLine counts the facts that are left out, by room, the fullest first. It says where to ask, in so many bytes.
func (r *Selection) mapLine(c *choice, taken map[string]int, most int) string {
	left := maps.Clone(c.rooms)
	for room, n := range taken {
		left[room] -= n
	}
	foreign := 0 // a name that only others gave is a text of theirs
	maps.DeleteFunc(left, func(room string, n int) bool {
		if !c.ours[room] {
			foreign += n
		}
		return !c.ours[room]
	})
	rooms := slices.SortedFunc(maps.Keys(left), func(a, b string) int { return cmp.Or(cmp.Compare(left[b], left[a]), cmp.Compare(a, b)) })
	text := fmt.Sprintf("+%d more", r.MoreFacts)
	if r.MorePinned > 0 {
		text += fmt.Sprintf(" (%d pinned)", r.MorePinned)
	}
	if foreign > 0 {
		text += fmt.Sprintf(" (%d unconfirmed)", foreign)
	}
	const end = " (ctx_recall)\n"
	separator := ": "
	for _, room := range rooms {
		if left[room] <= 0 {
			break
		}
		part := separator + formats.Escape(prose.Clip(room, 30)) + fmt.Sprintf(" %d", left[room])
		if len(text)+len(part)+len(" …"+end) > most {
			text += " …"
			break
		}
		text += part
		separator = ", "
	}
	return text + end
}

// minPinned is how many bytes must be left of the share of what is pinned to look for more.
const minPinned = 20

// filler takes facts into a selection while they fit.
type filler struct {
	*Selection
	choice *choice
	budget int
	cut    bool            // a user's standing facts end at their first sentence
	shown  map[string]bool // versions
	at     map[string]int  // by folded room: its place
	inRoom map[string]int  // by folded room: how many facts of it are taken
}

func newFiller(r *Selection, c *choice, budget int, cut bool) *filler {
	return &filler{r, c, budget, cut, map[string]bool{}, map[string]int{}, map[string]int{}}
}

// fill takes facts while they fit in a budget, of a whole one in bytes: pinned ones up to their share, then those for the task
// up to theirs, then the others in the order of their classes. Rooms come in the order of their best fact. It returns false
// when a user's standing facts do not all fit. With cut each of those ends at its first sentence.
func (r *Selection) fill(c *choice, first []*candidate, whole, budget int, cut bool) (*filler, bool) {
	f := newFiller(r, c, budget, cut)
	if !f.all(first, whole) {
		return f, false
	}
	confirmedFirst(r.Rooms)
	r.MoreRooms = 0
	for name, n := range c.rooms {
		if n > f.inRoom[name] {
			r.MoreRooms++
		}
	}
	return f, true
}

// confirmedFirst orders what was taken: in a room what nobody has confirmed here comes last, and so do the rooms that hold
// nothing else. What is for the task was taken first.
func confirmedFirst(rooms []formats.Room) {
	foreign := func(p formats.Pair) int {
		if p.Unconfirmed {
			return 1
		}
		return 0
	}
	for _, room := range rooms {
		slices.SortStableFunc(room.Pairs, func(a, b formats.Pair) int { return foreign(a) - foreign(b) })
	}
	slices.SortStableFunc(rooms, func(a, b formats.Room) int { return foreign(a.Pairs[0]) - foreign(b.Pairs[0]) })
}

// all takes what fits. It ends and returns false when a user's standing fact does not fit whole.
func (f *filler) all(first []*candidate, whole int) bool {
	c := f.choice
	f.Rooms, f.MoreFacts, f.MorePinned = nil, len(c.all)+len(c.best), len(c.pins)
	share := min(whole/pinnedShare, f.budget)
	for _, x := range c.pins {
		if cost, ok := f.take(x, share, "pinned"); ok {
			share -= cost
		} else if share < minPinned {
			break
		}
	}
	task := min(whole/taskShare, f.budget*2/3)
	foreign := min(whole/foreignShare, task)
	for _, later := range []bool{false, true} {
		for _, x := range first {
			if f.shown[x.ID] || later != (x.class == unconfirmed) {
				continue
			}
			most := task
			if later {
				most = min(task, foreign)
			}
			if cost, ok := f.take(x, most, "for the task"); ok {
				task -= cost
				if later {
					foreign -= cost
				}
			}
		}
	}
	tries := 0
	for x := range c.ranked {
		if f.shown[x.ID] {
			continue
		}
		if _, ok := f.take(x, f.budget, classNames[x.class]); ok {
			tries = 0
			continue
		}
		if x.class == userStanding && !f.cut {
			return false
		}
		if tries++; tries == fillTries {
			break
		}
	}
	return true
}

// take takes a fact if it costs no more than most.
func (f *filler) take(x *candidate, most int, why string) (cost int, ok bool) {
	v := f.choice.read(x)
	if v == nil {
		return 0, false
	}
	i, known := f.at[x.name.Category]
	room := roomOf(v, f.choice.today)
	if f.cut && x.class == userStanding {
		room.Pairs[0].Value = shorten(language.Opening(fact.Text(v)), valueBytes)
	}
	if cost = costOf(room, known); cost > min(most, f.budget) {
		return cost, false
	}
	f.budget -= cost
	f.MoreFacts--
	if x.pinned() {
		f.MorePinned--
	}
	f.shown[x.ID] = true
	f.inRoom[x.name.Category]++
	f.Selection.take(v, why, len(room.Pairs[0].Value) == len(fact.Text(v)))
	if known {
		f.Rooms[i].Pairs = append(f.Rooms[i].Pairs, room.Pairs...)
		return cost, true
	}
	f.at[x.name.Category] = len(f.Rooms)
	f.Rooms = append(f.Rooms, room)
	return cost, true
}

// weigh is what a text takes of a budget in bytes. It is the bytes of a text that has four a token, as English has, and more
// where a token has fewer, as in Chinese or in code.
func weigh(text string) int {
	return max(len(text), bytesPerToken*tokens.Estimate(text))
}

// valueBytes is the most of a value that a briefing shows: 60 tokens.
const valueBytes = 60 * bytesPerToken

// shorten cuts a text at a word, to a number of bytes.
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
	return formats.Room{Category: v.Category, Pairs: []formats.Pair{{Key: v.Key, Value: shorten(fact.Text(v), valueBytes), Stars: stars, User: fact.ByUser(v) && !fact.Unconfirmed(v), Unconfirmed: fact.Unconfirmed(v)}}}
}

// costOf is how many bytes the fact of a room takes, known: where there is a
// line of the room already. It is that of the longer of the two renderings.
func costOf(room formats.Room, known bool) int {
	text := formats.FormatAAAK([]formats.Room{room})
	cost := weigh(text)
	if known {
		cost -= len(formats.FormatAAAK([]formats.Room{{Category: room.Category, Pairs: []formats.Pair{{}}}})) - len("=★") - len("|")
	}
	return max(cost, weigh(overviewFact(room.Category, room.Pairs[0]))+len("|"))
}
