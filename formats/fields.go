package formats

import "encoding/json"

// The members of each type in the order of the file. Whoever adds a field to a
// type adds it here; a test compares the two.

func (s *Source) fields(p *pass) {
	p.word("kind", &s.Kind)
	p.textOmit("ref", &s.Ref)
	p.wordOmit("by", &s.By)
	p.time("at", &s.At)
	p.numberOmit("confidence", &s.Confidence)
}

func (b *Belief) fields(p *pass) {
	p.time("valid_from", &b.ValidFrom)
	p.maybe("valid_until", &b.ValidUntil)
	p.time("recorded_from", &b.RecordedFrom)
	p.time("recorded_until", &b.RecordedUntil)
}

func (f *Fact) fields(p *pass) {
	p.text("id", &f.ID)
	p.word("category", &f.Category)
	p.text("key", &f.Key)
	p.text("value", &f.Value)
	p.word("source_session", &f.SourceSession)
	p.number("confidence", &f.Confidence)
	p.time("created_at", &f.CreatedAt)
	p.time("last_confirmed", &f.LastConfirmed)
	p.count("retrieval_count", &f.RetrievalCount)
	p.maybe("last_retrieved", &f.LastRetrieved)
	p.time("valid_from", &f.ValidFrom)
	p.maybe("valid_until", &f.ValidUntil)
	p.optional("supersedes", &f.Supersedes)
	p.count("confirmation_count", &f.ConfirmationCount)
	p.count("feedback_up", &f.FeedbackUp)
	p.count("feedback_down", &f.FeedbackDown)
	p.maybe("last_feedback", &f.LastFeedback)
	p.word("privacy", &f.Privacy)
	p.optional("imported_from", &f.ImportedFrom)
	p.word("archetype", &f.Archetype)
	p.count("revision_count", &f.RevisionCount)
	p.time("recorded_from", &f.RecordedFrom)
	p.maybe("recorded_until", &f.RecordedUntil)
	p.word("asserted_by", &f.AssertedBy)
	records(p, "sources", &f.Sources)
	p.texts("tags", &f.Tags)
	p.texts("aliases", &f.Aliases)
	p.flag("pinned", &f.Pinned)
	p.maybe("archived_at", &f.ArchivedAt)
	p.maybeOmit("retracted_at", &f.RetractedAt)
	if p.w == nil || len(f.Beliefs) > 0 {
		records(p, "earlier_periods", &f.Beliefs)
	}
	p.word("outcome", &f.Outcome)
}

func (c *Pattern) fields(p *pass) {
	p.word("pattern_type", &c.Type)
	p.text("description", &c.Description)
	p.texts("examples", &c.Examples)
	p.word("source_session", &c.SourceSession)
	p.time("created_at", &c.CreatedAt)
}

func (g *Gotcha) fields(p *pass) {
	p.text("id", &g.ID)
	p.word("category", &g.Category)
	p.word("severity", &g.Severity)
	p.text("trigger", &g.Trigger)
	p.text("resolution", &g.Resolution)
	p.count("occurrences", &g.Occurrences)
	p.time("first_seen", &g.FirstSeen)
	p.time("last_seen", &g.LastSeen)
	p.number("confidence", &g.Confidence)
	p.text("source", &g.Source)
}

func (r *Relation) fields(p *pass) {
	p.end("from", &r.From, &r.FromExtra)
	p.end("to", &r.To, &r.ToExtra)
	p.word("kind", &r.Kind)
	p.time("created_at", &r.CreatedAt)
	p.maybe("last_seen", &r.LastSeen)
	p.count("count", &r.Count)
	p.word("source_session", &r.SourceSession)
}

func (r *Reminder) fields(p *pass) {
	p.text("id", &r.ID)
	p.text("text", &r.Text)
	p.textOmit("path", &r.Path)
	p.textOmit("keyword", &r.Keyword)
	p.maybeOmit("due", &r.Due)
	p.textOmit("task", &r.Task)
	p.word("state", &r.State)
	p.time("created_at", &r.CreatedAt)
	p.textOmit("created_by", &r.CreatedBy)
	p.maybe("done_at", &r.DoneAt)
}

func (j *JudgedPair) fields(p *pass) {
	p.text("key_a", &j.KeyA)
	p.text("key_b", &j.KeyB)
	p.word("verdict", &j.Verdict)
	p.time("judged_at", &j.JudgedAt)
}

func (i *Insight) fields(p *pass) {
	p.text("summary", &i.Summary)
	p.texts("from_sessions", &i.FromSessions)
	p.time("timestamp", &i.Timestamp)
	p.textOmit("kind", &i.Kind)
}

func (t *Tombstone) fields(p *pass) {
	p.word("category", &t.Category)
	p.text("key", &t.Key)
	p.time("erased_at", &t.ErasedAt)
}

func (d *Document) fields(p *pass) {
	p.count("schema", &d.Schema)
	p.text("project_root", &d.ProjectRoot)
	p.text("project_hash", &d.ProjectHash)
	p.time("updated_at", &d.UpdatedAt)
	p.text("checksum", &d.Checksum)
	p.serial("seq", &d.Seq)
	p.serial("generation", &d.Generation)
	p.facts("facts", &d.Facts)
	records(p, "patterns", &d.Patterns)
	records(p, "gotchas", &d.Gotchas)
	records(p, "relations", &d.Relations)
	records(p, "reminders", &d.Reminders)
	records(p, "judged_pairs", &d.JudgedPairs)
	records(p, "history", &d.History)
	if p.w == nil || len(d.Tombstones) > 0 {
		records(p, "tombstones", &d.Tombstones)
	}
}

func (s *Source) extra() *map[string]json.RawMessage     { return &s.Extra }
func (b *Belief) extra() *map[string]json.RawMessage     { return &b.Extra }
func (f *Fact) extra() *map[string]json.RawMessage       { return &f.Extra }
func (c *Pattern) extra() *map[string]json.RawMessage    { return &c.Extra }
func (g *Gotcha) extra() *map[string]json.RawMessage     { return &g.Extra }
func (r *Relation) extra() *map[string]json.RawMessage   { return &r.Extra }
func (r *Reminder) extra() *map[string]json.RawMessage   { return &r.Extra }
func (j *JudgedPair) extra() *map[string]json.RawMessage { return &j.Extra }
func (i *Insight) extra() *map[string]json.RawMessage    { return &i.Extra }
func (t *Tombstone) extra() *map[string]json.RawMessage  { return &t.Extra }
func (d *Document) extra() *map[string]json.RawMessage   { return &d.Extra }
