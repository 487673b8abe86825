package agents

import (
	"strings"

	"leanctx/agents/arg"
	"leanctx/internal/refusal"
)

const (
	maxText = 64 << 10 // bytes of a message, a diary entry, a handoff's summary
	maxRole = 200      // runes
	maxWord = 60       // runes of a name that an error repeats
)

// text checks and redacts what somebody wrote. found are the rules that took
// something out.
func (s *Store) text(argument, text string, most int) (clean string, found []string, err error) {
	if text, err = arg.Text(argument, text, most); err != nil {
		return "", nil, err
	}
	clean, found = s.redact(text)
	return clean, found, nil
}

// plain refuses a name that holds a secret: it stands for something, so nothing
// can be taken out of it. The error does not repeat it.
func (s *Store) plain(argument, name string) error {
	if _, found := s.redact(name); len(found) > 0 {
		return refusal.Argument(argument, "%s holds what looks like a secret (%s): it would be shown to every agent", argument, strings.Join(found, ", "))
	}
	return nil
}
