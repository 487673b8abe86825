package page

import (
	"cmp"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/drawing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/tasks"
)

const tool = "knowledge" // of most operations

// factList is the rows of a room, the latest facts, or what a search found.
type factList struct {
	Rooms []listing.Room
	Total int // facts in all rooms
	Room  string
	Facts []knowledge.Found
	Maybe []knowledge.Found // too weak to be answers
	Pager pager
}

func (q *request) facts() (string, any, error) {
	d := factList{Room: q.URL.Query().Get("room")}
	var err error
	if d.Rooms, err = q.rooms(); err != nil {
		return "", nil, err
	}
	for _, r := range d.Rooms {
		d.Total += r.Facts
	}
	return "facts.html", &d, q.list(&d)
}

func (q *request) rooms() ([]listing.Room, error) {
	if q.asOf.IsZero() {
		return q.status.Rooms, nil
	}
	r, err := call[listing.RoomList](q, tool, "rooms", q.at(map[string]any{}))
	return r.Rooms, err
}

// list fills in the rows.
func (q *request) list(d *factList) error {
	args := q.at(map[string]any{"limit": rowsMost})
	page := q.page()
	if q.Query() != "" {
		args["query"], page = q.Query(), 1
	} else if page > 1 {
		args["offset"] = (page - 1) * rowsMost
	}
	if d.Room != "" {
		args["category"] = d.Room
	}
	r, err := call[knowledge.Recalled](q, tool, "recall", args)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(r.Facts, func(f knowledge.Found) bool { return f.Maybe })
	if i < 0 {
		i = len(r.Facts)
	}
	d.Facts, d.Maybe, d.Pager = r.Facts[:i], r.Facts[i:], newPager(page, i, r.Total)
	return nil
}

// factPage is one fact, beside the others of its room.
type factPage struct {
	factList
	Category, Key string
	Current       []knowledge.Found // one, or several values
	Wide, Narrow  template.HTML     // the timeline
	Versions      []history.Behind  // the newest first
	Erased        string
	Disputes      []knowledge.Disputing
	Links         []link
}

// link is a relation seen from a fact.
type link struct {
	Words     string
	Name      string
	Address   template.URL
	Kind      string
	Removable bool
}

func (q *request) fact() (string, any, error) {
	d := factPage{Category: q.PathValue("category"), Key: q.PathValue("key")}
	if d.Key == "" {
		d.Category, d.Key = q.URL.Query().Get("category"), q.URL.Query().Get("key")
	}
	name := func() map[string]any { return map[string]any{"category": d.Category, "key": d.Key} }
	why, err := q.why(&d)
	if err != nil {
		if op.Classify(err) == op.NotFound {
			err = errors.Join(&missingError{"There is no fact " + brief(d.Category) + "/" + brief(d.Key) + ", and there was none."}, err)
		}
		return "", nil, err
	}
	d.Category, d.Key, d.Versions, d.Erased = why.Category, why.Key, why.Versions, why.Erased
	found, err := call[knowledge.Recalled](q, tool, "recall", q.at(name()))
	if err != nil {
		return "", nil, err
	}
	d.Current = found.Facts
	if err := q.disputesOf(&d); err != nil {
		return "", nil, err
	}
	if err := q.draw(&d, name()); err != nil {
		return "", nil, err
	}
	relations, err := call[listing.RelationList](q, tool, "relations", name())
	if err != nil {
		return "", nil, err
	}
	for _, x := range relations.Relations {
		d.Links = append(d.Links, q.linkOf(x, &d))
	}
	d.Room = d.Category
	if d.Rooms, err = q.rooms(); err != nil {
		return "", nil, err
	}
	return "fact.html", &d, q.list(&d.factList)
}

// why asks what is behind the fact. A record that names a fact category/key does not tell
// which slash divides them, where either holds one: then the first fact that is there counts.
func (q *request) why(d *factPage) (history.Provenance, error) {
	ask := func(category, key string) (history.Provenance, error) {
		return call[history.Provenance](q, tool, "why", map[string]any{"category": category, "key": key})
	}
	r, err := ask(d.Category, d.Key)
	full := d.Category + "/" + d.Key
	const most = 20 // slashes
	for i, tried := 0, 0; i < len(full) && tried < most && op.Classify(err) == op.NotFound; i++ {
		if full[i] != '/' || i == 0 || i == len(full)-1 {
			continue
		}
		tried++
		if other, e := ask(full[:i], full[i+1:]); e == nil {
			return other, nil
		}
	}
	return r, err
}

// disputesOf are the disputes that are about the fact, the newest first.
func (q *request) disputesOf(d *factPage) error {
	all, err := call[listing.DisputeList](q, tool, "disputes", map[string]any{"state": "all", "limit": 10_000})
	for _, x := range all.Disputes {
		if formats.FoldName(x.Category) == formats.FoldName(d.Category) && formats.FoldName(x.Key) == formats.FoldName(d.Key) {
			d.Disputes = append(d.Disputes, x)
		}
	}
	return err
}

