package op

import (
	"context"
	"slices"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/agents/session"
	"leanctx/agents/share"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/transfer"
	"leanctx/overview"
	"leanctx/tasks"
)

// Stores opens the stores that operations work on. The wiring of a surface fills it in.
// Operations of a nil field have a schema and help, and must not be called.
type Stores struct {
	Knowledge func(context.Context, Scope) (*knowledge.Store, error)
	Library   func(context.Context, Scope) (*knowledge.Library, error) // of all projects
	Agents    func(context.Context, Scope) (*agents.Store, error)
	Tasks     func(context.Context, Scope) (*tasks.Store, error)
	Shares    func(context.Context, Scope) (*share.Store, error)
	Costs     func(context.Context, Scope) (*cost.Usage, error)
	Overview  func(context.Context, Scope) (*overview.Map, error)
	Briefings func(context.Context, Scope, BriefingsQuery) (Result, error) // what hooks gave to sessions
	Sessions  func(context.Context, Scope) (*session.Store, error)         // what was said and done
}

// BriefingsQuery are the arguments of briefings.
type BriefingsQuery struct {
	Limit   int  `json:"limit,omitempty" jsonschema:"most briefings to show (default 20)"`
	Explain bool `json:"explain,omitempty" jsonschema:"say why each fact was chosen"`
}

// All lists the tools that MCP clients see, in the order of the documentation.
func All(st Stores) []*Tool {
	all := facts(st)
	k := knowledgeTool(all)
	return []*Tool{k, recallTool(k, append(slices.Clone(all), Saying(st)...)), Agent(st), Task(st), Share(st), Cost(st), Overview(st)}
}

// knowledgeTool is the tool of the project's facts. Of the operations that only read it
// describes recall alone; its read-only twin describes the others.
func knowledgeTool(all []Operation) *Tool {
	t := &Tool{
		Name: "ctx_knowledge", Command: "knowledge", Title: "Project memory",
		Summary: "Remember and recall facts about this project across sessions, with their history: decisions, conventions, mistakes not to repeat.",
		Hint:    "project memory: remember, recall, decisions, conventions",
		Words:   knowledgeWords(), Operations: slices.Clone(all),
	}
	for i := range t.Operations {
		switch o := &t.Operations[i]; {
		case o.Name == "recall":
			o.described = []string{"query", "category", "limit"}
		case slices.Contains(readActions[:], o.Name):
			o.described = nil
		}
	}
	return t
}

func facts(st Stores) []Operation { return slices.Concat(knowing(st), relating(st), keeping(st)) }

// The fact of the examples.
const (
	exampleCategory = "architecture"
	exampleKey      = "auth"
)

// knowing are the operations that assert and find facts.
func knowing(st Stores) []Operation {
	open := st.Knowledge
	return []Operation{
		New("remember", "Assert a fact; the same value confirms it, another supersedes it.", Adds, on(open, (*knowledge.Store).Remember), "category", "value").
			Describe("key", "confidence", "valid_from", "valid_until", "source", "correct", "also", "replaces", "pinned", "questions").Shown("category", exampleCategory, "key", exampleKey, "value", "JWT RS256").Guesses("store", "save", "add", "set", "write", "create", "put", "update", "learn", "edit", "change", "correct"),
		New("recall", "Find facts, past ones too, by words and meaning, or list a category. Retry in other words.", Reads, on(open, (*knowledge.Store).Recall)).
			Describe("query", "category", "key", "as_of", "limit").Shown("query", "authentication").Guesses("get", "query", "find", "read", "lookup", "list", "retrieve", "fetch"),
		New("search", "Find facts in all projects and diaries.", Reads, on(st.Library, (*knowledge.Library).Search), "query").
			Describe().Shown("query", "database").Guesses("search_all", "global"),
		New("wakeup", "The briefing: what matters most.", Reads, on(open, function(briefing.Wakeup))).
			Describe("task", "since", "budget").Shown("task", "fix the login timeout").Guesses("brief", "briefing", "summary", "context", "wake_up"),
		New("rooms", "Categories with counts.", Reads, on(open, function(listing.Rooms))).Describe().Shown().Guesses("categories", "topics"),
		New("timeline", "Every version of a category's facts, oldest first.", Reads, on(open, function(history.Timeline)), "category").
			Describe("key").Shown("category", exampleCategory, "key", exampleKey).Guesses("history", "log", "versions"),
		New("why", "Who asserted a fact, when, and what it replaced.", Reads, on(open, function(history.Why)), "category", "key").
			Describe().Shown("category", exampleCategory, "key", exampleKey).Guesses("explain", "provenance", "source", "blame"),
		New("diff", "What changed between two instants.", Reads, on(open, function(history.Diff)), "from").
			Describe("to").Shown("from", "7d").Guesses("changes", "compare"),
		New("activity", "What happened, by day.", Reads, activity(st)).
			Shown("since", "last Friday").Guesses("changed", "happened", "news", "recent", "feed"),
		New("grep", "Find facts, their history and diary entries by a regular expression.", Reads, on(open, function(history.Grep)), "regexp").
			Shown("regexp", "(?i)jwt|oauth").Guesses("regex", "match"),
		New("pattern", "Record a convention.", Adds, on(open, function(knowledge.Pattern)), "value").
			Describe("pattern_type", "examples").Shown("pattern_type", "naming", "value", "exported names have comments").Guesses("convention", "rule"),
		New("gotcha", "Record a mistake not to repeat.", Adds, on(open, function(knowledge.Gotcha)), "trigger", "resolution").
			Describe("severity").Shown("trigger", "editing a .proto file", "resolution", "run make generate", "severity", "warning").Guesses("mistake", "lesson", "pitfall", "warning"),
		New("questions", "List facts without questions, or give a fact its questions.", Adds, on(open, function(knowledge.Questions))).
			Shown("category", exampleCategory, "key", exampleKey, "questions", "how do users sign in; which token algorithm").Guesses("ask", "unasked"),
	}
}

