package advice

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Report tells what deserves a look.
type Report struct {
	Facts            int                     `json:"facts"`
	Archived         int                     `json:"archived"`
	Dormant          []knowledge.Found       `json:"dormant,omitempty"`   // the first hundred of the archived ones, by name
	Contradictions   []OpenQuestion          `json:"contradictions"`      // sure values that were replaced and the new one not confirmed since
	Disputes         []knowledge.DisputeInfo `json:"disputes,omitempty"`  // open ones
	Conflicts        []Conflict              `json:"conflicts,omitempty"` // two names whose values likely cannot both hold
	Duplicates       []OpenQuestion          `json:"duplicates"`          // the same value under two names
	NearDuplicates   []Pair                  `json:"nearly_same"`         // of which one is among the newest facts
	HasVectors       bool                    `json:"nearly_looked"`       // for the latter: there are vectors, and not too many versions
	Compared         int                     `json:"nearly_compared"`     // how many of the newest facts were compared with all others
	Versions         int                     `json:"-"`                   // of all facts
	Stale            []knowledge.Found       `json:"stale"`               // effective confidence under a half; what to check first
	StaleTotal       int                     `json:"stale_total"`
	Sources          Checked                 `json:"sources"`
	Unconfirmed      int                     `json:"unconfirmed"`       // known only from an import
	WithoutQuestions int                     `json:"without_questions"` // active facts, patterns and gotchas that have no stored questions
	Maintenance      *formats.Insight        `json:"maintenance,omitempty"`
	Index            string                  `json:"index"`
	IndexBlocked     string                  `json:"index_blocked,omitempty"`     // why no index can be kept on disk
	Journal          int64                   `json:"journal_overgrown,omitempty"` // its bytes, when it is so long that it slows every command
	Clock            string                  `json:"clock,omitempty"`             // the newest commit is dated in the future
	Damage           []string                `json:"damage"`
	SetAside         []string                `json:"set_aside"`      // paths of damaged or torn files that are kept beside the store
	Gone             string                  `json:"gone,omitempty"` // the witness of a store whose files were deleted

	Sessions *knowledge.KeptSessions `json:"sessions,omitempty"`
}

// OpenQuestion is a pair of values somebody should settle.
type OpenQuestion struct {
	A, B       string         `json:"-"`
	First      knowledge.Name `json:"first"`
	Second     knowledge.Name `json:"second"`
	Old        string         `json:"old_value,omitempty"`
	New        string         `json:"new_value"`
	fact.Trust                // in the new value

	old fact.Trust
}

// The most that health lists of each kind, and of dormant facts.
const (
	maxHealth  = 10
	maxDormant = 100
)

// Health looks for open contradictions, duplicates, stale facts and damage.
func Health(ctx context.Context, s *knowledge.Store, q knowledge.Examining) (r Report, err error) {
	encoder, err := nearEncoder(ctx, s)
	if err != nil {
		return r, err
	}
	var all []*fact.Version // that hold and are active
	var judged []formats.JudgedPair
	empty, facts := false, 0
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		r = Report{Versions: st.VersionCount(), Contradictions: []OpenQuestion{}, Duplicates: []OpenQuestion{}, NearDuplicates: []Pair{}, Stale: []knowledge.Found{}, Damage: []string{}, SetAside: []string{}}
		all = nil
		same := values{}
		facts = 0
		for n, vs := range st.Sorted() {
			facts++
			current := fact.AllCurrent(vs, now)
			active := slices.DeleteFunc(slices.Clone(current), func(v *fact.Version) bool { return v.ArchivedAt != nil })
			switch {
			case len(active) > 0:
				r.Facts++
			case len(current) > 0:
				if r.Archived++; r.Archived <= maxDormant {
					r.Dormant = append(r.Dormant, knowledge.FoundAt(current[0], now))
				}
			}
			all = append(all, active...)
			for _, v := range active {
				r.look(st, v, now)
				if w, known := same.met(n, v); known && w != nameOf(v) && !knowledge.Judged(st.Judged, n, fact.IDOf(w.Category, w.Key)) {
					r.Duplicates = append(r.Duplicates, OpenQuestion{First: w, Second: nameOf(v), New: v.Value, Trust: fact.TrustIn(v)})
				}
			}
		}
		r.costliest(s.Retrievals(), now)
		r.Conflicts = conflicts(st, all)
		r.WithoutQuestions = len(knowledge.WithoutQuestions(st, now))
		for _, d := range state.OpenDisputes(st, st.Disputed, now) {
			r.Disputes = append(r.Disputes, knowledge.DisputeInfoOf(st, d, now))
		}
		empty = st.Seq() == 0
		r.Sources = checkSources(ctx, s, st, now)
		if last, any := st.Last(state.NoteMaintenance); any {
			r.Maintenance = &last
		}
		judged = slices.Clone(st.Judged)
		return nil
	})
	if r.HasVectors = encoder != nil; r.HasVectors && err == nil { // it takes long, and writers wait for a view
		r.NearDuplicates, r.Compared, err = nearDuplicates(ctx, s, *encoder, all, judged)
	}
	unopened := s.OpenIndex(ctx) // before its condition is asked for
	files := s.Condition()
	if empty {
		r.Gone = files.Witness
	}
	if x := &files.Index; !x.Stored && x.Pending == 0 { // it was not opened
		x.Pending = facts
	}
	if r.Index = indexStatus(files.Index); files.Blocked != nil {
		r.IndexBlocked = files.Blocked.Error()
		r.Index = fmt.Sprintf("in memory alone, %s: %s", prose.Count(files.Index.Pending, "fact"), r.IndexBlocked)
	}
	r.damage(ctx, s, files)
	if q.Sessions != nil {
		r.Sessions = q.Sessions(ctx)
	}
	if unopened != nil && err == nil {
		r.Damage = append(r.Damage, "the text index cannot be opened: "+unopened.Error())
	}
	return r, err
}

