package secret

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// maker makes a random value of a form.
type maker func(*rand.Rand) string

func of(alphabet string, n int) maker {
	return func(r *rand.Rand) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
}

func after(prefix string, parts ...maker) maker {
	return func(r *rand.Rand) string {
		var s strings.Builder
		s.WriteString(prefix)
		for i, p := range parts {
			if i > 0 {
				s.WriteString("_")
			}
			s.WriteString(p(r))
		}
		return s.String()
	}
}

func encoded(e *base64.Encoding, n int) maker {
	return func(r *rand.Rand) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return e.EncodeToString(b)
	}
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	django  = "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"
	base64s = base62 + "+/"
	urlSafe = base62 + "-_"
)

// pemOf is a private key in PEM, in base64 as a whole.
func pemOf(e *base64.Encoding, kind string) maker {
	return func(r *rand.Rand) string {
		body := encoded(base64.StdEncoding, 150)(r)
		var b strings.Builder
		fmt.Fprintf(&b, "-----%s %s-----\n", "BEGIN", kind)
		for len(body) > 64 {
			b.WriteString(body[:64] + "\n")
			body = body[64:]
		}
		fmt.Fprintf(&b, "%s\n-----%s %s-----\n", body, "END", kind)
		return e.EncodeToString([]byte(b.String()))
	}
}

// A form is a text around a random value.
type secretForm struct {
	name  string
	frame string
	make  maker
}

