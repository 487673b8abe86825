package jetstream

import (
	"context"
)

// Put stores a text under a name that is the same for the same text.
func (s *Stream) Put(ctx context.Context, name string, text []byte) error {
	d, err := s.connected(ctx)
	if err != nil {
		return err
	}
	b, err := s.objects(ctx, d)
	if err == nil {
		_, err = b.put(ctx, name, text, pieceSize(d))
	}
	return s.explain(err)
}

func pieceSize(d *dial) uint32 { return uint32(min(d.nc.MaxPayload()/2, pieceMost)) }

// pieceMost is how many bytes of a text are sent in one message.
const pieceMost = 512 << 10

// Fetch returns a text that some machine stored.
func (s *Stream) Fetch(ctx context.Context, name string) ([]byte, error) {
	d, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	b, err := s.objects(ctx, d)
	if err != nil {
		return nil, s.explain(err)
	}
	text, err := b.read(ctx, name)
	return text, s.explain(err)
}
