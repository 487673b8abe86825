package replica

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Options say where the repository is and what is to be done.
type Options struct {
	Root    string  // of the work tree
	Project Project // as it is recognised in its clones
	Check   bool    // only say whether there is something to do
	Accept  bool    // also take in what waits for a person
	ByUser  bool    // a person accepts it, so that it bears no mark: what the answer names, and no more
	By      string  // who accepts

	// Redact takes secrets out of the lines of others. It has no rule of the repository: a branch that changes what a line says
	// would change it here for good. nil: the store's.
	Redact func(text string) (clean string, rules []string)
}

// Report is what a sync did, or would do.
type Report struct {
	Replica  string   `json:"replica,omitempty"`
	Facts    int      `json:"facts"`              // that are shared
	Written  int      `json:"written"`            // lines
	TakenIn  int      `json:"taken_in"`           // lines
	New      int      `json:"new"`                // facts that came
	Changed  int      `json:"changed"`            // facts that others changed
	Erased   int      `json:"erased,omitempty"`   // facts that others erased
	Disputes []string `json:"disputes,omitempty"` // that were opened

	Waiting  []Waiting `json:"waiting,omitempty"`  // what lines of replicas that are not trusted would change
	Accepted []Waiting `json:"accepted,omitempty"` // what was taken in of that
	Local    []string  `json:"local,omitempty"`    // facts that are local here, of which trusted replicas say something: it is left out

	Warnings []string `json:"warnings,omitempty"`
	Check    bool     `json:"check,omitempty"`

	file  string
	shown int // how many of those that wait are named
}

// Found reports whether a check found something to do.
func (r Report) Found() bool { return r.Check && r.Written+r.TakenIn > 0 }

// Warned reports whether something in the repository was not as it should be.
func (r Report) Warned() bool { return len(r.Warnings) > 0 }

// Text gives the answer's lines.
func (r Report) Text() string {
	var b strings.Builder
	facts := prose.Count(r.Facts, "shared fact")
	switch {
	case r.Check && r.Found():
		fmt.Fprintf(&b, "Not in sync: %s to write, %d to take in. To do it: lean-ctx sync", prose.Count(r.Written, "line"), r.TakenIn)
	case r.Written+r.TakenIn == 0:
		fmt.Fprintf(&b, "In sync: %s, nothing new", facts)
	}
	if !r.Check && r.TakenIn > 0 {
		fmt.Fprintf(&b, "Took in %s: %s new, %d changed", prose.Count(r.TakenIn, "line"), prose.Count(r.New, "fact"), r.Changed)
		if r.Erased > 0 {
			fmt.Fprintf(&b, ", %d erased", r.Erased)
		}
		if r.New > 0 {
			b.WriteString("; marked ? until confirmed here")
		}
	}
	if !r.Check && r.Written > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "Wrote %s to %s (%s): commit %s to pass them on", prose.Count(r.Written, "line"), r.file, facts, Directory)
	}
	for _, d := range r.Disputes {
		b.WriteString("\n  Disputed: " + d)
	}
	r.waits(&b)
	if len(r.Local) > 0 {
		fmt.Fprintf(&b, "\n  Local here, so what others say of it was left out: %s", strings.Join(r.Local[:min(len(r.Local), shownWaiting)], ", "))
		if n := len(r.Local) - shownWaiting; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
	}
	for _, w := range r.Warnings {
		b.WriteString("\n  ⚠ " + w)
	}
	return b.String()
}

// Sync writes what was asserted here into the repository, and takes in what others asserted. What
// is taken in is one commit: all or nothing. Under Options.Check nothing is changed.
func Sync(ctx context.Context, s *knowledge.Store, o Options) (Report, error) {
	repo, err := openRepository(o.Root)
	if err != nil {
		return Report{}, err
	}
	defer repo.close()
	files, warnings, err := repo.read()
	if err != nil {
		return Report{}, err
	}
	before := readMemo(s.Dir())
	r, as, ok, err := settled(ctx, s, files, before)
	if ok || err != nil {
		if r.Check, r.Warnings = o.Check, warnings; ok && !o.Check {
			s.SettleBehind(ctx, r.Facts, manyLines)
		}
		return r, err
	}
	redact := s.Redact
	if o.Redact != nil {
		redact = o.Redact
	}
	read := func() incoming {
		in := incoming{project: o.Project, trusted: trustedKeys(as), redact: redact, now: s.Now()}
		in.read(files)
		return in
	}
	in := read()
	if !o.Check {
		if err := ensureKey(ctx, s); err != nil {
			return Report{}, err
		}
	}
	// Folding what others wrote takes its time. Meanwhile others may write here: the store is locked
	// only for what comes out of it. If something was written meanwhile it is folded anew, under the
	// lock at last.
	var p *plan
	var planned uint64
	plan := func(st *state.State, now time.Time) (err error) {
		planned = st.Seq()
		p, err = newPlan(ctx, s, st, in, o, now)
		return err
	}
	for again := range maxPlans {
		if err = s.View(ctx, plan); err != nil || o.Check {
			break
		}
		err = knowledge.TakeIn(ctx, s, func(st *state.State, now time.Time) ([]state.Event, error) {
			if st.Seq() != planned {
				if again+1 < maxPlans {
					return nil, errWritten
				}
				in = read() // a plan changes the lines
				if err := plan(st, now); err != nil {
					return nil, err
				}
			}
			if p.idle() {
				return nil, nil
			}
			return p.events, writeCopy(s.Dir(), p.all())
		})
		if !errors.Is(err, errWritten) {
			break
		}
		in = read()
	}
	if err != nil {
		return Report{}, err
	}
	r = p.report
	r.Check, r.Warnings = o.Check, slices.Concat(warnings, in.warnings, r.Warnings)
	if o.Check {
		return r, nil
	}
	if len(p.folded.Erased) > 0 {
		if err := p.forget(s.Dir()); err != nil {
			return r, err
		}
	}
	m := memo{Files: map[string]string{}, Facts: r.Facts}
	for _, f := range files {
		m.Files[f.name] = sumOf(f)
	}
	if r.Written, err = p.write(repo, m); err != nil {
		return r, fmt.Errorf("what others wrote was taken in, but nothing could be written: %w", err)
	}
	if len(r.Warnings)+len(r.Waiting)+len(r.Local) == 0 {
		m.write(s.Dir())
	}
	// Else each command and hook reads them all until a server has lived long enough. The one that took them in
	// may have been ended before it got here.
	s.SettleBehind(ctx, r.Facts, manyLines)
	return r, nil
}

