package state

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// A command that needs one fact does not read a hundred thousand. Its state
// begins at the commit of the newest generation of the text index. Facts that
// later commits changed are in memory, as in any other state; the others are
// read from the index. Callers see such a state only as a [Reader].
//
// If a read from the index fails, the base keeps the error. [Log] checks it after a
// view or decision, and repeats that on the whole state.

// base is the index below a state.
type base struct {
	index *index.Index

	mu    sync.Mutex // views run side by side
	facts map[fact.ID][]*fact.Version
	err   error // why the state's answers are worth nothing
}

// factsKept is how many facts that were read are kept at most.
const factsKept = 4096

func (b *base) failed() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *base) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *base) versions(n fact.ID) []*fact.Version {
	b.mu.Lock()
	vs, ok := b.facts[n]
	b.mu.Unlock()
	if ok {
		return vs
	}
	text, err := b.index.Fact(context.Background(), docID(n))
	if err == nil && text != nil {
		vs, err = unpackVersions(text)
	}
	if err != nil {
		b.fail(err)
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.facts) >= factsKept {
		clear(b.facts)
	}
	b.facts[n] = vs
	return vs
}

func (b *base) named(name string) []fact.ID {
	return b.found(b.index.Named(context.Background(), name))
}

func (b *base) valued(hash string) []fact.ID {
	return b.found(b.index.Hashed(context.Background(), hash))
}

func (b *base) holding(version string) []fact.ID {
	return b.found(b.index.Holding(context.Background(), version))
}

func (b *base) inRoom(room string) []fact.ID {
	return b.found(b.index.InRoom(context.Background(), room))
}

func (b *base) found(ids []string, err error) (out []fact.ID) {
	if err != nil {
		b.fail(err)
	}
	for _, id := range ids {
		out = append(out, factOf(id))
	}
	return out
}

// docID is the name of a fact's document in the index.
func docID(n fact.ID) string { return n.Category + "\x00" + n.Key }

// factOf is the fact of a document.
func factOf(id string) fact.ID {
	category, key, _ := strings.Cut(id, "\x00")
	return fact.ID{Category: category, Key: key}
}

// extraData is what is stored beside the facts of a generation.
type extraData struct {
	Head  journal.Head      `json:"head"`
	Rooms map[string]string `json:"rooms"`
	Count int               `json:"versions"`
	File  json.RawMessage   `json:"file"` // the fact file without its facts
}

// extra is that of the state, as of a head.
func (s *State) extra(h journal.Head) ([]byte, error) {
	var file bytes.Buffer
	d := s.document(journal.Header{Seq: h.Seq, Generation: h.Generation, At: h.At, Checksum: "00000000"})
	if err := formats.EncodeNative(&file, d); err != nil {
		return nil, err
	}
	return json.Marshal(extraData{h, s.rooms, s.count, file.Bytes()})
}

// fromIndex is the state that an index gives, as of the commit it was written at.
func fromIndex(x *index.Index) (*State, journal.Head, error) {
	var r extraData
	if err := json.Unmarshal(x.Extra(), &r); err != nil {
		return nil, journal.Head{}, fmt.Errorf("the relations and history in the index cannot be read: %w", err)
	}
	d, err := formats.DecodeNative(r.File)
	if err != nil {
		return nil, journal.Head{}, fmt.Errorf("the relations and history in the index cannot be read: %w", err)
	}
	s := fromDocument(d)
	s.rooms, s.count, s.changes, s.seq, s.at = r.Rooms, r.Count, changes{after: r.Head.Seq}, r.Head.Seq, r.Head.At
	s.began = r.Head.At
	s.base = &base{index: x, facts: map[fact.ID][]*fact.Version{}}
	return s, r.Head, nil
}

// errEarlier says that the present lies before the commit of an index, so that what
// ended in between is not in its summaries.
var errEarlier = errors.New("the clock is before the commit of the index")

// Summaries yields, in no order, the fact and the summary of every version that is believed and not over at now, the
// present. The period is that of [fact.Timeline].
func (k Reader) Summaries(now time.Time) iter.Seq2[fact.ID, fact.Summary] {
	return func(yield func(fact.ID, fact.Summary) bool) {
		s := k.state
		for n, vs := range s.facts {
			for _, v := range vs {
				p, ok := fact.PeriodNow(v, vs, now)
				if !ok || !fact.Before(now, p.Until) {
					continue
				}
				x := fact.Summarize(v)
				if x.Period = p; !yield(n, x) {
					return
				}
			}
		}
		if s.base == nil {
			return
		}
		if now.Before(s.began) {
			s.base.fail(errEarlier)
			return
		}
		s.base.summaries(func(n fact.ID, x fact.Summary) bool {
			_, changed := s.facts[n]
			return changed || !fact.Before(now, x.Period.Until) || yield(n, x)
		})
	}
}

