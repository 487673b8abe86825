package formats

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzDecodeNative(f *testing.F) {
	// Short ones: given whole files the engine spends its time on making them
	// smaller. Those are read in the other tests.
	f.Add([]byte(`{"schema":1,"later":{"a":[1]},"checksum":"00000000","seq":7,"facts":[{"id":"f-1","category":"c","key":"k","value":"v","confidence":0.5,"created_at":"2026-01-01T00:00:00.5Z","valid_until":null,"sources":[{"kind":"user","at":"2026-01-01T00:00:00Z"}],"tags":["a"],"pinned":true,"new":-0.0}]}`))
	f.Add([]byte(`{"facts":[{"category":"c","key":"k","value":"v","created_at":"2026-01-01T00:00:00+02:00","supersedes":"c/k","privacy":"ProjectOnly"}],"patterns":[{"examples":["x"]}],"history":[{"summary":"s"}],"judged_pairs":[{"verdict":"Compatible"}]}`))
	f.Add([]byte(`{"schema":1,"relations":[{"from":{"category":"a","key":"b","x":1},"kind":"y","count":2}],"gotchas":[{"severity":"info"}],"reminders":[{"due":"2026-01-01T00:00:00Z"}],"tombstones":[{"key":"k"}]}`))
	for _, s := range hostile {
		text, _ := json.Marshal(s)
		f.Add([]byte(`{"schema":1,"facts":[{"category":"c","key":"k","value":` + string(text) + `,"created_at":"2026-01-01T00:00:00Z"}],` + string(text) + `:[{}]}`))
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"facts":[{"category":"c","key":"k","value":"\ud83e\udd8a\ud800\u0000","created_at":"2026-01-01T00:00:00+00:00","confidence":1e-7}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := DecodeNative(data)
		if err != nil {
			return
		}
		once := encoded(t, d)
		again, err := DecodeNative(once)
		if err != nil {
			t.Fatalf("%v in what was made of %q:\n%s", err, data, once)
		}
		if twice := encoded(t, again); !bytes.Equal(once, twice) {
			t.Fatalf("%q gives\n%s\nand then\n%s", data, once, twice)
		}
	})
}

func fuzzRecords(f *testing.F, open, between, shut string, encode func(*bytes.Buffer, []Record) error) {
	good := `{"category":"a","key":"b","value":"c","confidence":0.5,"timestamp":"2026-05-01T12:00:00+00:00","valid_from":"2026-01-01"}`
	for _, c := range badRecords {
		f.Add([]byte(open + good + between + c.line + between + good + shut))
	}
	for _, s := range hostile {
		text, _ := json.Marshal(s)
		f.Add([]byte(open + `{"category":"x","key":` + string(text) + `,"value":` + string(text) + `}` + between + s + shut))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseDocument(data)
		if err != nil || p.Document != nil {
			return
		}
		lines := 1 + bytes.Count(data, []byte("\n"))
		for _, b := range p.Bad {
			if b.Line < 1 || b.Line > lines || b.Error() == "" {
				t.Fatalf("%d of %d lines: %v", b.Line, lines, b)
			}
		}
		if len(p.Records) == 0 {
			return
		}
		var once, twice bytes.Buffer
		if err := encode(&once, p.Records); err != nil {
			t.Fatal(err)
		}
		again, err := ParseDocument(once.Bytes())
		if err != nil || len(again.Bad) > 0 || len(again.Records) != len(p.Records) {
			t.Fatalf("%v, bad %v in what was made of %q:\n%s", err, again.Bad, data, once.Bytes())
		}
		if err := encode(&twice, again.Records); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v: %s and then %s", err, once.Bytes(), twice.Bytes())
		}
	})
}

func FuzzJSONL(f *testing.F) {
	fuzzRecords(f, "", "\n", "\n", func(b *bytes.Buffer, list []Record) error { return EncodeJSONL(b, list) })
}

func FuzzArray(f *testing.F) {
	fuzzRecords(f, "[", ",\n", "]", func(b *bytes.Buffer, list []Record) error { return EncodeArray(b, list) })
}

func FuzzFormatAAAK(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[len(hostile)-1-i], s+s, i%7, i%2 == 0)
	}
	f.Add("\xff", "\xc3", "\xe2\x98", 3, true)
	f.Fuzz(func(t *testing.T, category, key, value string, stars int, unconfirmed bool) {
		p := Pair{key, value, min(max(stars, 1), 5), !unconfirmed, unconfirmed}
		checkAAAK(t, []Room{{category, []Pair{p, {value, key, 1, false, !unconfirmed}}}, {value, []Pair{p}}})
	})
}