// manyLines is how many facts are too many for a hook to read without an index.
const manyLines = 500

// maxPlans is how often a sync plans, if others write meanwhile.
const maxPlans = 4

var errWritten = errors.New("something was written here meanwhile")

// ensureKey has a store have its private key. Two syncs at once make one.
func ensureKey(ctx context.Context, s *knowledge.Store) error {
	if key, err := readKey(s.Dir()); key != nil || err != nil {
		return err
	}
	return knowledge.TakeIn(ctx, s, func(*state.State, time.Time) ([]state.Event, error) {
		key, err := readKey(s.Dir())
		if key == nil && err == nil {
			_, err = makeKey(s.Dir(), false)
		}
		return nil, err
	})
}

// trustedKeys are the keys by which lines of a store and of those that it trusts are known, by their ids.
func trustedKeys(r *formats.Replica) keySet {
	keys := keySet{}
	if r == nil {
		return keys
	}
	add := func(id, text string) {
		if key, ok := decodeKey(text); ok {
			keys.add(id, key)
		}
	}
	for _, id := range append(slices.Clone(r.Former), r.ID) {
		add(id, r.Key)
	}
	for _, x := range r.Trusted {
		add(x.ID, x.Key)
	}
	return keys
}

// settled reports whether nothing happened here or in the repository since the last sync, and as what the
// store is shared.
func settled(ctx context.Context, s *knowledge.Store, files []logFile, m memo) (r Report, as *formats.Replica, ok bool, err error) {
	err = s.ViewSome(ctx, func(k state.Reader, _ time.Time) error {
		ok = k.Replica != nil && k.Replica.Key != "" && k.Replica.Commit == k.Seq && len(files) == len(m.Files)
		if as = k.Replica; ok {
			r.Replica = k.Replica.ID
		}
		return nil
	})
	for _, f := range files {
		ok = ok && m.Files[f.name] == sumOf(f)
	}
	r.Facts = m.Facts
	return r, as, ok, err
}

// incoming is what the files of the repository hold.
type incoming struct {
	project  Project
	trusted  keySet // the keys of this store and of the replicas that it trusts, by their ids
	redact   func(string) (string, []string)
	now      time.Time
	looks    bool // nothing is taken in, so any time will do
	lines    []*Line
	newer    []*Line // of a newer version of the program
	over     int     // lines that were not read, since there are too many
	signed   string  // the replica of one of them, if it is signed
	warnings []string
}

// future is how far ahead of this clock a line may be. One that is further is taken in
// when its time has come, since all lines after it must be later still.
const future = 24 * time.Hour

// ahead is how far ahead of this clock a line from outside may be. One that is further is taken in when
// its time has come: whatever is written here after it was read comes later still, so a stranger would
// set the time of all that is said here.
const ahead = 5 * time.Minute

// read reads the lines of all files. Of those of replicas that are not trusted it reads so many: what is
// not read costs no memory. Each file has at most half of what is left, but for the last one of somebody
// who is not trusted. The first line
// of a file is always read: it holds the key by which its replica can be trusted.
//
// Anybody can write lines under the id of a replica that is trusted. So of those in its own file twice as
// many are read as of all strangers, and beyond that those that its key verifies. To verify costs more than
// to read a line, so after many that it does not, the rest counts like that of strangers. Those in other
// files have a limit together, and take no place of them.
func (in *incoming) read(files []logFile) {
	lines, size := mostOutside, maxOutside
	others := func(f logFile) bool { return in.trusted[strings.TrimSuffix(f.name, ".jsonl")] == nil }
	forged, unverified := map[string]int{}, map[string]int{}
	believed := func(f logFile, id string, text []byte) bool {
		keys, account := in.trusted[id], ""
		if f.name == id+".jsonl" {
			account = id
		}
		if keys == nil || forged[account] > mostOutside {
			return false
		}
		if unverified[account] += len(text) + maxOutside/mostOutside; unverified[account] <= 2*maxOutside || verified(text, keys) {
			return true
		}
		forged[account]++
		return false
	}
	for i, f := range files {
		n, b := lines, size
		if slices.ContainsFunc(files[i+1:], others) {
			n, b = (lines+1)/2, (size+1)/2
		}
		first := true
		skip := func(text []byte) bool {
			id, signed := lineHead(text)
			key := first && f.name == id+".jsonl" && len(text) < 1<<10 && bytes.Contains(text, []byte(`"op":"`+opKey+`"`))
			first = false
			if key || signed && believed(f, id, text) {
				return false
			}
			if n == 0 || len(text) > b {
				if in.over++; signed && in.trusted[id] == nil {
					in.signed = cmp.Or(in.signed, id)
				}
				return true
			}
			n, lines, b, size = n-1, lines-1, b-len(text), size-len(text)
			return false
		}
		in.file(f, skip)
	}
	if in.over > 0 {
		in.warn("%s", notLookedAt(in.over, in.signed))
	}
}

