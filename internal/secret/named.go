package secret

import (
	"slices"
	"strings"
)

// A name that says key, token, secret, password or -data makes a long random value after it a
// secret, whatever the value consists of. gitleaks has stop words and a limit of entropy for
// such values, which by chance let random ones pass. We look at the value's structure instead:
// words of a language, dates, hashes and references have one.

// nameWords are the triggers of the form named.
var nameWords = slices.Concat(secretWords, assignedWords)

var (
	secretWords = []string{"key", "token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "creds", "-data"}
	// Only an assignment makes what follows these a secret.
	assignedWords = []string{"auth", "sess", "sid", "cookie", "pass="}
)

const (
	minRandom = 16 // bytes of a value that can be told from a name
	maxName   = 64 // bytes of an identifier
	maxGap    = 48 // bytes between a name and its operator
	maxInARow = 64 // values after one name
	letterRun = 24 // small letters, or capitals, in a row that are no word
	digitsRun = 24 // digits in a row that are no number
)

// named adds the random values after the name that has a trigger, the word, at an offset. It
// returns the end of what it looked at.
func (m *matcher) named(text, low string, at int, word string, spans []span) ([]span, int) {
	from, to := at, at+len(word)
	if to < len(low) && low[to] == 's' {
		to++
	}
	if to < len(text) && 'a' <= text[to] && text[to] <= 'z' && slices.Contains(secretWords, word) {
		return spans, to // keyboard, tokenizer
	}
	for to < len(low) && to-at < maxName && inName(low[to]) {
		to++
	}
	k := secretOf
	if slices.Contains(assignedWords, word) {
		if k = byEqual; word == "cookie" {
			k = allOfLine
		}
		if !assignment(text[to:], k) && !strings.HasSuffix(word, "=") {
			return spans, to
		}
	}
	for from > 0 && at-from < maxName && inName(low[from-1]) {
		from--
	}
	i, follows, ok := valueAfter(text, low, to, k, text[from] == '-')
	if !ok {
		return spans, to
	}
	judged := false
	for count := 0; ok && count < maxInARow; count++ {
		start, end := valueAt(text, i, k)
		if start == end {
			break
		}
		value := text[start:end]
		if scheme(value) && end < len(text) && text[end] == ' ' {
			i = end + 1
			continue
		}
		if len(value) >= minRandom && !reference(value) && !(end < len(text) && text[end] == ')' && called(value)) && looksRandom(value) {
			if !judged && !secretName(text[from:to], low[:from], k, follows) {
				break
			}
			judged = true
			spans = append(spans, span{start: start, end: end, rule: m.rule})
		}
		if end-start > window { // so that names in a long value do not cost its square
			to = end
		}
		i, ok = nextValue(text, end, k)
	}
	return spans, to
}

// assignment reports whether an operator follows a name at once, as in a cookie.
func assignment(rest string, k kind) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), 4)], `"'`)
	return rest != "" && (rest[0] == '=' || k == allOfLine && rest[0] == ':')
}

func inName(c byte) bool { return word(c) || c == '-' || c == '.' }

// kind says what a name stands before.
type kind uint8

const (
	noName    kind = iota
	secretOf       // a key, token, secret, password or data
	byEqual        // a session's or a user's credential, which only an assignment makes one
	allOfLine      // a header of cookies: each has a name of its own
)

// secretName reports whether the value of an identifier is a secret. before is the text
// before it, in lower case, and follows the last of the words after it.
func secretName(identifier, before string, k kind, follows string) bool {
	if strings.HasSuffix(before, "//") { // the user of a URL, for which there are rules
		return false
	}
	last, found, public := "", false, false
	for w := range words(identifier) {
		if isSecretName(w) {
			found = true
			public = hasSuffix(w, "key", "keys") && (slices.Contains(publicKeys, wordBefore(last, before)) || w == "pubkey")
		}
		last = w
	}
	low := strings.ToLower(identifier)
	switch {
	case found:
		if public || slices.Contains(hashWords, last) || slices.Contains(hashWords, follows) {
			return false
		}
	case hasSuffix(low, "-data"):
		return identifier[0] != '-'
	case k == allOfLine:
		return last == "cookie"
	case k == byEqual:
		return last == "auth" || last == "pass" || hasSuffix(last, "sid", "sess", "session", "sessionid", "sessid") || last == "id" && strings.Contains(low, "sess")
	default:
		return false
	}
	return !toldPublic(before[max(0, len(before)-maxGap):])
}

