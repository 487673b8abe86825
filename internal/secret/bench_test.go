package secret

import (
	"testing"
)

func BenchmarkClean(b *testing.B) {
	r := redactor(b)
	b.SetBytes(int64(len(sentences)))
	for b.Loop() {
		r.Clean(sentences)
	}
}

func BenchmarkSecret(b *testing.B) {
	r := redactor(b)
	text := sentences + " " + secrets()["github-pat"][0]
	for b.Loop() {
		r.Clean(text)
	}
}

// BenchmarkFirstUse is what a command pays that redacts one clean text.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		redactor(b).Clean(sentences)
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
		got, rules := r.Clean(text)
		if (got == text) != (len(rules) == 0) {
			t.Fatalf("%q became %q with %v", text, got, rules)
		}
		if again, more := r.Clean(got); again != got {
			t.Fatalf("%q became %q, then %q (%v)", text, got, again, more)
		}
	})
}
