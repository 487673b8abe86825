package secret

import "strings"

// ownRules are what gitleaks has not, or has for whole source files only. Only ever read.
var ownRules = [...]rule{
	{id: "private-key", form: byFunction, triggers: []string{"-----begin"}, find: privateKey},
	{id: "url-password", form: byFunction, triggers: []string{"://"}, find: urlPassword},
	{id: "url-token", form: byFunction, triggers: []string{"://"}, find: urlToken, entropy: 3},
	{id: "url-parameter", form: byFunction, broad: 1, find: urlParameter,
		triggers: []string{"password=", "passwd=", "pwd=", "token=", "secret=", "key=", "sig=", "signature="}},
	{id: "password-assignment", form: byFunction, triggers: []string{"password", "passwd", "passphrase", "pwd"}, find: password, broad: 2},
	{id: "netrc-password", form: byFunction, triggers: []string{"password"}, find: netrc, start: true},
	{id: "command-password", form: byFunction, triggers: []string{"--password=", "-p"}, find: flagPassword, broad: 1},
	{id: "curl-password", form: byFunction, triggers: []string{"-u", "--user"}, find: curlPassword, broad: 1},
	{id: "bearer-token", form: prefixed, triggers: []string{"bearer"}, body: `(?i)bearer[ \t]+([\w.~+/=-]{19,}[\w~+/=-])`, start: true, broad: 1, random: true},
	{id: "basic-auth", form: prefixed, triggers: []string{"authorization"}, solid: 13,
		body: `(?i)authorization["']?\s*[:=]\s*["']?basic\s+([a-z0-9+/]{8,}={0,2})`},
	// OpenAI, Anthropic, OpenRouter, DeepSeek and others.
	{id: "sk-api-key", form: prefixed, triggers: []string{"sk-"}, body: `(?i)sk-[\w-]{20,}`, solid: 23, start: true, broad: 1, random: true},
	{id: "aws-secret-access-key", form: assigned, triggers: []string{"secret"}, solid: 40,
		head: `(?i:secret[_ -]?(?:access[_ -]?)?key)`, body: `[A-Za-z0-9/+]{40}`, entropy: 3.5},
	{id: "azure-storage-key", form: prefixed, triggers: []string{"accountkey="}, body: `(?i)AccountKey=([A-Za-z0-9+/]{86}==)`, solid: 99},
	{id: "discord-webhook", form: prefixed, triggers: []string{"discord"}, solid: 90,
		body: `(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,30}/([\w-]{60,80})`},
	{id: "telegram-bot-token", form: anywhere, triggers: []string{":aa"}, body: `(?:^|[^0-9])([0-9]{8,10}:AA[\w-]{33})(?:[^\w-]|$)`},
	{id: "google-oauth-secret", form: prefixed, triggers: []string{"gocspx-"}, body: `GOCSPX-[\w-]{28}`, solid: 35, start: true},
	{id: "google-oauth-token", form: prefixed, triggers: []string{"ya29."}, body: `ya29\.[\w-]{20,}`, solid: 25, start: true},
	{id: "docker-token", form: prefixed, triggers: []string{"dckr_pat_", "dckr_oat_"}, body: `dckr_[po]at_[\w-]{20,}`, solid: 29, start: true},
	{id: "groq-api-key", form: prefixed, triggers: []string{"gsk_"}, body: `gsk_[A-Za-z0-9]{40,}`, solid: 44, start: true},
	{id: "xai-api-key", form: prefixed, triggers: []string{"xai-"}, body: `xai-[A-Za-z0-9]{60,}`, solid: 64, start: true},
	{id: "replicate-api-token", form: prefixed, triggers: []string{"r8_"}, body: `r8_[A-Za-z0-9]{37}`, solid: 40, start: true},
	{id: "supabase-key", form: prefixed, triggers: []string{"sbp_", "sb_secret_"}, body: `sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}`, solid: 30, start: true},
	{id: "stripe-webhook-secret", form: prefixed, triggers: []string{"whsec_"}, body: `whsec_[A-Za-z0-9+/]{24,}={0,2}`, solid: 30, start: true},
	{id: "figma-token", form: prefixed, triggers: []string{"figd_"}, body: `figd_[\w-]{30,}`, solid: 35, start: true},
}