// values are those met so far, and the last fact that has each. They are known
// by a hash: the texts of very many facts would be kept.
type values map[valueIn]knowledge.Name

// valueIn is the hash of a value, and the category for a short one.
type valueIn struct {
	hash     uint64
	category string
}

// met tells which fact had the value of v, if one did, and notes that v has it.
func (x values) met(n fact.ID, v *fact.Version) (before knowledge.Name, known bool) {
	if verdict.Canonical(v.Key, v.Value).Bare() {
		return before, false // a port or a yes says nothing about another
	}
	key := valueIn{hash: verdict.Canonical("", v.Value).Hash()}
	if len(strings.Fields(v.Value)) < 3 {
		key.category = n.Category
	}
	before, known = x[key]
	x[key] = nameOf(v)
	return before, known
}

// damage adds what is wrong with the files of the facts, and of what is kept
// elsewhere.
func (r *Report) damage(ctx context.Context, s *knowledge.Store, files knowledge.Condition) {
	if r.Gone != "" {
		r.Damage = append(r.Damage, "what was remembered of this project is gone: "+s.Dir()+" was deleted or emptied.")
	}
	at := files.Journal
	warnings := slices.DeleteFunc(files.Warnings, func(w journal.Warning) bool {
		if w.Kind == journal.Ahead {
			r.Clock = w.Text
		}
		return w.Kind == journal.Ahead
	})
	found, aside := notice.Damage(s.Dir(), warnings, at)
	r.Damage, r.SetAside = append(r.Damage, found...), append(r.SetAside, aside...)
	if knowledge.Overgrown(at) {
		r.Journal = at.JournalBytes
	}
	others := s.Options().OtherStores
	if others == nil {
		return
	}
	found, aside, err := others.Damage(ctx)
	if err != nil {
		found = append(found, err.Error())
	}
	r.Damage, r.SetAside = append(r.Damage, found...), append(r.SetAside, aside...)
}

// costliest leaves the stale facts that are listed: those that it would cost most to
// be wrong about.
func (r *Report) costliest(retrievals func(*fact.Version) fact.Retrievals, now time.Time) {
	cost := func(f knowledge.Found) float64 {
		x := fact.Summarize(f.Version)
		x.HalfLife = 0 // how much it would matter if it were sure
		return x.Salience(now, retrievals(f.Version)) * (1 - f.Effective)
	}
	slices.SortFunc(r.Stale, func(a, b knowledge.Found) int {
		return cmp.Or(cmp.Compare(cost(b), cost(a)), fact.ByName(a.Version, b.Version))
	})
	r.Stale = slices.Clone(r.Stale[:min(maxHealth, len(r.Stale))])
}

func (r *Report) look(st *state.State, v *fact.Version, now time.Time) {
	if x := knowledge.FoundAt(v, now); x.Effective < 0.5 && x.Effective < v.Confidence {
		r.StaleTotal++
		r.Stale = append(r.Stale, x)
	}
	if fact.Unconfirmed(v) {
		r.Unconfirmed++
	}
	old := st.ByID(string(v.Supersedes))
	if old != nil && v.Outcome == string(knowledge.Superseded) && fact.WellFounded(old) && v.ConfirmationCount < 2 && now.Sub(v.RecordedFrom) < 30*24*time.Hour {
		r.Contradictions = append(r.Contradictions, OpenQuestion{First: nameOf(v), Second: nameOf(old), Old: old.Value, old: fact.TrustIn(old), New: v.Value, Trust: fact.TrustIn(v)})
	}
}

func nameOf(v *fact.Version) knowledge.Name { return knowledge.Name{Category: v.Category, Key: v.Key} }

