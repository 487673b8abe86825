package diary

import (
	"strconv"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// The types of entries. Each is printed as what was done.
const (
	Discovery = "discovery"
	Decision  = "decision"
	Blocker   = "blocker"
	Progress  = "progress"
	Insight   = "insight"
)

func types() []string { return []string{Discovery, Decision, Blocker, Progress, Insight} }

// Verb is how a diary prints a type.
func Verb(kind string) string {
	switch kind {
	case Discovery:
		return "FOUND"
	case Decision:
		return "DECIDED"
	case Blocker:
		return "BLOCKED"
	case Progress:
		return "DONE"
	case Insight:
		return "INSIGHT"
	}
	return strings.ToUpper(kind)
}

// Type reads a type, also as the verb it is printed as. The error is a
// [*refusal.ArgumentError] of the argument category.
func Type(given string) (string, error) {
	name := strings.TrimSpace(given)
	for _, kind := range types() {
		if strings.EqualFold(name, kind) || strings.EqualFold(name, Verb(kind)) {
			return kind, nil
		}
	}
	const most = 60 // runes
	return "", refusal.Argument("category", "category %q is none of %s", prose.Clip(given, most), strings.Join(types(), ", "))
}

// Entry is one of a diary, as it is stored.
type Entry struct {
	Number  int       `json:"number"` // from 1
	Type    string    `json:"entry_type"`
	Text    string    `json:"content"`
	Context string    `json:"context,omitempty"`
	At      time.Time `json:"timestamp"`
}

// Ref names an entry of an agent's diary for good: diary:cursor-a3f8/12.
func (e Entry) Ref(agent string) string { return "diary:" + agent + "/" + strconv.Itoa(e.Number) }
