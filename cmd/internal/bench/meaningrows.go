package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"leanctx/embed"
	"leanctx/embed/vectors"
)

// What recall by meaning costs with the encoder that is built in.
const (
	encodeText   = "encode a text"
	encodeFirst  = "encode, the first time in a process"
	scanVectors  = "scan of all vectors"
	reindexText  = "reindex, each text"
	recallMissed = "recall, known words that no fact has"
	recallHybrid = "recall, a question, by words and meaning"

	floorProducts = "the products alone, all processors"
	floorEncode   = "the encoding alone"
	floorHash     = "a hash of its bytes"
)

func meaningRows() []row {
	return []row{
		{groupMeaning, encodeText, Micros, floorHash, false, encoded},
		{groupMeaning, encodeFirst, Micros, floorHash, false, func(_ context.Context, b *bed) (Cell, error) {
			start := time.Now()
			_ = vectors.HashText(firstOf)
			return newCell([]time.Duration{b.firstText}, []time.Duration{time.Since(start)}), nil
		}},
		{groupMeaning, scanVectors, Micros, floorProducts, true, scanned},
		{groupMeaning, reindexText, Micros, floorEncode, false, reindexed},
	}
}

// meantCommands are questions that look at vectors. Whether they have an
// answer depends on what the words of the facts mean, which is little.
func meantCommands() []row {
	missed := []string{"wooden chairs", "violin concert", "banana telescope", "rain in the mountains", "a horse and its rider", "cathedral windows"}
	return []row{
		asCommand(recallMissed, false, func(ctx context.Context, b *bed, i int) error {
			_, err := b.command(ctx, "knowledge", "recall", pick(missed, i))
			return err
		}),
		asCommand(recallHybrid, true, func(ctx context.Context, b *bed, i int) error {
			out, err := b.command(ctx, "knowledge", "recall", pick(b.questions.several, i), "--mode", "hybrid")
			if err == nil && strings.HasPrefix(out, "No facts ") {
				b.unexpected(fmt.Sprintf("nothing was found for %q", pick(b.questions.several, i)))
			}
			return err
		}),
	}
}

const firstOf = "How long do tokens live before they have to be renewed?"

// firstText is how long the first text of this process takes, in which the
// vocabulary is indexed.
func firstText(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	e, err := embed.Static()
	if err != nil {
		return 0, err
	}
	_, err = e.Encode(ctx, []string{firstOf})
	return time.Since(start), err
}

// apiece times what is done to several texts at once, for one of them.
func apiece(texts int, do func(ctx context.Context) error) timed {
	return func(ctx context.Context, _ int) (time.Duration, error) {
		start := time.Now()
		err := do(ctx)
		return time.Since(start) / time.Duration(texts), err
	}
}

// encoded encodes a hundred values, one by one.
func encoded(ctx context.Context, b *bed) (Cell, error) {
	texts := b.values[:min(100, len(b.values))]
	hash := func(context.Context) error {
		for _, t := range texts {
			_ = vectors.HashText(t)
		}
		return nil
	}
	do := func(ctx context.Context) error { return encodeAll(ctx, texts) }
	return turns(ctx, b.effort(usualInServer, serverBudget), apiece(len(texts), do), apiece(len(texts), hash))
}

func encodeAll(ctx context.Context, texts []string) error {
	e, err := embed.Static()
	for i := 0; err == nil && i < len(texts); i++ {
		_, err = e.Encode(ctx, texts[i:i+1])
	}
	return err
}

// reindexed makes the vectors of facts that have none, as the program does it.
func reindexed(ctx context.Context, b *bed) (c Cell, err error) {
	dir := b.data + "-vectors"
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	values := b.values[:min(20_000, len(b.values))]
	do := func(ctx context.Context) error {
		_, err := b.fill(ctx, dir, values)
		return err
	}
	return turns(ctx, b.rarely(), apiece(len(values), do), apiece(len(values), func(ctx context.Context) error { return encodeAll(ctx, values) }))
}

// fill makes a new index of values.
func (b *bed) fill(ctx context.Context, dir string, values []string) (*vectors.Index, error) {
	e, err := embed.Static()
	if err != nil {
		return nil, err
	}
	x := vectors.Open(dir, &vectors.Options{LongLived: true})
	texts := make([]vectors.Text, len(values))
	for i, v := range values {
		texts[i] = vectors.Text{ID: fmt.Sprintf("f-%016x", i), Text: v}
	}
	err = x.Reset()
	if err == nil {
		_, err = x.Fill(ctx, e, texts, nil)
	}
	return x, err
}

// scanned looks for the ten nearest among the vectors of all values.
func scanned(ctx context.Context, b *bed) (c Cell, err error) {
	if err := b.cool(); err != nil {
		return c, err
	}
	dir := b.data + "-vectors"
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	x, err := b.fill(ctx, dir, b.values)
	if err != nil {
		return c, err
	}
	e, err := embed.Static()
	if err != nil {
		return c, err
	}
	queries, err := e.Encode(ctx, b.questions.several)
	if err != nil {
		return c, err
	}
	do := stretch(func(ctx context.Context, i int) error {
		hits, err := x.Scan(ctx, vectors.Query{Encoder: e.Name(), Vector: pick(queries, i), Limit: 10})
		if err == nil && len(hits) != 10 {
			b.unexpected(fmt.Sprintf("%d hits", len(hits)))
		}
		return err
	})
	return turns(ctx, b.effort(usualInServer, serverBudget), do, products(len(b.values), e.Dim()))
}

// products are those of one vector with so many others of eight bits a value,
// on all processors: what an exact scan cannot be faster than in plain Go.
func products(n, dim int) timed {
	rows, query, out := make([]int8, n*dim), make([]int32, dim), make([]int32, n)
	for i := range rows {
		rows[i] = int8(i*7919>>3) | 1
	}
	for i := range query {
		query[i] = int32(i*31%255 - 127)
	}
	return stretch(func(context.Context, int) error {
		var wg sync.WaitGroup
		cores := runtime.GOMAXPROCS(0)
		for c := range cores {
			wg.Go(func() {
				for i := n * c / cores; i < n*(c+1)/cores; i++ {
					out[i] = product(query, rows[i*dim:(i+1)*dim])
				}
			})
		}
		wg.Wait()
		return nil
	})
}

func product(query []int32, row []int8) int32 {
	var a, b, c, d int32
	for len(query) >= 8 && len(row) >= 8 {
		q, r := (*[8]int32)(query), (*[8]int8)(row)
		a += q[0]*int32(r[0]) + q[4]*int32(r[4])
		b += q[1]*int32(r[1]) + q[5]*int32(r[5])
		c += q[2]*int32(r[2]) + q[6]*int32(r[6])
		d += q[3]*int32(r[3]) + q[7]*int32(r[7])
		query, row = query[8:], row[8:]
	}
	return a + b + c + d
}

// meaningFigures are those of recall by meaning.
func (r *Report) meaningFigures(add func(name, unit string, value, most float64)) {
	largest := 0
	for _, n := range r.Sizes {
		largest = max(largest, n)
	}
	if c, ok := r.cell(groupMeaning, encodeText, largest); ok {
		add(encodeText, "µs", c.P50, 20)
	}
	if c, ok := r.cell(groupMeaning, encodeFirst, largest); ok {
		add(encodeFirst, "ms", c.P50/1000, 5)
	}
	if c, ok := r.cell(groupMeaning, scanVectors, 100_000); ok {
		if times, ok := c.Ratio(); ok {
			add(scanVectors+", 100,000 facts: times "+floorProducts, "×", times, 1.5)
		}
	}
}
