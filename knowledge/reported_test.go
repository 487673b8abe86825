package knowledge_test

import (
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/transfer"
)

// A clock that was ahead once does not poison what is remembered after it. That holds from now
// on and is found tomorrow. Meanwhile no maintenance runs.
func TestClockThatWasAheadOncePoisonsNothing(t *testing.T) {
	s := testStore(t, nil)
	s.now = s.now.AddDate(0, 0, 400)
	s.remember(t, Assertion{Category: "c", Key: "early", Value: "said by a wrong clock"})
	s.now = s.now.AddDate(0, 0, -400)
	r := s.remember(t, Assertion{Category: "c", Key: "k", Value: "said now"})
	if !r.ValidFrom.Equal(s.now) {
		t.Errorf("valid from %v, not %v", r.ValidFrom, s.now)
	}
	for _, q := range []Question{{Category: "c"}, {Category: "c", AsOf: s.now.AddDate(0, 0, 1).Format(time.DateOnly)}} {
		if got := s.recall(t, q); len(got.Facts) != 2 {
			t.Errorf("%+v: %s", q, got.Text())
		}
	}
	s.remember(t, Assertion{Category: "c", Key: "early", Value: "put right"})
	if got := s.only(t, "c", "early"); got.Value != "put right" {
		t.Errorf("%+v", got)
	}
	if n, err := s.Maintain(t.Context(), true); n.Archived != 0 || err != nil {
		t.Errorf("maintained %+v, %v", n, err)
	}
	s.days(1)
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "c", Key: "early"}); err != nil {
		t.Error(err)
	}
	if got := s.recall(t, Question{Category: "c", Key: "early"}); len(got.Facts) != 0 {
		t.Error(got.Text())
	}
}

// An equal value under another key, also in other units, is named at once. So it is in a store
// that is read through its index. A short value is named only in its own room.
func TestEqualValueUnderAnotherKeyIsNamed(t *testing.T) {
	s := testStore(t, nil)
	s.load(t, "", subjects(SyncTail+10))
	s.remember(t, Assertion{Category: "net", Key: "port", Value: "5432"})
	s.remember(t, Assertion{Category: "api", Key: "rule", Value: "Every call has a deadline of 500 ms."})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := &story{dir: s.dir, now: s.now.Add(time.Hour)}
	again.open(t, nil)
	for _, s := range []*story{s, again} {
		r := s.remember(t, Assertion{Category: "http", Key: "timeouts " + s.now.String()[:16], Value: "every call has a deadline of 0.5 seconds"})
		if len(r.Similar) == 0 || r.Similar[0].Key != "rule" || !strings.Contains(r.Text(), "Similar: [api/rule] Every call has a deadline of 500 ms.") {
			t.Error(r.Text())
		}
		if r := s.remember(t, Assertion{Category: "http", Key: "port", Value: "5432"}); len(r.Similar) != 0 {
			t.Error(r.Text())
		}
	}
}

// A value that is equal in other units is named as the same, and as no conflict.
func TestEqualValueIsNoConflict(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "net", Key: "timeout", Value: "Request timeout is 500 ms"})
	r := s.remember(t, Assertion{Category: "api", Key: "limit", Value: "request timeout is 0.5 s"})
	if len(r.Similar) != 1 || r.Similar[0].Kind != "" {
		t.Error(r.Text())
	}
}

// Status counts what is superseded and what is dormant, and a timeline marks it.
func TestDormantAndSupersededAreCounted(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "bug", Key: "flaky", Value: "the login test is flaky", Confidence: new(0.5)})
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "MySQL"})
	s.days(1)
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL"})
	s.recall(t, Question{Query: "MySQL"})
	s.days(400)
	if n, err := s.Maintain(t.Context(), true); n.Archived != 1 || err != nil {
		t.Fatalf("%+v, %v", n, err)
	}
	st := must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{}))
	if !strings.Contains(st.Text(), "1 active fact (2 archived: 1 superseded, 1 dormant)") {
		t.Error(st.Text())
	}
	tl := must[history.VersionList](t)(history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "bug"}))
	if !strings.Contains(tl.Text(), "[dormant]") || strings.Contains(tl.Text(), "[CURRENT]") {
		t.Error(tl.Text())
	}
	if r := s.recall(t, Question{Query: "flaky login test"}); len(r.Facts) == 0 || !strings.Contains(r.Text(), "[dormant]") {
		t.Error(r.Text())
	}
}

// An export carries how often facts were read.
func TestExportKeepsRetrievals(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "v"})
	for range 3 {
		s.only(t, "c", "k")
	}
	out := must[transfer.Exported](t)(transfer.Export(t.Context(), s.Store, transfer.Outgoing{}))
	if !strings.Contains(out.Data, `"retrieval_count": 3`) {
		t.Error(out.Data)
	}
	other := testStore(t, nil)
	other.load(t, "", out.Data)
	if again := other.whole(t); again != out.Data && !strings.Contains(again, `"retrieval_count": 3`) {
		t.Error(again)
	}
}

// Tags filter a recall, with words and without.
func TestTagsFilter(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "one", Value: "the gateway listens", Tags: []string{"Net", "prod"}})
	s.remember(t, Assertion{Category: "c", Key: "two", Value: "the gateway listens too", Tags: []string{"net"}})
	for _, q := range []Question{{Category: "c", Tags: []string{"prod", "net"}}, {Query: "gateway listens", Tags: []string{"PROD"}}} {
		if r := s.recall(t, q); len(r.Facts) != 1 || r.Facts[0].Key != "one" {
			t.Errorf("%+v: %s", q, r.Text())
		}
	}
}
