package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what sort of thing a [Warning] is about.
type Kind string

// The kinds of warnings.
const (
	Torn     Kind = "torn"     // an unfinished write was dropped; it was never answered
	Lost     Kind = "lost"     // a commit is damaged beyond reading
	Damaged  Kind = "damaged"  // a journal was damaged but nothing is lost
	Replaced Kind = "replaced" // a snapshot was damaged and an older one took over; lost commits have separate warnings
	Settled  Kind = "settled"  // it is known now whether a commit in doubt is on disk
	Vanished Kind = "vanished" // the files have fewer commits than this process has seen
	Offline  Kind = "offline"  // the server of the shared log gave no answer; what is read is the copy
	Diverged Kind = "diverged" // the shared log cannot be used
	Unknown  Kind = "unknown"  // a commit is intact and not understood; what is read ends before it
	Void     Kind = "void"     // a commit of a team has events that do not count
	Ahead    Kind = "ahead"    // the newest commit is dated more than an hour in the future
)

// Warning is something that people should know about their files.
type Warning struct {
	Kind Kind
	Text string // a sentence
	File string // the file's name, or the name under which it was set aside
	Seq  uint64 // the commit, if it is about one
}

// warnings keeps each once.
type warnings struct{ list []Warning }

// add reports whether a warning is new. What a reader found in a damaged file and
// a writer then set aside is one thing: it keeps the later name.
func (w *warnings) add(n Warning) bool {
	same := func(o Warning) bool {
		found := o.Seq == n.Seq && strings.Contains(n.File, corruptMark) && !strings.Contains(o.File, corruptMark)
		return o.Kind == n.Kind && (found || n.Kind == Ahead)
	}
	if slices.Contains(w.list, n) {
		return false
	}
	if i := slices.IndexFunc(w.list, same); i >= 0 {
		w.list[i] = n
		return false
	}
	w.list = append(w.list, n)
	return true
}

func tornWarning(file string, n int) Warning {
	return Warning{Kind: Torn, File: file, Text: fmt.Sprintf("an unfinished write of %d bytes was cut off and kept in %s.", n, file)}
}

// lostWarnings has one for each run of lost commits. Those after ends were
// answered and are not in the journal at all.
func lostWarnings(file string, lost []uint64, ends uint64) (ws []Warning) {
	for len(lost) > 0 {
		n := 1
		for n < len(lost) && lost[n] == lost[n-1]+1 && (lost[n] > ends) == (lost[0] > ends) {
			n++
		}
		which, is, it := fmt.Sprintf("commit %d", lost[0]), "is", "it"
		if n > 1 {
			which, is, it = fmt.Sprintf("commits %d to %d", lost[0], lost[n-1]), "are", "them"
		}
		text := fmt.Sprintf("%s %s damaged and lost; what is left of %s is in %s.", which, is, it, file)
		if lost[0] > ends {
			text = fmt.Sprintf("%s %s lost: the journal was cut, emptied or replaced from outside; what was left of it is in %s.", which, is, file)
		}
		ws = append(ws, Warning{Kind: Lost, File: file, Seq: lost[0], Text: text})
		lost = lost[n:]
	}
	return ws
}

func damagedWarning(file string) Warning {
	return Warning{Kind: Damaged, File: file, Text: fmt.Sprintf("the journal was damaged, nothing is lost; the damaged file is %s.", file)}
}

func replacedWarning(file, by string, lost bool) Warning {
	end := ", nothing is lost."
	if lost {
		end = "." // lost commits have a separate warning
	}
	return Warning{Kind: Replaced, File: file, Text: fmt.Sprintf("%s is damaged; rebuilt from %s%s", file, by, end)}
}

func vanishedWarning(file string, had, has uint64) Warning {
	text := fmt.Sprintf("the store had commit %d and now ends at commit %d: its files were cut, deleted or replaced while it was open.", had, has)
	if has >= had {
		text = fmt.Sprintf("a commit up to %d was lost from the store's files while it was open.", had)
	}
	return Warning{Kind: Vanished, File: file, Seq: had, Text: text}
}

func rescuedWarning(file string, err error) Warning {
	w := Warning{Kind: Vanished, File: file, Text: fmt.Sprintf("the state before that is kept in %s.", file)}
	if err != nil {
		w.Text = fmt.Sprintf("the state before that could not be kept: %v.", err)
	}
	return w
}

func unknownWarning(file string, seq uint64, err error) Warning {
	return Warning{Kind: Unknown, File: file, Seq: seq, Text: err.Error() + "."}
}

func voidWarning(file string, seq uint64, n int) Warning {
	what, is := "1 event", "is"
	if n > 1 {
		what, is = strconv.Itoa(n)+" events", "are"
	}
	return Warning{Kind: Void, File: file, Seq: seq, Text: fmt.Sprintf("%s of commit %d of the team %s void: who wrote it may not do that, and nothing of it was done.", what, seq, is)}
}

func aheadWarning(file string, at time.Time) Warning {
	return Warning{Kind: Ahead, File: file, Text: fmt.Sprintf("the newest commit is dated %s, ahead of this machine's clock: a clock was wrong when it was made, or is now.", at.UTC().Format(time.RFC3339))}
}

// offlineWarning is about a copy that may be old. A time that ended is no sign that the server is
// away: what is new may only be large.
func offlineWarning(remote string, err error, at time.Time) Warning {
	copied := "this is the copy of " + at.UTC().Format(time.RFC3339)
	if at.IsZero() {
		copied = "this copy is empty"
	}
	text := fmt.Sprintf("newer commits were not looked for, %s: %v.", copied, err)
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("newer commits did not come in time, %s: %s.", copied, remote)
	}
	return Warning{Kind: Offline, Text: text}
}

const (
	lostMark  = "-lost-"
	lostNamed = 10 // commits in the name of a file
)

// lostSuffix is the end of a damaged journal's name, from which [LostIn] reads what was lost with it.
func lostSuffix(lost []uint64) string {
	if len(lost) == 0 {
		return ""
	}
	words := make([]string, 0, lostNamed)
	for _, seq := range lost[:min(lostNamed, len(lost))] {
		words = append(words, strconv.FormatUint(seq, 10))
	}
	if more := len(lost) - lostNamed; more > 0 {
		words = append(words, fmt.Sprintf("and-%d-more", more))
	}
	return lostMark + strings.Join(words, "-")
}

// LostIn lists the commits that were lost with a file that was set aside, by the file's name:
// "2, 3". It is empty if nothing was lost.
func LostIn(name string) string {
	_, list, ok := strings.Cut(name, lostMark)
	if !ok {
		return ""
	}
	list, more, _ := strings.Cut(list, "-and-")
	list = strings.ReplaceAll(list, "-", ", ")
	if more != "" {
		list += " and " + strings.ReplaceAll(more, "-", " ")
	}
	return list
}