// relating are the operations on links, disputes, feedback and reminders.
func relating(st Stores) []Operation {
	open := st.Knowledge
	return []Operation{
		New("feedback", "Say whether a fact was useful.", Changes, on(open, function(knowledge.Feedback)), "category", "key", "vote").
			Describe().Shown("category", exampleCategory, "key", exampleKey, "vote", "up").Guesses("vote", "rate"),
		New("judge", "Settle a possible conflict, or a dispute.", Changes, on(open, function(advice.Judge)), "target", "verdict").
			Describe("category", "key", "source").Shown("category", exampleCategory, "key", exampleKey, "target", "security/auth", "verdict", "compatible").Guesses("resolve", "settle"),
		New("disputes", "Assertions that stand against believed facts.", Reads, on(open, function(listing.Disputes))).
			Shown("state", "all").Guesses("conflicts"),
		New("relate", "Link two facts. The kind contradicts disputes the target, supersedes ends it.", Changes, on(open, function(knowledge.Relate)), "category", "key", "target").
			Shown("category", exampleCategory, "key", exampleKey, "target", "architecture/db", "kind", "depends_on").Guesses("link", "connect"),
		New("unrelate", "Remove a link.", Changes, on(open, function(knowledge.Unrelate)), "category", "key", "target").
			Shown("category", exampleCategory, "key", exampleKey, "target", "architecture/db").Guesses("unlink", "disconnect"),
		New("relations", "List links.", Reads, on(open, function(listing.Relations))).
			Shown("category", exampleCategory, "key", exampleKey).Guesses("links", "graph", "relations_diagram"),
		New("remind", "Leave a reminder.", Adds, on(open, function(knowledge.Remind)), "value").
			Describe("path", "keyword", "due").Shown("value", "rotate the signing key", "path", "src/auth/**").Guesses("reminder", "todo", "remember_to"),
		New("reminders", "List reminders.", Reads, on(open, function(listing.Reminders))).Shown().Guesses("todos"),
		New("remind_done", "Finish a reminder.", Changes, on(open, function(knowledge.RemindDone)), "id").
			Shown("id", "r-1a2b3c").Guesses("done", "finish", "complete"),
		New("consolidate", "Turn diary entries, findings and finished tasks into facts.", Changes, on(open, function(knowledge.Consolidate))).
			Shown("dry_run", true).Guesses("promote", "compact", "merge", "consolidate_preview").Named("consolidate_latest"),
	}
}

