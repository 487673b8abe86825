package knowledge

import (
	"context"
	"time"

	"leanctx/knowledge/assertion"
	"leanctx/knowledge/ledger"
)

// Assertion is one claim about the project: what somebody holds true, since
// when, how sure they are and where they have it from.
type Assertion struct {
	Category   string   `json:"category" short:"c" jsonschema:"room the fact belongs to, e.g. architecture"`
	Key        string   `json:"key,omitempty" short:"k" jsonschema:"name of the fact within its category; made from the value's first words when missing"`
	Value      string   `json:"value" arg:"1" jsonschema:"what is true, up to 64 KiB"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure you are, 0 to 1 (default 0.8)"`
	ValidFrom  string   `json:"valid_from,omitempty" jsonschema:"since when it is true: RFC 3339, a day, or an age such as 3d (default now)"`
	ValidUntil string   `json:"valid_until,omitempty" jsonschema:"when it stops being true (default open)"`
	Source     string   `json:"source,omitempty" jsonschema:"where it comes from, e.g. src/auth.ts:12 or user"`
	Correct    bool     `json:"correct,omitempty" jsonschema:"true when the old value was wrong all along, not when the world changed"`
	Tags       []string `json:"tags,omitempty" jsonschema:"words to group facts by, 20 at most"`
	Aliases    []string `json:"aliases,omitempty" jsonschema:"other names the key is found by, 20 at most"`
	Pinned     *bool    `json:"pinned,omitempty" jsonschema:"always in the briefing"`
	Privacy    string   `json:"privacy,omitempty" enum:"shared,project_only" jsonschema:"project_only keeps it out of searches from other projects"`
}

// Remember asserts a fact and is on disk when it returns. It fails with an
// [ArgumentError] that names what is wrong, or with an error of the journal;
// then nothing has changed. A contradiction is part of the result, not an error.
func (s *Store) Remember(ctx context.Context, a Assertion) (Remembered, error) {
	near := s.glance(a.Value)
	c, err := s.claim(a)
	if err != nil {
		return Remembered{}, err
	}
	var r Remembered
	err = s.update(ctx, func(st *ledger.State, now time.Time) ([]ledger.Event, error) {
		var events []ledger.Event
		events, r, err = assertion.Decide(st, c, now)
		return events, err
	})
	if err != nil {
		return Remembered{}, err
	}
	r.Redacted = c.Redacted
	r.Similar = s.similar(ctx, near, r)
	return r, nil
}