// toldPublic reports whether the words before a value, in lower case, make it public: the
// hash of a token is no token, and neither is the key of a cache.
func toldPublic(before string) bool {
	clause := strings.Fields(before)
	for i := 1; i < len(clause); i++ {
		if clause[i] == "of" && slices.Contains(hashWords, clause[i-1]) || i > len(clause)-3 && hasPrefix(clause[i], "key") && slices.Contains(publicKeys, clause[i-1]) {
			return true
		}
	}
	return false
}

// wordBefore is the word before the word for a key: in the identifier, else in the text.
func wordBefore(word, before string) string {
	if word != "" {
		return word
	}
	before = strings.TrimRight(before, " \t\"'`")
	return before[strings.LastIndexFunc(before, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })+1:]
}

// hashWords say of the value after them that it is public: a hash, or the name of something.
var hashWords = []string{"commit", "sha", "sha1", "sha256", "sha384", "sha512", "md5", "rev", "revision", "hash", "hashes", "digest", "checksum", "crc", "etag",
	"fingerprint", "thumbprint", "integrity", "id", "ids", "arn", "address"}

// publicKeys are the words before "key" that make it no secret.
var publicKeys = []string{"public", "pub", "publishable", "primary", "foreign", "partition", "sort", "cache", "idempotency", "natural", "object", "s3", "row", "shard",
	"routing", "sequence", "schema", "dedup", "dedupe", "unique", "composite", "lookup", "host"}