// keeping are the operations on the store as a whole.
func keeping(st Stores) []Operation {
	open := st.Knowledge
	return []Operation{
		New("remove", "Retract a fact, or one value; its history stays.", Destroys, on(open, (*knowledge.Store).Remove), "category", "key").
			Describe("value", "reason").Shown("category", exampleCategory, "key", exampleKey).Guesses("delete", "forget", "rm", "retract", "erase", "drop", "archive"),
		New("rename", "Give a fact another category or key.", Changes, on(open, function(knowledge.Rename)), "category", "key", "to").
			Shown("category", exampleCategory, "key", exampleKey, "to", "security/auth").Guesses("move", "mv"),
		New("undo", "Take back your own last commit.", Changes, on(open, function(knowledge.Undo))).Shown().Guesses("revert", "rollback"),
		New("restore", "Bring archived facts back.", Changes, on(open, function(knowledge.Restore))).
			Shown("query", "authentication").Guesses("rehydrate", "unarchive", "undelete"),
		New("export", "Print all facts, or write them to a file.", Adds, on(open, function(transfer.Export))).WritesFile("file").
			Shown("format", "jsonl", "file", "backup.jsonl").Guesses("dump", "backup"),
		New("import", "Import facts from a file, in one commit.", Changes, on(open, imported), "file").ReadsFile("file").Long().
			Shown("file", "backup.jsonl", "dry_run", true).Guesses("load", "ingest"),
		New("embeddings_status", "Which encoder recall by meaning uses, and why.", Reads, on(open, function(knowledge.EmbeddingsStatus))).
			Shown().Guesses("embeddings", "vectors", "semantic_status"),
		New("embeddings_reset", "Delete all vectors; they are made again when needed.", Changes, on(open, function(knowledge.EmbeddingsReset))).
			Shown().Guesses("reset_embeddings"),
		New("embeddings_reindex", "Encode the facts that have no vector yet.", Changes, on(open, reindex)).Long().
			Shown().Guesses("reindex", "embed"),
		New("status", "Counts, and where things are kept.", Reads, on(open, function(listing.Status))).Shown().Guesses("stats", "info", "count"),
		New("briefings", "What hooks gave to each session of the last 30 days.", Reads, func(ctx context.Context, sc Scope, q BriefingsQuery) (Result, error) {
			return st.Briefings(ctx, sc, q)
		}).Shown("limit", 5).Guesses("injected"),
		New("health", "Contradictions, stale and duplicate facts, damage.", Reads, on(open, function(advice.Health))).Describe().Shown().Guesses("doctor", "lifecycle_report"),
		New("check", "Facts whose source file changed or is gone; exit code 4 when there are any.", Reads, on(open, function(advice.Check))).Shown().Guesses("verify", "sources"),
	}
}

// knowledgeWords are the descriptions in the MCP schema. Each word costs tokens.
func knowledgeWords() Words {
	return Words{
		"category":   "room, e.g. architecture, decision",
		"value":      "what is true",
		"questions":  "up to three it answers, divided by ;",
		"target":     "the other fact's category/key, or d-…",
		"as_of":      "then: day, time or age",
		"confidence": "0 to 1, default 0.8",
		"valid_from": "day, time or age such as 3d; default now",
		"source":     "e.g. src/auth.ts:12; user: the user said it",
		"correct":    "the old value was wrong",
		"also":       "beside the others",
		"replaces":   "which of several values ends; * all",
	}
}

// readActions are the operations of the read-only twin.
var readActions = [...]string{"recall", "timeline", "rooms", "search", "wakeup", "diff", "activity", "why", "status", "health", "disputes", "relations", "reminders", "sessions", "session"}

// RecallName is the read-only twin's name.
const RecallName = "ctx_recall"

// recallTool is the read-only twin of knowledge. A client may approve it once, and call it
// in parallel.
func recallTool(knowledge *Tool, all []Operation) *Tool {
	words := knowledgeWords()
	delete(words, "category") // told by the other tool
	delete(words, "key")
	words["since"] = "news since: last (your last session), day or age"
	t := &Tool{
		Name: RecallName, Command: knowledge.Command, Title: "Project memory, read-only",
		Summary: "What is known about this project; changes nothing. Look here before you decide, ask or assume.",
		Hint:    "project memory: recall, decisions, briefing, timeline",
		Words:   words, Sibling: knowledge,
	}
	for _, o := range all {
		if slices.Contains(readActions[:], o.Name) {
			t.Operations = append(t.Operations, o)
		}
	}
	return t
}

// Saying are the operations that read what was said and done. The read-only twin has them, and the command line; in
// the other tool they would cost each session tokens.
func Saying(st Stores) []Operation {
	open := func(ctx context.Context, sc Scope) (*session.Store, error) {
		if err := mySessions(sc.Grant); err != nil {
			return nil, err
		}
		return st.Sessions(ctx, sc)
	}
	return []Operation{
		New("sessions", "What was said in earlier sessions.", Reads, on(open, (*session.Store).List)).
			Describe("query").Shown("query", "flaky watcher test").Guesses("conversations", "chats", "transcripts"),
		New("session", "Its outline, or with at or query its turns.", Reads, on(open, (*session.Store).Show), "id").
			Shown("id", "s-7c1e22a0", "at", 14).Guesses("transcript", "turns", "conversation"),
	}
}

// imported imports and reports its progress to the caller.
func imported(s *knowledge.Store, ctx context.Context, in transfer.Incoming) (transfer.Imported, error) {
	in.Progress = Progress(ctx)
	return transfer.Import(ctx, s, in)
}

// reindex encodes facts and reports its progress to the caller.
func reindex(s *knowledge.Store, ctx context.Context, q knowledge.Reindexing) (knowledge.VectorsMade, error) {
	q.Progress = Progress(ctx)
	return knowledge.EmbeddingsReindex(ctx, s, q)
}
