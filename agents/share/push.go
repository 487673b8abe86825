package share

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Offer is what is to be shared.
type Offer struct {
	Paths   []string `json:"paths" arg:"1" jsonschema:"files of the project"`
	ToAgent string   `json:"to_agent,omitempty" alias:"to" jsonschema:"an agent's id, the beginning of it, or a type (default: everybody)"`
	Message string   `json:"message,omitempty" short:"m" jsonschema:"what they are for"`
}

// Offered is what was shared.
type Offered struct {
	ID       string   `json:"id"`
	From     string   `json:"from"`
	To       string   `json:"to,omitempty"` // an id or a type; empty: everybody
	Files    []File   `json:"files"`
	Tokens   int      `json:"tokens"`
	Message  string   `json:"message,omitempty"`
	Note     string   `json:"note,omitempty"`     // why it may wait long
	Redacted []string `json:"redacted,omitempty"` // rules that took something out
}

// File is a shared file.
type File struct {
	Path     string   `json:"path"`
	Tokens   int      `json:"tokens"`
	Redacted []string `json:"redacted,omitempty"`
	State    string   `json:"state,omitempty"`   // stale, gone, unreadable or damaged
	Content  *string  `json:"content,omitempty"` // when it was asked for
}

// Push stores files of the project for another agent, or for everybody.
func (s *Store) Push(ctx context.Context, o Offer) (Offered, error) {
	x, note, err := s.address(ctx, o)
	if err != nil {
		return Offered{}, err
	}
	found, err := s.sources(o.Paths)
	if err != nil {
		return Offered{}, err
	}
	out := Offered{From: x.From, To: x.To, Note: note}
	if x.Message, out.Redacted, err = s.secrets.Redact(strings.TrimSpace(strings.ToValidUTF8(o.Message, "\uFFFD"))); err != nil {
		return Offered{}, err
	}
	texts := make(map[string]string, len(found))
	for _, f := range found {
		if err := ctx.Err(); err != nil {
			return Offered{}, err
		}
		clean, rules, err := s.secrets.Redact(string(f.data))
		if err != nil {
			return Offered{}, err
		}
		y := stored{Path: f.path, Tokens: s.opts.Tokens(clean), Bytes: len(clean), Hash: hash([]byte(clean)), Source: hash(f.data), Redacted: rules}
		texts[y.Hash] = clean
		x.Files = append(x.Files, y)
		out.Files = append(out.Files, y.file())
		out.Tokens += y.Tokens
	}
	out.Message = x.Message
	err = s.commit(ctx, x, texts)
	out.ID = x.ID
	return out, err
}

// address checks who shares with whom, and how long the message is.
func (s *Store) address(ctx context.Context, o Offer) (x *shared, note string, err error) {
	x = &shared{}
	if x.From, err = s.self(ctx); err != nil {
		return nil, "", err
	}
	if o.ToAgent = strings.TrimSpace(o.ToAgent); o.ToAgent != "" {
		if x.To, note, err = s.agents.Resolve(ctx, o.ToAgent); err != nil {
			return nil, "", err
		}
	}
	switch {
	case x.To == x.From:
		return nil, "", refusal.Argument("to_agent", "to_agent is who shares: name another agent")
	case len(o.Message) > MaxMessage:
		return nil, "", refusal.Argument("message", "message has %d bytes, more than %d: put it into a file and share that", len(o.Message), MaxMessage)
	}
	return x, note, nil
}

func (x stored) file() File { return File{Path: x.Path, Tokens: x.Tokens, Redacted: x.Redacted} }

// commit stores a share: first its contents, then that it is there.
func (s *Store) commit(ctx context.Context, x *shared, texts map[string]string) error {
	x.ID = newID()
	err := s.keep(x.ID, texts)
	if err != nil {
		s.drop(x.ID)
		return fmt.Errorf("share %s: %w", x.ID, err)
	}
	if _, err = s.log.Update(ctx, func(_ *state, now time.Time) ([]event, error) {
		x.At = now.UTC()
		return []event{{Push: x}}, nil
	}); err != nil {
		return err // the contents stay: the commit may yet turn out to be there; if not they are swept
	}
	var known map[string]*shared
	err = s.log.View(ctx, func(st *state, _ journal.Head) error {
		known = maps.Clone(st.shares)
		return nil
	})
	if err == nil {
		s.sweep(known)
	}
	return nil // it is shared
}

// newID is the id of a share. It names a directory, too, so it is decided
// before the commit and must be unlike any other.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "s-" + hex.EncodeToString(b[:])
}

// Text gives the answer's lines.
func (o Offered) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Shared %s with %s (%s)", prose.Count(len(o.Files), "file"), cmp.Or(o.To, "all agents"), prose.Count(o.Tokens, "token"))
	if o.Note != "" {
		b.WriteString("\n  " + o.Note)
	}
	for _, f := range o.Files {
		if len(f.Redacted) > 0 {
			fmt.Fprintf(&b, "\n  Redacted in %s before storing: %s", f.Path, strings.Join(f.Redacted, ", "))
		}
	}
	if len(o.Redacted) > 0 {
		b.WriteString("\n  Redacted in the message before storing: " + strings.Join(o.Redacted, ", "))
	}
	return b.String()
}
