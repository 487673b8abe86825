package tasks

import "time"

// stamp is an instant in an answer.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
