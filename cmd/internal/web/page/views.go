package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/drawing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/replica"
	"leanctx/tasks"
)

const (
	tool     = "knowledge" // of most operations
	syncTool = "sync"      // shares facts through the repository
)

// factList is the rows of a room, the latest facts, or what a search found.
type factList struct {
	Rooms []listing.Room
	Total int // facts in all rooms
	Room  string
	Facts []row
	Maybe []row    // too weak to be answers
	Says  []string // what a question about the past is answered beside facts
	Pager pager
}

// row is a fact in a list.
type row struct {
	knowledge.Found
	Address template.URL
	Room    bool // its room is named
	Here    bool // it is the one that is shown
}

func facts(q *request) (any, error) {
	d := factList{Room: q.URL.Query().Get("room")}
	err := d.read(q, "")
	for _, r := range d.Rooms {
		d.Total += r.Facts
	}
	return &d, err
}

// read fills in the rooms and the rows. key is the fact that is shown beside them.
func (d *factList) read(q *request, key string) error {
	d.Rooms = q.status.Rooms
	if !q.asOf.IsZero() {
		r, err := call[listing.RoomList](q, tool, "rooms", q.at(map[string]any{}))
		if err != nil {
			return err
		}
		d.Rooms = r.Rooms
	}
	args := q.at(map[string]any{"limit": maxRows})
	page := pageNumber(q.URL)
	if q.query() != "" {
		args["query"], page = q.query(), 1
	} else if page > 1 {
		args["offset"] = (page - 1) * maxRows
	}
	if d.Room != "" {
		args["category"] = d.Room
	}
	r, err := call[knowledge.Recalled](q, tool, "recall", args)
	if last := (r.Total + maxRows - 1) / maxRows; err == nil && page > last && last > 0 { // the list has become shorter
		page, args["offset"] = last, (last-1)*maxRows
		r, err = call[knowledge.Recalled](q, tool, "recall", args)
	}
	if err != nil {
		return err
	}
	for _, x := range r.Facts {
		list := &d.Facts
		x.Past = x.Past || r.DateRead != "" // it has its period
		if x.Maybe {
			list = &d.Maybe
		}
		*list = append(*list, row{x, q.Fact(x.Category, x.Key), d.Room == "", key != "" && x.Key == key})
	}
	if read := r.ReadAs(); read != "" && r.Total > 0 {
		d.Says = append(d.Says, read+":")
	} else if r.Read != nil && r.Read.Kind == language.AsksChanges {
		d.Says = append(d.Says, read+": nothing.")
	}
	if r.Impossible != "" {
		d.Says = append(d.Says, knowledge.NoSuchDate(brief(r.Impossible)))
	}
	for _, c := range r.Changes {
		d.Says = append(d.Says, c.Line())
	}
	for _, m := range r.Missing {
		d.Says = append(d.Says, m.Line())
	}
	if r.Reason != nil {
		d.Says = append(d.Says, r.Reason.Line())
	}
	d.Pager = newPager(page, len(d.Facts), r.Total)
	return nil
}