// privateKey takes a PEM (or PGP) private key from its BEGIN to its END. If the END is missing,
// cut off or far, it takes the text that can be a key. A header without a body is left.
func privateKey(text string, at int) (start, end int) {
	const dashes = "-----"
	line := text[at:min(len(text), at+128)]
	n := strings.Index(line[len(dashes):], dashes)
	if n < 0 {
		return 0, 0
	}
	header := strings.ToUpper(line[:n+len(dashes)])
	if !strings.HasSuffix(header, "PRIVATE KEY") && !strings.HasSuffix(header, "PRIVATE KEY BLOCK") {
		return 0, 0
	}
	from := at + n + 2*len(dashes)
	body := text[from:min(len(text), from+64<<10)]
	closed := strings.Index(body, dashes)
	if closed >= 0 && len(body) >= closed+8 && strings.EqualFold(body[closed:closed+8], "-----END") {
		if longestRun(body[:closed], base64Byte) < 16 {
			return 0, 0
		}
		tail := body[closed+len(dashes):]
		if e := strings.Index(tail[:min(len(tail), 128)], dashes); e >= 0 {
			return at, from + closed + len(dashes) + e + len(dashes)
		}
	}
	if closed >= 0 {
		body = body[:closed]
	}
	end, lines := 0, 0
	for i := 0; i < len(body); i++ {
		n := run(body[i:], base64Byte)
		if i += n; n >= 16 {
			end, lines = i, lines+1
		}
		if i < len(body) && !base64Byte(body[i]) && strings.IndexByte(" \t\r\n\\\"',:.>-", body[i]) < 0 {
			break
		}
	}
	if lines == 0 {
		return 0, 0
	}
	return at, from + end
}

// urlPassword takes the password of scheme://user:password@host. Every password, also
// "password": a database that is open to it is no less open.
func urlPassword(text string, at int) (start, end int) {
	user, whole := authority(text, at)
	if user < 0 {
		return 0, 0
	}
	colon := strings.IndexByte(text[whole:user], ':')
	if colon < 0 || colon+1 == user-whole || placeholder(text[whole+colon+1:user]) {
		return 0, 0
	}
	return whole + colon + 1, user
}

// urlToken takes the user of scheme://token@host when it can only be a token.
func urlToken(text string, at int) (start, end int) {
	user, whole := authority(text, at)
	if user < 0 {
		return 0, 0
	}
	s := text[whole:user]
	if len(s) < 20 || nameLike(s) || !strings.ContainsAny(s, "0123456789") || !allBytes(s, func(c byte) bool { return word(c) || c == '-' }) {
		return 0, 0
	}
	return whole, user
}

// authority finds the userinfo of the URL whose "://" is at an offset. It begins at start. end is
// the offset of the '@' that ends it, or negative if there is none.
func authority(text string, at int) (end, start int) {
	if at == 0 || !word(text[at-1]) {
		return -1, 0
	}
	start, end = at+3, -1
	for i := start; i < len(text) && i < start+512; i++ {
		c := text[i]
		if c == '@' {
			end = i
		} else if c <= ' ' || strings.IndexByte("/?\"'`<>\\|", c) >= 0 && !(c == '<' || c == '>') {
			break
		}
	}
	if end < 0 || end+1 >= len(text) || !word(text[end+1]) && text[end+1] != '[' && text[end+1] != '$' && text[end+1] != '{' && text[end+1] != '<' && text[end+1] < 128 {
		return -1, 0
	}
	return end, start
}

// urlParameter takes the value of a parameter whose name says what it is.
func urlParameter(text string, at int) (start, end int) {
	name := at
	for name > 0 && at-name < 40 && (word(text[name-1]) || text[name-1] == '-') {
		name--
	}
	if name == 0 || text[name-1] != '?' && text[name-1] != '&' {
		return 0, 0
	}
	start = at + strings.IndexByte(text[at:], '=') + 1
	end = start
	for end < len(text) && end-start < 2048 && text[end] > ' ' && strings.IndexByte("&;#\"'`<>)]},|", text[end]) < 0 {
		end++
	}
	value := text[start:end]
	least := 12
	if c := lower(text[at]); c == 'p' {
		least = 4 // a password may be short
	}
	if len(value) < least || placeholder(value) || least > 4 && (nameLike(value) || uuid(value) || !strings.ContainsAny(value, "0123456789")) {
		return 0, 0
	}
	return start, end
}

