package transfer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// A file that is imported again has changed. What it says as before stays. What it no longer says
// ends, and what it says instead takes its place. That goes for what imports of that file alone
// asserted. What somebody confirmed, pinned, renamed or gave another value since is that person's.

// outside begins the name of a file that is not in the project. So it is never taken for the one
// of that name in the project, and no path of this machine becomes a source.
const outside = "…/"

// reading is which files an import has read, and which there were.
type reading struct {
	files   []string // whose lines were read
	present []string // of the directory
	dir     string   // the directory from the root of the project; empty: the import read none in it

	short map[string]bool // files of which each line is checked whether it is as it was
}

// maxChecked is the size of a file whose lines are checked. Each check reads the file up to its line,
// and a file of instructions is much smaller.
const maxChecked = 256 << 10

// has reports whether a file was read, or would have been read were it there still.
func (x *reading) has(file string) bool {
	switch {
	case file == "" || slices.Contains(x.files, file):
		return file != ""
	case x.dir == "" || slices.Contains(x.present, file) || !strings.EqualFold(path.Ext(file), ".md"):
		return false
	}
	below, ok := strings.CutPrefix(file, x.dir+"/")
	if x.dir == "." {
		below, ok = file, !strings.HasPrefix(file, outside)
	}
	return ok && !slices.ContainsFunc(strings.Split(below, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// readingOf is what an import of a memory has read; nil if its files do not name their lines.
func readingOf(root string, in Incoming, x input, m *foreign.Memory) *reading {
	if m == nil || len(m.Files) == 0 && !x.notes || in.Data != nil {
		return nil
	}
	r := &reading{files: m.Files, short: map[string]bool{}}
	for _, f := range append(slices.Clone(x.files), x.rooms...) {
		r.present = append(r.present, f.Name)
		r.short[f.Name] = len(f.Text) <= maxChecked && path.Ext(f.Name) != ".jsonl"
	}
	if dir, inside := formats.PathIn(root, x.dir); x.dir != "" && inside {
		r.dir = dir
	}
	return r
}

// statement is a believed value that an import of the files asserted.
type statement struct {
	name    fact.ID
	version *fact.Version
	file    string
	alone   bool // nobody else stands behind it
	found   bool // the file still has it, or what takes its place
}

// former is what is believed of the files that are read again, and what becomes of it.
type former struct {
	all    []*statement
	stands map[fact.ID]bool       // names of records that the file had before
	after  map[fact.ID]*statement // what a record takes the place of
	named  map[fact.ID]fact.ID    // records whose name another statement has, and their own one
	free   map[fact.ID]*incoming  // what has such a name
}

// fileOf is the file of a source that an import names; empty if it names none.
func fileOf(s formats.Source) string {
	if s.Kind != knowledge.KindImport {
		return ""
	}
	if i := strings.LastIndexByte(s.Ref, ':'); i >= 0 && strings.Trim(s.Ref[i+1:], "0123456789-") == "" {
		return s.Ref[:i]
	}
	return s.Ref
}

// takeAgain compares what the files say with what imports of them asserted before.
func (m *merger) takeAgain() {
	m.former = former{stands: map[fact.ID]bool{}, after: map[fact.ID]*statement{}, named: map[fact.ID]fact.ID{}, free: map[fact.ID]*incoming{}}
	if m.reading == nil || m.in.Merge == mergeAppend {
		return
	}
	byName := map[fact.ID][]*statement{}
	byValue := map[string][]*statement{} // and category
	valueOf := func(category, value string) string { return formats.FoldName(category) + "\x00" + value }
	for _, vs := range m.st.Sorted() {
		for _, v := range fact.AllCurrent(vs, m.present) {
			if x := m.statementOf(v); x != nil {
				m.former.all = append(m.former.all, x)
				byName[x.name] = append(byName[x.name], x)
				byValue[valueOf(v.Category, v.Value)] = append(byValue[valueOf(v.Category, v.Value)], x)
			}
		}
	}
	if len(m.former.all) == 0 {
		return
	}
	stand := func(n fact.ID, r *record, x *statement) {
		x.found, m.former.stands[n] = true, true
		m.moved(x, r)
	}
	for _, n := range m.order {
		for i := range m.facts[n].records {
			r := &m.facts[n].records[i]
			for _, x := range byName[n] {
				if !x.found && verdict.Compare(r.Key, x.version.Value, r.Value) == verdict.Equal {
					stand(n, r, x)
					break
				}
			}
		}
	}
	for _, n := range m.order {
		if r := m.wholeOf(n); r != nil && !m.former.stands[n] {
			for _, x := range byValue[valueOf(r.Category, r.Value)] {
				if !x.found {
					stand(n, r, x)
					break
				}
			}
		}
	}
	if !m.known() {
		m.former.all = nil
		return
	}
	m.successors(byName)
}

// statementOf is a believed version as what an import of the files asserted; nil if none did.
func (m *merger) statementOf(v *fact.Version) *statement {
	x := &statement{name: fact.IDOf(v.Category, v.Key), version: v, alone: !v.Pinned && v.RenamedAt == nil}
	for _, s := range v.Sources {
		if file := fileOf(s); m.reading.has(file) {
			x.file = file
		} else {
			x.alone = false
		}
	}
	if x.file == "" {
		return nil
	}
	return x
}

// brings is what the files say of a name.
func (m *merger) brings(n fact.ID) (fact.ID, *incoming) {
	if free, ok := m.former.named[n]; ok {
		n = free
	}
	if in := m.former.free[n]; in != nil {
		return n, in
	}
	return n, m.facts[n]
}

// wholeOf is the record of a name, if its value is a whole statement: the value of a label says nothing
// by itself.
func (m *merger) wholeOf(n fact.ID) *record {
	_, in := m.brings(n)
	if rs := in.records; len(rs) == 1 && !rs[0].labeled {
		return &rs[0]
	}
	return nil
}

// known reports whether the files are those of former imports. One outside of the project has a
// name that another may have too: it is known by its lines.
func (m *merger) known() bool {
	if !slices.ContainsFunc(m.reading.files, func(file string) bool { return strings.HasPrefix(file, outside) }) {
		return true
	}
	found := 0
	for _, x := range m.former.all {
		if x.found {
			found++
		}
	}
	return 2*found >= len(m.former.all)
}

// successors finds what takes the place of what the files no longer say: the record of the same
// name, else the one whose words are most alike.
func (m *merger) successors(byName map[fact.ID][]*statement) {
	var fresh []fact.ID
	for _, n := range slices.Clone(m.order) {
		r := m.facts[n].records
		if m.former.stands[n] || len(r) != 1 {
			continue
		}
		old := byName[n]
		switch {
		case len(old) == 1 && !old[0].found:
			m.former.after[n], old[0].found = old[0], true
		case len(old) > 0 && !slices.ContainsFunc(old, func(x *statement) bool { return !x.found }):
			fresh = append(fresh, m.rename(n)) // the number of its name was another one's
		case fact.Current(m.over.Versions(n), m.present) == nil:
			fresh = append(fresh, n)
		}
	}
	type pair struct {
		n     fact.ID
		old   *statement
		alike float64
	}
	var gone []*statement
	for _, x := range m.former.all {
		if !x.found && x.alone {
			gone = append(gone, x)
		}
	}
	if len(gone)*len(fresh) > 250_000 { // another file altogether
		return
	}
	var pairs []pair
	for _, n := range fresh {
		r := m.wholeOf(n)
		if r == nil {
			continue
		}
		for _, x := range gone {
			if a := alike(r.Value, x.version.Value); a >= clearly && formats.FoldName(r.Category) == formats.FoldName(x.version.Category) {
				pairs = append(pairs, pair{n, x, a})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		switch {
		case a.alike > b.alike:
			return -1
		case a.alike < b.alike:
			return 1
		}
		return 0
	})
	for _, p := range pairs {
		if m.former.after[p.n] == nil && !p.old.found {
			m.former.after[p.n], p.old.found = p.old, true
		}
	}
}

// clearly is how alike the words of two statements are where one takes the other's place.
const clearly = 0.5

// alike is the share of the words of two texts that both have: 1 for the same words.
func alike(a, b string) float64 {
	words := map[string]int{}
	for _, w := range formats.Words(a) {
		words[w] |= 1
	}
	for _, w := range formats.Words(b) {
		words[w] |= 2
	}
	both := 0
	for _, of := range words {
		if of == 3 {
			both++
		}
	}
	return float64(both) / float64(max(1, len(words)))
}

// rename gives the records of a name another one, which is free.
func (m *merger) rename(n fact.ID) fact.ID {
	in := m.facts[n]
	base := in.records[0].Key
	for i := 2; ; i++ {
		key := fmt.Sprintf("%s-%d", base, i)
		free := fact.IDOf(in.records[0].Category, key)
		if _, erased := m.st.ErasedUntil(free); erased || m.facts[free] != nil || m.former.free[free] != nil || len(m.over.Versions(free)) > 0 {
			continue
		}
		c := *in
		c.records = slices.Clone(in.records)
		c.records[0].Key = key
		m.former.free[free], m.former.named[n] = &c, free
		return free
	}
}

// moved keeps where a statement stands in its file now, so that it is not taken for changed. It is
// no confirmation.
func (m *merger) moved(x *statement, r *record) {
	if !x.alone || r.Source.Ref == "" {
		return
	}
	w, changed := *x.version, false
	w.Sources = slices.Clone(w.Sources)
	for i, s := range w.Sources {
		if fileOf(s) == fileOf(r.Source) && (s.Ref != r.Source.Ref || !slices.Equal(checksums(s), checksums(r.Source))) {
			w.Sources[i].Ref, w.Sources[i].Files, changed = r.Source.Ref, r.Source.Files, true
		}
	}
	if changed {
		m.add(state.Event{Put: &w})
	}
}

func checksums(s formats.Source) (out []string) {
	for _, f := range s.Files {
		out = append(out, f.Ref+f.Checksum)
	}
	return out
}

// again merges a record of a file that was imported before. It reports whether that is all that is
// to do about it.
func (m *merger) again(n fact.ID, brought *incoming) (bool, error) {
	old := m.former.after[n]
	switch {
	case m.former.stands[n]:
		m.r.Parsed += len(brought.records)
		m.r.Skipped += len(brought.records)
		return true, nil
	case old == nil && !m.endedByImport(n):
		return false, nil
	}
	m.r.Parsed++
	c := brought.records[0].Checked
	if old != nil && (!old.alone || !m.mayEnd(old)) {
		d := formats.Dispute{Value: c.Value, Confidence: c.Confidence, Source: c.Source, Privacy: c.Privacy}
		m.r.Skipped++
		m.against(d, old.version)
		return true, nil
	}
	if old != nil && old.name == n {
		if now := fact.AllCurrent(m.over.Versions(n), m.present); len(now) > 1 {
			c.Replaces = old.version.Value
		}
	}
	events, got, err := knowledge.Assert(m.over, c, m.now)
	if err != nil {
		return true, err
	}
	m.add(events...)
	switch {
	case got.Outcome == knowledge.Disputed:
		m.r.Skipped++
		m.r.Disputed++
		return true, nil
	case old == nil:
		m.r.Added++
	default:
		m.r.Replaced++
		if old.name != n {
			m.end(old, fmt.Sprintf("%s has %s/%s in its place", old.file, c.Category, c.Key))
		}
	}
	m.first(c.Category, c.Key, c.Value)
	return true, nil
}

// endedByImport reports whether a fact is over because its file no longer had it. So it begins
// again when the file has it again.
func (m *merger) endedByImport(n fact.ID) bool {
	vs := m.over.Versions(n)
	if m.reading == nil || len(vs) == 0 || len(m.facts[n].records) != 1 || fact.Current(vs, m.present) != nil {
		return false
	}
	last := vs[len(vs)-1]
	return last.RetractedAt != nil && last.RetractedBy == knowledge.KindImport
}

// mayEnd reports whether whoever runs the import may end what a former import asserted. An agent
// only proposes an end to what a person imported.
func (m *merger) mayEnd(x *statement) bool {
	return m.store.Actor().Kind != knowledge.KindAgent || !slices.ContainsFunc(x.version.Sources, func(s formats.Source) bool { return args.AgentType(s.By) == "" })
}

// end ends what its file no longer says.
func (m *merger) end(x *statement, reason string) {
	by := knowledge.Source{Kind: knowledge.KindImport, Ref: x.file, Confidence: 1}
	removal := knowledge.Removal("", by)
	removal.Reason = prose.Clip(prose.Line(reason), knowledge.MaxReason-4)
	if len(fact.AllCurrent(m.over.Versions(x.name), m.present)) > 1 {
		removal.Value = x.version.Value
	}
	if !m.mayEnd(x) {
		removal.Source.By = m.store.Actor().Agent
		m.against(removal, x.version)
		return
	}
	events, disputed := knowledge.End(m.over, x.name, removal, m.now, m.present)
	m.add(events...)
	if disputed.Warned() {
		m.r.Disputed++
	} else {
		m.r.Ended = append(m.r.Ended, x.version.Category+"/"+x.version.Key)
	}
}

// against opens a dispute between what the file says and a version that whoever runs the import may not change.
func (m *merger) against(d formats.Dispute, old *fact.Version) {
	events := knowledge.OpenDispute(m.over, d, old, m.present)
	m.add(events...)
	m.r.Disputed += min(len(events), 1)
}

// endRest ends what the files no longer say, and nothing took the place of.
func (m *merger) endRest() {
	for _, x := range m.former.all {
		if !x.found && x.alone {
			m.end(x, "no longer in "+x.file)
		}
	}
}