// factPage is one fact, beside the others of its room.
type factPage struct {
	factList
	Category, Key string
	Current       []knowledge.Found           // one, or several values
	Wide, Narrow  template.HTML               // the timeline
	Versions      []history.VersionProvenance // the newest first
	Erased        string
	Renames       []formats.Rename // that led to its name
	Disputes      []knowledge.DisputeInfo
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

func fact(q *request) (any, error) {
	d := factPage{Category: q.PathValue("category"), Key: q.PathValue("key")}
	if d.Key == "" {
		d.Category, d.Key = q.URL.Query().Get("category"), q.URL.Query().Get("key")
	}
	name := func() map[string]any { return map[string]any{"category": d.Category, "key": d.Key} }
	why, err := provenance(q, d.Category, d.Key)
	if err != nil {
		if op.Classify(err) == op.NotFound {
			err = errors.Join(&missingError{"There is no fact " + brief(d.Category) + "/" + brief(d.Key) + ", and there was none."}, err)
		}
		return nil, err
	}
	if formats.FoldName(why.Category+"/"+why.Key) != formats.FoldName(d.Category+"/"+d.Key) { // it was renamed
		return nil, &movedError{q.Fact(why.Category, why.Key)}
	}
	d.Category, d.Key, d.Versions, d.Erased, d.Renames = why.Category, why.Key, why.Versions, why.Erased, why.Renames
	found, err := call[knowledge.Recalled](q, tool, "recall", q.at(name()))
	if err != nil {
		return nil, err
	}
	d.Current = found.Facts
	all, err := call[listing.DisputeList](q, tool, "disputes", map[string]any{"state": "all", "limit": 10_000})
	if err != nil {
		return nil, err
	}
	for _, x := range all.Disputes { // the newest first
		if d.isNamed(x.Category, x.Key) {
			d.Disputes = append(d.Disputes, x)
		}
	}
	versions, err := call[history.VersionList](q, tool, "timeline", map[string]any{"category": d.Category, "key": d.Key, "limit": 300})
	if err != nil {
		return nil, err
	}
	if len(versions.Entries) > 0 {
		d.draw(versions, q.asOf)
	}
	relations, err := call[listing.RelationList](q, tool, "relations", name())
	if err != nil {
		return nil, err
	}
	for _, x := range relations.Relations {
		d.Links = append(d.Links, d.link(q.links, x))
	}
	d.Room = d.Category
	return &d, d.read(q, d.Key)
}

// isNamed reports whether a name is the fact's.
func (d *factPage) isNamed(category, key string) bool {
	return formats.FoldName(category) == formats.FoldName(d.Category) && formats.FoldName(key) == formats.FoldName(d.Key)
}

// provenance is what is behind a fact. A record that names a fact category/key does not tell
// which slash divides them, where either holds one: then the first fact that is there counts.
func provenance(q *request, category, key string) (history.Provenance, error) {
	ask := func(category, key string) (history.Provenance, error) {
		return call[history.Provenance](q, tool, "why", map[string]any{"category": category, "key": key})
	}
	r, err := ask(category, key)
	full := category + "/" + key
	const maxSlashes = 20
	for i, tried := 0, 0; i < len(full) && tried < maxSlashes && op.Classify(err) == op.NotFound; i++ {
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

// The widths of a drawing, beside a list and on a telephone.
const (
	wide   = 616
	narrow = 328
)

// draw draws the timeline for both.
func (d *factPage) draw(versions history.VersionList, asOf time.Time) {
	versions.Key = d.Key
	open := slices.DeleteFunc(slices.Clone(d.Disputes), func(x knowledge.DisputeInfo) bool { return x.State != formats.DisputeOpen })
	t := versions.Drawing(open, time.Now())
	t.AsOf = asOf
	d.Wide = template.HTML(t.SVG(&drawing.Options{Width: wide, Inner: true, Name: "w"}))
	d.Narrow = template.HTML(t.SVG(&drawing.Options{Width: narrow, Inner: true, Name: "n"}))
}

// link is a relation seen from the fact.
func (d *factPage) link(l links, x formats.Relation) link {
	words, known := map[string][2]string{
		"depends_on": {"depends on", "is needed by"}, "related_to": {"is related to", "is related to"}, "supports": {"supports", "is supported by"},
		"contradicts": {"contradicts", "is contradicted by"}, "supersedes": {"supersedes", "is superseded by"},
	}[x.Kind]
	if !known {
		words = [2]string{x.Kind, x.Kind}
	}
	if d.isNamed(x.From.Category, x.From.Key) {
		return link{words[0], x.To.Category + "/" + x.To.Key, l.Fact(x.To.Category, x.To.Key), x.Kind, true}
	}
	return link{words[1], x.From.Category + "/" + x.From.Key, l.Fact(x.From.Category, x.From.Key), x.Kind, false}
}

// maxPairs is how many pairs of a kind are shown at once.
const maxPairs = 20

// doubtsPage is what the memory doubts.
type doubtsPage struct {
	Waiting  []replica.Waiting // from the repository, for a person
	ID       string            // of all that waits
	Open     []knowledge.DisputeInfo
	Settled  []knowledge.DisputeInfo // the latest
	Report   advice.Report
	Sources  []advice.WrongSource
	Past     bool // what health finds is about now
	Searched bool // duplicates take up to a second: the page is there before they are looked for
}

// maxNamed is how many changes that wait are named, beside those of what the user said, which come first.
const maxNamed = 500

// Named are the changes that wait, as many as are named.
func (d *doubtsPage) Named() []replica.Waiting {
	n := slices.IndexFunc(d.Waiting, func(w replica.Waiting) bool { return !w.OfUser })
	if n < 0 {
		return d.Waiting
	}
	return d.Waiting[:min(n+maxNamed, len(d.Waiting))]
}

// Unnamed counts those that wait besides.
func (d *doubtsPage) Unnamed() int { return len(d.Waiting) - len(d.Named()) }

// waiting are the changes that lines of replicas which are not trusted would make.
func (q *request) waiting() ([]replica.Waiting, error) {
	r, err := call[replica.Report](q, syncTool, "", map[string]any{"check": true})
	return r.Waiting, err
}

// waitingID stands for changes that wait, in the form that accepts them.
func waitingID(list []replica.Waiting) string {
	h := sha256.New()
	for _, w := range list {
		_, _ = fmt.Fprintf(h, "%q\n", []any{w.Fact, w.Change, w.Replicas, w.By}) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func doubts(q *request) (any, error) {
	all, err := call[listing.DisputeList](q, tool, "disputes", map[string]any{"state": "all", "limit": 1000})
	if err != nil {
		return nil, err
	}
	d := doubtsPage{Past: !q.asOf.IsZero(), Searched: q.URL.Query().Get("look") != ""}
	if !d.Past && !q.status.Synced.IsZero() {
		// Where it cannot be told, as in a team, nothing waits.
		d.Waiting, _ = q.waiting()
		d.ID = waitingID(d.Waiting)
	}
	for _, x := range all.Disputes {
		switch {
		case d.Past && x.At.After(q.asOf):
		case d.Past && (x.SettledAt.IsZero() && x.State == formats.DisputeOpen || x.SettledAt.After(q.asOf)), !d.Past && x.State == formats.DisputeOpen:
			d.Open = append(d.Open, x)
		case len(d.Settled) < 20:
			d.Settled = append(d.Settled, x)
		}
	}
	if d.Past || !d.Searched {
		return &d, nil
	}
	sources, err := call[advice.Checked](q, tool, "check", nil)
	if err != nil {
		return nil, err
	}
	d.Sources = sources.Changed[:min(maxRows, len(sources.Changed))]
	d.Report, err = call[advice.Report](q, tool, "health", nil)
	return &d, err
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

func atWork(q *request) (any, error) {
	list, err := call[agents.Agents](q, "agent", "list", map[string]any{"limit": 200})
	if err != nil {
		return nil, err
	}
	d := agentsPage{Agents: list.Agents}
	if d.Info, err = call[agents.Info](q, "agent", "info", nil); err != nil {
		return nil, err
	}
	all, err := call[tasks.List](q, "task", "list", map[string]any{"limit": 500})
	d.Tasks, d.Count = tree(all.Tasks), all.Total
	return &d, err
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

// briefing is one time that hooks gave facts to a session, as the operation's JSON has it.
type briefing struct {
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
	Briefings       []briefing
	Facts           int
}

type briefingsPage struct {
	Sessions []*session
	More     int
}

// roomKeys is the keys of one room that were given at once.
type roomKeys struct {
	Category string
	Keys     []string
}

// Rooms groups the facts by room, in the order in which they were given.
func (b briefing) Rooms() (out []roomKeys) {
	for _, f := range b.Facts {
		category, key, _ := strings.Cut(f, "/")
		i := slices.IndexFunc(out, func(r roomKeys) bool { return r.Category == category })
		if i < 0 {
			i = len(out)
			out = append(out, roomKeys{Category: category})
		}
		out[i].Keys = append(out[i].Keys, key)
	}
	return out
}

func briefings(q *request) (any, error) {
	r, err := call[struct {
		Briefings []briefing `json:"briefings"`
		More      int        `json:"more"`
	}](q, tool, "briefings", map[string]any{"limit": 300})
	d := briefingsPage{More: r.More}
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
		s.Briefings, s.Facts = append(s.Briefings, b), s.Facts+len(b.Facts)
	}
	return &d, err
}

type healthPage struct {
	Searched bool // see doubtsPage
	Report   advice.Report
	Status   listing.StoreStatus
	Vectors  string // what encodes, in a sentence
	Days     []bar
	Agents   []bar
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

func health(q *request) (any, error) {
	d := healthPage{Searched: q.URL.Query().Get("look") != "", Status: q.status}
	var err error
	if d.Searched {
		if d.Report, err = call[advice.Report](q, tool, "health", nil); err != nil {
			return nil, err
		}
	}
	days, err := call[cost.Report](q, "cost", "report", map[string]any{"by": "day", "limit": daysShown})
	if err != nil {
		return nil, err
	}
	d.Days = bars(days.Days[:min(daysShown, len(days.Days))])
	who, err := call[cost.Report](q, "cost", "report", map[string]any{"by": "agent", "limit": daysShown})
	if err != nil {
		return nil, err
	}
	d.Agents = bars(who.Agents[:min(daysShown, len(who.Agents))])
	a, err := q.h.options.Call(asUser(q.Context()), tool, "embeddings_status", nil)
	if err == nil {
		d.Vectors, err = a.Render()
	}
	if err != nil { // a store without vectors has health all the same
		d.Vectors = err.Error()
	}
	return &d, nil
}
