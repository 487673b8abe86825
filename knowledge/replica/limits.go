package replica

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// What a line from outside may hold
//
// Anybody who can write into the repository can write lines of any content. One of somebody who is not
// trusted is taken in only if each text and list of it has a size and a form that this program writes:
// see [Line.fits]. The numbers and times that it claims are brought to those of a new proposal when it
// is folded: see [proposed].

// The limits of a line from outside, beside those of an assertion.
const (
	maxRef      = 4 << 10 // bytes of what a source points at, a path or a remote
	maxExtra    = 4 << 10 // bytes of the members of one object that this version does not know
	mostSources = 20      // of a version: the last ones
	mostPeriods = 500     // of a history: versions and earlier periods
	mostDivided = 16      // places where the name of a pair may be divided into a room and a key

	maxPairKey = 2*knowledge.MaxName + 1 // bytes of the name of a pair: a room, a slash and a key
)

// textLimits are the most bytes of each text of a line, by its member. Any other one is a name.
var textLimits = map[string]int{
	"value": knowledge.MaxValue, "replaces": knowledge.MaxValue, "text": knowledge.MaxValue, "description": knowledge.MaxValue, "examples": knowledge.MaxValue,
	"trigger": knowledge.MaxValue, "resolution": knowledge.MaxValue, "reason": knowledge.MaxReason, "retracted_reason": knowledge.MaxReason, "questions": knowledge.MaxReason,
	"ref": maxRef, "source": maxRef, "path": maxRef, "keyword": maxRef, "task": maxRef, "remote": maxRef, "imported_from": maxRef, "against": maxRef, "key_a": maxPairKey, "key_b": maxPairKey,
}

// listLimits are the most entries of each list of a line, by its member. Any other one has as many as
// a fact has tags.
var listLimits = map[string]int{
	"sources": maxLine, "lines": maxLine, "versions": mostPeriods, "earlier_periods": mostPeriods, "first_commits": 100, "names": 100, "seen": maxSeen,
}

// forms are the texts that are one of some words, by the struct and the member. Others that are read
// by the program and not by people are words: see [word].
var forms = map[string]func(string) bool{
	"Relation.kind":      knowledge.ValidRelation,
	"Source.kind":        validKind,
	"Line.source_kind":   validKind,
	"Gotcha.severity":    among(fact.Severities...),
	"Reminder.state":     among("open", "done"),
	"Dispute.state":      among(formats.DisputeOpen, formats.DisputeAccepted, formats.DisputeRejected, formats.DisputeClosed, formats.DisputeRefused),
	"JudgedPair.verdict": among("supersedes", "compatible", "unrelated"),
	"Fact.archetype":     among(formats.Archetypes...),
	"Line.archetype":     among(formats.Archetypes...),
}

var words = []string{"id", "privacy", "outcome", "checksum", "supersedes", "against", "name", "from", "to", "public", "redacted"}

func validKind(kind string) bool {
	return slices.Contains([]string{knowledge.KindUser, knowledge.KindFile, knowledge.KindTool, knowledge.KindAgent, knowledge.KindImport}, kind)
}

func among(list ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(list, strings.ToLower(s)) }
}

// word reports whether a text is an id, or a word of a file's format.
func word(s string) bool {
	return len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return r > '~' || r < '!' || strings.ContainsRune("<>&\"'`|", r)
	})
}

// fits reports whether a line holds nothing that this program does not write.
func (l *Line) fits() bool {
	return (l.Pair == nil || max(strings.Count(l.Pair.KeyA, "/"), strings.Count(l.Pair.KeyB, "/")) <= mostDivided) && fits("", "", reflect.ValueOf(l).Elem())
}

// fits checks a value that is a member of a struct.
func fits(owner, member string, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || fits(owner, member, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return inRange(v.Interface().(time.Time))
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			inner := v.Type().Name()
			if f.Anonymous {
				name, inner = member, owner
			}
			if f.IsExported() && !fits(inner, name, v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len() <= maxExtra
		}
		most := knowledge.MaxNames
		if n, ok := listLimits[member]; ok {
			most = n
		}
		if v.Len() > most {
			return false
		}
		for i := range v.Len() {
			if !fits(owner, member, v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		if _, extra := v.Interface().(formats.Unknown); !extra {
			return v.Len() <= listLimits[member]
		}
		size := 0
		for name, value := range v.Seq2() {
			size += len(name.String()) + value.Len()
		}
		return size <= maxExtra
	case reflect.String:
		return fitsText(owner, member, v.String())
	}
	return true
}

func fitsText(owner, member, text string) bool {
	most, free := textLimits[member]
	if !free {
		most = knowledge.MaxName
	}
	form, closed := forms[owner+"."+member]
	switch {
	case text == "":
		return true
	case len(text) > most:
		return false
	case closed:
		return form(text)
	}
	if slices.Contains(words, member) {
		return word(text)
	}
	return free || !strings.ContainsFunc(text, prose.IsControl)
}

// inRange reports whether a time is one that people speak of.
func inRange(t time.Time) bool { return t.IsZero() || t.Year() >= 1 && t.Year() <= 9999 }

// proposed is a version of somebody outside as a new proposal: what others there confirmed, and how
// sure they are, counts for nothing here. at is when its line was written.
func proposed(v *fact.Version, at time.Time) *fact.Version {
	x := *v
	x.Aliases, x.Pinned = nil, false
	if x.Privacy == knowledge.PrivacyLocal {
		x.Privacy = knowledge.PrivacyShared
	}
	x.Confidence = proposedConfidence(x.Confidence)
	x.ConfirmationCount, x.RevisionCount, x.FeedbackUp, x.FeedbackDown, x.LastFeedback, x.RestoredAt = 1, min(1, max(x.RevisionCount, 0)), 0, 0, nil, nil
	for _, t := range []*time.Time{&x.CreatedAt, &x.RecordedFrom, &x.LastConfirmed} {
		if t.After(at) {
			*t = at
		}
	}
	if c := restated(&x); c.Validate() != nil {
		x.Tags, x.Questions, x.Examples, x.Archetype = nil, nil, nil, ""
	}
	x.Sources = slices.Clone(x.Sources[max(0, len(x.Sources)-mostSources):])
	for i := range x.Sources {
		x.Sources[i] = proposedSource(x.Sources[i], at)
	}
	if formats.FoldName(x.AssertedBy) == knowledge.KindUser { // only the user's word is shown as the user's
		x.AssertedBy = ""
	}
	x.RetractedPerson = ""
	return &x
}

func proposedSource(s formats.Source, at time.Time) formats.Source {
	s.Person = "" // anybody can write a name
	s.Kind, s.Confidence, s.Files = plainKind(s.Kind), proposedConfidence(s.Confidence), s.Files[:min(len(s.Files), knowledge.MaxNames)]
	if s.At.After(at) {
		s.At = at
	}
	return s
}

// proposedConfidence is that of an assertion without one, at most.
func proposedConfidence(x float64) float64 { return min(max(x, 0), knowledge.DefaultConfidence) }
