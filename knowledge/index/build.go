package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"

	"leanctx/internal/journal"
)

// ErrBusy says that the index is another's to write: another process or call is writing it, or a newer version of the
// program wrote it. Nothing needs to be done again.
var ErrBusy = errors.New("the index is being written by another process, or a newer version of the program wrote it")

// Build writes an index of all facts, as they stand at position to. Each doc must have an ID of its own. extra is kept
// beside them. progress is told how many are done, after each 1,000; it may be nil. Without any doc it removes the
// index, since an Index without a generation holds as much. It returns ErrBusy if the index is another's to write.
func Build(ctx context.Context, dir string, to Position, docs iter.Seq[Doc], extra []byte, progress func(done int)) error {
	unlock, err := lockOwn(dir)
	if err != nil {
		return err
	}
	defer unlock()
	return build(ctx, dir, to, docs, extra, progress)
}

// lock takes the lock of writers, and clears what an interrupted one left.
func lock(dir string) (unlock func(), err error) {
	root, err := journal.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	l, ok, err := journal.TryLock(root, lockName)
	if err != nil || !ok {
		root.Close()
		if err == nil {
			err = ErrBusy
		}
		return nil, err
	}
	clearTemporary(dir)
	return func() { l.Unlock(); root.Close() }, nil
}

// lockOwn is lock, unless a newer version of the program wrote the index. Two versions that work side by side would
// otherwise take each other's index away in turns.
func lockOwn(dir string) (unlock func(), err error) {
	if unlock, err = lock(dir); err == nil && Newer(dir) {
		unlock()
		return nil, ErrBusy
	}
	return unlock, err
}

// build is Build under the lock.
func build(ctx context.Context, dir string, to Position, docs iter.Seq[Doc], extra []byte, progress func(done int)) error {
	m, err := factMapping()
	if err != nil {
		return err
	}
	made := filepath.Join(dir, temporary+newName(to.Seq))
	defer os.RemoveAll(made)
	// The builder's own temporary files lie beside, so that the next writer removes them if this one is killed.
	scratch := made + "-build"
	defer os.RemoveAll(scratch)
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return err
	}
	b, err := bleve.NewBuilder(made, m, map[string]any{"buildPathPrefix": scratch, "batchSize": 2000})
	if err != nil {
		return err
	}
	sealed := manifest{Position: to}
	var summaries []byte
	for d := range docs {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		data, err := d.data()
		if err == nil {
			err = b.Index(d.ID, data)
		}
		if err != nil {
			return err
		}
		sealed.Size.add(analyse(&d, 0))
		summaries = appendSummary(summaries, d.ID, d.Summary)
		if progress != nil && sealed.Size.Docs%1000 == 0 {
			progress(sealed.Size.Docs)
		}
	}
	if sealed.Size.Docs == 0 {
		return remove(dir)
	}
	if err := b.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, summariesName), summaries, 0o600); err != nil {
		return err
	}
	if err := sealed.seal(made, extra, nil); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return publish(dir, made, to.Seq)
}

// Remove removes the index, all generations and what was set aside. A reader that has one open keeps it.
func Remove(dir string) error {
	if !exists(dir) {
		return nil
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	return remove(dir)
}

func remove(dir string) error {
	names, err := generations(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		trash := filepath.Join(dir, temporary+n)
		if e := os.Rename(filepath.Join(dir, n), trash); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
			continue
		}
		err = errors.Join(err, os.RemoveAll(trash))
	}
	for _, p := range matching(dir, "*"+aside) {
		err = errors.Join(err, os.RemoveAll(p))
	}
	return err
}

