package formats

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// walked is a fact file put together again from what WalkNative gives of it.
func walked(data []byte) (facts []*Fact, rest *Document, err error) {
	r, err := WalkNative(bytes.NewReader(data), func(text []byte, at int64) error {
		if !bytes.HasPrefix(data[at:], text) {
			return errors.New("the text does not stand at its offset")
		}
		f, err := DecodeFacts(text)
		facts = append(facts, f...)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if string(r.Text) != string(data[:r.From])+string(data[r.To:]) {
		return nil, nil, errors.New("the rest is not what stands around the facts")
	}
	rest, err = DecodeNative(r.Text)
	return facts, rest, err
}

// Reading a fact file a fact at a time gives what reading it at once does.
func TestWalkNative(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := documents().Draw(rt, "document")
		for range rapid.IntRange(0, 4).Draw(rt, "tricky") {
			d.Facts = append(d.Facts, &Fact{
				ID: rapid.StringN(1, 9, -1).Draw(rt, "id"), Category: rapid.String().Draw(rt, "category"), CreatedAt: time.Unix(0, 0),
				Value: rapid.SampledFrom([]string{"", "    }\n", "  ],\n", string(bytes.Repeat([]byte("x"), 100_000))}).Draw(rt, "value"),
			})
		}
		var b bytes.Buffer
		if err := EncodeNative(&b, d); err != nil {
			rt.Fatal(err)
		}
		want, err := DecodeNative(b.Bytes())
		if err != nil {
			rt.Fatal(err)
		}
		facts, rest, err := walked(b.Bytes())
		if err != nil {
			rt.Fatal(err)
		}
		rest.Facts = facts
		if diff := cmp.Diff(want, rest); diff != "" {
			rt.Fatalf("(-at once +walked):\n%s", diff)
		}
	})
}

// What is not laid out as we write it, or is cut short, is an error and never
// half a file.
func TestWalkOtherLayout(t *testing.T) {
	var b bytes.Buffer
	f := &Fact{ID: "x", Category: "c", Key: "k", Value: "v", CreatedAt: time.Unix(0, 0)}
	if err := EncodeNative(&b, &Document{UpdatedAt: time.Unix(0, 0), Facts: []*Fact{f, f}}); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() - 1 {
		if facts, rest, err := walked(b.Bytes()[:n]); err == nil {
			t.Errorf("cut at %d: %d facts, %v", n, len(facts), rest)
		}
	}
	for _, text := range []string{`{"schema":1,"facts":[]}`, "{\n  \"schema\": 1\n}\n", "{\n  \"schema\": 1,\n  \"facts\": [\n{}]}"} {
		if _, _, err := walked([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
