package knowledge

import (
	"testing"
	"time"
)

// BenchmarkRememberIndexed is a remember beside 20,000 facts with the index open, taken in turn with one beside as
// many that never opened it. Neither is long-lived, or the background would open an index where there is none.
func BenchmarkRememberIndexed(b *testing.B) {
	var stores [2]*Store
	for i := range stores {
		s, err := Open(filled(b, 20_000), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		stores[i] = s
	}
	bare, with := stores[0], stores[1]
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		if i%20 == 0 { // what was remembered is indexed now and then
			if _, err := with.Recall(b.Context(), Question{Query: "queue 7 port"}); err != nil {
				b.Fatal(err)
			}
		}
		for n, s := range []*Store{bare, with} {
			start := time.Now()
			if _, err := s.Remember(b.Context(), subject(i)); err != nil {
				b.Fatal(err)
			}
			took[n] = append(took[n], time.Since(start))
		}
	}
	without, indexed := median(took[0]), median(took[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(without, "µs/without")
	b.ReportMetric(indexed, "µs/with-index")
	b.ReportMetric(indexed/without, "×without")
	if bare.ix.index != nil || with.ix.index == nil {
		b.Error("the stores are not what they are said to be")
	}
}

// BenchmarkExactMiss is a recall of a key that there is none of, among 10,000 facts.
func BenchmarkExactMiss(b *testing.B) {
	s := named(b, filled(b, 10_000))
	for b.Loop() {
		if _, err := s.Recall(b.Context(), Question{Category: "api", Key: "no such key"}); err != nil {
			b.Fatal(err)
		}
	}
}
