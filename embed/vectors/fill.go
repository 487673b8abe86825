package vectors

import (
	"context"
	"time"

	"leanctx/embed"
)

// Text is what is encoded for a version of a fact.
type Text struct {
	ID   string // the version's
	Text string
}

// Key is what the vector of a text is found by.
func (t Text) Key() Key { return Key{ID: t.ID, Text: HashText(t.Text)} }

// How much Fill encodes before it stores: a killed process loses a second's work.
const (
	fillTexts = 4096
	fillTime  = time.Second
)

// Fill encodes those of texts that have no vector of this encoder, in their
// order, one at a time, and stores them bit by bit. It gives how many it
// encoded. When the context ends, what was encoded is stored first, so that the
// next call goes on from there. Two processes that fill at once do the work
// twice and end up with the same.
//
// progress, when it is not nil, is called after each text with how many of the
// missing ones are done.
func (x *Index) Fill(ctx context.Context, e embed.Encoder, texts []Text, progress func(done, missing int)) (int, error) {
	keys := make([]Key, len(texts))
	for i, t := range texts {
		keys[i] = t.Key()
	}
	missing := x.Missing(e.Name(), keys)
	var some []Key
	var vectors [][]float32
	store := func() error {
		err := x.Put(context.WithoutCancel(ctx), e, some, vectors)
		some, vectors = nil, nil
		return err
	}
	since := time.Now()
	for done, i := range missing {
		v, err := e.Encode(ctx, []string{texts[i].Text})
		if err != nil {
			if len(some) > 0 {
				_ = store() // the encoder's error says more
			}
			return done, err
		}
		some, vectors = append(some, keys[i]), append(vectors, v[0])
		if len(some) == fillTexts || time.Since(since) >= fillTime || done == len(missing)-1 {
			if err := store(); err != nil {
				return done + 1, err
			}
			since = time.Now()
		}
		if progress != nil {
			progress(done+1, len(missing))
		}
	}
	return len(missing), nil
}
