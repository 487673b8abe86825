package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"leanctx/embed/vectors"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// slowEncoder knows all words and makes no vector of a fact before its time is over.
type slowEncoder struct{}

func (slowEncoder) Name() string           { return "slow" }
func (slowEncoder) Dim() int               { return 2 }
func (slowEncoder) Knows(string) bool      { return true }
func (slowEncoder) Status() vectors.Status { return vectors.Status{} }
func (slowEncoder) Usable(bool) []vectors.Encoding {
	return []vectors.Encoding{{Name: "slow", Instant: true}}
}
func (x slowEncoder) With(_ string, f func(vectors.Encoder) error) error { return f(x) }

func (slowEncoder) Encode(_ context.Context, texts []string) (out [][]float32, err error) {
	for range texts {
		out = append(out, []float32{1, 0})
	}
	return out, nil
}

func (slowEncoder) EncodeIn(ctx context.Context, _ []string, _ *vectors.Space) ([][]float32, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestWordsAloneWhereTimeIsShort: where the meaning of facts is not known in time, what the words of a prompt find is told, and
// the user's rules for what it is about to do. Who asked gets the error.
func TestWordsAloneWhereTimeIsShort(t *testing.T) {
	s := testStore(t, &Options{Encoders: slowEncoder{}, Unasked: true})
	s.remember(t, Assertion{Category: "workflow", Key: "commit-subjects", Value: "Every commit subject begins with the package.", Source: "user"})
	s.remember(t, Assertion{Category: "birds", Key: "kestrel-lapwing", Value: "The kestrel lapwing nests in the reeds.", Source: "user"})
	for i := range 60 {
		s.remember(t, Assertion{Category: "architecture", Key: fmt.Sprint("layer-", i), Value: fmt.Sprintf("module %d has an index, a reader and a writer", i)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	lines, err := briefing.Beside(ctx, s.Store, "move the kestrel lapwing, then commit it", nil, nil)
	if err != nil || len(lines) != 2 || lines[0].Version.Category != "birds" || lines[1].Version.Category != "workflow" || ctx.Err() != nil {
		t.Errorf("%v, %v", err, lines)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Recall(ctx, Question{Query: "kestrel lapwing"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