// The widths of a drawing, beside a list and on a telephone.
const (
	wide   = 616
	narrow = 328
)

// draw draws the timeline for both.
func (q *request) draw(d *factPage, name map[string]any) error {
	name["limit"] = 300
	versions, err := call[history.VersionList](q, tool, "timeline", name)
	if err != nil || len(versions.Entries) == 0 {
		return err
	}
	versions.Key = d.Key
	open := slices.DeleteFunc(slices.Clone(d.Disputes), func(x knowledge.Disputing) bool { return x.State != formats.DisputeOpen })
	t := versions.Drawing(open, time.Now())
	t.AsOf = q.asOf
	d.Wide = template.HTML(t.SVG(&drawing.Options{Width: wide, Inner: true, Name: "w"}))
	d.Narrow = template.HTML(t.SVG(&drawing.Options{Width: narrow, Inner: true, Name: "n"}))
	return nil
}

func (q *request) linkOf(x formats.Relation, d *factPage) link {
	words := map[string][2]string{
		"depends_on": {"depends on", "is needed by"}, "related_to": {"is related to", "is related to"}, "supports": {"supports", "is supported by"},
		"contradicts": {"contradicts", "is contradicted by"}, "supersedes": {"supersedes", "is superseded by"},
	}[x.Kind]
	other, forward := x.To, true
	if formats.FoldName(x.From.Category) != formats.FoldName(d.Category) || formats.FoldName(x.From.Key) != formats.FoldName(d.Key) {
		other, forward = x.From, false
	}
	l := link{Words: cmp.Or(words[0], x.Kind), Name: other.Category + "/" + other.Key, Address: q.Fact(other.Category, other.Key), Kind: x.Kind, Removable: forward}
	if !forward {
		l.Words = cmp.Or(words[1], x.Kind)
	}
	return l
}

// pairsMost is how many pairs of a kind are shown at once.
const pairsMost = 20

// doubtsPage is what the memory doubts.
type doubtsPage struct {
	Open    []knowledge.Disputing
	Settled []knowledge.Disputing // the latest
	Report  advice.Report
	Sources []advice.WrongSource
	Past    bool // what health finds is about now
	Looked  bool // duplicates take up to a second: the page is there before they are looked for
}

func (q *request) doubts() (string, any, error) {
	all, err := call[listing.DisputeList](q, tool, "disputes", map[string]any{"state": "all", "limit": 1000})
	if err != nil {
		return "", nil, err
	}
	d := doubtsPage{Past: !q.asOf.IsZero(), Looked: q.URL.Query().Get("look") != ""}
	for _, x := range all.Disputes {
		switch {
		case d.Past && x.At.After(q.asOf):
		case d.Past && (x.SettledAt.IsZero() && x.State == formats.DisputeOpen || x.SettledAt.After(q.asOf)), !d.Past && x.State == formats.DisputeOpen:
			d.Open = append(d.Open, x)
		case len(d.Settled) < 20:
			d.Settled = append(d.Settled, x)
		}
	}
	if d.Past || !d.Looked {
		return "doubts.html", &d, nil
	}
	sources, err := call[advice.Checked](q, tool, "check", nil)
	if err != nil {
		return "", nil, err
	}
	d.Sources = sources.Changed[:min(rowsMost, len(sources.Changed))]
	d.Report, err = call[advice.Report](q, tool, "health", nil)
	return "doubts.html", &d, err
}

// agentsPage is who is at work, and on what.
type agentsPage struct {
	Agents []agents.Present
	Info   agents.Info
	Tasks  []*node
	Count  int
}

// node is a task with those below it.
type node struct {
	tasks.Listed
	Below       []*node
	Done, Total int // of all below it
}

// Open reports whether there is still something to do.
func (n *node) Open() bool { return !n.State.Final() || n.Done < n.Total }

func (q *request) agents() (string, any, error) {
	list, err := call[agents.Agents](q, "agent", "list", map[string]any{"limit": 200})
	if err != nil {
		return "", nil, err
	}
	d := agentsPage{Agents: list.Agents}
	if d.Info, err = call[agents.Info](q, "agent", "info", nil); err != nil {
		return "", nil, err
	}
	all, err := call[tasks.List](q, "task", "list", map[string]any{"limit": 500})
	d.Tasks, d.Count = tree(all.Tasks), all.Total
	return "agents.html", &d, err
}

// tree puts tasks below their parents, in the order of the list.
func tree(list []tasks.Listed) (top []*node) {
	byID := map[string]*node{}
	for _, t := range list {
		byID[t.ID] = &node{Listed: t}
	}
	for _, t := range list {
		if above := byID[t.Parent]; above != nil {
			above.Below = append(above.Below, byID[t.ID])
		} else {
			top = append(top, byID[t.ID])
		}
	}
	for _, n := range top {
		n.count()
	}
	return top
}

