package secret

import "strings"

// password takes the value of `password = value` if it is certain enough. Quoted, or directly
// after '=', the value needs a digit or a sign. After a blank it must look like a password.
func password(text string, at int) (start, end int) {
	i := at + run(text[at:], word) // the identifier must end with the word: not password_hash
	if name := strings.ToLower(text[at:i]); name != "password" && name != "passwd" && name != "passphrase" && name != "pwd" {
		return 0, 0
	}
	if first := extended(text, at); first > 0 && (text[first-1] == '?' || text[first-1] == '&') {
		return 0, 0 // a parameter of a URL
	}
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		i++
	}
	name := i
	i += run(text[i:], blank)
	op := i
	i += run(text[i:], func(c byte) bool { return c == '=' || c == ':' || c == '>' })
	if i == op || i-op > 3 {
		return 0, 0
	}
	tight := op == name && text[i-1] == '='
	value := i + run(text[i:], blank)
	tight = tight && value == i
	if value == len(text) {
		return 0, 0
	}
	quoted := strings.IndexByte("\"'`", text[value]) >= 0
	if quoted {
		n := strings.IndexByte(text[value+1:min(len(text), value+256)], text[value])
		if n < 0 {
			return 0, 0
		}
		start, end = value+1, value+1+n
	} else {
		start = value
		end = value + run(text[value:min(len(text), value+256)], func(c byte) bool { return c > ' ' && strings.IndexByte(",;\"'`\\", c) < 0 })
		for end > start && strings.IndexByte(".:)]}", text[end-1]) >= 0 {
			end--
		}
	}
	if !passwordLike(text[start:end], tight || quoted) {
		return 0, 0
	}
	return start, end
}

// passwordLike judges a value by its signs; sure says that it is certainly a value.
func passwordLike(s string, sure bool) bool {
	if len(s) < 6 || len(s) > 200 || placeholder(s) || strings.ContainsAny(s, " \t\r\n()") || s[0] == '/' || strings.Contains(s, "://") {
		return false
	}
	low := strings.ToLower(s)
	if containsAny(low, "bcrypt", "argon", "scrypt", "pbkdf", "sha1", "sha2", "sha5", "md5", "hmac", "oauth", "base64", "utf8", "utf-8", "ldap", "x509", "aes", "your", "example", "changeme") {
		return false
	}
	var digit, upper, small, sign bool
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digit = true
		case 'A' <= c && c <= 'Z':
			upper = true
		case 'a' <= c && c <= 'z':
			small = true
		case strings.IndexByte("!@#$%^&*+?~", c) >= 0:
			sign = true
		}
	}
	if sure {
		return (upper || small) && (digit || sign) && !(strings.ContainsAny(s, "._-/") && nameLike(s))
	}
	return len(s) >= 8 && digit && (upper || small) && (sign || upper && small) && !nameLike(s) && !datelike(s)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