// notLookedAt says that there are too many lines from outside. signed is a replica that can be trusted.
func notLookedAt(n int, signed string) string {
	return fmt.Sprintf("%s not looked at: replicas that are not trusted here wrote too many.%s", counted(n, "line was", "lines were"), trustHint(signed))
}

// file reads the lines of one file.
func (in *incoming) file(f logFile, skip func(text []byte) bool) {
	lines, newer, damaged := f.parse(skip)
	in.newer = append(in.newer, newer...)
	name := prose.Line(f.path())
	if other := in.foreign(lines); other != nil {
		in.warn("%s belongs to another project (%s) and was not taken in: delete it", name, other.describe())
		return
	}
	if damaged > 0 {
		in.warn("%s: %s damaged and left out; its writer's next sync mends them", name, counted(damaged, "line is", "lines are"))
	}
	ahead := 0
	for _, l := range lines {
		l.home = f.name == l.writer.id+".jsonl"
		if l.At.Sub(in.now) > future {
			ahead++
			continue
		}
		in.lines = append(in.lines, l)
	}
	if ahead > 0 {
		in.warn("%s: %s more than a day in the future and not taken in yet", name, counted(ahead, "line is", "lines are"))
	}
}

func (in *incoming) warn(format string, args ...any) {
	in.warnings = append(in.warnings, fmt.Sprintf(format, args...))
}

// counted is a number with the words for one and for several.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// foreign is the project that lines name, if it is another one: both know their first
// commits, and neither those nor the remotes agree. A clone without history knows none.
func (in *incoming) foreign(lines []*Line) *Project {
	var all Project
	for _, l := range lines {
		if l.Op != opProject {
			continue
		}
		all.FirstCommits = append(all.FirstCommits, l.Project.FirstCommits...)
		if all.Remote = l.Project.Remote; all.Remote != "" && all.Remote == in.project.Remote {
			return nil
		}
	}
	ours := in.project.FirstCommits
	if len(ours) == 0 || len(all.FirstCommits) == 0 || slices.ContainsFunc(all.FirstCommits, func(c string) bool { return slices.Contains(ours, c) }) {
		return nil
	}
	return &all
}

func (p *Project) describe() string {
	if p.Remote != "" {
		return prose.Line(p.Remote)
	}
	return "first commit " + prose.Line(prose.Clip(p.FirstCommits[0], 12))
}

// clean takes secrets out of a line, also those that JSON writes with escapes, or that only the name
// of a fact makes secrets. Its checksum was that of the text with them.
func (in *incoming) clean(l *Line) *Line {
	if l.Op == opKey || l.Op == opAccept {
		return l // random digits may look like a secret
	}
	text := l.signed()
	clean := journal.RedactJSON(text, func(s string) string { s, _ = in.redact(s); return s })
	if bytes.Equal(text, clean) {
		return l
	}
	was := l.digest
	l.Redacted, l.foreign, l.redacted = was, true, true
	if formats.Decode(clean, l) != nil || l.encode(nil) != nil || !l.sound() {
		return l.gone("", nil)
	}
	l.digest = was
	return l
}

// plan is what a sync will do.
type plan struct {
	known   []*Line // of the copy
	ours    []*Line // that this store writes
	theirs  []*Line // that others wrote since
	held    []*Line // of theirs, what is left out
	folded  *Folded
	next    formats.Replica
	events  []state.Event
	report  Report
	stale   bool // the store has commits after the last sync
	refold  bool // whom it trusts has changed since
	key     ed25519.PrivateKey
	trusted *trust
	former  bool // a former version synced it last: its lines have no signatures
	ctx     context.Context
}

func (p *plan) all() []*Line { return slices.Concat(p.known, p.ours, p.theirs) }

// idle reports whether there is nothing to commit.
func (p *plan) idle() bool { return len(p.ours)+len(p.theirs) == 0 && !p.stale }

