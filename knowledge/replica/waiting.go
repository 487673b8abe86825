package replica

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Waiting is a change that lines from outside would make to something that was asserted inside.
type Waiting struct {
	Fact     string   `json:"fact"` // or what else would change
	Change   string   `json:"change"`
	Replicas []string `json:"replicas"`         // whose lines they are
	Signed   string   `json:"signed,omitempty"` // the first of them whose lines are signed: it can be trusted
	By       string   `json:"by,omitempty"`

	OfUser bool `json:"of_user,omitempty"` // what a user said would change

	subject string
}

// Line is the change as one line of an answer.
func (w Waiting) Line() string {
	by := strings.Join(w.Replicas, ", ")
	if w.By != "" {
		by += ": calls itself " + prose.Line(prose.Clip(w.By, 40))
	}
	return fmt.Sprintf("%s %s (%s)", w.Fact, w.Change, by)
}

// waiting finds what the held lines would change: first what a user said, then the rest by name. accept are the
// lines that have to be accepted for the first ones, those about the same facts included: as many as an answer
// names, or all. Held lines that would change nothing wait for nobody.
func (f *Folded) waiting(t *trust, h home, all bool) (out []Waiting, first int, accept []*Line) {
	if len(f.Held) == len(f.Over)+len(f.Home) {
		return nil, 0, nil
	}
	over := setOf(slices.Concat(f.Over, f.Home))
	looked := func(lines []*Line) []*Line {
		return slices.DeleteFunc(slices.Clone(lines), func(l *Line) bool { return over[l] })
	}
	held, outside := setOf(looked(f.Held)), setOf(f.outside)
	tied := setOf(together(looked(f.inOrder), subjectsOf(looked(f.Held))))
	about := slices.DeleteFunc(slices.Clone(f.inOrder), func(l *Line) bool {
		return !tied[l] && l.Op != opAccept && l.Renamed == nil // those name no fact: whose lines count, and what is left of a renaming
	})
	now := foldSome(about, t, h)
	then := foldAs(about, t)
	changed := map[string]string{} // by subject
	shown := map[string]string{}
	users := map[string]bool{}
	for _, n := range names(now.State, then.State) {
		s := factSubject(state.ErasedName(n))
		if what := f.change(n, now, then); what != "" && !h.names[s] {
			changed[s] = what
			was := now.State.Versions(n)
			users[s] = slices.ContainsFunc(was, func(v *fact.Version) bool { return fact.Believed(v) && !now.isProposed(v) && fact.UsersAlone(v) })
			vs := slices.Concat(was, then.State.Versions(n))
			shown[s] = "[" + prose.Name(vs[0].Category) + "/" + prose.Name(vs[0].Key) + "]"
		}
	}
	for _, k := range lists {
		k.changes(now.State, then.State, func(subject, name, what string) {
			changed[subject], shown[subject] = what, name
			users[subject] = k.ofUser(now.State, subject)
		})
	}
	// A subject whose own lines are not held may still change by way of another.
	direct, groups := map[string][]*Line{}, groupsOf(about)
	for _, l := range about {
		if held[l] {
			for _, s := range l.subjects() {
				direct[s] = append(direct[s], l)
			}
		}
	}
	reach := map[*Line]map[string]string{} // by a line: the subjects that change by way of it
	for _, s := range slices.Sorted(maps.Keys(changed)) {
		w := Waiting{Fact: shown[s], Change: changed[s], OfUser: users[s], subject: s}
		if w.add(direct[s]); len(w.Replicas) == 0 {
			for _, l := range groups.lines[groups.of(s)] {
				if held[l] {
					w.add([]*Line{l})
					if reach[l] == nil {
						reach[l] = map[string]string{}
					}
					reach[l][s] = changed[s]
				}
			}
			slices.Sort(w.Replicas)
			w.Replicas = slices.Compact(w.Replicas)
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(rank(a.OfUser), rank(b.OfUser)), cmp.Compare(a.Fact, b.Fact))
	})
	named := map[string]string{}
	others := 0
	for _, w := range out {
		if !w.OfUser {
			others++
		}
		if all || w.OfUser || others <= shownWaiting {
			named[w.subject] = w.Change
		}
	}
	// What is accepted is what is named: no line that is only tied to it. What such a line changes beside that
	// is named too.
	for taken := map[*Line]bool{}; ; {
		more := 0
		for _, l := range about {
			if taken[l] || !(meet(reach[l], named) || (held[l] || outside[l]) && l.changes(named) || !l.guards && f.leftName(l, named)) {
				continue
			}
			taken[l] = true
			for _, s := range l.subjects() {
				what, change := changed[s]
				if _, ok := named[s]; change && !ok && l.changes(map[string]string{s: what}) {
					named[s] = what
					more++
				}
			}
		}
		if more == 0 {
			accept = slices.DeleteFunc(slices.Clone(about), func(l *Line) bool { return !taken[l] })
			break
		}
	}
	slices.SortStableFunc(out, func(a, b Waiting) int {
		_, x := named[a.subject]
		_, y := named[b.subject]
		return cmp.Compare(rank(x), rank(y))
	})
	return out, len(named), accept
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// meet reports whether two sets of subjects have one in common.
func meet(a, b map[string]string) bool {
	for s := range a {
		if _, ok := b[s]; ok {
			return true
		}
	}
	return false
}

