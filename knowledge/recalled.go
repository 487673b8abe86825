package knowledge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// Recalled is the answer to a [Question].
type Recalled struct {
	Facts []Found `json:"facts"`
	Total int     `json:"total"`          // how many there are without a limit
	More  bool    `json:"more,omitempty"` // or more: not all was looked at

	AsOf    time.Time `json:"as_of"`    // the instant of valid time it is about
	KnownAt time.Time `json:"known_at"` // and of recorded time

	// Read is what was read from a question about another time than now; nil: it is about now, or about a date.
	Read *Reading `json:"read,omitempty"`

	// DateRead is the date that was read from the question, or several.
	DateRead string `json:"date_read,omitempty"`

	// Impossible is a date of the question that does not exist.
	Impossible string `json:"impossible_date,omitempty"`

	Changes []Changed `json:"changes,omitempty"` // the answer to what changed in a period
	Reason  *Reason   `json:"reason,omitempty"`  // why one value followed another

	// Missing are facts that the question names and that have no value now.
	Missing []Missing `json:"missing,omitempty"`

	// Reminders are the open ones whose keyword stands in the query, and
	// those that are due or whose task has come to its state.
	Reminders []formats.Reminder `json:"reminders,omitempty"`

	// Said is what was said about the question in sessions, where no fact is a firm answer.
	Said []Said `json:"said,omitempty"`

	// Encoder is whose vectors had a part in the answer; empty where words alone
	// decided.
	Encoder string `json:"encoder,omitempty"`

	query    query
	compared []*fact.Version // what a question in words was compared with
	near     string          // where nothing is found under a room or a key: what was probably meant
	archived int             // where nothing is listed: how many archived facts would be
}

// Found is one fact of an answer.
type Found struct {
	ID            string             `json:"id"`
	Category      string             `json:"category"`
	Key           string             `json:"key"`
	Value         string             `json:"value"`
	Score         float64            `json:"score,omitempty"`    // relevance 0..1
	Semantic      float64            `json:"semantic,omitempty"` // cosine to the query, where meaning had a part in the answer
	Confidence    float64            `json:"confidence"`
	Effective     float64            `json:"effective_confidence"`
	Confirmations int                `json:"confirmations"`
	ValidFrom     time.Time          `json:"valid_from"`
	ValidUntil    *time.Time         `json:"valid_until"`
	LastConfirmed time.Time          `json:"last_confirmed"`
	AssertedBy    string             `json:"asserted_by,omitempty"`
	Archetype     string             `json:"archetype"`
	Tags          []string           `json:"tags,omitempty"`
	Aliases       []string           `json:"aliases,omitempty"`
	Questions     []string           `json:"questions,omitempty"`
	Pinned        bool               `json:"pinned,omitempty"`
	Privacy       string             `json:"privacy"`
	Archived      bool               `json:"archived,omitempty"`
	Outdated      string             `json:"maybe_outdated,omitempty"` // category/key of a newer fact that seems to replace it
	Disputed      bool               `json:"disputed,omitempty"`       // an open dispute stands against it
	SourceState   string             `json:"source_state,omitempty"`   // changed or gone: the file that its source names is not what it was
	Parts         map[string]float64 `json:"parts,omitempty"`

	fact.Trust

	Maybe   bool   `json:"maybe,omitempty"`   // too weak for a firm answer
	Past    bool   `json:"past,omitempty"`    // it is not true now: its period says when it was, or will be
	Mark    string `json:"mark,omitempty"`    // corrected, retracted, planned
	Author  bool   `json:"-"`                 // who said so is what was asked
	Planned *Plan  `json:"planned,omitempty"` // its next change, if the question is about now

	Version *fact.Version `json:"-"` // what was found

	coverage float64 // the share of the question that it covers
}

// found is v as it was held at the instants of f.
func found(v *fact.Version, f *query) Found {
	p, confirmations, confidence := fact.PeriodOf(v), v.ConfirmationCount, v.Confidence
	if known := f.filter.Known; !known.IsZero() {
		p, _ = fact.HeldAt(v, known)
		confirmations, confidence = fact.KnownAt(v, known)
	}
	return Found{
		ID: v.ID, Category: v.Category, Key: v.Key, Value: fact.Text(v), Confidence: confidence,
		Effective: fact.EffectiveConfidence(v, f.now, fact.Retrievals{}), Confirmations: confirmations,
		ValidFrom: p.From, ValidUntil: p.Until, LastConfirmed: v.LastConfirmed, AssertedBy: AssertedBy(v),
		Archetype: v.Archetype, Tags: v.Tags, Aliases: v.Aliases, Questions: v.Questions, Pinned: v.Pinned, Privacy: v.Privacy,
		Archived: v.ArchivedAt != nil, Trust: fact.TrustIn(v), Version: v,
	}
}

