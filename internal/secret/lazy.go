package secret

import "sync"

// Lazy redacts with rules that are made when the first text comes: most
// commands store none.
type Lazy struct {
	redactor func() (*Redactor, error)
}

// NewLazy redacts with r, or with the built-in rules where it is nil.
func NewLazy(r *Redactor) *Lazy {
	return &Lazy{sync.OnceValues(func() (*Redactor, error) {
		if r != nil {
			return r, nil
		}
		return New(nil)
	})}
}

// Redact takes secrets out of a text and names the rules that found them, once
// for each find. The error says that the rules cannot be compiled, a defect of
// the build; then nothing may be stored.
func (l *Lazy) Redact(text string) (clean string, rules []string, err error) {
	if text == "" {
		return "", nil, nil // whoever has nothing to say needs no rules
	}
	r, err := l.redactor()
	if err != nil {
		return "", nil, err
	}
	clean, found := r.Redact(text)
	rules = make([]string, len(found))
	for i, f := range found {
		rules[i] = f.Rule
	}
	return clean, rules, nil
}

// Mark is [Lazy.Redact] for those who cannot fail: where there are no rules the
// text becomes one marker.
func (l *Lazy) Mark(text string) (clean string, rules []string) {
	clean, rules, err := l.Redact(text)
	if err != nil {
		return "[REDACTED: " + err.Error() + "]", []string{"all"}
	}
	return clean, rules
}
