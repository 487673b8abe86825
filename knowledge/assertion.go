package knowledge

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Assertion is one claim about the project: what somebody holds true, since
// when, how sure they are and where they have it from.
type Assertion struct {
	Category   string   `json:"category" short:"c" jsonschema:"room the fact belongs to, e.g. architecture"`
	Key        string   `json:"key,omitempty" short:"k" jsonschema:"name of the fact within its category; made from the value's first words when missing"`
	Value      string   `json:"value" arg:"1" alias:"content" long:"true" jsonschema:"what is true, up to 64 KiB"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure you are, 0 to 1 (default 0.8; 0.95 for a user)"`
	ValidFrom  string   `json:"valid_from,omitempty" jsonschema:"since when it is true: RFC 3339, a day, an age such as 3d, or words (yesterday) (default now)"`
	ValidUntil string   `json:"valid_until,omitempty" jsonschema:"when it stops being true (default open)"`
	Source     string   `json:"source,omitempty" jsonschema:"where it comes from, e.g. src/auth.ts:12 or user"`
	Correct    bool     `json:"correct,omitempty" jsonschema:"true when the old value was wrong all along, not when the world changed"`
	Also       bool     `json:"also,omitempty" jsonschema:"add this value and keep the others"`
	Replaces   string   `json:"replaces,omitempty" long:"true" jsonschema:"which one of several values this replaces; * for all"`
	Questions  string   `json:"questions,omitempty" jsonschema:"up to three short questions that this answers, in other words than the value, separated by ;"`
	Examples   []string `json:"-"` // of a pattern
	Tags       []string `json:"tags,omitempty" jsonschema:"words to group facts by, 20 at most"`
	Aliases    []string `json:"aliases,omitempty" jsonschema:"other names the key is found by, 20 at most"`
	Pinned     *bool    `json:"pinned,omitempty" jsonschema:"always in the briefing"`
	Archetype  string   `json:"archetype,omitempty" enum:"architecture,decision,gotcha,pattern,convention,workflow,dependency,preference,observation,fact" jsonschema:"what kind of knowledge it is, where the room does not tell: convention, workflow, preference, pattern are rules that every task needs"`
	Privacy    string   `json:"privacy,omitempty" enum:"shared,project_only,local" jsonschema:"project_only: other projects do not find it; local: it never leaves this machine"`
}

// The limits of an assertion.
const (
	MaxValue = 64 << 10 // bytes of a value
	MaxName  = 256      // bytes of a category, key, tag or alias
	MaxNames = 20       // tags, aliases or examples of a fact
)

// How sure an assertion is that does not say so: anybody's, and a user's.
const (
	DefaultConfidence = 0.8
	userConfidence    = 0.95
)

// Checked is an assertion that was checked, normalised and redacted.
type Checked struct {
	Category, Key, Value string
	Confidence           float64
	From, Until          *time.Time // nil where not given
	FromDay              bool       // From is a day, without a time: the start of that day
	Source               Source     // its At is set when it is recorded
	Authority            string     // the kind of source in whose name it speaks; empty: that of Source
	Session              string
	Correct              bool
	Also                 bool   // the value is true beside those that the fact has
	Replaces             string // the one of several values that it takes the place of, or [AllValues]
	Tags, Aliases        []string
	Questions            []string // nil: those that the fact has stay
	Examples             []string // of a pattern: they are added to those that it has
	Pinned               *bool
	Privacy              string
	Archetype            string    // empty: that of the fact, or what the room tells
	Redacted             []string  // rules that found a secret
	At                   time.Time // when it was said, by the wall clock; zero: when it is recorded

	// Unseen reports whether whoever asserts it had not seen all assertions of a version: the
	// two spoke apart, on two machines. nil: they had seen them all.
	Unseen func(*fact.Version) bool

	unchecked string // why the file that the source names will not be checked
}

// Remember asserts a fact and is on disk when it returns. It fails with an
// [ArgumentError] that names what is wrong, or with an error of the journal;
// then nothing has changed. A contradiction is part of the result, not an error.
func (s *Store) Remember(ctx context.Context, a Assertion) (Remembered, error) {
	c, err := s.Check(a)
	if err != nil {
		return Remembered{}, err
	}
	return s.assert(ctx, c, nil)
}