func newPlan(ctx context.Context, s *knowledge.Store, st *state.State, in incoming, o Options, now time.Time) (*plan, error) {
	dir := s.Dir()
	p := &plan{ctx: ctx}
	if st.Replica != nil {
		p.next = *st.Replica
	}
	p.refold = p.next.Refold
	p.stale = st.Replica == nil || st.Replica.Commit != st.Seq()
	if err := p.unlock(dir, o.Check); err != nil {
		return nil, err
	}
	var err error
	if p.known, err = readCopy(dir, p.next.Lines, publicOf(p.key)); err != nil {
		return nil, err
	}
	p.upgrade()
	if len(p.known) < p.next.Lines {
		p.report.Warnings = append(p.report.Warnings, "the local copy of the shared lines was damaged; what it lacked is written again")
	}
	copied, err := p.find(in)
	if err != nil {
		return nil, err
	}
	home := homeOf(st, now)
	base := Fold(p.known, p.trusted, home)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var renamed []formats.Rename
	p.ours, renamed = base.diff(s, st, p.next.At)
	p.ours = append(p.vouch(base), p.ours...)
	if err := p.sign(in.project, copied); err != nil {
		return nil, err
	}
	if err := p.fold(home, o); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.advance(st.Seq()+1, now)
	p.compare(st, base, renamed)
	r := &p.report
	for _, l := range p.held {
		if name := "[" + prose.Name(l.Category) + "/" + prose.Name(l.Key) + "]"; l.stays && !slices.Contains(r.Local, name) {
			r.Local = append(r.Local, name)
		}
	}
	r.Replica, r.Written, r.TakenIn, r.file = p.next.ID, statements(p.ours), statements(p.theirs), logDir+"/"+p.next.ID+".jsonl"
	if n := p.folded.DuplicateIDs; n > base.DuplicateIDs {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s in the repository two contents; both are kept", counted(n, "number of a line has", "numbers of lines have")))
	}
	p.events = append(p.events, state.Event{Replica: &p.next})
	return p, nil
}

// statements counts lines without those that hold a key.
func statements(lines []*Line) (n int) {
	for _, l := range lines {
		if l.Op != opKey {
			n++
		}
	}
	return n
}

// unlock reads the key of this store, or makes it. A store that lost its key goes on as another
// replica: others know it by its key.
func (p *plan) unlock(dir string, check bool) (err error) {
	if p.key, err = readKey(dir); err != nil {
		return err
	}
	if p.key == nil {
		if p.key, err = makeKey(dir, check); err != nil {
			return err
		}
	}
	n, public := &p.next, encodeKey(publicOf(p.key))
	p.former = n.Key == ""
	if n.Key != "" && n.Key != public {
		n.Trusted = append(slices.Clip(n.Trusted), formats.TrustedReplica{ID: n.ID, Key: n.Key, At: n.Synced})
		p.rename(fmt.Sprintf("the key of %s is not here any more; this store is a replica of its own from now on, and others have to trust it anew", n.ID))
	}
	n.Key = public
	p.trusted = p.trustOf(n)
	return nil
}

// trustOf is whom the store trusts, for folds that end with the command.
func (p *plan) trustOf(n *formats.Replica) *trust {
	t := trustOf(n, p.self().key)
	t.ctx = p.ctx
	return t
}

// rename has this store write under a new id from now on.
func (p *plan) rename(warning string) {
	n := &p.next
	p.report.Warnings = append(p.report.Warnings, warning)
	n.Former = append(slices.Clip(n.Former), n.ID)
	n.ID, n.Seq = "", 0
}

// upgrade signs the lines that a former version wrote here. Those of others stay without a key.
func (p *plan) upgrade() {
	if !p.former {
		return
	}
	p.stale = p.stale || len(p.known) > 0
	for _, l := range p.known {
		if l.foreign = !p.ownID(l.writer.id); !l.foreign {
			l.sign(p.key)
			l.writer.key = p.self().key
		}
		l.former = l.foreign
	}
}

// self is the writer of this store's new lines.
func (p *plan) self() writer { return writer{p.next.ID, Fingerprint(publicOf(p.key))} }

func (p *plan) ownID(id string) bool { return id == p.next.ID || slices.Contains(p.next.Former, id) }