// leftName reports whether a line renamed an erased fact away from a name of which something changes. It
// says that what was said under the name afterwards is about another fact.
func (f *Folded) leftName(l *Line, changed map[string]string) bool {
	r := l.renaming()
	if _, erased := f.Erased[l]; r == nil || !erased && l.Op != opGone {
		return false
	}
	_, ok := changed[factSubject(r.From)]
	return ok
}

// changes reports whether one of some changed subjects is what a line changes, and not only one that it
// names.
func (l *Line) changes(changed map[string]string) bool {
	if listOps[l.Op] && l.Op != opJudge {
		_, ok := changed[operations[l.Op].about(l)]
		if l.Dispute != nil {
			_, ok = changed[factSubject(hashed(formats.Name{Category: l.Dispute.Category, Key: l.Dispute.Key}))]
		}
		return ok
	}
	return slices.ContainsFunc(l.subjects(), func(s string) bool { _, ok := changed[s]; return ok })
}

func (w *Waiting) add(lines []*Line) {
	there := map[string]bool{}
	for _, l := range lines {
		if !there[l.writer.id] {
			there[l.writer.id] = true
			w.Replicas = append(w.Replicas, l.writer.id)
		}
		if w.By = cmp.Or(l.author(), w.By); l.writer.key != "" {
			w.Signed = cmp.Or(w.Signed, l.writer.id)
		}
	}
}

// groups are the lines that have subjects in common, directly or by way of another line.
type groups struct {
	above map[string]string  // of a subject: another one of its group, up to the first
	lines map[string][]*Line // by the first subject
}

func groupsOf(lines []*Line) *groups {
	g := &groups{map[string]string{}, map[string][]*Line{}}
	for _, l := range lines {
		for _, s := range l.subjects() {
			if a, b := g.of(l.subjects()[0]), g.of(s); a != b {
				g.above[b] = a
			}
		}
	}
	for _, l := range lines {
		if about := l.subjects(); len(about) > 0 {
			s := g.of(about[0])
			g.lines[s] = append(g.lines[s], l)
		}
	}
	return g
}

// of is the first subject of the group of a subject.
func (g *groups) of(s string) string {
	for {
		up, ok := g.above[s]
		if !ok {
			return s
		}
		if top, ok := g.above[up]; ok { // the way is half as long the next time
			g.above[s] = top
		}
		s = up
	}
}

// foldAs folds lines, which are in order, as if a person had accepted all.
func foldAs(lines []*Line, t *trust) *Folded {
	f := newFolded()
	f.part(lines, t)
	for _, l := range lines {
		if l.standing == outsider {
			l.standing = acceptedByUser
		}
	}
	for _, l := range f.keep(lines) {
		f.apply(l)
	}
	return f
}

// change says what would become of a fact. Whoever accepts it takes in all of its texts, so all of them are told.
func (f *Folded) change(n fact.ID, now, then *Folded) string {
	what := f.changed(n, now, then)
	if what == "" {
		return ""
	}
	told := texts(now.State.Versions(n))
	if is := fact.Current(then.State.Versions(n), then.at); is != nil {
		told[is.Value] = true
	}
	for _, v := range then.State.Versions(n) {
		if !fact.Believed(v) {
			continue
		}
		if !told[v.Value] {
			what += fmt.Sprintf(", '%s' from %s on", prose.Line(v.Value), fact.Day(v.ValidFrom))
		}
		for _, more := range []struct {
			name  string
			texts []string
		}{{"example", v.Examples}, {"question", v.Questions}, {"tag", v.Tags}, {"other name", v.Aliases}} {
			for _, text := range more.texts {
				if !told[text] {
					what += fmt.Sprintf(", %s '%s'", more.name, prose.Line(text))
				}
			}
		}
	}
	return what
}

// texts are those that a fact shows now.
func texts(vs []*fact.Version) map[string]bool {
	out := map[string]bool{}
	for _, v := range vs {
		if fact.Believed(v) {
			for _, text := range slices.Concat([]string{v.Value}, v.Examples, v.Questions, v.Tags, v.Aliases) {
				out[text] = true
			}
		}
	}
	return out
}