// assert asserts what was checked, after complete has given it what depends on the facts; nil: nothing does.
func (s *Store) assert(ctx context.Context, c Checked, complete func(state.Reader, *Checked)) (r Remembered, err error) {
	s.advice.writers.Add(1)
	err = s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		var events []state.Event
		a := c
		if complete != nil {
			complete(st, &a)
		}
		a.asShown(st)
		events, r, err = assertHere(st, a, now, s.present(now))
		if r.Outcome != Confirmed {
			r.Similar = sameInOtherRooms(st, r, s.present(now))
		}
		return events, err
	})
	last := s.advice.writers.Add(-1) == 0
	if err != nil {
		return Remembered{}, err
	}
	r.Redacted, r.Unchecked = c.Redacted, c.unchecked
	weighRival(ctx, s, r.Contradiction)
	if last {
		s.advice.conflicts(ctx, &r, s.present(r.RecordedAt))
	}
	return r, nil
}

// Check checks an assertion and takes secrets out of it. Every error is an
// [ArgumentError].
func (s *Store) Check(a Assertion) (Checked, error) {
	c := Checked{Confidence: DefaultConfidence, Correct: a.Correct, Also: a.Also, Pinned: a.Pinned, Session: s.actor.Session, At: s.Now()}
	in := input{secrets: s.secrets}
	c.Category, c.Key = in.text("category", a.Category), in.text("key", a.Key)
	c.Value, c.Replaces = in.named(c.Category, c.Key, "value", a.Value), in.named(c.Category, c.Key, "replaces", a.Replaces)
	c.Source, c.unchecked = sourced(s, in.text("source", a.Source), DefaultConfidence)
	c.Tags, c.Aliases, c.Examples = in.names("tags", a.Tags), in.names("aliases", a.Aliases), in.names("examples", a.Examples)
	c.Questions = splitQuestions(in.text("questions", a.Questions))
	if c.Redacted = in.redacted; in.err != nil {
		return c, in.err
	}
	switch {
	case a.Confidence != nil:
		c.Confidence = *a.Confidence
	case c.Source.Kind == KindUser:
		c.Confidence = userConfidence
	}
	c.Source.Confidence = c.Confidence
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Privacy, c.Archetype = a.Privacy, a.Archetype
	switch {
	case c.Archetype != "" && !slices.Contains(formats.Archetypes, c.Archetype):
		return c, refusal.Argument("archetype", "archetype %q is none of %s", prose.Clip(c.Archetype, 40), strings.Join(formats.Archetypes, ", "))
	case !slices.Contains([]string{"", PrivacyShared, PrivacyProjectOnly, PrivacyLocal}, c.Privacy):
		return c, refusal.Argument("privacy", "privacy %q is none of shared, project_only, local", prose.Clip(c.Privacy, 40))
	case c.Also && c.Correct:
		return c, refusal.Argument("also", "also adds a value, correct replaces a wrong one: give one of the two")
	case c.Also && c.Replaces != "":
		return c, refusal.Argument("also", "also adds a value, replaces ends one: give one of the two")
	case len(c.Replaces) > MaxValue:
		return c, checkValue("replaces", c.Replaces)
	}
	return c, c.parsePeriod(a, s.Now())
}

// Source is who speaks, with the evidence that a call gives. The evidence is user or tool:NAME,
// for whom an agent passes something on, or what it points at.
func (s *Store) Source(ref string, confidence float64) Source {
	x, _ := sourced(s, ref, confidence)
	return x
}

// sourced is [Store.Source], with the reason why a file that it names will not be
// checked.
func sourced(s *Store, ref string, confidence float64) (x Source, unchecked string) {
	x, unchecked = s.evidence(ref, confidence)
	switch {
	case x.Kind == KindUser && !s.actor.Remote:
		x.Person = s.person()
	case x.Kind != KindUser && x.By != ToolCLI && args.ClaimsUserOf(x.By, s.person):
		x.By = x.Kind + ":" + x.By // a program by the user's name
	}
	return x, unchecked
}

// evidence is who speaks, and what for, without the user's name.
func (s *Store) evidence(ref string, confidence float64) (x Source, unchecked string) {
	ref, _ = s.Redact(strings.TrimSpace(ref))
	x = Source{Kind: s.actor.Authority(), By: s.actor.Name(), Ref: ref, Confidence: confidence}
	switch {
	case x.Ref == KindUser, x.Ref == KindTool, x.Ref == KindAgent:
		x.Kind, x.Ref = x.Ref, ""
	case strings.HasPrefix(x.Ref, "tool:"):
		x.Kind = KindTool
		if x.By == ToolCLI { // the tool has a name
			x.By = ""
		}
	default:
		var now *formats.FileState
		var err error
		if x.Ref, now, err = s.files.Read(x.Ref); err != nil {
			return x, err.Error()
		}
		if now == nil {
			break
		}
		x.Files = []formats.FileState{*now}
		if x.Kind == KindAgent {
			x.Kind = KindFile
		}
	}
	return x, ""
}

