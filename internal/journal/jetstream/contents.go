package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// Put stores a text under a name that is the same for the same text.
func (s *Stream) Put(ctx context.Context, name string, text []byte) error {
	store, err := s.objects(ctx)
	if err == nil {
		_, err = store.PutBytes(ctx, name, text)
	}
	return s.explain(err)
}

// Fetch returns a text that some machine stored.
func (s *Stream) Fetch(ctx context.Context, name string) ([]byte, error) {
	store, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	text, err := store.GetBytes(ctx, name)
	return text, s.explain(err)
}

func (s *Stream) objects(ctx context.Context) (jetstream.ObjectStore, error) {
	d, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	store, err := d.js.ObjectStore(ctx, s.bucket())
	return store, s.explain(err)
}