// Ended lists, in no order, the facts of which a version ended, or was taken back, after
// since and by now, the present. They may have another value since then.
func (k Reader) Ended(since, now time.Time) (out []fact.ID) {
	s := k.state
	within := func(until *time.Time) bool { return until != nil && until.After(since) && !until.After(now) }
	for n, vs := range s.facts {
		if slices.ContainsFunc(vs, func(v *fact.Version) bool {
			return within(v.RetractedAt) || fact.Believed(v) && within(v.ValidUntil)
		}) {
			out = append(out, n)
		}
	}
	if s.base != nil {
		s.base.summaries(func(n fact.ID, x fact.Summary) bool {
			if _, changed := s.facts[n]; !changed && (within(x.Period.Until) || within(&x.Withdrawn)) {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// Over lists the facts that have no value at now, the present, and had one: at most so many, those that ended last first.
func (k Reader) Over(now time.Time, most int) []fact.ID {
	s := k.state
	type over struct {
		fact.ID
		ended time.Time // zero: it lasts, or never was true
	}
	var out []over
	add := func(n fact.ID, until *time.Time) {
		if i := len(out) - 1; i < 0 || out[i].ID != n {
			out = append(out, over{n, time.Unix(0, 0)})
		}
		switch last := &out[len(out)-1]; {
		case fact.Before(now, until):
			last.ended = time.Time{}
		case !last.ended.IsZero() && until.After(last.ended):
			last.ended = *until
		}
	}
	for n, vs := range s.facts {
		for _, v := range vs {
			if fact.Believed(v) {
				add(n, v.ValidUntil)
			}
		}
	}
	if s.base != nil {
		s.base.summaries(func(n fact.ID, x fact.Summary) bool {
			if _, changed := s.facts[n]; !changed {
				add(n, x.Period.Until)
			}
			return true
		})
	}
	out = slices.DeleteFunc(out, func(o over) bool { return o.ended.IsZero() })
	slices.SortFunc(out, func(a, b over) int { return cmp.Or(b.ended.Compare(a.ended), a.Compare(b.ID)) })
	names := make([]fact.ID, min(len(out), most))
	for i := range names {
		names[i] = out[i].ID
	}
	return names
}

// summaries gives those of the index.
func (b *base) summaries(visit func(fact.ID, fact.Summary) bool) {
	var failed error
	err := b.index.Summaries(func(id string, all []byte) bool {
		n := factOf(id)
		for len(all) > 0 {
			var x fact.Summary
			if x, all, failed = fact.ParseSummary(all); failed != nil {
				failed = fmt.Errorf("%q: %w", id, failed)
				return false
			}
			if !visit(n, x) {
				return false
			}
		}
		return true
	})
	if err := errors.Join(err, failed); err != nil {
		b.fail(err)
	}
}

// Version is the version of a fact with an id, nil if there is none.
func Version(facts Facts, n fact.ID, id string) *fact.Version {
	return fact.WithID(facts.Versions(n), id)
}

// packedLike is what the versions of most facts have in common. To change it, or how
// versions are packed, is another version of the index.
const packedLike = `"supersedes":"f-","asserted_by":"","questions":["revision_count":2,"confirmation_count":2,"last_retrieved":"2026-,"valid_until":"2026-,"recorded_until":"2026-,"privacy":"project_only","earlier_periods":[{"outcome":"replaced","pinned":true,"by":"agent","kind":"agent","by":"archetype":"architecture","archetype":"convention","archetype":"decision","archetype":"observation",` +
	`[{"id":"f-","category":"architecture","key":"","value":"","confidence":0.9,"created_at":"2026-11-22T00:00:00.Z","last_confirmed":"2026-11-22T00:00:00.Z","valid_from":"2026-11-22T00:00:00Z","confirmation_count":1,"privacy":"shared","archetype":"fact","revision_count":1,"recorded_from":"2026-11-22T00:00:00.Z","sources":[{"kind":"import","ref":"src/","at":"2026-11-22T00:00:00.Z","confidence":0.9}],"tags":[],"aliases":[],"outcome":"created"}]`

// packers are kept, since one takes most of a megabyte.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriterDict(nil, flate.DefaultCompression, []byte(packedLike))
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// packVersions is how the index keeps the versions of a fact: what is zero is left
// out, and the rest is compressed.
func packVersions(vs []*fact.Version) ([]byte, error) {
	text, err := formats.EncodeSparse(vs)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// unpackers are kept, since one takes 44 KB and an answer has a hundred facts unpacked.
var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

func unpackVersions(packed []byte) (vs []*fact.Version, err error) {
	r := unpackers.Get().(io.Reader)
	defer unpackers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed), []byte(packedLike)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return vs, journal.DecodeDocument(text, &vs)
}
