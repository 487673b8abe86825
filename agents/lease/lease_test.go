package lease

import (
	"testing"
	"time"
)

var t0 = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

func lent(holder, path string, at time.Duration) *Lease {
	return &Lease{Path: path, Holder: holder, Token: 7, Since: t0.Add(at), Seconds: 600}
}

// Who may have a path that somebody has.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		what  string
		had   *Lease
		path  string
		token uint64 // 0: refused
	}{
		{"free", nil, "a", 10},
		{"taken", lent("claude-b7e2", "a", -time.Minute), "a", 0},
		{"taken this instant", lent("claude-b7e2", "a", 0), "a", 0},
		{"its last second", lent("claude-b7e2", "a", -599*time.Second), "a", 0},
		{"expired", lent("claude-b7e2", "a", -600*time.Second), "a", 10},
		{"mine", lent("cursor-a3f8", "a", -time.Minute), "a", 7},
		{"mine, expired", lent("cursor-a3f8", "a", -time.Hour), "a", 10},
		{"another file", lent("claude-b7e2", "a", 0), "b", 10},
		{"beginning alike", lent("claude-b7e2", "src/a", 0), "src/ab", 10},
		{"in a directory that is taken", lent("claude-b7e2", "src", 0), "src/x/a", 0},
		{"a directory of which a part is taken", lent("claude-b7e2", "src/x/a", 0), "src", 0},
		{"the project, of which a part is taken", lent("claude-b7e2", "src/x/a", 0), ".", 0},
		{"in the project, which is taken", lent("claude-b7e2", ".", 0), "a", 0},
		{"in a directory of mine", lent("cursor-a3f8", "src", 0), "src/a", 10},
		{"the holder's clock is an hour ahead", lent("claude-b7e2", "a", time.Hour), "a", 0},
		{"the holder's clock is a year ahead", lent("claude-b7e2", "a", 365*24*time.Hour), "a", 10},
	} {
		s := Set{}
		if c.had != nil {
			s.Put(c.had)
		}
		d := s.Decide(Wanted{Path: c.path, By: "cursor-a3f8", TTL: 10 * time.Minute, Fence: 9}, t0)
		switch {
		case c.token == 0:
			if d.Blocking != c.had || d.Granted != nil || len(d.Expired) > 0 {
				t.Errorf("%s: %+v", c.what, d)
			}
		case d.Blocking != nil || d.Granted == nil || d.Granted.Token != c.token || d.Granted.Holder != "cursor-a3f8" || d.Granted.Path != c.path:
			t.Errorf("%s: %+v, want token %d", c.what, d, c.token)
		}
	}
}

// What is renewed or handed over without a word keeps what is left of it, and
// has the usual time at least.
func TestRenewed(t *testing.T) {
	for _, c := range []struct{ ttl, passed, want time.Duration }{
		{time.Hour, 10 * time.Minute, 50 * time.Minute},
		{time.Minute, 0, DefaultTTL},
		{MaxTTL, -MaxTTL, MaxTTL}, // by a clock that is set back by a day
	} {
		s := Set{}
		s.Put(&Lease{Path: "a", Holder: "cursor-a3f8", Token: 3, Since: t0, Seconds: int64(c.ttl / time.Second)})
		now := t0.Add(c.passed)
		d := s.Decide(Wanted{Path: "a", By: "cursor-a3f8", Fence: 3}, now)
		if d.Granted == nil || d.Granted.TTL() != c.want || d.Granted.Token != 3 {
			t.Errorf("%v: renewed %+v", c, d.Granted)
		}
		h := s["a"].HandedTo("claude-b7e2", 4, now)
		if h.TTL() != c.want || h.Token != 4 || h.Holder != "claude-b7e2" || !h.Until().Equal(now.Add(c.want)) {
			t.Errorf("%v: handed over %+v", c, h)
		}
	}
}

// Leases that ended long ago do not pile up.
func TestOldGo(t *testing.T) {
	s, fence := Set{}, uint64(0)
	for i := range 3 * removeAfter {
		d := s.Decide(Wanted{Path: time.Duration(i).String(), By: "cursor-a3f8", TTL: time.Minute, Fence: fence}, t0.Add(time.Duration(i)*time.Minute))
		for _, path := range d.Expired {
			delete(s, Key(path))
		}
		s.Put(d.Granted)
		fence = d.Granted.Token
	}
	if n := len(s); n > removeAfter+maxExpired || n < removeAfter {
		t.Errorf("%d leases are kept", n)
	}
}
