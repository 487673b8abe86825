package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/listing"
)

// The pages of a list are the list: each fact once, in order.
func TestListInPages(t *testing.T) {
	s := testStore(t, nil)
	for i := range 25 {
		s.remember(t, Assertion{Category: "c", Key: fmt.Sprintf("k%02d", i), Value: fmt.Sprintf("v%d", i)})
	}
	for _, room := range []string{"", "c"} {
		var got []string
		for at := 0; at < 30; at += 10 {
			r := s.recall(t, Question{Category: room, Limit: 10, Offset: at})
			if r.Total != 25 {
				t.Errorf("offset %d: total %d", at, r.Total)
			}
			for _, f := range r.Facts {
				got = append(got, f.ID)
			}
		}
		all := s.recall(t, Question{Category: room, Limit: 100})
		if len(got) != 25 {
			t.Fatalf("room %q: %d facts in pages", room, len(got))
		}
		for i, f := range all.Facts {
			if got[i] != f.ID {
				t.Errorf("room %q: fact %d differs", room, i)
			}
		}
	}
	for _, q := range []Question{{Offset: -1}, {Query: "v1", Offset: 1}} {
		if _, err := s.Recall(t.Context(), q); err == nil {
			t.Errorf("%+v was answered", q)
		}
	}
}

// Rooms count what was true at an instant, and the status says how far back that goes.
func TestRoomsAtAnInstant(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "a", Key: "old", Value: "x", ValidFrom: "2025-01-15", ValidUntil: "2025-06-01"})
	s.remember(t, Assertion{Category: "b", Key: "new", Value: "y"})
	for asOf, want := range map[string]string{"": "b", "2025-03-01": "a", "2024-01-01": ""} {
		var names []string
		for _, r := range must[listing.RoomList](t)(listing.Rooms(t.Context(), s.Store, listing.RoomQuery{AsOf: asOf})).Rooms {
			names = append(names, r.Category)
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("as of %q: rooms %q", asOf, got)
		}
	}
	if _, err := listing.Rooms(t.Context(), s.Store, listing.RoomQuery{AsOf: "yesteryear"}); err == nil {
		t.Error("an instant that is none was taken")
	}
	if since := must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{})).Since; since.Format(time.DateOnly) != "2025-01-15" {
		t.Errorf("since %v", since)
	}
}

// One dormant fact is listed by health and restored by its name; others stay.
func TestRestoreOneFact(t *testing.T) {
	s := testStore(t, nil)
	for _, key := range []string{"cdn", "dns"} {
		s.remember(t, Assertion{Category: "status", Key: key, Value: "akamai " + key})
	}
	must[Maintained](t)(s.Maintain(t.Context(), true))
	s.days(400)
	must[Maintained](t)(s.Maintain(t.Context(), true))
	dormant := func() (keys string) {
		r, err := advice.Health(t.Context(), s.Store, Examining{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Dormant {
			keys += f.Key + " "
		}
		return keys
	}
	if got := dormant(); got != "cdn dns " {
		t.Fatalf("dormant: %q", got)
	}
	r, err := Restore(t.Context(), s.Store, Restoration{Category: "Status", Key: "DNS"})
	if err != nil || len(r.Facts) != 1 || r.Facts[0].Key != "dns" {
		t.Fatalf("restored %+v, %v", r.Facts, err)
	}
	if got := dormant(); got != "cdn " {
		t.Errorf("dormant afterwards: %q", got)
	}
}