// Restated is a version as the assertion of an import.
func Restated(v *fact.Version) Checked {
	c := Checked{
		Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence, From: &v.ValidFrom, Until: v.ValidUntil,
		Session: v.SourceSession, Tags: v.Tags, Aliases: v.Aliases, Questions: v.Questions, Examples: v.Examples,
		Source: Source{Kind: KindImport, By: v.AssertedBy, Confidence: v.Confidence},
	}
	if v.Pinned {
		c.Pinned = new(true)
	}
	if fact.ArchetypeGiven(v) {
		c.Archetype = v.Archetype
	}
	return c
}

// Validate checks value, confidence, names and lists.
func (c *Checked) Validate() error {
	if err := checkValue("value", c.Value); err != nil {
		return err
	}
	if math.IsNaN(c.Confidence) || c.Confidence < 0 || c.Confidence > 1 {
		return refusal.Argument("confidence", "confidence %v is not between 0 and 1", c.Confidence)
	}
	if err := checkName("category", c.Category); err != nil {
		return err
	}
	if c.Key != "" {
		if err := checkName("key", c.Key); err != nil {
			return err
		}
	}
	if err := checkQuestions(c.Questions); err != nil {
		return err
	}
	if err := checkExamples(c.Examples); err != nil {
		return err
	}
	return checkNames(c.Tags, c.Aliases)
}

// checkExamples refuses examples that are too many or too long.
func checkExamples(list []string) error {
	size := 0
	for _, x := range list {
		size += len(x)
	}
	switch {
	case len(list) > MaxNames:
		return refusal.Argument("examples", "%d examples, more than %d", len(list), MaxNames)
	case size > MaxValue:
		return refusal.Argument("examples", "examples has %d bytes, more than %d", size, MaxValue)
	}
	return nil
}

// checkValue checks a text that an argument brought.
func checkValue(argument, text string) error {
	switch {
	case text == "":
		return refusal.Argument(argument, "%s is empty", argument)
	case len(text) > MaxValue:
		return refusal.Argument(argument, "%s has %d bytes, more than %d: keep the text in a file and remember where it is", argument, len(text), MaxValue)
	}
	return nil
}

// checkName checks a category, key, tag or alias.
func checkName(argument, name string) error {
	switch {
	case formats.FoldName(name) == "":
		return refusal.Argument(argument, "%s is empty", argument)
	case len(name) > MaxName:
		return refusal.Argument(argument, "%s has %d bytes, more than %d", argument, len(name), MaxName)
	case strings.IndexFunc(name, prose.IsControl) >= 0:
		return refusal.Argument(argument, "%s holds a line break or control character: %q", argument, prose.Clip(name, 40))
	}
	return nil
}

// ValidName reports whether a text may be a category or a key.
func ValidName(name string) bool { return utf8.ValidString(name) && checkName("name", name) == nil }

