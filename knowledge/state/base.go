package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// A command that needs one fact does not read a hundred thousand. Its state
// begins at the commit that a generation of the text index stands at. The index
// gives the facts it is asked for; those that later commits changed are in
// memory, as in any other state. Only [Known] is seen of such a state.
//
// What the index cannot give leaves an error in the base. [Log] sees it when a
// view or decision is through, and does it again on a state that was read whole.

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

func (b *base) found(ids []string, err error) (out []fact.ID) {
	if err != nil {
		b.fail(err)
	}
	for _, id := range ids {
		if n, ok := factOf(id); ok {
			out = append(out, n)
		}
	}
	return out
}

// docID is the name of a fact's document in the index.
func docID(n fact.ID) string { return n.Category + "\x00" + n.Key }

// lessonID is that of a pattern or gotcha: no category is empty.
func lessonID(version string) string { return "\x00" + version }

// factOf is the fact of a document; ok is false for a pattern or gotcha.
func factOf(id string) (n fact.ID, ok bool) {
	category, key, _ := strings.Cut(id, "\x00")
	return fact.ID{Category: category, Key: key}, category != ""
}

// rest is what is stored beside the facts of a generation.
type rest struct {
	Head  journal.Head      `json:"head"`
	Rooms map[string]string `json:"rooms"`
	Count int               `json:"versions"`
	File  json.RawMessage   `json:"file"` // the fact file without its facts
}

// rest is that of the state, as of a head.
func (s *State) rest(h journal.Head) ([]byte, error) {
	var file bytes.Buffer
	d := s.document(journal.Header{Seq: h.Seq, Generation: h.Generation, At: h.At, Checksum: "00000000"})
	if err := formats.EncodeNative(&file, d); err != nil {
		return nil, err
	}
	return json.Marshal(rest{h, s.rooms, s.count, file.Bytes()})
}

// fromIndex is the state that an index gives, as of the commit it was written at.
func fromIndex(x *index.Index) (*State, journal.Head, error) {
	var r rest
	if err := json.Unmarshal(x.Extra(), &r); err != nil {
		return nil, journal.Head{}, fmt.Errorf("the patterns, relations and history in the index cannot be read: %w", err)
	}
	d, err := formats.DecodeNative(r.File)
	if err != nil {
		return nil, journal.Head{}, fmt.Errorf("the patterns, relations and history in the index cannot be read: %w", err)
	}
	s := fromDocument(d)
	s.rooms, s.count, s.from, s.seq, s.at = r.Rooms, r.Count, r.Head.Seq, r.Head.Seq, r.Head.At
	s.began = r.Head.At
	s.base = &base{index: x, facts: map[fact.ID][]*fact.Version{}}
	return s, r.Head, nil
}