// find picks the lines that are not known, without their secrets. It reports whether some are under this
// store's own id, which it never wrote.
func (p *plan) find(in incoming) (copied bool, err error) {
	type statement struct {
		id     string
		seq    uint64
		digest string
	}
	type place struct {
		writer writer
		seq    uint64
	}
	type was struct {
		writer writer
		seq    uint64
		digest string
	}
	known, gone, goneHere, redacted := map[statement]*Line{}, map[place]bool{}, map[place]bool{}, map[was]bool{}
	note := func(l *Line) {
		known[statement{l.writer.id, l.seq, l.digest}] = l
		if l.Redacted != "" { // a former version noted here what the line was
			redacted[was{l.writer, l.seq, l.Redacted}] = true
		}
		if l.Op == opGone {
			gone[place{l.writer, l.seq}] = true
			goneHere[place{writer{id: l.writer.id}, l.seq}] = goneHere[place{writer{id: l.writer.id}, l.seq}] || l.erasedHere
		}
	}
	keys := keySet{}
	for _, x := range p.next.Trusted {
		if key, ok := decodeKey(x.Key); ok {
			keys.add(x.ID, key)
		}
	}
	for _, id := range append(slices.Clip(p.next.Former), p.next.ID) {
		keys.add(id, publicOf(p.key))
	}
	// The keys in the file of a replica come first: those that others put elsewhere take no place of them.
	for _, home := range []bool{true, false} {
		for _, l := range slices.Concat(p.known, in.lines) {
			if key, _ := decodeKey(l.Public); l.Op == opKey && l.home == home && l.sig != nil && ed25519.Verify(key, l.signed(), l.sig) {
				keys.add(l.writer.id, key)
			}
		}
	}
	var unfit []*Line
	early := 0
	for _, l := range p.known {
		note(l)
	}
	defer func() {
		if early > 0 {
			p.report.Warnings = append(p.report.Warnings, fmt.Sprintf("%s of replicas that are not trusted here %s in the future and not taken in yet", prose.Count(early, "line"), map[bool]string{true: "is", false: "are"}[early == 1]))
		}
		if len(unfit) > 0 {
			p.report.Warnings = append(p.report.Warnings, fmt.Sprintf("%s left out, since more or something else stands there than lean-ctx writes; the first is %s", counted(len(unfit), "line was", "lines were"), unfit[0].ID))
		}
	}()
	stop, err := p.stopAt(in.newer, keys)
	if err != nil {
		return false, err
	}
	for _, l := range in.lines {
		old := known[statement{l.writer.id, l.seq, l.digest}]
		if old != nil && (old.writer.key != "" || l.sig == nil) {
			continue
		}
		keys.verify(l)
		if redacted[was{l.writer, l.seq, l.digest}] || redacted[was{l.writer, l.seq, l.formerCRC()}] {
			continue
		}
		if old != nil {
			if !old.redacted && l.writer.key != "" { // a former version wrote it, and has signed it since
				old.text, old.body, old.sig, old.writer = l.text, l.body, l.sig, l.writer
				p.stale = true
			}
			continue
		}
		if seq, ok := stop[l.writer]; ok && l.seq > seq {
			continue
		}
		if gone[place{l.writer, l.seq}] || goneHere[place{writer{id: l.writer.id}, l.seq}] && !p.trusted.has(l.writer) {
			continue // what one writer has taken back says nothing about the lines of another
		}
		if !in.looks && l.At.Sub(in.now) > ahead && !p.trusted.has(l.writer) {
			early++
			continue
		}
		if l.Redacted != "" || !p.trusted.has(l.writer) && !l.fits() { // redacted is for the copy to say
			unfit = append(unfit, l)
			continue
		}
		if l = in.clean(l); l.redacted && p.own(l.ref()) { // it is said anew without its secret
			l.Redacted, l.redacted, l.foreign = "", false, false
			if err := l.encode(p.key); err != nil {
				return false, err
			}
			l.writer = p.self()
			if known[statement{l.writer.id, l.seq, l.digest}] != nil {
				continue
			}
		}
		l.foreign, l.fresh = l.foreign || !p.own(l.ref()), true
		note(l)
		p.theirs = append(p.theirs, l)
		copied = copied || l.writer.id == p.next.ID && l.Op != opGone && (p.former || l.writer == p.self())
	}
	return copied, nil
}

// stopAt finds from which number on the lines of each writer are left out, since one is of a newer
// version of the program. A line of this store or of a replica that it trusts is an error: without it
// nothing can be folded right. Anybody can write another one, and it stops nobody.
func (p *plan) stopAt(newer []*Line, keys keySet) (map[writer]uint64, error) {
	stop := map[writer]uint64{}
	for _, l := range newer {
		if keys.verify(l); p.trusted.has(l.writer) {
			return nil, l.newer
		}
		if seq, ok := stop[l.writer]; !ok || l.seq < seq {
			stop[l.writer] = l.seq
		}
	}
	if len(newer) > 0 {
		p.report.Warnings = append(p.report.Warnings, fmt.Sprintf("%s of a newer version of lean-ctx, and left out with what follows (%s)", counted(len(newer), "line is", "lines are"), prose.Line(newer[0].ID)))
	}
	return stop, nil
}

// sign gives the new lines of this store their ids. The first one says what the store has read since
// its last line. A store whose id is used elsewhere takes a new one.
func (p *plan) sign(project Project, copied bool) error {
	n := &p.next
	n.Seen = maps.Clone(n.Seen)
	if n.Seen == nil {
		n.Seen = map[string]uint64{}
	}
	if copied {
		was := p.self()
		n.Seen[was.String()] = n.Seq
		p.rename(fmt.Sprintf("another copy of this store writes as %s too; this one is a replica of its own from now on", n.ID))
	}
	if n.ID == "" {
		var id [4]byte
		_, _ = rand.Read(id[:]) // it never fails
		n.ID = hex.EncodeToString(id[:])
	}
	p.trusted = p.trustOf(n)
	self := p.self()
	written, last, named := map[string]uint64{}, (*Project)(nil), false
	for _, l := range p.known {
		if l.writer == self {
			maps.Copy(written, l.Seen)
			named = named || l.Op == opKey
			if l.Op == opProject {
				last = l.Project
			}
		}
	}
	at := n.At
	if len(p.ours) > 0 {
		at = p.ours[0].At
	}
	if any := len(p.ours)+int(n.Seq) > 0; any && !project.empty() && (last == nil || !equal(*last, project)) {
		p.ours = slices.Insert(p.ours, 0, &Line{Op: opProject, At: at, Project: &project})
	}
	if any := len(p.ours)+int(n.Seq) > 0; any && !named {
		p.ours = slices.Insert(p.ours, 0, &Line{Op: opKey, At: at, Public: n.Key})
	}
	for r, seq := range n.Seen {
		if len(p.ours) > 0 && r != self.String() && seq > written[r] {
			if p.ours[0].Seen == nil {
				p.ours[0].Seen = map[string]uint64{}
			}
			p.ours[0].Seen[r] = seq
		}
	}
	return p.number(p.ours)
}

