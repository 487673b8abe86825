package agents

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// readDuration reads whole numbers, each with a unit s, m, h, d or w: 90s, 1h30m. The sum
// must be from least to most.
func readDuration(argument, text string, least, most time.Duration) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	var sum time.Duration
	for rest := text; rest != "" || text == ""; {
		i := max(0, strings.IndexAny(rest, "smhdw"))
		n, err := strconv.ParseUint(rest[:i], 10, 31)
		if err != nil {
			return 0, refusal.Argument(argument, "%s %q is not a duration: give a number and a unit, such as 90s, 10m, 1h30m or 1d", argument, prose.Clip(text, maxWord))
		}
		unit := units[rest[i]]
		sum += time.Duration(min(n, uint64(most/unit)+1)) * unit
		sum, rest = min(sum, most+1), rest[i+1:]
	}
	if sum >= least && sum <= most {
		return sum, nil
	}
	return 0, refusal.Argument(argument, "%s %q is not between %s and %s", argument, prose.Clip(text, maxWord), prose.Duration(least), prose.Duration(most))
}

// checkedText trims a text and makes it valid UTF-8. It may have at most `most` bytes.
func checkedText(argument, text string, most int) (string, error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "", refusal.Missing(argument, "")
	case len(text) > most:
		return "", refusal.Argument(argument, "%s has %d bytes, more than %d: put it into a file and share that", argument, len(text), most)
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError)), nil
}

// checkedWord is a name in lower case, of letters, digits and dashes, with at most `most`
// bytes.
func checkedWord(argument, name string, most int) (string, error) {
	w := strings.ToLower(strings.TrimSpace(name))
	bad := strings.IndexFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) >= 0
	switch {
	case w == "":
		return "", refusal.Missing(argument, "")
	case len(w) > most:
		return "", refusal.Argument(argument, "%s has %d bytes, more than %d", argument, len(w), most)
	case bad || w[0] == '-' || w[len(w)-1] == '-':
		return "", refusal.Argument(argument, "%s %q is not made of letters a-z, digits and dashes between them", argument, prose.Clip(name, maxWord))
	}
	return w, nil
}

// maxPath is the maximum length of a path in bytes.
const maxPath = args.MaxPath

// KindOf is the type of an agent by its id. Another name is given back.
func KindOf(id string) string { return cmp.Or(args.AgentType(id), id) }

// WorksIn reports whether agents of a type work in a client: one name begins with all words of
// the other, as with claude and claude-code.
func WorksIn(kind, client string) bool {
	kind, client = strings.ToLower(kind)+"-", client+"-"
	return kind != "-" && (strings.HasPrefix(client, kind) || strings.HasPrefix(kind, client))
}