// netrc takes the password of "machine host login user password secret", the
// entry of a .netrc file, whatever it is. Without the machine it must look like one.
func netrc(text string, at int) (start, end int) {
	i := at + len("password")
	start = i + run(text[i:], space)
	end = start + run(text[start:], func(c byte) bool { return !space(c) })
	before := strings.Fields(text[max(0, at-512):at])
	n := len(before)
	if start == i || n < 2 || !strings.EqualFold(before[n-2], "login") || placeholder(text[start:end]) {
		return 0, 0
	}
	entry := n >= 4 && strings.EqualFold(before[n-4], "machine") || n >= 3 && strings.EqualFold(before[n-3], "default")
	if !entry && !passwordLike(text[start:end], true) {
		return 0, 0
	}
	return start, end
}

// flagPassword takes the value of --password=, and of -p where mysql is called:
// there it follows directly.
func flagPassword(text string, at int) (start, end int) {
	start = at + len("--password=")
	if text[at+1] != '-' {
		start = at + len("-p")
		if text[at+1] != 'p' || !called(text, at, "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mariadb", "mariadb-dump") {
			return 0, 0
		}
	}
	if at > 0 && !space(text[at-1]) && strings.IndexByte("'\"`", text[at-1]) < 0 {
		return 0, 0
	}
	return argument(text, start)
}

// curlPassword takes what follows the colon of curl's -u user:password.
func curlPassword(text string, at int) (start, end int) {
	i := at + len("-u")
	if text[at+1] == '-' {
		i = at + len("--user")
	} else if text[at+1] != 'u' {
		return 0, 0
	}
	if !called(text, at, "curl") || at > 0 && !space(text[at-1]) {
		return 0, 0
	}
	i += run(text[i:], func(c byte) bool { return space(c) || c == '=' })
	start, end = argument(text, i)
	colon := strings.IndexByte(text[start:end], ':')
	if colon < 0 || placeholder(text[start+colon+1:end]) {
		return 0, 0
	}
	return start + colon + 1, end
}

// called reports whether a command of one of the names stands before at, in the
// same line or one that is continued.
func called(text string, at int, names ...string) bool {
	before := text[max(0, at-1024):at]
	for i := len(before) - 1; i >= 0; i-- {
		if before[i] == '\n' && (i == 0 || before[i-1] != '\\') {
			before = before[i+1:]
			break
		}
	}
	for f := range strings.FieldsSeq(before) {
		f = strings.Trim(f, "\"'`$()")
		for _, n := range names {
			if f == n || strings.HasSuffix(f, "/"+n) {
				return true
			}
		}
	}
	return false
}

// argument is the word of a command that begins at start, without its quotes;
// none if it is a placeholder.
func argument(text string, start int) (from, to int) {
	if start >= len(text) {
		return 0, 0
	}
	from = start
	if q := text[start]; q == '\'' || q == '"' {
		from++
		n := strings.IndexByte(text[from:min(len(text), from+256)], q)
		if n < 0 {
			return 0, 0
		}
		to = from + n
	} else {
		to = from + run(text[from:], func(c byte) bool { return !space(c) && strings.IndexByte("'\"`;|&", c) < 0 })
		to = from + len(strings.TrimRight(text[from:to], ".,:)]}")) // of the sentence
	}
	if from == to || placeholder(text[from:to]) {
		return 0, 0
	}
	return from, to
}

func space(c byte) bool { return c <= ' ' }

// random reports whether a value is no name and no placeholder and has digits and letters.
func random(s string) bool {
	return strings.ContainsAny(s, "0123456789") && !datelike(s) && !nameLike(s) && !placeholder(s) && entropy(s) > 3
}

// run is how many bytes at the beginning of s are such. It looks no further than at any
// secret's length, so that a text full of beginnings does not cost its square.
func run(s string, is func(byte) bool) int {
	s = s[:min(len(s), window)]
	for i := range len(s) {
		if !is(s[i]) {
			return i
		}
	}
	return len(s)
}

func longestRun(s string, is func(byte) bool) int {
	longest, n := 0, 0
	for i := range len(s) {
		if n++; !is(s[i]) {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

func base64Byte(c byte) bool { return word(c) && c != '_' || c == '+' || c == '/' || c == '=' }
