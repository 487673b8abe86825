package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"leanctx/internal/prose"
)

// VectorStatus tells what recall by meaning works with.
type VectorStatus struct {
	Model        string          `json:"model"` // "present", "built-in" or "broken"
	AutoDownload bool            `json:"auto_download"`
	IndexEntries int             `json:"index_entries"` // facts that have a vector of the encoder in use
	Path         string          `json:"path"`
	Encoder      string          `json:"encoder"` // the encoder that a server uses for questions now
	Entries      []VectorEntries `json:"entries"`
	Backlog      int             `json:"backlog"` // facts that the best encoder has no vector of yet
	Why          string          `json:"why"`
}

// VectorEntries counts the vectors of one encoder.
type VectorEntries struct {
	Encoder string `json:"encoder"`
	Entries int    `json:"entries"`
}

// errNoVectors says that a store was opened without vectors.
var errNoVectors = errors.New("recall by meaning is not part of this store")

// EmbeddingsStatus says which encoder is used and why, and what is kept.
func EmbeddingsStatus(ctx context.Context, s *Store, _ NoArgs) (VectorStatus, error) {
	if s.opts.Encoders == nil {
		return VectorStatus{}, errNoVectors
	}
	is := s.opts.Encoders.Status()
	r := VectorStatus{Model: is.Model, AutoDownload: is.AutoDownload, Path: s.vectors.index.Path(), Entries: []VectorEntries{}, Why: is.Why}
	kept, err := s.vectors.index.Entries()
	if err != nil {
		return r, err
	}
	for _, e := range kept {
		r.Entries = append(r.Entries, VectorEntries{e.Name, e.Entries})
	}
	if s.vectors.index.Newer() {
		r.Why += "; the vectors on disk are of a newer version of the program, and stay as they are"
	}
	for i, e := range s.opts.Encoders.Usable(false) {
		n, err := s.vectors.backlog(ctx, e, false)
		if err != nil {
			return r, err
		}
		if i == 0 {
			r.Backlog = n
		}
		if r.Encoder == "" && (n == 0 || e.Instant) {
			r.Encoder = e.Name
			if r.IndexEntries, err = s.vectors.facts(ctx, e.Name); err != nil {
				return r, err
			}
			if i > 0 {
				r.Why += "; built in until its backlog is empty"
			}
		}
	}
	return r, nil
}

// Text gives the answer's lines.
func (r VectorStatus) Text() string {
	auto := "off"
	if r.AutoDownload {
		auto = "on"
	}
	var entries []string
	for _, e := range r.Entries {
		entries = append(entries, fmt.Sprintf("%s %d", e.Encoder, e.Entries))
	}
	if entries == nil {
		entries = []string{"none"}
	}
	return fmt.Sprintf("Knowledge embeddings: model=%s, auto_download=%s, index_entries=%d, path=%s\n  encoder: %s (%s); vectors: %s; backlog: %d",
		r.Model, auto, r.IndexEntries, r.Path, r.Encoder, r.Why, strings.Join(entries, ", "), r.Backlog)
}

// VectorsReset is what EmbeddingsReset gives.
type VectorsReset struct {
	Path string `json:"path"`
}

// Text gives the answer's line.
func (VectorsReset) Text() string { return "Embeddings index reset." }

// EmbeddingsReset takes all vectors off the disk. They are made again when
// they are next needed.
func EmbeddingsReset(_ context.Context, s *Store, _ NoArgs) (VectorsReset, error) {
	if s.opts.Encoders == nil {
		return VectorsReset{}, errNoVectors
	}
	return VectorsReset{s.vectors.index.Path()}, s.vectors.index.Reset()
}

// VectorsMade is what EmbeddingsReindex gives.
type VectorsMade struct {
	Embedded int    `json:"embedded"` // facts that have a vector of the encoder
	Made     int    `json:"made"`     // vectors made now, those of questions among them
	Encoder  string `json:"encoder"`
	Backlog  int    `json:"backlog"` // left for a server to do in the background
	Slow     string `json:"backlog_encoder,omitempty"`
}

// Text gives the answer's lines.
func (r VectorsMade) Text() string {
	text := fmt.Sprintf("Embeddings reindex ok (embedded %s).", prose.Count(r.Embedded, "fact"))
	if r.Backlog > 0 {
		text += fmt.Sprintf("\n  %s left for %s: a server encodes them in the background", prose.Count(r.Backlog, "fact"), prose.Line(r.Slow))
	}
	return text
}

// Reindexing says how to make vectors.
type Reindexing struct {
	Wait bool `json:"wait,omitempty" jsonschema:"also encode with the installed model, and wait until it is done; if interrupted, a later run resumes"`

	// Progress is told after each text how many of those that lacked a vector
	// have one; nil: nobody wants to know.
	Progress func(done, missing int) `json:"-"`
}

// EmbeddingsReindex looks at every fact and makes the vectors that are
// missing; those of values that are over go. With the built-in encoder that is
// done when it returns; an installed model's are left to a server, or done here
// with Wait.
func EmbeddingsReindex(ctx context.Context, s *Store, q Reindexing) (VectorsMade, error) {
	if s.opts.Encoders == nil {
		return VectorsMade{}, errNoVectors
	}
	var r VectorsMade
	for _, e := range s.opts.Encoders.Usable(true) {
		if !e.Instant && !q.Wait {
			n, err := s.vectors.backlog(ctx, e, true)
			if err != nil {
				return r, err
			}
			r.Backlog, r.Slow = n, e.Name
			continue
		}
		n, err := s.vectors.fill(ctx, e, true, q.Progress)
		if err != nil {
			return r, err
		}
		if r.Encoder == "" {
			r.Encoder, r.Made = e.Name, n
			if r.Embedded, err = s.vectors.facts(ctx, e.Name); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}