// number gives new lines of this store their ids.
func (p *plan) number(lines []*Line) error {
	for _, l := range lines {
		l.all = false
		p.next.Seq++
		l.ID = fmt.Sprintf("%s-%d", p.next.ID, p.next.Seq)
		if err := l.encode(p.key); err != nil {
			return err
		}
		l.writer = p.self()
	}
	return nil
}

// vouch accepts the lines from outside that what was said here builds on: who confirms or changes a
// fact of others has taken in what was asserted of it. What they did beside that, as to rename or to erase
// it, he has not seen. After an upgrade, vouch accepts what a former version took in about facts of this
// store and of those that it trusts.
func (p *plan) vouch(base *Folded) (out []*Line) {
	about := subjectsOf(p.ours)
	var former, now []*Line
	for _, l := range base.outside {
		if operations[l.Op].asserts && slices.ContainsFunc(l.subjects(), func(s string) bool { return about[s] }) {
			now = append(now, l)
		}
	}
	for _, l := range p.known {
		if l.former && !l.guards {
			former = append(former, l)
		}
		if p.former && l.trusted {
			for _, s := range l.subjects() {
				about[s] = true
			}
		}
	}
	former = together(former, about)
	if len(former)+len(now) == 0 {
		return nil
	}
	line := Line{At: p.next.At, Reason: reasonFormer}
	if len(p.ours) > 0 {
		line.At = p.ours[0].At
	}
	out = acceptances(former, line)
	line.Reason = ""
	return append(out, acceptances(now, line)...)
}

// fold folds all lines, accepts what waits if it may, and leaves out what is held.
func (p *plan) fold(h home, o Options) error {
	for asked := false; ; asked = true {
		p.folded = Fold(p.all(), p.trusted, h)
		if p.trusted.stopped() {
			return p.ctx.Err()
		}
		waiting, named, accept := p.folded.waiting(p.trusted, h, o.Accept && !o.ByUser)
		if p.report.Waiting, p.report.shown = waiting, named; asked || len(waiting) == 0 || !o.Accept || o.Check { // what follows from it was not named
			break
		}
		line := Line{At: p.folded.at, By: o.By, SourceKind: knowledge.KindTool}
		if o.ByUser {
			line.SourceKind = knowledge.KindUser
		}
		more := acceptances(accept, line)
		if p.next.Seq == 0 {
			more = append([]*Line{{Op: opKey, At: line.At, Public: p.next.Key}}, more...)
		}
		if err := p.number(more); err != nil {
			return err
		}
		p.ours = append(p.ours, more...)
		p.report.Accepted, p.report.Waiting = append(p.report.Accepted, waiting[:named]...), nil
	}
	if n := len(p.folded.Over); n > 0 {
		signed := ""
		for _, l := range p.folded.Over {
			if l.writer.key != "" {
				signed = cmp.Or(signed, l.writer.id)
			}
		}
		p.report.Warnings = append(p.report.Warnings, notLookedAt(n, signed))
	}
	p.leaveOut(h)
	return nil
}

// maxFolds is how often lines are folded again without those that were held.
const maxFolds = 3

// leaveOut leaves out what is held. The times of other lines of the same writer may depend on it,
// and the next sync does not have it. So the rest is folded as the next sync will fold it.
func (p *plan) leaveOut(h home) {
	for i := 0; ; i++ {
		if p.trusted.stopped() {
			return // the plan is of no use
		}
		held := setOf(p.folded.Held)
		left := slices.DeleteFunc(slices.Clone(p.theirs), func(l *Line) bool {
			if held[l] || i >= maxFolds && !l.guards {
				p.held = append(p.held, l)
				return true
			}
			return false
		})
		if len(left) == len(p.theirs) {
			return
		}
		p.theirs = left
		p.folded = Fold(p.all(), p.trusted, h)
	}
}

// advance notes how far the store has read. What is held was not read, and what comes after it
// counts as not read either.
func (p *plan) advance(commit uint64, now time.Time) {
	n, all := &p.next, p.all()
	n.Lines, n.Commit, n.Synced, n.Refold = len(all), commit, now, false
	left := slices.DeleteFunc(append(slices.Clone(p.held), p.folded.Held...), func(l *Line) bool { return l.stays })
	held, first := setOf(left), map[writer]uint64{}
	for _, l := range left {
		if seq, ok := first[l.writer]; !ok || l.seq < seq {
			first[l.writer] = l.seq
		}
	}
	for _, l := range all {
		if held[l] {
			continue
		}
		// A former version took in what strangers dated a day ahead.
		if l.At.After(n.At) && (p.trusted.has(l.writer) || !l.At.After(now.Add(ahead))) {
			n.At = l.At
		}
		if seq, ok := first[l.writer]; ok && l.seq > seq {
			continue
		}
		if name := l.writer.String(); l.writer != p.self() {
			if _, known := n.Seen[name]; known || len(n.Seen) < maxSeen || p.trusted.has(l.writer) {
				n.Seen[name] = max(n.Seen[name], l.seq)
			}
		}
	}
}

// maxSeen is of how many writers is noted how far the store has read. Anybody can invent any number,
// and a line has to hold them all. Of a replica that is trusted it is always noted.
const maxSeen = 2 * maxFiles

// own reports whether a line was written by this store.
func (p *plan) own(r ref) bool {
	return p.ownID(r.writer.id) && p.trusted.has(r.writer)
}

