package secret

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/proctest"
)

func redactor(tb testing.TB, extra ...Rule) *Redactor {
	tb.Helper()
	r, err := New(extra)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestCleanTextPassesUnchanged(t *testing.T) {
	r := redactor(t)
	if len(cleanTexts) < 200 {
		t.Fatalf("only %d texts", len(cleanTexts))
	}
	for _, text := range cleanTexts {
		if got, found := r.Clean(text); got != text {
			t.Errorf("%q became %q (%v)", text, got, found)
		}
	}
	// Also when all stand in one text, where a rule can reach over a sentence's end.
	all := strings.Join(cleanTexts, "\n")
	if got, rules := r.Clean(all); got != all {
		t.Errorf("in one text: %v:\n%s", rules, cmp.Diff(strings.Split(all, "\n"), strings.Split(got, "\n")))
	}
}

// fake makes n characters of an alphabet that no scanner takes for a secret in this file.
func fake(alphabet string, n int) string {
	rnd := rand.New(rand.NewPCG(7, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	b[n/2], b[n/3] = alphabet[len(alphabet)-1], alphabet[0]
	return string(b)
}

const (
	hex    = "abcdef0123456789"
	small  = "abcdefghijklmnopqrstuvwxyz0123456789"
	base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

func pem(kind string, closed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-----%s %s-----\n", "BEGIN", kind)
	for i := range 4 {
		b.WriteString(fake(base62+"+/", 64-i) + "\n")
	}
	if closed {
		fmt.Fprintf(&b, "-----%s %s-----", "END", kind)
	}
	return strings.TrimSpace(b.String())
}

// secrets are what must go, by the rule that names it.
func secrets() map[string][]string {
	jwt := "ey" + "J" + fake(base62, 33) + ".ey" + "J" + fake(base62, 60) + "." + fake(base62, 43)
	return map[string][]string{
		"github-pat":               {"gh" + "p_" + fake(base62, 36), "gh" + "p_" + "abcdefghijklmnopqrstuvwxyz0123456789"},
		"github-fine-grained-pat":  {"github" + "_pat_" + fake(base62, 82)},
		"github-oauth":             {"gh" + "o_" + fake(base62, 36)},
		"gitlab-pat":               {"gl" + "pat-" + fake(base62, 20)},
		"slack-bot-token":          {"xo" + "xb-" + fake("0123456789", 12) + "-" + fake("0123456789", 12) + "-" + fake(base62, 24)},
		"slack-webhook-url":        {"https://hooks.slack" + ".com/services/T" + fake(upper, 9) + "/B" + fake(upper, 9) + "/" + fake(base62, 24)},
		"stripe-access-token":      {"sk" + "_live_" + fake(base62, 24), "rk" + "_test_" + fake(base62, 40)},
		"aws-access-token":         {"AK" + "IA" + fake(upper, 16)},
		"gcp-api-key":              {"AI" + "za" + fake(base62, 35)},
		"npm-access-token":         {"np" + "m_" + fake(base62, 36)},
		"jwt":                      {jwt},
		"sk-api-key":               {"sk" + "-proj-" + fake(base62, 48), "sk" + "-" + fake(base62, 48), "sk" + "-or-v1-" + fake(hex, 64)},
		"anthropic-api-key":        {"sk" + "-ant-api03-" + fake(base62, 93) + "AA"},
		"huggingface-access-token": {"h" + "f_" + fake(base62[:52], 34)},
		"private-key":              {pem("RSA PRIVATE KEY", true), pem("OPENSSH PRIVATE KEY", true), pem("EC PRIVATE KEY", false), pem("PGP PRIVATE KEY BLOCK", true), strings.ReplaceAll(pem("PRIVATE KEY", true), "\n", `\n`)},
		"google-oauth-secret":      {"GOC" + "SPX-" + fake(base62, 28)},
		"docker-token":             {"dckr" + "_pat_" + fake(base62, 27)},
		"telegram-bot-token":       {fake("0123456789", 10) + ":A" + "A" + fake(base62, 33)},
		"digitalocean-pat":         {"do" + "p_v1_" + fake(hex, 64)},
		"stripe-webhook-secret":    {"wh" + "sec_" + fake(base62, 32)},
	}
}

func TestSecretsAreTakenWhereverTheyStand(t *testing.T) {
	r := redactor(t)
	for rule, texts := range secrets() {
		for _, secret := range texts {
			for _, frame := range []string{"%s", "the key is %s, rotate it", "key (%s).", "KEY=%s", `{"key": "%s"}`, "- `%s`", "ключ %s — заменить", "see %s\nand more", "<%s>"} {
				text := fmt.Sprintf(frame, secret)
				got, found := r.Clean(text)
				want := fmt.Sprintf(frame, "[REDACTED:"+rule+"]")
				if got != want {
					t.Errorf("%s: %q\n became %q (%v)\n not    %q", rule, text, got, found, want)
				}
				if again, more := r.Clean(got); again != got || more != nil {
					t.Errorf("%s: not idempotent: %q, then %q", rule, got, again)
				}
			}
		}
	}
}

// A secret is the same to a person with a character in it that nobody sees, and in letters of full width.
func TestSecretsAreTakenAsTheyAreShown(t *testing.T) {
	r := redactor(t)
	styled := func(first, digit rune) func(string) string {
		return func(s string) string {
			return strings.Map(func(c rune) rune {
				switch {
				case first == 0xff21 && c > ' ' && c < 0x7f:
					return c + 0xfee0
				case 'A' <= c && c <= 'Z':
					return first + c - 'A'
				case 'a' <= c && c <= 'z':
					return first + 26 + c - 'a'
				case '0' <= c && c <= '9':
					return digit + c - '0'
				}
				return c
			}, s)
		}
	}
	hidden := func(sign string) func(string) string {
		return func(s string) string { return s[:len(s)/2] + sign + s[len(s)/2:] }
	}
	ways := map[string]func(string) string{
		"full width": styled(0xff21, 0), "mathematical": styled(0x1d400, 0x1d7ce), "monospaced": styled(0x1d670, 0x1d7f6),
		"between all": func(s string) string { return strings.Join(strings.Split(s, ""), "\u2060") },
	}
	for _, sign := range []string{"\u200b", "\u00ad", "\u2060", "\ufeff", "\u034f", "\ufe0f", "\u202e", "\u2066", "\u3164", "\U000e0041", "\x00", "\x1b", "\x7f"} {
		ways[fmt.Sprintf("%q", sign)] = hidden(sign)
	}
	for rule, texts := range secrets() {
		for _, secret := range texts {
			for way, spell := range ways {
				text := "the 鍵 is " + spell(secret) + ", rotate it"
				got, _ := r.Clean(text)
				if want := "the 鍵 is [REDACTED:" + rule + "], rotate it"; got != want {
					t.Errorf("%s, %s: %q\n became %q", rule, way, text, got)
				}
				if again, more := r.Clean(got); again != got || more != nil {
					t.Errorf("%s: not idempotent: %q, then %q", rule, got, again)
				}
			}
		}
	}
}

func TestSecretsInContext(t *testing.T) {
	pass := "hunter" + "2"
	strong := "S3" + "cr3t!pw"
	key40 := fake(base62, 40)
	tests := []struct{ text, want string }{
		{"postgres://app:" + pass + "@db.example.com:5432/app", "postgres://app:[REDACTED:url-password]@db.example.com:5432/app"},
		{"postgres://app:pass" + "word@localhost/app", "postgres://app:[REDACTED:url-password]@localhost/app"},
		{"redis://:" + pass + "@cache:6379, db 0", "redis://:[REDACTED:url-password]@cache:6379, db 0"},
		{"https://u:p@" + "ss@[::1]:80/", "https://u:[REDACTED:url-password]@[::1]:80/"},
		{"mongodb+srv://u:" + strong + "@c0.example.net,c1.example.net/db", "mongodb+srv://u:[REDACTED:url-password]@c0.example.net,c1.example.net/db"},
		{"amqp://u:%70%61ss@mq/v", "amqp://u:[REDACTED:url-password]@mq/v"},
		{"https://" + fake(hex, 32) + "@o1.ingest.example.io/2", "https://[REDACTED:url-token]@o1.ingest.example.io/2"},
		{"https://x-access-token:" + secrets()["github-pat"][0] + "@github.com/a/b", "https://x-access-token:[REDACTED:url-password]@github.com/a/b"},
		{"DB_PASSWORD=" + pass + " in .env", "DB_PASSWORD=[REDACTED:password-assignment] in .env"},
		{"DB_PASSWORD=" + "hunters", "DB_PASSWORD=[REDACTED:password-assignment]"},
		{"export PGPASSWORD='" + "postgres' && make", "export PGPASSWORD='[REDACTED:password-assignment]' && make"},
		{"password: " + strong, "password: [REDACTED:password-assignment]"},
		{`"password": "` + strong + `"`, `"password": "[REDACTED:password-assignment]"`},
		{"machine api.example.com\n  login ci\n  password secretword\n", "machine api.example.com\n  login ci\n  password [REDACTED:netrc-password]\n"},
		{"put 'machine a.example.com login ci password secretword' there", "put 'machine a.example.com login ci password [REDACTED:netrc-password]' there"},
		{"(\"machine a.example.com login ci password secret'word\").", "(\"machine a.example.com login ci password [REDACTED:netrc-password]\")."},
		{"machine a.example.com login ci password \"secretword\"\n", "machine a.example.com login ci password \"[REDACTED:netrc-password]\"\n"},
		{"in .netrc: `login ci password hunter2x!`", "in .netrc: `login ci password [REDACTED:netrc-password]`"},
		{"default login anonymous password abc", "default login anonymous password [REDACTED:netrc-password]"},
		{"mysql -u root -phunter" + "2 app", "mysql -u root -p[REDACTED:command-password] app"},
		{"use `mysqldump -psecret app`", "use `mysqldump -p[REDACTED:command-password] app`"},
		{"mysql --password=secret app", "mysql --password=[REDACTED:command-password] app"},
		{"mongodump --password='a b' --db x", "mongodump --password='[REDACTED:command-password]' --db x"},
		{"curl -u a:b https://x.example.com", "curl -u a:[REDACTED:curl-password] https://x.example.com"},
		{"curl -sS https://x.example.com --user 'me:pw'", "curl -sS https://x.example.com --user 'me:[REDACTED:curl-password]'"},
		{"Server=db;User Id=sa;Password=" + strong + ";", "Server=db;User Id=sa;Password=[REDACTED:password-assignment];"},
		{"jdbc:postgresql://h/db?user=a&password=" + pass, "jdbc:postgresql://h/db?user=a&password=[REDACTED:url-parameter]"},
		{"https://api.example.com/x?api_key=" + fake(base62, 24) + "&n=1", "https://api.example.com/x?api_key=[REDACTED:url-parameter]&n=1"},
		{"aws_secret_access_key = " + key40, "aws_secret_access_key = [REDACTED:aws-secret-access-key]"},
		{"Authorization: Bearer " + fake(base62, 40), "Authorization: Bearer [REDACTED:bearer-token]"},
		{"Authorization: Basic " + fake(base62, 24) + "==", "Authorization: Basic [REDACTED:basic-auth]"},
		{"curl -X POST \\\n  -u admin:" + pass + "x https://x.example.com", "curl -X POST \\\n  -u [REDACTED:curl-auth-user] https://x.example.com"},
		{"curl -u $U:$P https://x.example.com -u me:" + pass, "curl -u $U:$P https://x.example.com -u [REDACTED:curl-auth-user]"},
		{"curl -u a:b https://x.example.com --next -u b:cd", "curl -u a:[REDACTED:curl-password] https://x.example.com --next -u b:[REDACTED:curl-password]"},
		{"mysql -p$PW -h a; mysql -psecret, mysql -psecret2", "mysql -p$PW -h a; mysql -p[REDACTED:command-password], mysql -p[REDACTED:command-password]"},
		{"curl https://x.example.com ^\r\n  -u a:b", "curl https://x.example.com ^\r\n  -u a:[REDACTED:curl-password]"},
		{"curl https://x.example.com\n  -H 'Authorization: Bearer " + fake(small, 12) + "'", "curl https://x.example.com\n  -H 'Authorization: Bearer [REDACTED:curl-auth-header]'"},
		{`{"run":"set -x\ncurl -H 'Authorization: Bearer ` + fake(small, 12) + `'"}`, `{"run":"set -x\ncurl -H 'Authorization: Bearer [REDACTED:curl-auth-header]'"}`},
		{"https://" + fake("0123456789", 30) + "@h.example.com", "https://[REDACTED:url-token]@h.example.com"},
		{`curl -s -H "Authorization: Token ` + fake(small, 20) + `" https://x.example.com`, `curl -s -H "Authorization: Token [REDACTED:curl-auth-header]" https://x.example.com`},
		{"api_key = \"" + fake(small, 32) + "\"", "api_key = \"[REDACTED:generic-api-key]\""},
		{"the API token for staging: " + fake(base62, 32) + ", valid until May", "the API token for staging: [REDACTED:generic-api-key], valid until May"},
		{"datadog_api_key: " + fake(small, 40), "datadog_api_key: [REDACTED:datadog-access-token]"},
	}
	r := redactor(t)
	for _, tt := range tests {
		got, _ := r.Clean(tt.text)
		if got != tt.want {
			t.Errorf("%q\n became %q\n not    %q", tt.text, got, tt.want)
		}
		if again, _ := r.Clean(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
}

func TestEachSecretNamesItsRule(t *testing.T) {
	a, b := secrets()["github-pat"][0], secrets()["aws-access-token"][0]
	_, rules := redactor(t).Clean("é " + a + " and " + b + ", again " + a)
	if d := cmp.Diff([]string{"github-pat", "aws-access-token", "github-pat"}, rules); d != "" {
		t.Error(d)
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	r := redactor(t)
	text := secrets()["github-pat"][0] + " " + secrets()["jwt"][0]
	want, _ := redactor(t).Clean(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, _ := r.Clean(text); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
}

const sentences = "The payment service verifies the JWT of each request with the public key of the auth service; access tokens live 15 minutes, refresh tokens 30 days. See src/auth/middleware.ts:42 and commit 3f2a9c1d."

// TestNoTextCostsItsSquare would not end in time if one did.
func TestNoTextCostsItsSquare(t *testing.T) {
	r := redactor(t)
	begin := "-----" + "BEGIN RSA PRIVATE KEY" + "-----"
	for _, unit := range []string{"curl ", "mysql ", " -u a:b curl", "pwd \n", "signature= a\n", "[REDACTED:jwt]a://b:c@d ", "mysql -pa ", "machine a login b password c ", "DB_PASSWORD=a ", "password: \"", "curl -u a:b ", "curl -H ", begin, begin + "\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "://", "a://a:b", "a://a:b@", "token", "eyJ", "password=", "[REDACTED:jwt]", "[REDACTED:", "facebook", "?token=", "bearer ", "a"} {
		text := strings.Repeat(unit, proctest.Rounds(1<<17)/len(unit)) // nothing here starts a goroutine
		clean, found := r.Clean(text)
		if (clean == text) != (found == nil) {
			t.Errorf("%q: %d findings", unit, len(found))
		}
	}
}