// isSecretName reports whether a word of a name, in lower case, says that a secret follows.
func isSecretName(w string) bool {
	return hasSuffix(w, "key", "keys", "token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "passphrase", "pwd", "credential", "credentials", "creds") &&
		!hasSuffix(w, "monkey", "turkey", "donkey", "hockey", "jockey", "whiskey")
}

func hasSuffix(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

// words are the words of an identifier in lower case: api, key of API_KEY, apiKey and api-key.
func words(identifier string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(identifier); i++ {
			if i < len(identifier) {
				c := identifier[i]
				letter := 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9'
				if letter && !('A' <= c && c <= 'Z' && i > start && 'a' <= identifier[i-1] && identifier[i-1] <= 'z') {
					continue
				}
				if letter { // a capital after a small letter
					if !yield(strings.ToLower(identifier[start:i])) {
						return
					}
					start = i
					continue
				}
			}
			if i > start && !yield(strings.ToLower(identifier[start:i])) {
				return
			}
			start = i + 1
		}
	}
}

// valueAfter finds where the value after a name begins: after an operator, before which a few
// words may stand ("token for staging: …"). follows is the last of them. A flag needs no
// operator.
func valueAfter(text, low string, at int, k kind, flag bool) (value int, follows string, ok bool) {
	i := at
	blank := false
	for i < len(text) && i-at < maxGap {
		switch c := text[i]; {
		case c == '=' || c == ':' || c == '>':
			return i + 1, follows, true
		case c == ' ' || c == '\t':
			blank = true
			i++
		case strings.IndexByte("\"'`)]}(", c) >= 0:
			i++
		case k != secretOf:
			return i, follows, true // the trigger has the operator
		case c == ',' || c == '\n' || c == '\\': // {"name": "API_KEY", "value": "…"}
			value, ok = nextMember(text, i)
			return value, follows, ok
		case blank && word(c):
			end := i
			for end < len(low) && inName(low[end]) {
				end++
			}
			w := low[i:end]
			if w == "is" || w == "was" || w == "are" {
				return end, follows, true
			}
			if len(w) >= minRandom || flag {
				return i, follows, true
			}
			i, follows = end, w
		default:
			return 0, "", false
		}
	}
	return 0, "", false
}

// nextMember finds the value of a member that is called value, in JSON or YAML.
func nextMember(text string, at int) (int, bool) {
	rest := text[at:min(len(text), at+maxGap)]
	trimmed := strings.TrimLeft(rest, ",\n\r\t \\\"'nN{}")
	if low := strings.ToLower(trimmed); !strings.HasPrefix(low, "value") {
		return 0, false
	}
	after := strings.TrimLeft(trimmed[len("value"):], "\\\"' ")
	if after == "" || after[0] != ':' && after[0] != '=' {
		return 0, false
	}
	return at + len(rest) - len(after) + 1, true
}

// valueAt is the value that begins at an offset, without quotes and a sentence's marks.
func valueAt(text string, at int, k kind) (start, end int) {
	lines := 0
	for at < len(text) {
		c := text[at]
		if c == '\n' {
			if lines++; lines > 1 {
				return 0, 0
			}
		} else if strings.IndexByte(" \t\r\"'`=:>|[{(\\", c) < 0 && !(c == '-' && at+1 < len(text) && strings.IndexByte("\r\n", text[at+1]) >= 0) {
			break
		}
		at++
	}
	start, end = at, at
	quote := byte(0)
	if at > 0 && strings.IndexByte("\"'`", text[at-1]) >= 0 {
		quote = text[at-1]
	}
	ends := " \t\r\n\"'`,;<>)]}|&\\"
	if quote != 0 {
		ends = " \t\r\n\"'`\\"
	}
	for end < len(text) && strings.IndexByte(ends, text[end]) < 0 {
		end++
	}
	if end-start > 1 && text[start] == 'n' && start > 0 && text[start-1] == '\\' { // \n in JSON
		start++
	}
	for end > start && strings.IndexByte(".,:;!?", text[end-1]) >= 0 {
		end--
	}
	if k == allOfLine {
		if eq := strings.IndexByte(text[start:end], '='); eq >= 0 {
			start += eq + 1
		}
	}
	return start, end
}

// nextValue finds the next of several values: those of a list, or the next cookie.
func nextValue(text string, at int, k kind) (int, bool) {
	i := at
	for i < len(text) && strings.IndexByte("\"'`", text[i]) >= 0 {
		i++
	}
	if i >= len(text) || text[i] != ',' && text[i] != ';' || k != allOfLine && text[i] == ';' {
		return 0, false
	}
	i++
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	// In a list each value is in quotes like the first, and no member's name.
	if k == allOfLine || i > at+1 && i < len(text) && strings.IndexByte("\"'`", text[i]) >= 0 {
		return i, i < len(text)
	}
	return 0, false
}

// scheme reports the words that stand between a name and its credential.
func scheme(value string) bool {
	switch strings.ToLower(value) {
	case "bearer", "basic", "token", "apikey", "key":
		return true
	}
	return false
}

// reference reports whether a value is published, or names something that is elsewhere: a
// variable, an expression, a path, an address, a hash that says so, a public key.
func reference(s string) bool {
	low := strings.ToLower(s)
	return placeholder(s) || uuid(s) || published(s) || datelike(s) && !allDigits(s) ||
		strings.IndexByte("/~.", s[0]) >= 0 && !looksRandom(s[strings.LastIndexByte(s, '.')+1:]) && mostlyWords(s) || strings.Contains(s, "://") || strings.Contains(s, "$(") || strings.Contains(s, "](") ||
		hasPrefix(low, "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha384:", "sha512:", "md5:", "arn:", "urn:", "spiffe:", "age1", "pk_live_", "pk_test_") ||
		strings.HasPrefix(s, "AAAA") && strings.Contains(s[:min(len(s), 12)], "NzaC1") || ulid(s) || computed(s)
}

func hasPrefix(s string, begins ...string) bool {
	return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(s, begin) })
}

// ulid reports the form of a ULID of our days.
func ulid(s string) bool {
	return len(s) == 26 && strings.HasPrefix(s, "01") && allBytes(s, func(c byte) bool {
		return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' && strings.IndexByte("ILOU", c) < 0
	})
}

func allDigits(s string) bool {
	return allBytes(s, func(c byte) bool { return '0' <= c && c <= '9' })
}

// computed reports what a program computes: a call, an index, a member.
func computed(s string) bool {
	open := strings.IndexAny(s, "([")
	code := func(c byte) bool { return word(c) || strings.IndexByte(".:,-/ ()[]{}'\"", c) >= 0 }
	return open > 0 && allBytes(s, code) && !looksRandom(s[:open])
}