// changed says what would become of what a fact says now.
func (f *Folded) changed(n fact.ID, now, then *Folded) string {
	a, b := now.State.Versions(n), then.State.Versions(n)
	if _, erased := then.State.Erased(n); erased && len(b) == 0 && len(a) > 0 {
		return "would be erased"
	}
	was, is := fact.Current(a, now.at), fact.Current(b, then.at)
	switch {
	case len(a) > 0 && len(b) == 0:
		if moved := then.State.ByID(a[0].ID); moved != nil {
			return fmt.Sprintf("would be renamed to [%s/%s]", prose.Name(moved.Category), prose.Name(moved.Key))
		}
		return "would be gone"
	case len(a) == 0 && !f.guarded[factSubject(state.ErasedName(n))]:
		return "" // a new fact beside what would change
	case was != nil && is == nil:
		return fmt.Sprintf("'%s' would end", excerpt(was.Value))
	case was == nil && is != nil:
		return fmt.Sprintf("would be '%s'", prose.Line(is.Value))
	case was != nil && was.Value != is.Value:
		return fmt.Sprintf("'%s' would become '%s'", excerpt(was.Value), prose.Line(is.Value))
	case was != nil && !equal(was.ValidUntil, is.ValidUntil):
		return fmt.Sprintf("'%s' would hold until another time", excerpt(was.Value))
	case !slices.Equal(periods(a), periods(b)):
		return "would have another history"
	}
	values := func(x *Folded) (out []string) {
		for _, d := range state.OpenDisputes(x.State, x.State.Disputes(n), x.at) {
			out = append(out, d.Value)
		}
		return out
	}
	if one, two := values(now), values(then); !slices.Equal(one, two) {
		for _, v := range two {
			if v == "" {
				return "would be disputed by a removal or a rename"
			}
			if !slices.Contains(one, v) {
				return fmt.Sprintf("would be disputed by '%s'", prose.Line(v))
			}
		}
		return "would have another dispute"
	}
	return ""
}

func excerpt(value string) string { return prose.Line(prose.Clip(value, 60)) }

// periods are the values of a history with their periods.
func periods(vs []*fact.Version) (out []string) {
	for _, v := range vs {
		if fact.Believed(v) {
			out = append(out, fmt.Sprint(v.Value, v.ValidFrom, v.ValidUntil))
		}
	}
	return out
}

// changes names the entries that differ between two states.
func (k *list[T]) changes(now, then *state.State, tell func(subject, name, what string)) {
	before, after := *k.Of(&now.Lists), *k.Of(&then.Lists)
	name := func(x T) (string, string) {
		keys := k.Keys(x)
		if len(keys) == 0 {
			return "", ""
		}
		return keys[0], prose.Line(prose.Clip(keys[0], 60))
	}
	if k.onSet == opDispute {
		return // told with its fact
	}
	for _, x := range before {
		if y, ok := k.Find(&then.Lists, x); !ok {
			if s, n := name(x); s != "" {
				tell(s, n, "would be gone")
			}
		} else if !equal(x, y) {
			if s, n := name(x); s != "" {
				tell(s, n, "would change")
			}
		}
	}
	for _, y := range after {
		if _, ok := k.Find(&now.Lists, y); !ok {
			if s, n := name(y); s != "" {
				tell(s, n, "would be added")
			}
		}
	}
}

// ofUser reports whether an entry is there that would change: it was said here. Who said it is not known of most.
func (k *list[T]) ofUser(now *state.State, subject string) bool {
	return slices.ContainsFunc(*k.Of(&now.Lists), func(x T) bool { return slices.Contains(k.Keys(x), subject) })
}

// acceptances are the lines that accept others.
func acceptances(accept []*Line, l Line) (out []*Line) {
	for part := range slices.Chunk(digests(accept), 1000) {
		m := l
		m.Op, m.Lines = opAccept, part
		out = append(out, &m)
	}
	return out
}

// shownWaiting is how many waiting changes an answer names, beside those of what a user said: those are all
// named.
const shownWaiting = 20

// waits names what was accepted and what waits.
func (r Report) waits(b *strings.Builder) {
	name := func(title string, all []Waiting, first int) {
		if len(all) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(title)
		for _, w := range all[:first] {
			b.WriteString("\n  " + w.Line())
		}
		if n := len(all) - first; n > 0 {
			fmt.Fprintf(b, "\n  … %d more (--json)", n)
		}
	}
	name("Accepted what replicas that are not trusted here would change:", r.Accepted, len(r.Accepted))
	name(fmt.Sprintf("Waiting for a person: %s that replicas which are not trusted here would make", prose.Count(len(r.Waiting), "change")), r.Waiting, r.shown)
	if len(r.Waiting) > 0 {
		signed := ""
		for _, w := range r.Waiting {
			signed = cmp.Or(signed, w.Signed)
		}
		what := "them"
		if r.shown < len(r.Waiting) {
			what = "those that are named, and no others,"
		}
		b.WriteString("\n  To take " + what + " in: lean-ctx sync --yes." + trustHint(signed))
	}
}

// trustHint says how to trust a replica. One whose lines are not signed cannot be trusted.
func trustHint(signed string) string {
	if signed == "" {
		return ""
	}
	return " If the replica is yours or a colleague's: lean-ctx sync trust " + signed
}
