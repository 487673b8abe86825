package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A browser that came with a token gets a session id in a cookie. It is good for the page
// alone: cookies know no port, so every server on the same host name receives it. An id is
// random text and the time of its end, signed with a key that only its token gives. So no
// file keeps sessions, they outlive a restart, and they end with their token.

// personal begins the random part of a session that a code began: its buttons speak as this machine's user.
const personal = "p-"

// sessionLasts is how long a session lives after its last use.
const sessionLasts = 12 * time.Hour

// sessionRenewed is how old an id may be until a request gets one that ends later.
const sessionRenewed = time.Minute

// newSession is a session id of a token, with a random part that stays when it is renewed.
func (t *token) newSession(random string, now time.Time) string {
	text := random + "." + strconv.FormatInt(now.Add(sessionLasts).Unix(), 16)
	return text + "." + t.signSession(text)
}

func (t *token) signSession(text string) string {
	return hex.EncodeToString(t.derive("page session", text)[:16])
}

// session is the token that a session id stands for, and the id that takes its place, if it
// is time for one. Nil: there is no such session, or it has ended.
func (t *Tokens) session(id string, now time.Time) (found *token, renewed string) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return nil, ""
	}
	text, signature := id[:i], id[i+1:]
	random, end, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(end, 16, 64)
	if left := time.Unix(seconds, 0).Sub(now); err != nil || left <= 0 || left > sessionLasts+time.Minute {
		return nil, ""
	}
	for _, k := range t.all() {
		if hmac.Equal([]byte(k.signSession(text)), []byte(signature)) {
			found = k
		}
	}
	if found != nil && time.Unix(seconds, 0).Sub(now) < sessionLasts-sessionRenewed {
		renewed = found.newSession(random, now)
	}
	return found, renewed
}

func (t *Tokens) hasSession(id string, now time.Time) bool {
	found, _ := t.session(id, now)
	return found != nil
}

// PageHost is a host name that only this machine's user knows, for the page: no other server
// gets its cookie. Browsers take every name below localhost to be this machine.
func PageHost(dataDir string) (string, error) {
	text, err := OwnToken(dataDir)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(newToken(token{Token: text}, nil).derive("page host", "")[:8]) + ".localhost", nil
}

// formerCookieName is the cookie that held the token itself in former versions.
func formerCookieName(port string) string { return "lean-ctx" + strings.TrimSuffix("-"+port, "-") }

// cookieName has the port in it: browsers keep one set of cookies for all ports of a host.
func cookieName(port string) string { return "lean-ctx-page" + strings.TrimSuffix("-"+port, "-") }

// setCookie gives the browser a session id. An empty one takes a cookie away.
func (s *Server) setCookie(w http.ResponseWriter, name, id string) {
	c := &http.Cookie{Name: name, Value: id, Path: "/", MaxAge: int(sessionLasts.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.TLS}
	if id == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// bearerOf is the token in the header of a request.
func bearerOf(r *http.Request) (text string, any bool) {
	header := r.Header.Get("Authorization")
	if kind, rest, ok := strings.Cut(header, " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(rest), true
	}
	return "", header != ""
}

type (
	sessionKey struct{} // of a request with a session of the page: whether a code began it
)

// authorized lets in who has a token, or a session of the page.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Query().Has("token") {
			s.logIn(w, r)
			return
		}
		_, port, _ := splitHost(r.Host)
		if _, err := r.Cookie(formerCookieName(port)); err == nil {
			s.setCookie(w, formerCookieName(port), "")
		}
		t := s.o.Tokens.open
		if text, any := bearerOf(r); any {
			t = s.o.Tokens.find(text)
		} else if c, err := r.Cookie(cookieName(port)); err == nil {
			found, renewed := s.o.Tokens.session(c.Value, s.now())
			if renewed != "" {
				s.setCookie(w, cookieName(port), renewed)
			}
			if t == nil || found != nil && s.o.Tokens.isOwn(found) {
				t = found
				r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, strings.HasPrefix(c.Value, personal)))
			}
		}
		if t == nil {
			s.unauthorized(w, r)
			return
		}
		*callerOf(r.Context()) = *t
		next.ServeHTTP(w, r)
	})
}

// needsLogin is what a person sees whose browser has no session.
const needsLogin = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Log in · lean-ctx</title></head>
<body><main><h1>This browser is not logged in</h1>
<p>Open the address that <code>lean-ctx serve</code> printed last. Each logs in one browser, within ten minutes; then the next is printed.</p>
<p>Where that terminal is out of reach, stop the server and start it again: <code>lean-ctx serve</code>.</p></main></body></html>
`

func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request) {
	if _, program := bearerOf(r); !program && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, needsLogin) // a client that went away is no error
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="lean-ctx"`)
	refuse(w, http.StatusUnauthorized, "unauthorized", "a token is needed: open the address that lean-ctx serve printed last (each logs in once, within ten minutes; then it prints the next), or send Authorization: Bearer …")
}

// programs refuses a session of the page: what is for programs needs a token.
func (s *Server) programs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(sessionKey{}) != nil {
			s.unauthorized(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// people refuses what changes something at the page to all but a session of this machine's user: the
// page's buttons speak as that person. Whoever has a named token, or comes without one, is somebody
// else, by whatever way.
func (s *Server) people(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		person, _ := r.Context().Value(sessionKey{}).(bool)
		if r.Method != http.MethodGet && r.Method != http.MethodHead && (!person || !s.o.Tokens.isOwn(callerOf(r.Context()))) {
			refuse(w, http.StatusForbidden, "forbidden", "the page's buttons are for people: this machine's user, who logged in by the address that lean-ctx serve printed; a program, and who has a named token, uses /api")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// logIn takes the token out of the address, where it would stay in the browser's history,
// and gives the browser a session.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	_, port, _ := splitHost(r.Host)
	if t, person := s.o.Tokens.findLogin(q.Get("token")); t != nil {
		random := rand.Text()
		if person {
			random = personal + random
		}
		s.setCookie(w, cookieName(port), t.newSession(random, s.now()))
	} else if c, err := r.Cookie(cookieName(port)); err != nil || !s.o.Tokens.hasSession(c.Value, s.now()) { // the address may be opened again in the same browser
		s.unauthorized(w, r)
		return
	}
	q.Del("token")
	to := &url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: q.Encode()} // never another host
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