// called reports whether a value is the beginning of a call, up to its last argument: load_key2(path.
func called(s string) bool {
	name, argument, ok := strings.Cut(s, "(")
	identifier := func(s string) bool {
		return s != "" && (s[0] < '0' || s[0] > '9') && allBytes(s, func(c byte) bool { return letterOrDigit(c) || c == '_' || c == '.' })
	}
	return ok && len(name) < minRandom && identifier(name) && identifier(argument)
}

// mostlyWords reports whether most of a path is words.
func mostlyWords(s string) bool {
	words, all := 0, 0
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("/._-~@", c) }) {
		if all += len(part); !randomRun(part) {
			words += len(part)
		}
	}
	return 3*words >= all
}

// looksRandom reports whether no structure explains most of a value.
func looksRandom(s string) bool {
	s = withoutUUIDs(s)
	odd, all, marks, mixed, mixedRuns := 0, 0, 0, 0, 0
	for i := 0; i < len(s); {
		if !letterOrDigit(s[i]) {
			if strings.IndexByte("!@#$%^&*+=~?()", s[i]) >= 0 {
				marks++
			}
			i++
			continue
		}
		end := i
		for end < len(s) && letterOrDigit(s[end]) {
			end++
		}
		all += end - i
		if randomRun(s[i:end]) {
			odd += end - i
		}
		if run := s[i:end]; strings.ContainsAny(run, "0123456789") && strings.IndexByte("0123456789", run[len(run)-1]) < 0 {
			mixed += end - i
			mixedRuns++
		}
		i = end
	}
	switch {
	case odd >= 10, odd >= 8 && 5*odd >= 2*all:
		return true
	case all >= 12 && unlikelyLetters(s):
		return true
	case mixedRuns > 1 && 2*(mixed+odd) >= all: // letters after digits, again and again
		return true
	}
	// Many marks between short runs are those of a password.
	return marks >= 4 && marks*10 >= len(s) && all > marks && strings.ContainsAny(s, "0123456789")
}

func letterOrDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' }

// randomRun judges letters and digits in a row. A name is words, each with a few digits
// after it.
func randomRun(s string) bool {
	letters, digits, others := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9' && others == 0:
			digits++
		case digits == 0:
			letters++
		default:
			others++
		}
	}
	if letters == 0 && others == 0 {
		return digits >= digitsRun
	}
	if longestRun(s) >= letterRun {
		return true
	}
	count, capitals := oddCapitals(s)
	if digits == 0 {
		return capitals >= 2
	}
	return digits > 5 || others > 3 || letters > 14*count && digits > 2 || capitals > 0
}

// longestRun is the length of the longest run of letters in one case.
func longestRun(s string) (longest int) {
	small, capital := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			small, capital = small+1, 0
		case 'A' <= c && c <= 'Z':
			small, capital = 0, capital+1
		default:
			small, capital = 0, 0
		}
		longest = max(longest, small, capital)
	}
	return longest
}

// oddCapitals counts the words of a name in camel case, and the capitals that follow fewer
// than two small letters of a word.
func oddCapitals(s string) (words, odd int) {
	run := 3
	words = 1
	for i := range len(s) {
		c := s[i]
		switch {
		case 'A' <= c && c <= 'Z':
			if upper := i > 0 && 'A' <= s[i-1] && s[i-1] <= 'Z'; i > 0 && !upper {
				words++
				if run < 2 {
					odd++
				}
			}
			run = 0
		case 'a' <= c && c <= 'z':
			run++
		}
	}
	return words, odd
}

// withoutUUIDs takes UUIDs out of a value.
func withoutUUIDs(s string) string {
	for i := 0; i+36 <= len(s); i++ {
		if uuid(s[i : i+36]) {
			s = s[:i] + s[i+36:]
		}
	}
	return s
}

// published reports whether a secret is an example that its vendor published.
func published(s string) bool {
	return strings.Contains(s, "EXAMPLE") || slices.ContainsFunc(publishedExamples[:], func(example string) bool { return s == example })
}

// publishedExamples are written in halves, so that scanners of this repository pass over them.
var publishedExamples = [...]string{
	"sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc", "sk_test_" + "BQokikJOvBiI2HlWgH4olfQ2", "sk_test_" + "tR3PYbcVNZZ796tH88S4VQ2u",
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30",
}