// Sync writes what Apply brought as the next generation on disk. It answers from that from then on. extraAt gives what
// is kept beside the facts at the position that is written. nil: nothing is kept. If another process has written a
// generation meanwhile, Sync goes on from there, and writes nothing if that is as new. Searches and Apply go on
// meanwhile. It returns ErrBusy if another writer is at work. After an error the index answers as before.
func (x *Index) Sync(ctx context.Context, extraAt func(Position) ([]byte, error)) error {
	if !x.syncing.TryLock() {
		return ErrBusy
	}
	defer x.syncing.Unlock()
	unlock, err := lockOwn(x.dir)
	if err != nil {
		return err
	}
	defer unlock()

	replaced := x.replaced()
	if replaced {
		if err := x.Reload(); err != nil {
			return err
		}
	}
	x.mu.RLock()
	from, to, tail := x.disk, x.position, x.tail.list()
	x.mu.RUnlock()
	if replaced && from != nil && from.Position.Seq >= to.Seq {
		return nil
	}
	var extra []byte
	if extraAt != nil {
		if extra, err = extraAt(to); err != nil {
			return err
		}
	}
	if from != nil && !exists(from.path) {
		return fmt.Errorf("%w: %s is gone", ErrDamaged, from.path)
	}
	if from == nil {
		err = build(ctx, x.dir, to, func(yield func(Doc) bool) {
			for _, d := range tail {
				if !d.removed && !yield(d.Doc) {
					return
				}
			}
		}, extra, nil)
	} else {
		err = from.extend(ctx, x.dir, to, tail, extra)
	}
	if err != nil {
		return err
	}
	return x.Reload()
}

// replaced reports whether another process has put a newer generation in the place of the one in use.
func (x *Index) replaced() bool {
	names, err := generations(x.dir)
	if err != nil || len(names) == 0 {
		return false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.disk == nil {
		return true
	}
	seq, _ := seqOf(names[0])
	return seq >= x.disk.Position.Seq && names[0] != filepath.Base(x.disk.path)
}

// extend writes a generation that is g with the documents of tail.
func (g *generation) extend(ctx context.Context, dir string, to Position, tail []*tailDoc, extra []byte) error {
	made := filepath.Join(dir, temporary+newName(to.Seq))
	defer os.RemoveAll(made)
	if err := g.clone(made); err != nil {
		return err
	}
	sealed := manifest{Position: to, Size: g.Size, Replaced: g.Replaced}
	if err := sealed.apply(ctx, made, g, tail); err != nil {
		return err
	}
	if err := writeSummaries(made, g, tail); err != nil {
		return err
	}
	known := map[string]file{}
	for name, f := range g.Files {
		if filepath.Ext(name) == ".zap" {
			known[name] = f // a link: the file itself did not change
		}
	}
	if err := sealed.seal(made, extra, known); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return publish(dir, made, to.Seq)
}

// Small segments are merged when there are maxSegments. Larger ones are left as they are, since rewriting them takes
// seconds. The merging that bleve does in the background is off: the clone is closed before it would come to an end.
const (
	maxSegments  = 10
	smallSegment = 10_000 // documents
)

var noMerging = map[string]any{"MaxSegmentSize": 1}

// apply applies the tail to the clone in one batch and closes it.
func (m *manifest) apply(ctx context.Context, path string, g *generation, tail []*tailDoc) (err error) {
	x, err := bleve.OpenUsing(path, map[string]any{"bolt_timeout": "1s", "scorchMergePlanOptions": noMerging})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := m.merge(ctx, x, g); err != nil {
		return err
	}
	batch := x.NewBatch()
	for _, d := range tail {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if d.onDisk {
			m.Size.replace()
			m.Replaced++
		}
		if d.removed {
			batch.Delete(d.ID)
			continue
		}
		if d.short {
			m.Size.add(analyse(&d.Doc, 0))
		} else {
			m.Size.add(d)
		}
		data, err := d.data()
		if err == nil {
			err = batch.Index(d.ID, data)
		}
		if err != nil {
			return err
		}
	}
	// Batch returns when the segment, and what was merged before, is on disk.
	batch.SetInternal([]byte("seq"), strconv.AppendUint(nil, m.Position.Seq, 10))
	return x.Batch(batch)
}

// merge merges segments if there are many of them. If more documents are dead than alive it merges all into one. That
// takes a third of the time of a build, so it is done only if ctx has no deadline.
func (m *manifest) merge(ctx context.Context, x bleve.Index, g *generation) error {
	segments := 0
	for name := range g.Files {
		if filepath.Ext(name) == ".zap" {
			segments++
		}
	}
	plan := mergeplan.DefaultMergePlanOptions
	plan.MaxSegmentSize = 2 * smallSegment // the planner takes segments of less than half of it
	if _, limited := ctx.Deadline(); !limited && m.Replaced > m.Size.Docs {
		plan, m.Replaced = mergeplan.SingleSegmentMergePlanOptions, 0
	} else if segments < maxSegments {
		return nil
	}
	of, err := x.Advanced()
	if err != nil {
		return err
	}
	if s, ok := of.(*scorch.Scorch); ok {
		return s.ForceMerge(ctx, &plan)
	}
	return nil
}