// FoundAt is a version as it is believed at an instant.
func FoundAt(v *fact.Version, now time.Time) Found {
	return found(v, &query{filter: state.Filter{Now: now, AsOf: now}, now: now})
}

// cut keeps the first facts, up to the limit. Weak ones do not count.
func (r *Recalled) cut() {
	r.AsOf, r.KnownAt = r.query.filter.AsOf, r.query.filter.Known
	if r.KnownAt.IsZero() {
		r.KnownAt = r.query.now
	}
	r.Total = max(r.Total, r.firm())
	firm, weak := confirmedFirst(r.Facts[:r.firm()], r.query.Limit), confirmedFirst(r.Facts[r.firm():], r.query.Limit)
	if len(firm) > 0 && fact.Unconfirmed(firm[0].Version) {
		own := 0
		for _, f := range weak {
			if !fact.Unconfirmed(f.Version) {
				own++
			}
		}
		// Firm answers of others leave room for weak ones of what was said here.
		firm = firm[:min(len(firm), max(r.query.Limit-own, r.query.Limit/4))]
	}
	r.Facts = slices.Concat(firm, weak)
	r.Facts = slices.Clip(r.Facts[:min(len(r.Facts), r.query.Limit)])
	if r.Facts == nil {
		r.Facts = []Found{}
	}
}

// confirmedFirst puts what nobody has confirmed here after the rest, and gives it at most a quarter of
// the answer where the rest fills it: others may have written it for this very question.
func confirmedFirst(list []Found, most int) []Found {
	if !slices.ContainsFunc(list, func(f Found) bool { return fact.Unconfirmed(f.Version) }) {
		return list
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Found) int { return fact.UnconfirmedLast(a.Version, b.Version) })
	confirmed := slices.IndexFunc(sorted, func(f Found) bool { return fact.Unconfirmed(f.Version) })
	keep := min(confirmed, max(most-(len(sorted)-confirmed), most-most/4))
	return slices.Delete(sorted, keep, confirmed)
}

// nameNearest names the room or the fact that was probably meant, where the question names one that is unknown.
func (r *Recalled) nameNearest(k state.Reader, now time.Time) {
	f := &r.query
	switch unknown := (Name{Category: f.Category, Key: f.Key}); {
	case f.Query == "" && f.Key != "" && f.Category == "" && strings.Contains(f.Key, "/"):
		unknown.Category, unknown.Key = SplitName(k, f.Key, "")
		r.near = Nearest(k, unknown, now)
	case f.Query == "" && f.Key != "":
		r.near = Nearest(k, unknown, now)
	case f.Category != "" && k.Room(f.Category) == "":
		r.near = Nearest(k, Name{Category: f.Category}, now)
	}
}

// markDisputed marks the facts that an open dispute stands against.
func (r *Recalled) markDisputed(k state.Reader) {
	for _, d := range state.OpenDisputes(k, k.Disputed, r.query.now) {
		for i := range r.Facts {
			r.Facts[i].Disputed = r.Facts[i].Disputed || r.Facts[i].ID == d.Against
		}
	}
}

// addPlans adds the planned changes of the facts.
func (r *Recalled) addPlans(k state.Reader) {
	if r.query.hasTime {
		return
	}
	for i := range r.Facts {
		if r.Facts[i].Past {
			continue
		}
		r.Facts[i].Planned = planOf(k.Versions(fact.IDOf(r.Facts[i].Category, r.Facts[i].Key)), r.query.now)
	}
}

// firm counts the facts that are firm answers; they come first.
func (r *Recalled) firm() int {
	if i := slices.IndexFunc(r.Facts, func(f Found) bool { return f.Maybe }); i >= 0 {
		return i
	}
	return len(r.Facts)
}

