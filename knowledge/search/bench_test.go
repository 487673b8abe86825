package search

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

var benchQueries = []string{"auth", "token refresh", "postgres migration timeout", "how does the session login retry"}

// bigVocabulary makes facts of a realistic spread of words: few common, many rare.
func bigFact(n int) Doc {
	d := madeUp(n)
	d.Value += fmt.Sprintf(" module%d handler%d service%d", n%997, n%4999, n)
	return d
}

func bigFacts(n int) []Doc {
	out := make([]Doc, n)
	for i := range out {
		out[i] = bigFact(i)
	}
	return out
}

func benchDir(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	x := mustOpen(b, dir)
	mustSync(b, x, 1, bigFacts(n))
	return dir
}

var sizes = []int{1_000, 20_000, 100_000}

func BenchmarkOpenAndSearch(b *testing.B) {
	for _, n := range sizes {
		dir := benchDir(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := mustOpen(b, dir)
				if _, _, err := x.Search(context.Background(), Query{Text: benchQueries[1]}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range sizes {
		x := mustOpen(b, benchDir(b, n))
		for _, q := range append(slices.Clone(benchQueries), "service500", "servise500x", "handler77 module3", "gatewy", "authentication") {
			b.Run(fmt.Sprintf("%d/%s", n, q), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := x.Search(context.Background(), Query{Text: q}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range sizes {
		docs := bigFacts(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				mustSync(b, mustOpen(b, b.TempDir()), 1, docs)
			}
		})
	}
}

// BenchmarkSync writes a tail of 256 facts beside 20,000.
func BenchmarkSync(b *testing.B) {
	const n = 20_000
	x := mustOpen(b, benchDir(b, n))
	for i := 0; b.Loop(); i++ {
		for j := range 256 {
			mustAdd(b, x, bigFact(n+256*i+j))
		}
		if err := x.Sync(context.Background(), Generation{At: at(2 + i), Epoch: "e"}, forbidden(b)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	x := mustOpen(b, "")
	for i := 0; b.Loop(); i++ {
		mustAdd(b, x, bigFact(i))
	}
}