// Text gives the answer's lines.
func (r Report) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Report) TextIn(call prose.Syntax) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Knowledge health: %s, %d dormant, %d imported and unconfirmed", prose.Count(r.Facts, "active fact"), r.Archived, r.Unconfirmed)
	fmt.Fprintf(&b, "\nOpen contradictions: %d", len(r.Contradictions))
	for _, q := range r.Contradictions[:min(maxHealth, len(r.Contradictions))] {
		fmt.Fprintf(&b, "\n  [%s] %s → %s: confirm the new value, or remember the old one with %s", knowledge.Slashed(q.First), q.old.Quote(q.Old), q.Quote(q.New), call("", "correct", true))
	}
	if len(r.Disputes) > 0 {
		fmt.Fprintf(&b, "\nOpen disputes: %d", len(r.Disputes))
	}
	for _, d := range r.Disputes[:min(maxHealth, len(r.Disputes))] {
		b.WriteString("\n  " + d.Line())
	}
	if len(r.Conflicts) > 0 {
		fmt.Fprintf(&b, "\nPossible conflicts under two names: %d (to settle one: %s)", len(r.Conflicts),
			call("judge", "category", r.Conflicts[0].Newer.Category, "key", r.Conflicts[0].Newer.Key, "target", r.Conflicts[0].Older.Category+"/"+r.Conflicts[0].Older.Key, "verdict", "supersedes"))
	}
	for _, c := range r.Conflicts[:min(maxHealth, len(r.Conflicts))] {
		against := "against"
		if c.Replaced {
			against = "seems to replace"
		}
		fmt.Fprintf(&b, "\n  [%s] %s %s [%s] %s", knowledge.Slashed(c.Newer), c.newer.Quote(c.NewerValue), against, knowledge.Slashed(c.Older), c.older.Quote(c.OlderValue))
	}
	fmt.Fprintf(&b, "\nSame value under two names: %d", len(r.Duplicates))
	for _, q := range r.Duplicates[:min(maxHealth, len(r.Duplicates))] {
		fmt.Fprintf(&b, "\n  [%s] and [%s]: %s", knowledge.Slashed(q.First), knowledge.Slashed(q.Second), q.Brief(q.New))
	}
	fmt.Fprintf(&b, "\nNearly the same under two names: %s", r.nearDuplicatesText())
	for _, p := range r.NearDuplicates[:min(maxHealth, len(r.NearDuplicates))] {
		fmt.Fprintf(&b, "\n  [%s] %s and [%s] %s (%s alike)", knowledge.Slashed(p.First), p.first.Quote(p.FirstValue), knowledge.Slashed(p.Second), p.second.Quote(p.SecondValue), prose.Percent(p.Cosine))
	}
	fmt.Fprintf(&b, "\nStale (effective confidence under 50%%): %d", r.StaleTotal)
	if r.StaleTotal > 1 {
		b.WriteString(", check first what matters most")
	}
	for _, f := range r.Stale {
		fmt.Fprintf(&b, "\n  [%s/%s] %s (%s, last confirmed %s)", prose.Name(f.Category), prose.Name(f.Key), f.Brief(f.Value), prose.Percent(f.Effective), fact.Day(f.LastConfirmed))
	}
	if len(r.Sources.Changed) > 0 {
		fmt.Fprintf(&b, "\nSources that no longer match: %d", len(r.Sources.Changed))
		b.WriteString(r.Sources.lines(maxHealth))
	}
	if r.WithoutQuestions > 0 {
		fmt.Fprintf(&b, "\nWithout questions: %d (%s lists them)", r.WithoutQuestions, call("questions"))
	}
	if r.Maintenance != nil {
		fmt.Fprintf(&b, "\nLast maintenance: %s, %s", fact.Day(r.Maintenance.Timestamp), r.Maintenance.Summary)
	}
	fmt.Fprintf(&b, "\nIndex: %s", r.Index)
	if r.Sessions != nil {
		b.WriteString("\n" + r.Sessions.Line())
	}
	if r.Journal > 0 {
		b.WriteString("\n" + knowledge.OvergrownLine(r.Journal))
	}
	if r.Clock != "" {
		fmt.Fprintf(&b, "\nClock: %s", prose.Line(r.Clock))
	}
	if len(r.Damage)+len(r.SetAside) == 0 {
		b.WriteString("\nDamage: none")
	}
	for _, d := range r.Damage {
		fmt.Fprintf(&b, "\nDamage: %s", prose.Line(d))
	}
	for _, f := range r.SetAside {
		fmt.Fprintf(&b, "\nSet aside: %s", prose.Line(f))
		if lost := journal.LostIn(f); lost != "" {
			fmt.Fprintf(&b, " (these commits are lost: %s)", prose.Line(lost))
		}
	}
	return b.String()
}

// indexStatus says what the index is.
func indexStatus(x state.IndexStatus) string {
	switch {
	case x.Newer:
		return "on disk for a newer version of the program only; in memory, " + prose.Count(x.Pending, "fact")
	case !x.Stored:
		return "in memory, " + prose.Count(x.Pending, "fact")
	}
	return fmt.Sprintf("on disk up to %s, %s in memory", x.At.Format(time.RFC3339), prose.Count(x.Pending, "fact"))
}