func (r Recalled) ids() []string {
	out := make([]string, len(r.Facts))
	for i, f := range r.Facts {
		out[i] = f.ID
	}
	return out
}

// Text gives the answer's lines.
func (r Recalled) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Recalled) TextIn(call prose.Syntax) string {
	var b strings.Builder
	if r.query.dateDropped {
		fmt.Fprintf(&b, "Nothing was found for the date in the question, which was left out.\n")
	}
	if r.Read != nil && r.Read.Kind == language.AsksChanges {
		r.writeChanges(&b)
	} else if r.firm() == 0 {
		b.WriteString(r.nothing())
		if r.near != "" {
			b.WriteString(" Did you mean " + prose.Name(r.near) + "?")
		}
		if r.archived > 0 {
			fmt.Fprintf(&b, "\n  %d archived: %s shows them, %s brings them back", r.archived, call("", "include_archived", true), call("restore"))
		}
	} else {
		r.header(&b)
	}
	if r.Read != nil && r.query.Explain {
		b.WriteString("\n  " + r.Read.Line())
	}
	for _, f := range r.Facts {
		r.line(&b, f)
	}
	if r.Reason != nil {
		b.WriteString("\n  " + r.Reason.Line())
	}
	b.WriteString(prose.More(call, r.Total-r.query.Offset-r.firm()-len(r.Changes), r.query.Limit))
	if r.firm() > 0 {
		for _, m := range r.Missing {
			b.WriteString("\n  " + m.Line())
		}
	}
	for _, x := range r.Reminders {
		fmt.Fprintf(&b, "\n  Reminder %s: %s%s (%s when done)", prose.Line(x.ID), prose.Brief(x.Text)+reminder.By(x), fact.Trust{Unconfirmed: x.TakenIn}.Mark(), call("remind_done", "id", x.ID))
	}
	WriteSaid(&b, r.Said, Said.quoted)
	return b.String()
}

// ReadAs says what was read from a question about another time than now, "" for one about now.
func (r *Recalled) ReadAs() string {
	switch {
	case r.Read != nil && r.Read.Header != "":
		return r.Read.Header + ", read from the question"
	case r.DateRead != "":
		return "Facts as of " + r.DateRead + ", read from the question"
	}
	return ""
}

func (r Recalled) header(b *strings.Builder) {
	shown := fmt.Sprintf("(showing %d/%d):", r.firm(), r.Total)
	if r.More {
		shown = fmt.Sprintf("(showing %d of more):", r.firm())
	}
	switch f := r.query; {
	case r.ReadAs() != "":
		b.WriteString(r.ReadAs() + " " + shown)
	case f.hasTime:
		fmt.Fprintf(b, "Facts as of %s %s", f.asOf, shown)
	case f.Query != "" && r.Encoder != "":
		fmt.Fprintf(b, "Semantic recall '%s' (showing %d):", prose.Brief(f.Query), r.firm())
	case f.Query != "":
		fmt.Fprintf(b, "Matching facts %s", shown)
	case f.Category != "":
		fmt.Fprintf(b, "Facts [%s] %s", prose.Name(r.Facts[0].Category), shown)
	case f.Key != "":
		fmt.Fprintf(b, "Matching facts %s", shown)
	default:
		fmt.Fprintf(b, "Recent facts %s", shown)
	}
}

// writeChanges writes the answer to what changed in a period.
func (r Recalled) writeChanges(b *strings.Builder) {
	if len(r.Changes) == 0 {
		b.WriteString(r.ReadAs() + ": nothing.")
		return
	}
	fmt.Fprintf(b, "%s (showing %d/%d):", r.ReadAs(), len(r.Changes), r.Total)
	for _, c := range r.Changes {
		b.WriteString("\n  " + c.Line())
	}
}

// NoSuchDate says that a date of a question, as it is shown, does not exist.
func NoSuchDate(shown string) string {
	return "There is no " + shown + ": the date in the question does not exist."
}

