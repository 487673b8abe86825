package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Withdrawal takes a fact back.
type Withdrawal struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"the room"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the fact"`
	Value    string `json:"value,omitempty" long:"true" jsonschema:"the one of several values that is no longer true"`
	Reason   string `json:"reason,omitempty" jsonschema:"why it is no longer true"`
	Until    string `json:"valid_until,omitempty" jsonschema:"when it stopped, or will stop, being true (default now)"`
	Source   string `json:"source,omitempty" jsonschema:"user when the user said so"`
	Erase    bool   `json:"erase,omitempty" jsonschema:"take it off the disk with its history, for good"`

	// Sessions names the sessions in which something stands; nil: the caller may not know of them.
	Sessions func(ctx context.Context, holds func(text string) bool) []string `json:"-"`
}

// NeedsConfirm says what a withdrawal would destroy, "" when nothing.
func (w Withdrawal) NeedsConfirm() string {
	if w.Erase {
		return fmt.Sprintf("erase takes [%s] %s and its whole history off the disk", prose.Name(w.Category), prose.Name(w.Key))
	}
	return ""
}

// Withdrawn is what was taken back.
type Withdrawn struct {
	Category    string     `json:"category"`
	Key         string     `json:"key"`
	Value       string     `json:"value,omitempty"`  // the one that was taken back
	Values      []string   `json:"values,omitempty"` // those that stay beside it
	Until       *time.Time `json:"valid_until,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Touched     []string   `json:"touched"`
	Erased      bool       `json:"erased"`
	Shared      bool       `json:"shared,omitempty"` // the erased fact may be in the repository
	Team        bool       `json:"team,omitempty"`   // the fact was erased in a team
	DisputeNote            // nothing was taken back: what is believed has more authority
	Copies      []string   `json:"copies,omitempty"`   // what agents wrote that holds an erased value, or that it came from; it stays
	Sessions    []string   `json:"sessions,omitempty"` // in which an erased value was said; they stay
	Redacted    []string   `json:"redacted,omitempty"`

	value fact.Trust      // in the one that was taken back
	stay  []*fact.Version // whose values Values are
	ahead bool            // it ends in the future
}

// Text gives the answer's lines.
func (w Withdrawn) Text() string { return w.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (w Withdrawn) TextIn(call prose.Syntax) string {
	if w.Warned() {
		return w.DisputeNote.TextIn(call)
	}
	purge := ""
	if w.Shared {
		purge = "\n  lean-ctx sync takes it out of .lean-ctx/log here, and out of the others' files at their next sync. Git's history still has it: git filter-repo --replace-text takes a text out of that"
	}
	if w.Team {
		purge += "\n  The team's server has taken it out of the stream. Each other machine takes it off its disk when it has fetched this. What may be left: TEAM.md, Erased facts"
	}
	if len(w.Sessions) > 0 {
		names := strings.Join(w.Sessions[:min(len(w.Sessions), maxSessionsNamed)], ", ")
		if more := len(w.Sessions) - maxSessionsNamed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		purge += "\n  Its words stand in what was said in " + prose.Line(names) + ". A person removes a session with lean-ctx session erase ID"
	}
	if w.Erased && len(w.Copies) > 0 {
		return fmt.Sprintf("Erased [%s] %s: it is off the disk; not touched: %s, and other copies in diaries, shares and exports",
			prose.Name(w.Category), prose.Name(w.Key), prose.Line(strings.Join(w.Copies, ", "))) + purge
	}
	if w.Erased {
		return fmt.Sprintf("Erased [%s] %s: it is off the disk; copies in diaries, shares and exports are not touched", prose.Name(w.Category), prose.Name(w.Key)) + purge
	}
	verb, when := "Removed", ""
	if w.Until != nil {
		verb, when = "Ended", " on "+fact.Day(*w.Until)
	}
	if w.ahead {
		verb = "Ends"
	}
	text := fmt.Sprintf("%s [%s] %s%s", verb, prose.Name(w.Category), prose.Name(w.Key), when)
	if w.Value != "" {
		text += ": " + w.value.Brief(w.Value)
	}
	if len(w.Values) > 0 {
		text += " (" + countValues(w.stay) + ")"
	}
	return text + prose.Redacted(w.Redacted)
}

// maxSessionsNamed is how many sessions an erasure names.
const maxSessionsNamed = 20

// MaxReason is how many bytes the reason for a removal has at most.
const MaxReason = 1 << 10

// ValidReason reports whether a text may be stored as the reason for a removal.
func ValidReason(text string) bool { return utf8.ValidString(text) && len(text) <= MaxReason }

// Remove retracts a fact: from now on, or from the given end on, nothing is believed
// under its name; its history stays. With Erase, value and history leave the disk before Remove
// returns and a tombstone without a value stays behind. A name that nothing is
// believed under is a [NotFoundError].
func (s *Store) Remove(ctx context.Context, w Withdrawal) (Withdrawn, error) {
	if err := refusal.Required("category", w.Category, "key", w.Key); err != nil {
		return Withdrawn{}, err
	}
	if w.Erase {
		switch {
		case w.Value != "":
			return Withdrawn{}, refusal.Argument("value", "erase takes the whole fact: leave value out, or leave erase out to retract that value")
		case w.Reason != "":
			return Withdrawn{}, refusal.Argument("reason", "erase leaves nothing of the fact, so no reason either: leave reason out")
		case w.Until != "":
			return Withdrawn{}, refusal.Argument("valid_until", "erase takes the fact with its history: leave valid_until out, or leave erase out to give it an end")
		}
		return erase(ctx, s, w)
	}
	w.Value, _ = s.RedactValue(w.Category, w.Key, strings.TrimSpace(w.Value)) // as it was stored
	removal := Removal(w.Value, s.Source(w.Source, 1))
	var redacted []string
	if removal.Reason, redacted = s.Redact(strings.TrimSpace(w.Reason)); !ValidReason(removal.Reason) {
		return Withdrawn{}, refusal.Argument("reason", "reason is not valid UTF-8, or has more than %d bytes", MaxReason)
	}
	if strings.TrimSpace(w.Until) != "" {
		until, err := args.ParseInstant("valid_until", w.Until, s.Now(), false)
		if err != nil {
			return Withdrawn{}, err
		}
		removal.ValidUntil = &until.Time
	}
	var r Withdrawn
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		r = Withdrawn{Category: w.Category, Key: w.Key, Value: w.Value, Until: removal.ValidUntil, Reason: removal.Reason, Redacted: redacted}
		r.ahead = r.Until != nil && r.Until.After(s.present(now))
		n := fact.IDOf(w.Category, w.Key)
		w.Value = ofShown(st.Versions(n), w.Value)
		removal.Value, r.Value = w.Value, w.Value
		if err := checkEnd(fact.Timeline(st.Versions(n), s.present(now)), removal, s.present(now)); err != nil {
			return nil, err
		}
		events, x := End(st, n, removal, now, s.present(now))
		if x.Warned() {
			r.disputed(x)
			return events, nil
		}
		switch {
		case len(events) == 0 && w.Value != "" && fact.Current(st.Versions(n), s.present(now)) != nil:
			return nil, noValue(w.Category, w.Key, w.Value)
		case len(events) == 0:
			return nil, NotFound(w.Category, w.Key)
		}
		for _, e := range events {
			if e.Put == nil {
				continue
			}
			r.Category, r.Key, r.Touched = e.Put.Category, e.Put.Key, append(r.Touched, e.Put.ID)
		}
		if w.Value != "" {
			for _, v := range fact.AllCurrent(st.Versions(n), s.present(now)) {
				if hasValue(v, w.Value) {
					r.Value, r.value = v.Value, fact.TrustIn(v) // as it was written
				} else {
					r.Values, r.stay = append(r.Values, v.Value), append(r.stay, v)
				}
			}
		}
		return events, nil
	})
	return r, err
}

// disputed says that nothing was taken back.
func (w *Withdrawn) disputed(x DisputeNote) {
	w.Category, w.Key, w.DisputeNote, w.Erased, w.Team = x.Old.Category, x.Old.Key, x, false, false
}

// hasValue reports whether a version has a value; the empty one means any.
func hasValue(v *fact.Version, value string) bool {
	return value == "" || verdict.Compare(v.Key, v.Value, value) == verdict.Equal
}

// noValue says that a fact has not the value that was named.
func noValue(category, key, value string) error {
	return refusal.NotFound("No value '%s' of [%s] %s", prose.Brief(value), prose.Name(category), prose.Name(key))
}

// checkEnd refuses an end that a fact cannot have: before what is valid at present
// began, or after it ends anyway.
func checkEnd(held []fact.Held, removal formats.Dispute, present time.Time) error {
	end := removal.ValidUntil
	if end == nil {
		return nil
	}
	var over *fact.Held // it ends before
	ends, later := false, false
	for i, h := range held {
		if !fact.Before(present, h.Period.Until) || !hasValue(h.Version, removal.Value) {
			continue
		}
		switch {
		case !h.Period.From.Before(*end) && (h.Period.Contains(present) || over == nil && !ends):
			return refusal.Argument("valid_until", "valid_until %s is not after '%s' began, %s", end.Format(time.RFC3339), prose.Brief(h.Value), h.Period.From.Format(time.RFC3339))
		case !h.Period.From.Before(*end):
			later = true
		case fact.Before(*end, h.Period.Until):
			ends = true
		default:
			over = &held[i]
		}
	}
	if over != nil && !ends && !later {
		return refusal.Argument("valid_until", "'%s' ends already, %s: to move its end, remember it with correct and valid_until", prose.Brief(over.Value), over.Period.Until.Format(time.RFC3339))
	}
	return nil
}

// Retract ends what is valid at present, and withdraws whole what would begin later: of
// all values, or of one. Where until is given it is the end, and what ends before it
// stays as it is. as says who does it, and when that is recorded.
func Retract(f state.Facts, n fact.ID, value string, until *time.Time, as formats.Retraction, present time.Time) []state.Event {
	var out []state.Event
	end, now := present, *as.RetractedAt
	if until != nil {
		end = *until
	}
	versions, changed := fact.Settle(f.Versions(n), present, now)
	for _, v := range versions {
		if !fact.Believed(v) || !fact.Before(present, v.ValidUntil) || !fact.Before(end, v.ValidUntil) || !hasValue(v, value) {
			continue
		}
		w := fact.Disbelieve(v, now)
		if v.ValidFrom.Before(end) {
			w = fact.Reperiod(v, fact.Period{From: v.ValidFrom, Until: &end}, now)
		}
		w.Retraction = as
		changed = slices.DeleteFunc(changed, func(x *fact.Version) bool { return x.ID == w.ID })
		out = append(out, state.Event{Put: w})
	}
	if len(out) > 0 {
		for _, v := range changed {
			out = append(out, state.Event{Put: v})
		}
	}
	return out
}

// Removal is the wish to end a fact, or one of its values, as a dispute would have it.
func Removal(value string, by Source) formats.Dispute {
	return formats.Dispute{Value: value, Confidence: by.Confidence, Source: by, Removal: true}
}

// End ends a fact, or one of its values. The removal may name the end and a reason. If it names a
// rival, the fact ends as superseded and not as withdrawn. If its source may not change what is
// believed, the events record it as a dispute instead.
func End(f state.Facts, n fact.ID, removal formats.Dispute, now, present time.Time) ([]state.Event, DisputeNote) {
	value, from := removal.Value, present
	if removal.Rival != nil {
		value = "" // the value is the rival's
	}
	if removal.ValidUntil != nil {
		from = *removal.ValidUntil
	}
	for _, v := range fact.Timeline(f.Versions(n), present) {
		if fact.Before(present, v.Period.Until) && fact.Before(from, v.Period.Until) && hasValue(v.Version, value) && !MayReplace(f, removal.Source, v.Version) {
			return openDispute(f, removal, v.Version, present)
		}
	}
	events := Retract(f, n, value, removal.ValidUntil, retraction(removal.Source, now, removal.Reason), present)
	for _, e := range events {
		if at := e.Put.RetractedAt; removal.Rival != nil && at != nil && at.Equal(now) {
			e.Put.Retraction = formats.Retraction{}
		}
	}
	return events, DisputeNote{}
}

// retraction says who took a version back.
func retraction(by Source, at time.Time, reason string) formats.Retraction {
	r := formats.Retraction{RetractedAt: &at, RetractedReason: reason}
	if by.Kind == KindUser {
		r.RetractedPerson, by.Person = by.Person, ""
	}
	r.RetractedBy = SourceName(by)
	return r
}

// Supersede ends the fact old because the current value of another one, its rival,
// has taken its place.
func Supersede(f state.Facts, rival, old Name, by Source, now, present time.Time) ([]state.Event, DisputeNote, error) {
	v := fact.Current(f.Versions(fact.IDOf(rival.Category, rival.Key)), present)
	if v == nil {
		return nil, DisputeNote{}, refusal.Argument("key", "[%s] has no current value, so it supersedes nothing", Slashed(rival))
	}
	events, x := End(f, fact.IDOf(old.Category, old.Key), rivalry(v, by), now, present)
	return events, x, nil
}

// rivalry is the removal of a fact because of the value of another one.
func rivalry(rival *fact.Version, by Source) formats.Dispute {
	d := Removal(rival.Value, by)
	d.Rival = &Name{Category: rival.Category, Key: rival.Key}
	return d
}

// erase commits the tombstone first: from then on the fact is gone for every
// reader. What still holds its bytes is rewritten or deleted before the answer.
// A name erased before is swept again, so that an interrupted erasure can be
// finished by asking for it once more.
func erase(ctx context.Context, s *Store, w Withdrawal) (Withdrawn, error) {
	r := Withdrawn{Category: w.Category, Key: w.Key, Erased: true, Team: s.opts.Team != nil}
	var erased []*fact.Version
	by := s.Source(w.Source, 1)
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		n := fact.IDOf(w.Category, w.Key)
		vs := st.Versions(n)
		r.Shared = st.Replica != nil
		if len(vs) == 0 {
			if _, known := st.Erased(n); !known {
				return nil, NotFound(w.Category, w.Key)
			}
			return nil, nil
		}
		if events, x := End(st, n, Removal("", by), now, s.present(now)); x.Warned() {
			r.disputed(x)
			return events, nil
		}
		if slices.ContainsFunc(vs, func(v *fact.Version) bool { return !MayReplace(st, by, v) }) {
			return nil, refusal.ForUser("the history of [%s] %s holds what somebody of more authority asserted", prose.Name(w.Category), prose.Name(w.Key))
		}
		r.Category, r.Key, r.Touched, erased = vs[0].Category, vs[0].Key, ids(vs), vs
		return []state.Event{{Erase: &formats.Tombstone{
			Category: r.Category, Key: r.Key, ErasedAt: now, Names: st.FormerNames(n), Versions: ids(vs),
		}}}, nil
	})
	if err != nil || r.Warned() {
		return r, err
	}
	if err := s.eraser.tidy(ctx, true); err != nil {
		return Withdrawn{}, fmt.Errorf("[%s] %s is erased from the facts but copies may remain on disk, ask again to finish: %w", w.Category, w.Key, err)
	}
	if r.Team {
		if err := s.log.Expunge(ctx, erased); err != nil {
			return Withdrawn{}, fmt.Errorf("[%s] %s is erased from the facts and off this disk, but the team's server still has its bytes, ask again to finish: %w", w.Category, w.Key, err)
		}
	}
	holds := func(text string) bool {
		return slices.ContainsFunc(erased, func(v *fact.Version) bool { return fact.HoldsTerms(text, v.Value) })
	}
	r.Copies = copies(ctx, s, erased, holds)
	if w.Sessions != nil && len(erased) > 0 {
		r.Sessions = w.Sessions(ctx, holds)
	}
	return r, nil
}

// copies names what agents wrote down that some versions came from, or that
// holds their values.
func copies(ctx context.Context, s *Store, erased []*fact.Version, holds func(text string) bool) (refs []string) {
	if len(erased) == 0 {
		return nil
	}
	found, err := findings(ctx, s, time.Time{})
	for _, f := range found {
		if holds(f.Text) || slices.ContainsFunc(erased, func(v *fact.Version) bool {
			return slices.ContainsFunc(v.Sources, func(x Source) bool { return x.Ref == f.Ref })
		}) {
			refs = append(refs, f.Ref)
		}
	}
	if s.opts.OtherStores != nil {
		more, failed := s.opts.OtherStores.Copies(ctx, holds)
		refs, err = append(refs, more...), errors.Join(err, failed)
	}
	if err != nil {
		s.Warn("other places that may still hold it could not be searched: %v", err)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(refs, func(ref string) bool {
		again := seen[ref]
		seen[ref] = true
		return again
	})
}