// compare finds what the lines make that the store does not have. base is what the lines made before,
// and renamed are the renames of the store of which lines tell now.
func (p *plan) compare(st *state.State, base *Folded, renamed []formats.Rename) {
	f := p.folded
	erased := p.tombstones(st, base)
	var changed state.Replacement
	for _, n := range names(st, f.State) {
		want, have := p.marked(f.State.Versions(n)), st.Versions(n)
		if fact.Current(want, f.at) != nil {
			p.report.Facts++
		}
		r := state.Replaced{Versions: withLocal(want, have)}
		switch {
		case erased[n] && len(r.Versions) == 0:
			continue
		case erased[n]:
		case len(p.theirs) == 0 && len(p.ours) == 0 && !p.refold && !p.former || sameMarks(want, have) && sameVersions(sharedOf(want), sharedOf(have)) || len(want) == 0 && knowledge.IsLocal(have) && len(sharedOf(have)) == 0:
			continue
		case len(have) == 0:
			p.report.New++
		case !sameVersions(f.State.Versions(n), base.State.Versions(n)):
			p.report.Changed++
		}
		if one := slices.Concat(r.Versions, have); len(one) > 0 {
			r.Category, r.Key = one[0].Category, one[0].Key
		}
		changed.Facts = append(changed.Facts, r)
	}
	for _, l := range lists {
		l.replace(&changed, f, st, len(erased) > 0)
	}
	if want := p.renames(st, base, renamed, erased); len(erased) > 0 || !slices.EqualFunc(want, st.Renames, sameRename) {
		changed.Renames = &want
	}
	for _, d := range f.State.Disputed {
		if state.DisputeState(f.State, d, f.at) == formats.DisputeOpen && !slices.ContainsFunc(st.Disputed, func(x formats.Dispute) bool { return sameDispute(d, x) }) {
			p.report.Disputes = append(p.report.Disputes, knowledge.DisputeInfoOf(f.State, d, f.at).Line())
		}
	}
	if !equal(changed, state.Replacement{}) {
		p.events = append(p.events, state.Event{Replace: &changed})
	}
}

// renames are those that the lines tell of, and those of the store that no line tells of.
func (p *plan) renames(st *state.State, base *Folded, renamed []formats.Rename, erased map[fact.ID]bool) []formats.Rename {
	told := slices.Concat(base.State.Renames, renamed)
	for n := range erased {
		told = append(told, st.Trail(n)...)
	}
	all := slices.Clone(p.folded.State.Renames)
	for _, r := range st.Renames {
		if !slices.ContainsFunc(told, func(x formats.Rename) bool { return sameRename(x, r) }) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b formats.Rename) int { return a.At.Compare(b.At) })
	return all
}

func sameRename(a, b formats.Rename) bool {
	return a.From == b.From && a.To == b.To && a.At.Equal(b.At)
}

// tombstones erases what others erased since, and returns the facts of the store that were about it.
func (p *plan) tombstones(st *state.State, base *Folded) (erased map[fact.ID]bool) {
	gone, facts := map[ref]string{}, map[string][]fact.ID{}
	for l, name := range p.folded.Erased {
		gone[l.ref()] = name
	}
	for n, lines := range base.lines {
		for _, l := range lines {
			// An entry of a list may name an erased fact beside this one.
			if name, ok := gone[l.ref()]; ok && l.Category != "" && !slices.Contains(facts[name], n) && len(sharedOf(st.Versions(n))) > 0 {
				facts[name] = append(facts[name], n)
			}
		}
	}
	erased = map[fact.ID]bool{}
	own := slices.Collect(st.Tombstones())
	all := slices.SortedFunc(p.folded.State.Tombstones(), func(a, b formats.Tombstone) int {
		return cmp.Or(a.ErasedAt.Compare(b.ErasedAt), cmp.Compare(a.Key, b.Key))
	})
	theirs := p.folded.erasedOutside()
	for _, t := range all {
		t.TakenIn = theirs[t.Key]
		known := slices.ContainsFunc(own, func(o formats.Tombstone) bool {
			return sameErasure(o, t) && !t.ErasedAt.After(o.ErasedAt) && (t.TakenIn || !o.TakenIn)
		})
		for _, n := range facts[t.Key] {
			p.events = append(p.events, state.Event{Erase: p.erasedHere(t, st, n)})
			erased[n] = true
			p.report.Erased++
		}
		if known || len(facts[t.Key]) > 0 {
			continue
		}
		e := t
		for _, o := range own {
			if sameErasure(o, t) {
				e.Category, e.Key, e.Versions, e.TakenIn = o.Category, o.Key, o.Versions, t.TakenIn && o.TakenIn
				if n := fact.IDOf(o.Category, o.Key); len(st.Versions(n)) > 0 {
					erased[n] = true // it was remembered again since, and stays
				}
			}
		}
		p.events = append(p.events, state.Event{Erase: &e})
	}
	return erased
}

// erasedHere is the tombstone of a fact of this store, under the name that it has here.
func (p *plan) erasedHere(t formats.Tombstone, st *state.State, n fact.ID) *formats.Tombstone {
	have, left := sharedOf(st.Versions(n)), p.folded.State.Versions(n)
	e := t
	e.Category, e.Key, e.Versions, e.Names = have[0].Category, have[0].Key, nil, slices.Clone(t.Names)
	if hashed(formats.Name{Category: e.Category, Key: e.Key}) != t.Key {
		e.Names = append(e.Names, formats.FormerName{Name: t.Key, Until: t.ErasedAt})
	}
	for _, v := range have {
		if fact.WithID(left, v.ID) == nil {
			e.Versions = append(e.Versions, v.ID)
		}
	}
	return &e
}

