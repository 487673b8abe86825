package session

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge/words"
)

// Quoting asks for what was said about a text.
type Quoting struct {
	Query string
	Users bool   // only what users said
	Not   string // a client's name of a session that is left out
	Most  int    // quotes
	Bytes int64  // of sessions to read, the newest first; 0: all

	// Unasked says that nobody asked: only what is certain is quoted.
	Unasked bool
}

// Quote is what was said in a turn, verbatim: the sentence of it that is about the text.
type Quote struct {
	Session string
	N       int
	At      time.Time
	Role    string
	Text    string
}

// The least that a turn must have of the words asked for to be quoted.
const (
	minShare        = .5 // of what they weigh
	minUnaskedShare = .75
	minMatched      = 2 // words, where as many are asked for
	minUnasked      = 3
	maxQuote        = 300 // characters
)

// Quotes are the turns in which somebody said something about a text, what users said before what agents did.
func (s *Store) Quotes(ctx context.Context, q Quoting) (list []Quote, err error) {
	asked := askedWords(q.Query)
	share, matched := minShare, min(minMatched, len(asked))
	if q.Unasked {
		share, matched = minUnaskedShare, minUnasked
	}
	if len(asked) == 0 || len(asked) < matched {
		return nil, nil
	}
	found, _, err := s.rank(ctx, nil, search{query: q.Query, user: q.Users, said: true, not: q.Not, most: q.Bytes})
	if err != nil {
		return nil, err
	}
	told := map[string]bool{}
	for _, x := range lines(found, 10*q.Most) {
		if x.share < share || x.matched < matched || !s.load(x.file, &x.hit) || told[x.turn.Text] || strings.EqualFold(strings.TrimSpace(x.turn.Text), strings.TrimSpace(q.Query)) {
			continue
		}
		told[x.turn.Text] = true // a prompt that was given again
		hook := ""
		if !s.fromTranscript(x.file) {
			if q.Unasked {
				continue
			}
			hook = byHook
		}
		if strings.HasSuffix(strings.TrimSpace(x.turn.Text), "?") {
			// Somebody asked it before: what was answered then is the answer.
			if answer := s.answerTo(ctx, x); answer != nil && !q.Users && !told[answer.Text] {
				told[answer.Text] = true
				list = append(list, Quote{x.session, answer.N, answer.At, answer.Role + hook, excerpt(answer.Text, asked)})
			}
			continue
		}
		list = append(list, Quote{x.session, x.turn.N, x.turn.At, x.turn.Role + hook, excerpt(x.turn.Text, asked)})
	}
	slices.SortStableFunc(list, func(a, b Quote) int { return order(a.Role) - order(b.Role) })
	return list[:min(q.Most, len(list))], nil
}

// byHook stands behind a role where no transcript of the client says so: whatever shell called our hook may have made it up.
const byHook = " (by a hook)"

// role is who speaks in a turn, as it is shown beside others' turns.
func (h *Header) role(role string) string {
	if h.File == "" && h.ID != "" {
		return role + byHook
	}
	return role
}

// fromTranscript reports whether a session was read from a transcript.
func (s *Store) fromTranscript(file string) bool {
	r, err := s.read(file)
	return err == nil && r.File != ""
}

// answerTo is what the agent said last before the user spoke again; nil: nothing.
func (s *Store) answerTo(ctx context.Context, x turnLine) (answer *Turn) {
	if x.turn.Role != transcript.User && x.turn.Role != transcript.Program {
		return nil
	}
	_ = s.Each(ctx, &Record{file: x.file}, func(t *Turn) bool { // without it there is no answer
		if t.N > x.turn.N && t.Role == transcript.Agent && t.Text != "" {
			answer = new(*t)
		}
		return t.N <= x.turn.N || t.Role != x.turn.Role
	})
	return answer
}

func order(role string) int {
	role, _, _ = strings.Cut(role, " ")
	return slices.Index([]string{transcript.User, transcript.Agent, transcript.Program, transcript.Tool}, role)
}

// excerpt is the part of a text that has most of the words asked for: a sentence, with the next ones as far as there is room.
func excerpt(text string, asked map[string]bool) string {
	text = strings.TrimSpace(text)
	if len([]rune(text)) <= maxQuote {
		return text
	}
	var begins []int
	begins = append(begins, 0)
	for at := language.SentenceEnd(text, ""); at < len(text); at += language.SentenceEnd(text[at:], "") {
		begins = append(begins, at)
	}
	best, most := 0, -1
	for i, begin := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1]
		}
		met := map[string]bool{}
		words.Scan(text[begin:min(end, begin+2000)], func(t words.Token) {
			if asked[t.Term] {
				met[t.Term] = true
			}
		})
		if len(met) > most {
			best, most = begin, len(met)
		}
	}
	quote := prose.Clip(strings.TrimSpace(text[best:]), maxQuote)
	if best > 0 {
		quote = "… " + quote
	}
	return quote
}

// Assertions are the turns in which agents changed a fact, the earliest first.
func (s *Store) Assertions(ctx context.Context, category, key string) (list []Quote, err error) {
	name := category + "/" + key
	targets, err := s.targets()
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		text, err := s.whole(t.file)
		if err != nil {
			continue // one that cannot be read tells nothing
		}
		for line := range linesWith(text, ourTools) {
			var x Turn
			if json.Unmarshal(line, &x) != nil {
				continue
			}
			action, of, _ := strings.Cut(x.Input, " ")
			if isOurs(x.Tool) && changesFacts(action) && strings.EqualFold(of, name) && (x.OK == nil || *x.OK) {
				list = append(list, Quote{t.id, x.N, x.At, x.Role, action})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Quote) int { return a.At.Compare(b.At) })
	return list, nil
}

// linesWith gives the turns of a session's file whose lines have a word. To look for the word is nearly all that it costs.
func linesWith(text []byte, word string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(word))
			if i < 0 {
				return
			}
			begin := bytes.LastIndexByte(text[:at+i], '\n') + 1
			line, _, whole := bytes.Cut(text[begin:], []byte{'\n'})
			at = begin + len(line)
			if whole && bytes.HasPrefix(line, []byte(`{"n":`)) && !yield(line) {
				return
			}
		}
	}
}

// Holding are the ids of the sessions in which something stands, the newest first.
func (s *Store) Holding(ctx context.Context, holds func(text string) bool) (ids []string, err error) {
	targets, err := s.targets()
	if err != nil {
		return nil, err
	}
	scans := make([]*scanned, len(targets))
	for i, t := range targets {
		scans[i] = &scanned{target: t}
	}
	err = parallel(ctx, scans, func(x *scanned) error {
		return s.Each(ctx, &Record{file: x.file}, func(t *Turn) bool {
			if holds(searched(t)) {
				x.turns++
			}
			return x.turns == 0
		})
	})
	for _, x := range scans {
		if x.turns > 0 {
			ids = append(ids, x.id)
		}
	}
	return ids, err
}