func checkNames(tags, aliases []string) error {
	for argument, list := range map[string][]string{"tags": tags, "aliases": aliases} {
		if len(list) > MaxNames {
			return refusal.Argument(argument, "%d %s, more than %d", len(list), argument, MaxNames)
		}
		for _, name := range list {
			if err := checkName(argument, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// input takes the texts of a call in. All of them are trimmed, and rid of secrets.
type input struct {
	secrets  *secret.Redactor
	redacted []string // rules that found a secret
	err      error    // about the first text that is refused
}

// text is an argument that may be empty.
func (in *input) text(argument, text string) string { return in.named("", "", argument, text) }

// named is an argument of a fact: its name may say that the text is a secret.
func (in *input) named(category, key, argument, text string) string {
	text, found := in.secrets.CleanNamed(category, key, strings.TrimSpace(text))
	in.redacted = append(in.redacted, found...)
	if !utf8.ValidString(text) {
		in.refuse(refusal.Argument(argument, "%s is not valid UTF-8", argument))
	}
	return text
}

// value is an argument that is a value of its own.
func (in *input) value(argument, text string) string {
	text = in.text(argument, text)
	in.refuse(checkValue(argument, text))
	return text
}

// questions are those of an argument, taken apart.
func (in *input) questions(text string) []string {
	list := splitQuestions(in.text("questions", text))
	in.refuse(checkQuestions(list))
	return list
}

// names are those of a list that are not empty, each once.
func (in *input) names(argument string, list []string) (out []string) {
	for _, name := range list {
		if name = in.text(argument, name); name != "" {
			out = merge(out, []string{name})
		}
	}
	return out
}

func (in *input) refuse(err error) {
	if in.err == nil {
		in.err = err
	}
}

// merge appends the names of b that a does not have, compared folded.
func merge(a, b []string) []string {
	out := slices.Clip(a)
	for _, name := range b {
		if !slices.ContainsFunc(out, func(x string) bool { return formats.FoldName(x) == formats.FoldName(name) }) {
			out = append(out, name)
		}
	}
	return out
}

func (c *Checked) parsePeriod(a Assertion, now time.Time) error {
	for _, p := range []struct {
		argument, text string
		to             **time.Time
	}{{"valid_from", a.ValidFrom, &c.From}, {"valid_until", a.ValidUntil, &c.Until}} {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		t, err := args.ParseInstant(p.argument, p.text, now, false)
		if err != nil {
			return err
		}
		*p.to = &t.Time
		c.FromDay = c.FromDay || t.Day && p.argument == "valid_from"
	}
	if c.From != nil && c.Until != nil && !c.From.Before(*c.Until) {
		return refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", a.ValidUntil, a.ValidFrom)
	}
	return nil
}

// dated reports whether the assertion gives a period.
func (c *Checked) dated() bool { return c.From != nil || c.Until != nil }

// name settles category and key. The first spelling is kept. A missing key is made from the
// value. A key that another value has taken gets a number.
func (c *Checked) name(f state.Facts) {
	c.Category, c.Key = SplitName(f, c.Category, c.Key)
	if room := f.Room(c.Category); room != "" {
		c.Category = room
	}
	if c.Key == "" {
		stem := fact.Slug(c.Value)
		c.Key = stem
		for n := 2; taken(f.Versions(fact.IDOf(c.Category, c.Key)), c.Value); n++ {
			c.Key = stem + "-" + strconv.Itoa(n)
		}
	}
	if vs := f.Versions(fact.IDOf(c.Category, c.Key)); len(vs) > 0 {
		c.Category, c.Key = vs[0].Category, vs[0].Key
	}
}

// asShown has an assertion mean a value that it gives as answers show it, with its escapes.
func (c *Checked) asShown(f state.Facts) {
	named := *c
	named.name(f)
	vs := f.Versions(fact.IDOf(named.Category, named.Key))
	c.Value, c.Replaces = ofShown(vs, c.Value), ofShown(vs, c.Replaces)
	if c.Key == "" && strings.Contains(c.Value, `\`) { // its key was made of the value, not of the escapes
		meant := *c
		meant.Value = prose.Read(c.Value)
		meant.name(f)
		c.Value = ofShown(f.Versions(fact.IDOf(meant.Category, meant.Key)), c.Value)
	}
}

// ofShown is the value of the version that answers show as a text; the text itself if none is.
func ofShown(vs []*fact.Version, text string) string {
	if text == "" || slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Value == text }) {
		return text
	}
	escaped := strings.Contains(text, `\`) // as each escape is
	for _, v := range slices.Backward(vs) {
		if fact.Believed(v) && (escaped || len(v.Examples) > 0) && (prose.Line(v.Value) == text || prose.Line(fact.Text(v)) == text || formats.Escape(v.Value) == text) {
			return v.Value
		}
	}
	return text
}

func taken(vs []*fact.Version, value string) bool {
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return hasValue(v, value) })
}

// describe adds to a version what the assertion says of the fact beside its value.
func (c *Checked) describe(v *fact.Version) {
	v.Tags, v.Aliases = tagged(v, c.Tags), merge(v.Aliases, c.Aliases)
	if len(c.Examples) > 0 {
		v.Examples = merge(v.Examples, c.Examples)
	}
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
	if c.Archetype != "" {
		v.Archetype = c.Archetype
	}
	if c.Questions != nil {
		v.Questions, v.QuestionsAt = c.Questions, nil
	}
}

// tagged are the tags of a version with some more. A gotcha has one severity.
func tagged(v *fact.Version, more []string) []string {
	tags := v.Tags
	if fact.IsGotcha(v) && slices.ContainsFunc(more, fact.IsSeverity) {
		tags = slices.DeleteFunc(slices.Clone(tags), fact.IsSeverity)
	}
	return merge(tags, more)
}

// checkLists refuses what would take a fact over the limit of names.
func (c *Checked) checkLists(v *fact.Version) error {
	if v == nil {
		return nil
	}
	if n := len(tagged(v, c.Tags)); n > MaxNames {
		return refusal.Argument("tags", "with these the fact would have %d tags, more than %d", n, MaxNames)
	}
	if n := len(merge(v.Aliases, c.Aliases)); n > MaxNames {
		return refusal.Argument("aliases", "with these the fact would have %d aliases, more than %d", n, MaxNames)
	}
	if n := len(merge(v.Examples, c.Examples)); n > MaxNames && hasValue(v, c.Value) {
		return refusal.Argument("examples", "with these the pattern would have %d examples, more than %d", n, MaxNames)
	}
	return nil
}