func (r Recalled) nothing() string {
	switch f := r.query; {
	case r.Impossible != "":
		return NoSuchDate("'" + prose.Brief(r.Impossible) + "'")
	case len(r.Missing) > 0:
		lines := make([]string, len(r.Missing))
		for i, m := range r.Missing {
			lines[i] = m.Line()
		}
		return strings.Join(lines, "\n")
	case f.Query != "":
		return fmt.Sprintf("No facts matching '%s'.", prose.Brief(f.Query))
	case f.hasTime && !f.named:
		return fmt.Sprintf("No facts valid at %s.", f.asOf)
	case len(f.Tags) > 0:
		return fmt.Sprintf("No facts with the tags '%s'.", prose.Brief(strings.Join(f.Tags, ", ")))
	case f.Key != "":
		return fmt.Sprintf("No facts matching '%s'.", prose.Brief(f.Key))
	case f.Category != "":
		return fmt.Sprintf("No facts in category '%s'.", prose.Brief(f.Category))
	case r.archived > 0:
		return "No active facts."
	}
	return "No knowledge stored for this project yet."
}

func (r Recalled) line(b *strings.Builder, f Found) {
	if r.Read != nil && (r.Read.Kind == language.AsksTimeline || r.Read.Kind == language.AsksCount) {
		p, mark := fact.Period{From: f.ValidFrom, Until: f.ValidUntil}, f.Mark
		switch {
		case mark == "" && f.Past:
			mark = "archived"
		case mark == "" && f.Archived:
			mark = "dormant"
		case mark == "":
			mark = "CURRENT"
		}
		fmt.Fprintf(b, "\n  [%s/%s] = %s [%s] (%s) conf=%s x%d", prose.Name(f.Category), prose.Name(f.Key), f.Line(f.Value), mark, p.StringAt(r.query.now), prose.Percent(f.Confidence), f.Confirmations)
		return
	}
	maybe := ""
	if f.Maybe {
		maybe = "maybe: "
	}
	fmt.Fprintf(b, "\n  %s[%s/%s]: %s (", maybe, prose.Name(f.Category), prose.Name(f.Key), f.Line(f.Value))
	if r.query.Query != "" {
		fmt.Fprintf(b, "score: %s, ", prose.Percent(f.Score))
	}
	if r.Encoder != "" && f.Semantic != 0 {
		fmt.Fprintf(b, "sem: %s, ", prose.Percent(max(f.Semantic, 0)))
	}
	fmt.Fprintf(b, "conf: %s", prose.Percent(f.Confidence))
	if !r.query.hasTime && f.Confirmations > 1 {
		fmt.Fprintf(b, ", confirmed %dx", f.Confirmations)
	}
	b.WriteByte(')')
	if p := (fact.Period{From: f.ValidFrom, Until: f.ValidUntil}); r.query.hasTime || f.Past {
		fmt.Fprintf(b, " [valid %s]", p.StringAt(r.query.now))
	}
	if f.Mark != "" {
		b.WriteString(" [" + f.Mark + "]")
	}
	if f.Archived {
		b.WriteString(" [dormant]")
	}
	if f.Disputed {
		b.WriteString(" [disputed]")
	}
	if f.Outdated != "" {
		b.WriteString(" [maybe outdated: " + prose.Name(f.Outdated) + "]")
	}
	if f.SourceState != "" {
		b.WriteString(" [source " + f.SourceState + "]")
	}
	b.WriteString(r.origin(f))
	for _, name := range sortedKeys(f.Parts) {
		fmt.Fprintf(b, "\n      %s: %.3f", name, f.Parts[name])
	}
}

// authorRunes is how much of an author's name stands beside a fact: of most agents
// all. With it, the origin of a fact takes at most 16 tokens.
const authorRunes = 16

// origin says since when a fact is true and who says so, and what is planned.
func (r Recalled) origin(f Found) (text string) {
	if r.query.hasTime {
		return ""
	}
	author := ""
	if len(f.Version.Sources) > 0 || f.AssertedBy != "" || f.Unconfirmed {
		author = AuthorOf(f.Version)
	}
	if f.Author && slices.ContainsFunc(f.Version.Sources, func(s Source) bool { return s.Kind == KindUser }) {
		author = prose.Clip(author, authorRunes) + " (user)"
	}
	if f.Past {
		if f.Author {
			return by(author)
		}
		return ""
	}
	if f.Author {
		return " since " + fact.Day(f.ValidFrom) + by(author)
	}
	text = " since " + fact.Day(f.ValidFrom) + by(prose.Clip(author, authorRunes))
	if f.Planned != nil {
		text += "; " + f.Planned.text()
	}
	return text
}

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
