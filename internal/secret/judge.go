package secret

import (
	_ "embed"
	"strings"
)

// genericStopwords are the words, one a line, that gitleaks takes for a sign of
// an ordinary name.
//
//go:embed stopwords.txt
var genericStopwords string

// In prose, an identifier, a colon and a long word are no sign of a secret. These are the
// tests that gitleaks, made for source code, does not have.

// secretValue judges the value of an assignment. before is the text from the identifier on, in
// lower case.
func (m *matcher) secretValue(before, value string) bool {
	if !strings.ContainsAny(value, "0123456789") || placeholder(value) || nameLike(value) {
		return false
	}
	if hexadecimal(value) && containsAny(before, "commit", "sha", "rev", "hash", "digest", "checksum", "md5", "etag", "tag", "branch", "version", "build", "pinned", "merge", "fingerprint") {
		return false
	}
	if m.id != "generic-api-key" {
		return true
	}
	low := strings.ToLower(value)
	return !uuid(value) &&
		!strings.HasPrefix(low, "sha1-") && !strings.HasPrefix(low, "sha256-") && !strings.HasPrefix(low, "sha384-") && !strings.HasPrefix(low, "sha512-") &&
		!containsAny(before, "public", "pubkey", "fingerprint", "checksum", "hash", "cache", "idempotency") &&
		!datelike(value) && !stopped(low)
}

// isReal reports whether a value is there, and no placeholder.
func isReal(s string) bool { return !placeholder(s) }

// random reports whether a value is no name and no placeholder and has digits and letters.
func random(s string) bool {
	return strings.ContainsAny(s, "0123456789") && !datelike(s) && !nameLike(s) && !placeholder(s) && entropy(s) > 3
}

// userToken judges what stands alone before the '@' of a URL.
func userToken(s string) bool { return strings.ContainsAny(s, "0123456789") && !nameLike(s) }

// parameterValue judges the value of a URL's parameter that is named a key or a token.
func parameterValue(s string) bool {
	return strings.ContainsAny(s, "0123456789") && !placeholder(s) && !nameLike(s) && !uuid(s)
}

// surePassword and likelyPassword judge a password by its signs. The first is for what is a value for
// sure, the second for what may be a word of a sentence.
func surePassword(s string) bool {
	letter, digit, sign := signs(s)
	return passwordLike(s) && letter > 0 && (digit || sign) && !(strings.ContainsAny(s, "._-/") && nameLike(s))
}

func likelyPassword(s string) bool {
	letter, digit, sign := signs(s)
	return passwordLike(s) && len(s) >= 8 && digit && letter > 0 && (sign || letter == 2) && !nameLike(s) && !datelike(s)
}

// signs tells what a value is made of; letter is 2 if it has small and capital ones.
func signs(s string) (letter int, digit, sign bool) {
	if s != strings.ToUpper(s) {
		letter++
	}
	if s != strings.ToLower(s) {
		letter++
	}
	return letter, strings.ContainsAny(s, "0123456789"), strings.ContainsAny(s, "!@#$%^&*+?~")
}

// passwordLike excludes what stands for a password, or says how one is kept.
func passwordLike(s string) bool {
	return len(s) >= 6 && len(s) <= 200 && !placeholder(s) && !strings.ContainsAny(s, " \t\r\n()") && s[0] != '/' && !strings.Contains(s, "://") &&
		!containsAny(strings.ToLower(s), "bcrypt", "argon", "scrypt", "pbkdf", "sha1", "sha2", "sha5", "md5", "hmac", "oauth", "base64", "utf8", "utf-8", "ldap", "x509", "aes", "your", "example", "changeme")
}

// passwordWord judges a value of letters alone. Words that say something about a password are
// none.
func passwordWord(s string) bool {
	switch strings.ToLower(s) {
	case "required", "optional", "mandatory", "missing", "hidden", "secret", "redacted", "masked", "encrypted", "hashed", "plaintext", "string", "default",
		"disabled", "enabled", "unused", "ignored", "prompt", "random", "generated", "rotated", "external", "inherit", "inherited", "password", "passwd", "passphrase", "changed", "unchanged":
		return false
	}
	return passwordLike(s) && !masked(s)
}

