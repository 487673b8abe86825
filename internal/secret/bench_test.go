package secret

import (
	"testing"
)

func BenchmarkRedactClean(b *testing.B) {
	r := redactor(b)
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		r.Redact(prose)
	}
}

func BenchmarkRedactSecret(b *testing.B) {
	r := redactor(b)
	text := prose + " " + secrets()["github-pat"][0]
	for b.Loop() {
		r.Redact(text)
	}
}

// BenchmarkFirstUse is what a command pays that redacts one clean text.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		redactor(b).Redact(prose)
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range cleanTexts[:20] {
		f.Add(s)
	}
	for _, list := range secrets() {
		f.Add("key: " + list[0] + ".")
	}
	f.Add("password=[REDACTED:jwt]x1!y2z3 a://b:[REDACTED:jwt]@c\xff")
	r := redactor(f, Rule{ID: "digits", Pattern: `\d{30}`})
	f.Fuzz(func(t *testing.T, text string) {
		got, found := r.Redact(text)
		if (got == text) != (len(found) == 0) {
			t.Fatalf("%q became %q with %v", text, got, found)
		}
		at := 0
		for _, s := range found {
			if s.Start < at || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: %v", text, found)
			}
			at = s.End
		}
		if again, more := r.Redact(got); again != got {
			t.Fatalf("%q became %q, then %q (%v)", text, got, again, more)
		}
	})
}
