package replica

import (
	"fmt"
	"time"
)

// Newer is a line of an operation that this version does not know.
func Newer(replica string, seq int) string {
	l := &Line{ID: fmt.Sprintf("%s-%d", replica, seq), At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Op: "transmute"}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}

// Said is an assertion of another replica.
func AssertLine(replica, key, value string) string {
	l := &Line{ID: replica + "-1", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opAssert, Category: "arch", Key: key, Value: value, Confidence: new(0.8), SourceKind: "agent", By: "codex-c3"}
	_ = l.encode(nil)
	return string(l.text) + "\n"
}
