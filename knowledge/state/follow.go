package state

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// follower keeps the text index in step with the state. The index may be deleted at any time.
// It has every version that is believed. Versions that do not hold at the question's time are
// filtered out by the search, so the passage of time changes no index.
type follower struct {
	dir    string
	logger *slog.Logger
	most   int // see [index.Options]

	mu    sync.Mutex // held while the index is brought up to a state
	index *index.Index
	extra func() ([]byte, error) // beside the facts, as of the index's position
	stale bool                   // what is on disk is of another journal, or too old: rebuild it

	losses int // [journal.Head.Losses] of the log that the index follows
}

func (x *follower) opened() (*index.Index, error) {
	if x.index != nil {
		return x.index, nil
	}
	dir := x.dir
	if x.stale {
		dir = "" // in memory, until it is rebuilt
	}
	i, err := index.Open(dir, &index.Options{Log: x.logger, Most: x.most})
	if err == nil {
		x.index = i
	}
	return i, err
}

// forget has what is on disk not used.
func (x *follower) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(true)
}

// reopen has it opened again: it was damaged and set aside, or written by Build.
func (x *follower) reopen() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(false)
}

// drop has the index followed no longer. It is closed when the last search in it has ended.
func (x *follower) drop(stale bool) {
	if x.index != nil {
		_ = x.index.Close() // it was only read
	}
	x.index, x.extra, x.stale = nil, nil, stale
}

// remove takes the index off the disk: it may hold what was erased.
func (x *follower) remove() error {
	x.reopen()
	return index.Remove(x.dir)
}

func (x *follower) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil {
		return nil
	}
	err := x.index.Close()
	x.index = nil
	return err
}

// follow brings the index up to a state, and returns it. The caller closes it: once the lock is
// free, another call may have it opened again.
func (x *follower) follow(s *State, h journal.Head) (*index.Index, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.Losses != x.losses { // the index has commits that are gone, or it follows another log, with losses of its own
		x.drop(true)
		x.losses = h.Losses
	}
	i, err := x.opened()
	if err != nil {
		return nil, err
	}
	at := i.Position().Seq
	if at > s.seq || at == s.seq && x.extra != nil {
		return i.Share(), nil // another process, or another call, brought it further
	}
	names, ok := s.changes.since(at)
	if !ok {
		// Another process rewrote the journal; it wrote the index as well.
		if err := i.Reload(); err != nil {
			return nil, err
		}
		names, ok = s.changes.since(i.Position().Seq)
	}
	if !ok && s.base != nil { // the state itself lacks the facts below it
		s.base.fail(errNotFollowed)
		return nil, s.checked(nil)
	}
	if !ok { // what is in the index may be gone: a copy of a team's facts may have started from a snapshot
		x.drop(true)
		if i, err = x.opened(); err != nil {
			return nil, err
		}
		at, names = 0, nil
		for n := range s.facts {
			names = append(names, n)
		}
	}
	now := s.at
	var docs []index.Doc
	var removed []string
	for _, n := range names {
		if vs := s.Versions(n); len(vs) > 0 {
			docs = append(docs, docOf(n, vs, now))
		} else {
			removed = append(removed, docID(n))
		}
	}
	if err := s.checked(nil); err != nil {
		return nil, err
	}
	if s.seq > at || len(docs) > 0 {
		if err := i.Apply(positionOf(h), docs, removed); err != nil {
			return nil, err
		}
	}
	c := *s // it is made only where the index is written
	c.Lists, c.rooms = s.Lists.clipped(), maps.Clone(s.rooms)
	x.extra = func() ([]byte, error) { return c.extra(h) }
	return i.Share(), nil
}

// errNotFollowed says that the index on disk is not the one that a state began at, nor a later one.
var errNotFollowed = errors.New("the one that was opened was replaced or is damaged")

func positionOf(h journal.Head) index.Position {
	return index.Position{Seq: h.Seq, Checksum: fmt.Sprintf("%08x", h.Sum), Generation: h.Generation, At: h.At}
}

