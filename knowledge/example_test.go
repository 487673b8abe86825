package knowledge_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"leanctx/knowledge"
)

// A fact is asserted, replaced, and recalled as it was on a day.
func Example() {
	dir, err := os.MkdirTemp("", "store-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	today := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s, err := knowledge.Open(dir, &knowledge.Options{Now: func() time.Time { return today }})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	s = s.As(knowledge.Actor{Agent: "claude-7c1e"})
	ctx := context.Background()
	for _, value := range []string{"MySQL 8", "PostgreSQL 16"} {
		r, err := s.Remember(ctx, knowledge.Assertion{Category: "data", Key: "database", Value: value})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Outcome)
		today = today.AddDate(0, 0, 10)
	}
	for _, day := range []string{"", "2026-03-05"} {
		r, err := s.Recall(ctx, knowledge.Question{Category: "data", Key: "database", AsOf: day})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Facts[0].Value)
	}
	// Output:
	// created
	// superseded
	// PostgreSQL 16
	// MySQL 8
}