func (n *node) count() (done, total int) {
	slices.SortStableFunc(n.Below, func(a, b *node) int { return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt)) })
	for _, b := range n.Below {
		d, t := b.count()
		if b.Phase { // it is no work of its own
			n.Done, n.Total = n.Done+d, n.Total+t
			continue
		}
		if t++; b.State.Final() {
			d++
		}
		n.Done, n.Total = n.Done+d, n.Total+t
	}
	return n.Done, n.Total
}

// briefed is one time that hooks gave facts to a session, as the operation's JSON has it.
type briefed struct {
	At      time.Time `json:"at"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Event   string    `json:"event"`
	Facts   []string  `json:"facts"`
	Tokens  int       `json:"tokens"`
}

// session is what one session was given, the newest first.
type session struct {
	Day, Client, ID string
	Given           []briefed
	Facts           int
}

type briefingsPage struct {
	Sessions []*session
	Most     []given // the facts that were given most often
	More     int
}

// given is a fact and how often it was given.
type given struct {
	Name  string
	Times int
}

// givenRoom is the keys of one room that were given at once.
type givenRoom struct {
	Category string
	Keys     []string
}

// Rooms groups the facts by room, in the order in which they were given.
func (b briefed) Rooms() (out []givenRoom) {
	for _, f := range b.Facts {
		category, key, _ := strings.Cut(f, "/")
		i := slices.IndexFunc(out, func(r givenRoom) bool { return r.Category == category })
		if i < 0 {
			i = len(out)
			out = append(out, givenRoom{Category: category})
		}
		out[i].Keys = append(out[i].Keys, key)
	}
	return out
}

// givenMost is how many facts are listed as given most often.
const givenMost = 20

func (q *request) briefings() (string, any, error) {
	r, err := call[struct {
		Briefings []briefed `json:"briefings"`
		More      int       `json:"more"`
	}](q, tool, "briefings", map[string]any{"limit": 300})
	d, times := briefingsPage{More: r.More}, map[string]int{}
	for _, b := range r.Briefings {
		if !q.asOf.IsZero() && b.At.After(q.asOf) {
			continue
		}
		i := slices.IndexFunc(d.Sessions, func(s *session) bool { return s.Client == b.Client && s.ID == b.Session && s.Day == day(b.At) })
		if i < 0 {
			i = len(d.Sessions)
			d.Sessions = append(d.Sessions, &session{Day: day(b.At), Client: b.Client, ID: b.Session})
		}
		s := d.Sessions[i]
		s.Given, s.Facts = append(s.Given, b), s.Facts+len(b.Facts)
		for _, f := range b.Facts {
			times[f]++
		}
	}
	for name, n := range times {
		if n > 1 {
			d.Most = append(d.Most, given{name, n})
		}
	}
	slices.SortFunc(d.Most, func(a, b given) int { return cmp.Or(b.Times-a.Times, strings.Compare(a.Name, b.Name)) })
	d.Most = d.Most[:min(givenMost, len(d.Most))]
	return "briefings.html", &d, err
}

type healthPage struct {
	Looked  bool // see doubtsPage
	Report  advice.Report
	Status  listing.StoreStatus
	Vectors string // what encodes, in a sentence
	Days    []bar
	Agents  []bar
}

// bar is one of a list of amounts.
type bar struct {
	Name   string
	Amount int64
	Calls  int64
	Part   float64 // of the largest
}

func bars(list []cost.Share) (out []bar) {
	var most int64 = 1
	for _, s := range list {
		most = max(most, s.In+s.Out)
	}
	for _, s := range list {
		out = append(out, bar{s.Name, s.In + s.Out, s.Calls, float64(s.In+s.Out) / float64(most)})
	}
	return out
}

// daysShown is how many days of tokens are drawn.
const daysShown = 30

func (q *request) health() (string, any, error) {
	d := healthPage{Looked: q.URL.Query().Get("look") != "", Status: q.status}
	var err error
	if d.Looked {
		if d.Report, err = call[advice.Report](q, tool, "health", nil); err != nil {
			return "", nil, err
		}
	}
	days, err := call[cost.Report](q, "cost", "report", map[string]any{"by": "day", "limit": daysShown})
	if err != nil {
		return "", nil, err
	}
	d.Days = bars(days.Days[:min(daysShown, len(days.Days))])
	who, err := call[cost.Report](q, "cost", "report", map[string]any{"by": "agent", "limit": daysShown})
	if err != nil {
		return "", nil, err
	}
	d.Agents = bars(who.Agents[:min(daysShown, len(who.Agents))])
	a, err := q.h.o.Call(asUser(q.Context()), tool, "embeddings_status", nil)
	if err == nil {
		d.Vectors, err = a.Render()
	}
	if err != nil { // a store without vectors has health all the same
		d.Vectors = err.Error()
	}
	return "health.html", &d, nil
}

// local reports whether an address is one of this page.
func (h *handler) local(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(address, h.o.Prefix+"/") && !strings.HasPrefix(address, "//") && !strings.ContainsAny(address, "\\\n\r\t")
}

func (d *factList) room() string { return d.Room }