// spokenPassword judges what follows "password is": no word of a sentence.
func spokenPassword(s string) bool {
	s = strings.TrimRight(s, "!?")
	letter, digit, sign := signs(s)
	if len(s) < 6 || strings.Contains(s, "|") || placeholder(s) || computed(s) {
		return false
	}
	marks := 0
	for i := range len(s) {
		if strings.IndexByte("!@#$%^&*+=?~()", s[i]) >= 0 {
			marks++
		}
	}
	_, capitals := oddCapitals(s)
	switch {
	case letter == 0:
		return digit && (allDigits(s) || sign)
	case marks > 2, marks > 0 && digit, surePassword(s):
		return true
	}
	return passwordWord(s) && len(s) >= 8 && (allLetters(s) && capitals > 0 || looksRandom(s) || unlikelyLetters(s))
}

func allLetters(s string) bool {
	return allBytes(s, func(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' })
}

// quotedPassword judges what stands in quotes as a password: no word about one.
func quotedPassword(s string) bool {
	return !placeholder(s) && !strings.Contains(s, "%s") && (len(s) < 6 || passwordWord(s)) // %s: a program fills it in
}

// cookieValue judges the value of a session's cookie.
func cookieValue(s string) bool {
	return !placeholder(s) && !uuid(s) && !strings.ContainsAny(s, "(){}$") && looksRandom(s)
}

// djangoKey judges what is called SECRET_KEY.
func djangoKey(s string) bool {
	return !placeholder(s) && !computed(s) && looksRandom(s)
}

// stopped reports whether a lower-case value holds one of gitleaks' stop words.
func stopped(value string) bool {
	for w := range strings.FieldsSeq(genericStopwords) {
		if strings.Contains(value, w) {
			return true
		}
	}
	return false
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// placeholder reports whether a value stands for one that is elsewhere: $VAR, ${VAR}, <it>,
// {{ it }}, %s, %VAR%, [it], ****, xxxx.
func placeholder(s string) bool {
	if s == "" || masked(s) {
		return true
	}
	last := s[len(s)-1]
	switch s[0] {
	case '<':
		return last == '>'
	case '{':
		return last == '}'
	case '[':
		return last == ']'
	case '%':
		return len(s) == 2 || last == '%'
	case '$':
		return len(s) > 1 && (s[1] == '{' || s[1] == '(' || allBytes(s[1:], func(c byte) bool { return c == '_' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }) ||
			allBytes(s[1:], func(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' }))
	}
	return strings.Contains(s, "${") || strings.Contains(s, "{{") || strings.Contains(s, "…") || strings.Contains(s, "...")
}

// masked reports whether a value, after what may be its prefix, is one sign repeated.
func masked(s string) bool {
	if i := strings.LastIndexAny(s, "_-."); i >= 0 && i < len(s)-6 {
		s = s[i+1:]
	}
	if s == "" {
		return false
	}
	for i := range len(s) {
		if lower(s[i]) != lower(s[0]) {
			return false
		}
	}
	return strings.IndexByte("xX*.#?_-", s[0]) >= 0 || s[0] >= 128
}

// nameLike reports whether a value reads as a name, such as oauth2-proxy-v7 or us-east-1b:
// words joined by punctuation, each with few digits at its end.
func nameLike(s string) bool {
	longest, parts := 0, 0
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("._-/=+", c) }) {
		letters, digits, others := 0, 0, 0
		for i := range len(part) {
			switch c := part[i]; {
			case '0' <= c && c <= '9' && others == 0:
				digits++
			case digits == 0:
				letters++
			default:
				others++
			}
		}
		words, odd := camel(part)
		if digits > 5 || others > 3 || letters > 14*words && digits > 2 || odd {
			return false
		}
		longest, parts = max(longest, digits), parts+words
	}
	return parts > 1 || longest <= 3
}

// camel counts the words of a name in camel case. odd says that it is no such name: it has
// capitals that do not begin a word of at least three letters.
func camel(s string) (words int, odd bool) {
	words, capitals := oddCapitals(s)
	return words, capitals > 0
}

func hexadecimal(s string) bool {
	return len(s) >= 7 && allBytes(s, func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f' })
}

// uuid reports the form 8-4-4-4-12.
func uuid(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	return hexadecimal(strings.ReplaceAll(s, "-", ""))
}

// datelike reports values of digits and their punctuation: dates, versions, addresses, numbers.
func datelike(s string) bool {
	return allBytes(s, func(c byte) bool { return '0' <= c && c <= '9' || strings.IndexByte("-_.:+/TZvxe=", c) >= 0 })
}

func allBytes(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}
