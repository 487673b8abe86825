package journal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What was lost stands in the name of the file that was set aside.
func TestLostIn(t *testing.T) {
	many := make([]uint64, 13)
	for i := range many {
		many[i] = uint64(i + 2)
	}
	for want, lost := range map[string][]uint64{"": nil, "2": {2}, "2, 7": {2, 7}, "2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more": many} {
		if got := LostIn("agents/registry.journal.corrupt-20260101T000000.000000000Z-1" + lostSuffix(lost)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A server that did not answer within the time is not reported to be away.
func TestOfflineWarning(t *testing.T) {
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("team x at host:1: %w: no servers", ErrOffline), "newer commits were not looked for, this is the copy of 2026-02-01T00:00:00Z: team x at host:1: offline: no servers."},
		{fmt.Errorf("team x at host:1: %w: %w", ErrOffline, context.DeadlineExceeded), "newer commits did not come in time, this is the copy of 2026-02-01T00:00:00Z: team x at host:1."},
	} {
		if got := offlineWarning("team x at host:1", c.err, at); got.Text != c.want || got.Kind != Offline {
			t.Errorf("%s: %s\nwant %s", got.Kind, got.Text, c.want)
		}
	}
	if got := offlineWarning("x", ErrOffline, time.Time{}).Text; strings.Contains(got, "0001") || !strings.Contains(got, "this copy is empty") {
		t.Error(got)
	}
}
