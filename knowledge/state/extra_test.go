package state

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// No event puts a member into the file that stands in the place of the file's own, or of a fact's: what
// was remembered is the same after a compaction.
func TestExtraIsNoMemberOfOurs(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	fill := func() *State {
		s := New()
		s.Commit(at, Event{Put: &fact.Version{ID: "f-1", Category: "c", Key: "k", Value: "v", CreatedAt: at, ValidFrom: at, RecordedFrom: at, LastConfirmed: at}})
		s.Commit(at.Add(time.Second), Event{Remind: &formats.Reminder{ID: "r", Text: "t", CreatedAt: at}})
		return s
	}
	written := func(s *State) string {
		var b bytes.Buffer
		if err := (machine{}).Encode(&b, s, journal.Header{Schema: 1, Seq: s.Seq(), At: s.At(), Checksum: "00000000"}); err != nil {
			t.Fatal(err)
		}
		r, err := machine{}.Decode(b.Bytes())
		if err != nil {
			return err.Error()
		}
		var again bytes.Buffer
		if err := (machine{}).Encode(&again, r, journal.Header{Schema: 1, Seq: r.Seq(), At: r.At(), Checksum: "00000000"}); err != nil {
			t.Fatal(err)
		}
		return again.String()
	}
	for _, of := range []struct {
		record reflect.Type
		event  string
	}{
		{reflect.TypeFor[formats.Document](), `{"extra":{%s,"note_of_us":"x"}}`},
		{reflect.TypeFor[formats.Fact](), `{"pattern":{"pattern_type":"p","description":"d","examples":[],"created_at":"2026-03-01T00:00:00Z",%s,"note_of_us":"x"}}`},
		{reflect.TypeFor[formats.Fact](), `{"gotcha":{"category":"p","trigger":"d","id":"g","first_seen":"2026-03-01T00:00:00Z","last_seen":"2026-03-01T00:00:00Z",%s,"note_of_us":"x"}}`},
		{reflect.TypeFor[formats.Gotcha](), `{"put":{"id":"f-2","category":"gotcha","key":"k","value":"v","archetype":"gotcha","created_at":"2026-03-01T00:00:00Z","valid_from":"2026-03-01T00:00:00Z","recorded_from":"2026-03-01T00:00:00Z","last_confirmed":"2026-03-01T00:00:00Z",%s}}`},
		{reflect.TypeFor[formats.Pattern](), `{"put":{"id":"f-2","category":"pattern","key":"k","value":"v","archetype":"pattern","created_at":"2026-03-01T00:00:00Z","valid_from":"2026-03-01T00:00:00Z","recorded_from":"2026-03-01T00:00:00Z","last_confirmed":"2026-03-01T00:00:00Z",%s}}`},
	} {
		for f := range of.record.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || strings.Contains(of.event, `"`+name+`":"`) {
				continue
			}
			for _, value := range []string{`[]`, `99`, `"no"`, `null`, `{}`, `true`, `"2001-01-01T00:00:00Z"`} {
				var e Event
				if formats.Decode(fmt.Appendf(nil, of.event, fmt.Sprintf("%q:%s", name, value)), &e) != nil {
					continue
				}
				s := fill()
				s.Commit(at.Add(2*time.Second), e)
				got := written(s)
				vs := s.Versions(fact.IDOf("c", "k"))
				if r, err := (machine{}).Decode([]byte(got)); err != nil || r.count != s.count || r.Seq() != s.Seq() || !r.At().Equal(s.At()) || len(r.Reminders) != 1 || len(r.Versions(fact.IDOf("c", "k"))) != len(vs) {
					t.Fatalf("%s %s: %s: %v: %s", of.record, name, value, err, got)
				} else {
					for n, vs := range s.facts {
						for i, v := range r.Versions(n) {
							if v.Value != vs[i].Value || v.ID != vs[i].ID || !v.ValidFrom.Equal(vs[i].ValidFrom) || v.Confidence != vs[i].Confidence || v.Pinned != vs[i].Pinned || len(v.Sources) != len(vs[i].Sources) {
								t.Errorf("%s %s: %s: became %+v", of.record, name, value, v)
							}
						}
					}
				}
			}
		}
	}
}
