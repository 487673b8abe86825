package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
)

// many is a document of n facts as a busy project has them.
func many(n int) *Document {
	day := time.Date(2026, 1, 15, 10, 0, 0, 123456789, time.UTC)
	d := &Document{Schema: Schema, ProjectRoot: "/home/u/app"}
	for i := range n {
		t := day.Add(time.Duration(i) * time.Second)
		category, key := fmt.Sprintf("room-%02d", i*40/n), fmt.Sprintf("key-%06d", i)
		d.Facts = append(d.Facts, &Fact{
			ID: VersionID(category, key, "", t, 0), Category: category, Key: key, Value: fmt.Sprintf("the value of fact %d, which is a sentence of middling length", i),
			SourceSession: "s1", Confidence: 0.8, CreatedAt: t, LastConfirmed: t, ValidFrom: t, RecordedFrom: t, ConfirmationCount: 1, Privacy: "shared",
			Archetype: "fact", RevisionCount: 1, AssertedBy: "cursor-a3f8", Outcome: "created",
			Sources: []Source{{Kind: "agent", Ref: "src/auth.ts:12", By: "cursor-a3f8", At: t, Confidence: 0.8}},
		})
	}
	return d
}

const bigProject = 100_000

func BenchmarkEncodeNative(b *testing.B) {
	d := many(bigProject)
	b.SetBytes(int64(len(encoded(b, d))))
	for b.Loop() {
		if err := EncodeNative(io.Discard, d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeNative(b *testing.B) {
	data := encoded(b, many(bigProject))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeNative(data); err != nil {
			b.Fatal(err)
		}
	}
}

// The floor: encoding/json, which loses unknown members.
func BenchmarkDecodeByEncodingJSON(b *testing.B) {
	type plain Fact // without its methods
	data := encoded(b, many(bigProject))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var d struct{ Facts []*plain }
		if err := json.Unmarshal(data, &d); err != nil || len(d.Facts) != bigProject {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseJSONL(b *testing.B) {
	var file bytes.Buffer
	list := make([]Record, bigProject)
	for i, f := range many(bigProject).Facts {
		list[i] = Record{Category: f.Category, Key: f.Key, Value: f.Value, Confidence: &f.Confidence, Timestamp: &f.CreatedAt}
	}
	if err := EncodeJSONL(&file, list); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if p, err := ParseDocument(file.Bytes()); err != nil || len(p.Records) != bigProject {
			b.Fatal(err)
		}
	}
}

func BenchmarkFoldName(b *testing.B) {
	for name, s := range map[string]string{"ascii": "token-type", "capitals": "Token-Type", "cyrillic": "ключ доступа"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				FoldName(s)
			}
		})
	}
}