// marked are versions with the mark of what nobody has asserted here. What no confirmed line stands
// behind has it, and so does what no line is found for.
func (p *plan) marked(vs []*fact.Version) []*fact.Version {
	out := make([]*fact.Version, len(vs))
	for i, v := range vs {
		w := *v
		w.Sources = slices.Clone(v.Sources)
		refs := p.folded.versionLines[v.ID]
		w.TakenIn = !slices.ContainsFunc(refs, func(r ref) bool { return p.folded.confirmed[r] })
		for j, s := range w.Sources {
			from := p.folded.spoken[spoken{v.ID, s.At.UnixNano()}]
			if from.id == "" && w.TakenIn && len(refs) > 0 {
				from = refs[0].writer
			}
			if from.id != "" && !p.own(ref{writer: from}) {
				w.Sources[j].Replica = from.id
			}
		}
		if from := p.folded.ended[v.ID]; from != "" && w.RetractedBy == knowledge.KindUser && fact.Person(w.RetractedPerson) == "" {
			w.RetractedBy = ofReplica + from
		}
		out[i] = &w
	}
	return out
}

func sameMarks(want, have []*fact.Version) bool {
	for _, v := range want {
		if w := fact.WithID(have, v.ID); w == nil || w.TakenIn != v.TakenIn || w.RetractedBy != v.RetractedBy || !slices.EqualFunc(w.Sources, v.Sources, func(a, b formats.Source) bool { return a.Replica == b.Replica }) {
			return false
		}
	}
	return true
}

// withLocal are shared versions with what belongs to this machine: whether they are dormant,
// how often they were read, and local versions. A local version ends where a shared one
// begins.
func withLocal(want, have []*fact.Version) []*fact.Version {
	out := slices.Clone(want)
	for _, v := range have {
		i := slices.IndexFunc(want, func(w *fact.Version) bool { return w.ID == v.ID })
		switch {
		case i >= 0:
			w := *want[i]
			w.RetrievalCount, w.LastRetrieved = v.RetrievalCount, v.LastRetrieved
			if at := v.ArchivedAt; at != nil && !w.LastConfirmed.After(*at) && (w.RestoredAt == nil || !w.RestoredAt.After(*at)) {
				w.ArchivedAt = at
			}
			out[i] = &w
			if v.Privacy == knowledge.PrivacyLocal && fact.Believed(v) && !fact.Believed(want[i]) { // it ended for the others alone
				own := *v
				own.ID = fact.NewVersionID(v.Category, v.Key, v.Value, v.RecordedFrom, func(id string) bool {
					return fact.WithID(out, id) != nil || fact.WithID(have, id) != nil
				})
				out = append(out, beforeShared(&own, want))
			}
		case v.Privacy == knowledge.PrivacyLocal:
			out = append(out, beforeShared(v, want))
		}
	}
	slices.SortStableFunc(out, fact.ByPeriod)
	return out
}

func beforeShared(v *fact.Version, shared []*fact.Version) *fact.Version {
	if !fact.Believed(v) || v.Also {
		return v
	}
	for _, w := range shared {
		if p := fact.PeriodOf(v); fact.Believed(w) && p.Overlaps(fact.PeriodOf(w)) {
			if !w.ValidFrom.After(v.ValidFrom) {
				return fact.Disbelieve(v, w.RecordedFrom)
			}
			v = fact.Reperiod(v, fact.Period{From: p.From, Until: &w.ValidFrom}, w.RecordedFrom)
		}
	}
	return v
}

// afterKey puts the line with the key before the others.
func afterKey(l *Line) int {
	if l.Op == opKey {
		return 0
	}
	return 1
}

// forget takes the lines about erased facts out of the copy.
func (p *plan) forget(dir string) error {
	all := p.all()
	for i, l := range all {
		if name, gone := p.folded.Erased[l]; gone {
			all[i] = l.gone(name, p.key)
		}
	}
	p.known, p.ours, p.theirs = all, nil, nil
	return writeCopy(dir, all)
}

// write completes the files of this store in the repository, and notes in m what they hold.
func (p *plan) write(repo *repository, m memo) (written int, err error) {
	byReplica := map[string][]*Line{}
	for _, l := range p.all() {
		if p.own(l.ref()) {
			byReplica[l.writer.id] = append(byReplica[l.writer.id], l)
		}
	}
	if len(byReplica) == 0 {
		return 0, nil
	}
	if err := repo.prepare(); err != nil {
		return 0, err
	}
	for _, id := range slices.Sorted(maps.Keys(byReplica)) {
		lines := byReplica[id]
		slices.SortStableFunc(lines, func(a, b *Line) int { return cmp.Or(cmp.Compare(afterKey(a), afterKey(b)), cmp.Compare(a.seq, b.seq)) })
		file, n, e := repo.complete(id+".jsonl", lines, id == p.next.ID)
		written, err = written+n, errors.Join(err, e)
		m.Files[file.name] = sumOf(file)
	}
	return written, err
}