// secretForms are the forms in which secrets stand in facts, messages and files.
func secretForms() []secretForm {
	hex24, hex32, any40 := of(hex, 24), of(hex, 32), of(base62, 40)
	list := []secretForm{
		{"kubeconfig", "users:\n- name: dev\n  user:\n    client-key-data: %s\n", pemOf(base64.StdEncoding, "RSA PRIVATE KEY")},
		{"kubeconfig certificate", "    client-certificate-data: %s", encoded(base64.StdEncoding, 300)},
		{"kubeconfig random", "client-key-data: %s", encoded(base64.StdEncoding, 400)},
		{"base64 of a PEM", "the deploy secret in base64: %s", pemOf(base64.StdEncoding, "PRIVATE KEY")},
		{"base64 of a PEM alone", "%s", pemOf(base64.StdEncoding, "EC PRIVATE KEY")},
		{"base64 of a PEM, shifted", "%s", pemOf(base64.RawURLEncoding, "X PRIVATE KEY")},
		{"twilio", "TWILIO_AUTH_TOKEN=%s", hex32},
		{"twilio yaml", "twilio:\n  auth_token: %s\n", hex32},
		{"aws session", "AWS_SESSION_TOKEN=%s", after("FwoGZXIvYXdzE", encoded(base64.StdEncoding, 400))},
		{"aws session file", "aws_session_token = %s", after("IQoJb3JpZ2luX2Vj", encoded(base64.StdEncoding, 400))},
		{"aws session json", `{"SessionToken": "%s", "Expiration": "2026-01-01T00:00:00Z"}`, encoded(base64.StdEncoding, 350)},
		{"aws secret", "aws_secret_access_key = %s", of(base64s, 40)},
		{"aws secret env", "export AWS_SECRET_ACCESS_KEY='%s'", of(base64s, 40)},
		{"aws secret csv", "Secret access key: %s", of(base64s, 40)},
		{"tailscale", "tailscale up --authkey %s", func(r *rand.Rand) string {
			return "tskey" + "-auth-" + of(base62, 16)(r) + "-" + of(base62, 32)(r)
		}},
		{"tailscale api", "use %s for the API", func(r *rand.Rand) string { return "tskey" + "-api-" + of(base62, 11)(r) + "-" + of(base62, 22)(r) }},
		{"langsmith", "tracing with %s.", after("lsv2"+"_pt_", hex32, of(hex, 10))},
		{"langsmith old", "%s", after("ls"+"__", hex32)},
		{"resend", "mail goes out with %s", after("re"+"_", of(base62, 8), of(base62, 24))},
		{"netlify", "deploy: %s", after("nf"+"p_", any40)},
		{"netlify env", "NETLIFY_AUTH_TOKEN=%s", of(urlSafe, 43)},
		{"hugging face", "export HF_HUB=1 with %s", after("hf"+"_", of(base62, 34))},
		{"nkey seed", "the team's token is %s", after("S"+"UA", of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 55))},
		{"environment pass", "export DB_PASS=%s", of(base62, 32)},
		{"Passwort", "Passwort: %s", of(base62, 32)},
		{"vercel", "deploy with %s", after("vc"+"p_", of(base62, 56))},
		{"vercel env", "VERCEL_TOKEN=%s", of(base62, 24)},
		{"buildkite", "bk with %s", after("bk"+"ua_", of(hex, 40))},
		{"buildkite agent", "BUILDKITE_AGENT_TOKEN=%s", of(base62, 50)},
		{"discord", "%s", func(r *rand.Rand) string {
			id := fmt.Sprintf("%d", 100000000000000000+r.Int64N(900000000000000000))
			return base64.RawStdEncoding.EncodeToString([]byte(id)) + "." + of(urlSafe, 6)(r) + "." + of(urlSafe, 38)(r)
		}},
		{"discord bot", "DISCORD_TOKEN=%s", func(r *rand.Rand) string {
			id := fmt.Sprintf("%d", 1000000000000000000+r.Int64N(400000000000000000))
			return base64.RawStdEncoding.EncodeToString([]byte(id)) + "." + of(urlSafe, 6)(r) + "." + of(urlSafe, 38)(r)
		}},
		{"django", "SECRET_KEY = '%s'", of(django, 50)},
		{"django double", `SECRET_KEY = "%s"`, of(django, 50)},
		{"django env", "DJANGO_SECRET_KEY=%s", of(django, 50)},
		{"django insecure", "SECRET_KEY = 'django-insecure-%s'", of(django, 50)},
		{"session cookie", "Cookie: sessionid=%s; csrftoken=" + "x", of(small, 32)},
		{"set-cookie", "Set-Cookie: sid=%s; Path=/; HttpOnly", of(base62, 32)},
		{"connect.sid", "connect.sid=%s", after("s%3A", of(urlSafe, 75))},
		{"phpsessid", "curl -b 'PHPSESSID=%s' https://x.example.com", of(small, 26)},
		{"cookie of any name", "curl -H 'Cookie: theme=dark; _app_auth=%s'", of(base62, 40)},
		{"next-auth", "__Secure-next-auth.session-token=%s", of(urlSafe, 200)},
		{"sshpass", "sshpass -p %s ssh deploy@host", of(base62, 12)},
		{"sshpass quoted", "sshpass -p '%s' ssh deploy@host", of(django, 16)},
		{"sshpass attached", "sshpass -p%s scp a b", of(small, 10)},
		{"ldapsearch", "ldapsearch -x -D cn=admin -w %s -b dc=x", of(base62, 12)},
		{"ldapmodify", "ldapmodify -x -w '%s' -f a.ldif", of(base62, 12)},
		{"docker login", "docker login -u me -p %s registry.example.com", of(base62, 16)},
		{"redis-cli", "redis-cli -h cache -a %s ping", of(base62, 16)},
		{"requirepass", "requirepass %s", of(base62, 16)},
		{"requirepass set", "CONFIG SET requirepass %s", of(base62, 12)},
		{"requirepass flag", "redis-server --requirepass %s --port 1", of(base62, 12)},
		{"masterauth", "port 6379\nmasterauth \"%s\"\n", of(base62, 12)},
		{"password is", "The staging password is %s.", of(base62, 12)},
		{"password is quoted", "the password for the admin user is '%s', keep it", of(letters, 10)},
		{"password was", "the db password was %s until May", of(base62, 16)},
		{"password is marks", "password is %s", of(django, 14)},
		{"npmrc", "//registry.npmjs.org/:_authToken=%s", of(hex, 36)},
		{"npmrc auth", "_auth=%s", encoded(base64.StdEncoding, 30)},
		{"kubernetes env", "- name: STRIPE_API_KEY\n  value: %s\n", hex32},
		{"json env", `{"name": "SERVICE_TOKEN", "value": "%s"}`, hex32},
		{"flag", "tool --api-key %s run", hex32},
		{"header", "curl -H 'X-Api-Key: %s'", hex24},
		{"spoken key", "the API key is %s", hex32},
		{"spoken token", "use the token %s for staging", hex32},
		{"list", `"api_keys": ["x", "%s"]`, hex32},
		{"folded yaml", "api_key: >-\n  %s\n", hex32},
		{"php", "'secret' => '%s',", hex32},
		{"xml", "<add key=\"x\" /><apiKey>%s</apiKey>", hex32},
		{"digits", "access_token=%s", of(digits, 32)},
		{"small letters", "api_token=%s", of("abcdefghijklmnopqrstuvwxyz", 32)},
		{"capitals", "api_token=%s", of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 24)},
		{"any letters", "api_token=%s", of(letters, 32)},
		{"base32", "TOTP_SECRET=%s", of(upper, 32)},
		{"totp", "totp secret: %s", of(upper, 16)},
	}
	alphabets := []struct {
		name, alphabet string
		sizes          []int
	}{{"hex", hex, []int{20, 24, 32, 40, 64, 512}}, {"small", small, []int{20, 24, 32, 64}}, {"base62", base62, []int{16, 20, 24, 32, 40, 64, 512}}, {"base64", base64s, []int{24, 32, 44, 88}}, {"url", urlSafe, []int{22, 32, 43, 86}}, {"upper", "ABCDEF0123456789", []int{24, 32, 40}}}
	names := []string{"SERVICE_API_KEY=%s", "client_secret: %s", `"accessToken": "%s"`, "STAGING_BUILD_TOKEN=%s", "the signing key (staging): %s", "db.password=%s"}
	for i, a := range alphabets {
		for j, n := range a.sizes {
			for k := range 2 {
				list = append(list, secretForm{fmt.Sprintf("%s %d", a.name, n), names[(i+j+3*k)%len(names)], of(a.alphabet, n)})
			}
		}
	}
	return list
}

// Of 100 random values of each form at most one half of a percent is stored as it is, which
// is none; of all together likewise.
func TestRandomSecretsAreTaken(t *testing.T) {
	r := redactor(t)
	rnd := rand.New(rand.NewPCG(3, 5))
	const each = 100
	total := 0
	for _, f := range secretForms() {
		missed, last := 0, ""
		for range each {
			value := f.make(rnd)
			// What is left of the value must be short.
			text := fmt.Sprintf(f.frame, value)
			got, _ := r.Clean(text)
			if left(got, value) {
				missed, last = missed+1, got
			}
		}
		if total += missed; missed > 1 {
			t.Errorf("%s: %q: %d of %d stand: %.300q", f.name, f.frame, missed, each, last)
		}
	}
	t.Logf("%d of %d stand", total, each*len(secretForms()))
	if total > each*len(secretForms())/1000 {
		t.Errorf("%d of %d stand", total, each*len(secretForms()))
	}
}

// left reports whether eight bytes of a value in a row, or all of a shorter one, still stand.
func left(text, value string) bool {
	n := min(8, len(value))
	for i := 0; i+n <= len(value); i += 4 {
		if strings.Contains(text, value[i:i+n]) && !strings.Contains("EXAMPLE django-insecure- s%3A -----BEGIN", value[i:i+n]) {
			return true
		}
	}
	return false
}