// docOf is a fact as it is indexed. What is valid at now or later is what it
// says; what was before is found by those who ask about that time.
func docOf(n fact.ID, vs []*fact.Version, now time.Time) index.Doc {
	d := index.Doc{ID: docID(n), Category: vs[0].Category, Key: vs[0].Key, Pack: func() ([]byte, error) { return packVersions(vs) }}
	var current []*fact.Version
	var summaries []fact.Summary
	var withdrawn time.Time
	for _, v := range vs {
		for _, a := range v.Aliases {
			d.Aliases = appendNew(d.Aliases, a)
		}
		for _, t := range v.Tags {
			d.Tags = appendNew(d.Tags, t)
		}
		d.Confirmed = d.Confirmed || !fact.Unconfirmed(v)
		if fact.Believed(v) && fact.Before(now, v.ValidUntil) {
			d.Value = append(d.Value, fact.Text(v))
			d.Questions = append(d.Questions, v.Questions...)
			d.Versions = append(d.Versions, v.ID)
			current = append(current, v)
			summaries = append(summaries, fact.Summarize(v))
		} else {
			d.Former = append(d.Former, v.Value)
		}
		if at := v.RetractedAt; at != nil && at.After(withdrawn) {
			withdrawn = *at
		}
	}
	d.Hashes = func() (hashes []string) {
		for _, v := range current {
			hashes = append(hashes, valueHash(v.Value))
		}
		return hashes
	}
	if last := fact.LastEnded(vs, now); len(summaries) == 0 && last != nil {
		summaries = append(summaries, fact.Summarize(last)) // for those who ask what has ended
	} else if len(summaries) == 0 && !withdrawn.IsZero() { // a plan that was withdrawn was never true
		summaries = append(summaries, fact.Summary{ID: vs[0].ID, Period: fact.Period{From: withdrawn, Until: &withdrawn}})
	}
	for i := range summaries {
		if i == 0 { // the newest withdrawal of all, for those who ask what was taken back
			summaries[i].Withdrawn = withdrawn
		}
		d.Summary = summaries[i].Append(d.Summary)
	}
	return d
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Search runs f on the newest state, and the index of that state.
func (l *Log) Search(ctx context.Context, f func(Reader, *Index) error) error {
	run := func() error {
		return l.viewSome(ctx, func(st *State, h journal.Head) error {
			i, err := l.index.follow(st, h)
			if err != nil {
				return err
			}
			defer i.Close() // nothing was written
			return f(st.Reader(), &Index{i, st})
		})
	}
	err := run()
	if errors.Is(err, index.ErrDamaged) {
		l.index.reopen() // it was set aside
		err = run()
	}
	return err
}

// Index is the text index at the commit of a state.
type Index struct {
	*index.Index
	state *State
}

// Versions are those of a document that was found.
func (x *Index) Versions(id string) []*fact.Version {
	return x.state.Versions(factOf(id))
}

// Version is the believed version with an id, nil if there is none.
func (x *Index) Version(ctx context.Context, id string) (*fact.Version, error) {
	if x.state.base == nil {
		return x.state.ByID(id), nil
	}
	docs, err := x.Holding(ctx, id)
	for _, doc := range docs {
		if v := fact.WithID(x.Versions(doc), id); v != nil {
			return v, nil
		}
	}
	return nil, err
}

// errMoved says that the index was brought further while it was written.
var errMoved = errors.New("the index moved on meanwhile")

// Sync writes what the index holds only in memory, if that is at least a number of facts. It builds
// the index where there is none that can be used. It ends soon after ctx does. If another
// process is at it, there is nothing to do.
func (l *Log) Sync(ctx context.Context, least int, progress func(done int)) error {
	err := l.sync(ctx, least, progress)
	if errors.Is(err, index.ErrDamaged) { // or replaced by another process
		l.index.reopen()
		err = l.sync(ctx, least, progress)
	}
	return err
}

func (l *Log) sync(ctx context.Context, least int, progress func(done int)) error {
	var x *index.Index
	if err := l.Search(ctx, func(_ Reader, i *Index) error { x = i.Share(); return nil }); err != nil {
		return err
	}
	defer x.Close() // nothing was written
	l.index.mu.Lock()
	stale := l.index.stale
	l.index.mu.Unlock()
	_, stored := x.OnDisk()
	if x.Pending() < least && (!stale || x.Count() < least) || l.IndexStatus().Newer {
		return nil
	}
	erased := l.erased(ctx)
	var err error
	if stored && !stale {
		err = x.Sync(ctx, func(to index.Position) ([]byte, error) {
			l.index.mu.Lock()
			defer l.index.mu.Unlock()
			if l.index.index != x || x.Position() != to || l.index.extra == nil {
				return nil, errMoved
			}
			return l.index.extra()
		})
	} else {
		err = l.build(ctx, progress)
	}
	if errors.Is(err, index.ErrBusy) || errors.Is(err, errMoved) {
		return nil
	}
	if err == nil && l.erased(ctx) != erased {
		return l.index.remove() // it may hold what was erased meanwhile
	}
	return err
}

// erased counts the facts that were erased.
func (l *Log) erased(ctx context.Context) (n int) {
	_ = l.ViewSome(ctx, func(k Reader) error { n = len(k.tombstones); return nil })
	return n
}

// build writes the index of all facts.
func (l *Log) build(ctx context.Context, progress func(done int)) error {
	var c *State
	var at journal.Head
	w, err := l.wholeLog()
	if err != nil {
		return err
	}
	if err := w.View(ctx, func(st *State, h journal.Head) error { c, at = st.clone(), h; return nil }); err != nil {
		return err
	}
	extra, err := c.extra(at)
	if err != nil {
		return err
	}
	if err := index.Build(ctx, l.index.dir, positionOf(at), docsOf(c), extra, progress); err != nil {
		return err
	}
	l.index.reopen()
	return nil
}

// docsOf are all facts as they are indexed.
func docsOf(s *State) iter.Seq[index.Doc] {
	return func(yield func(index.Doc) bool) {
		for n, vs := range s.facts {
			if len(vs) > 0 && !yield(docOf(n, vs, s.at)) {
				return
			}
		}
	}
}

// IndexBlocked says why no index can be kept on disk; nil: one can, or it is there.
func (l *Log) IndexBlocked() error { return index.Blocked(l.index.dir) }

// IndexStatus tells about the text index.
type IndexStatus struct {
	At      time.Time // of the newest commit that the index on disk has
	Pending int       // facts that only memory has
	Stored  bool      // there is one on disk
	Newer   bool      // a newer version of the program wrote the one on disk: it is not used, and none is written
}

// HasIndex reports whether the index is opened, or can be opened from disk. Without one a search
// analyses every fact.
func (l *Log) HasIndex() bool {
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	return l.index.index != nil || index.Exists(l.index.dir)
}

// IndexStatus tells about the index without opening it.
func (l *Log) IndexStatus() IndexStatus {
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	x := l.index.index
	if x == nil { // nothing was searched yet
		return IndexStatus{}
	}
	at, stored := x.OnDisk()
	r := IndexStatus{At: at.At, Pending: x.Pending(), Stored: stored && !l.index.stale}
	r.Newer = !r.Stored && index.Newer(l.index.dir)
	return r
}
