package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A browser that came with a token gets a session id in a cookie. It is good for the page
// alone: cookies know no port, so every server on the same host name receives it. An id is
// random text and the time of its end, signed for its host with a key that only its token gives. So no
// file keeps sessions, they outlive a restart, and they end with their token.
//
// The buttons of a session that a code began speak as this machine's user. Such an id has a second signature, with a key that the
// running server alone knows: who can read the token's file cannot make one, and after a restart the buttons need a code again.

// sessionLasts is how long a session lives after its last use.
const sessionLasts = 12 * time.Hour

// sessionRenewed is how old an id may be until a request gets one that ends later.
const sessionRenewed = time.Minute

// pageSession is what a session id says.
type pageSession struct {
	token   *token
	person  bool   // this machine's user, who saw the code of this server's start
	renewed string // the id that takes its place; empty: it is young
}

// newSession is a session id of a token at a host, with a random part that stays when it is renewed.
func (t *Tokens) newSession(of *token, host, random string, person bool, now time.Time) string {
	text := random + "." + strconv.FormatInt(now.Add(sessionLasts).Unix(), 16)
	id := text + "." + signature(of.derive("page session", host+" "+text))
	if person {
		id += "." + signature(t.start.derive("person", host+" "+text))
	}
	return id
}

func signature(sum []byte) string { return hex.EncodeToString(sum[:16]) }

// session reads a session id that came to a host. ok is false if there is no such session there, or it has ended.
func (t *Tokens) session(id, host string, now time.Time) (found pageSession, ok bool) {
	random, rest, _ := strings.Cut(id, ".")
	end, signatures, _ := strings.Cut(rest, ".")
	signed, person, _ := strings.Cut(signatures, ".")
	seconds, err := strconv.ParseInt(end, 16, 64)
	left := time.Unix(seconds, 0).Sub(now)
	if err != nil || left <= 0 || left > sessionLasts+time.Minute {
		return found, false
	}
	text := host + " " + random + "." + end
	for _, k := range t.all() {
		if hmac.Equal([]byte(signature(k.derive("page session", text))), []byte(signed)) {
			found.token = k
		}
	}
	if found.token == nil {
		return found, false
	}
	found.person = hmac.Equal([]byte(signature(t.start.derive("person", text))), []byte(person))
	if left < sessionLasts-sessionRenewed {
		found.renewed = t.newSession(found.token, host, random, found.person, now)
	}
	return found, true
}

// The page has a host name of its own for each login, made at random: no other server gets its cookie, and nobody learns the name
// from an address that a program was started with. Browsers take every name below localhost to be this machine.

// hostSuffix ends the page's host names.
const hostSuffix = ".localhost"

// newHost is a host name of the page: 8 random hex digits, and 8 by which this machine's servers know their own.
func (t *Tokens) newHost() string {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // it does not fail
	name := hex.EncodeToString(random)
	return name + hex.EncodeToString(t.own.derive("page host", name)[:4]) + hostSuffix
}

// isHost reports whether a host name is one of the page's.
func (t *Tokens) isHost(host string) bool {
	name, ok := strings.CutSuffix(host, hostSuffix)
	return ok && t.own != nil && isHash(name) && hmac.Equal([]byte(hex.EncodeToString(t.own.derive("page host", name[:8])[:4])), []byte(name[8:]))
}

// handOver is a login at one of the page's host names, by a code that was used up at an address.
type handOver struct {
	host   string
	token  *token
	person bool
	ends   time.Time
}

// handOverLasts is how long a browser may take to follow to the page's host name.
const handOverLasts = time.Minute

// lead makes a host name and the code that logs the browser in there.
func (t *Tokens) lead(of *token, person bool, now time.Time) (host, code string) {
	host, code = t.newHost(), rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.leads, func(_ string, h handOver) bool { return !now.Before(h.ends) })
	t.leads[code] = handOver{host, of, person, now.Add(handOverLasts)}
	return host, code
}

// follow is the login that a code stands for at a host, and uses it up.
func (t *Tokens) follow(code, host string, now time.Time) (of *token, person bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := t.leads[code]
	if !ok || h.host != host || !now.Before(h.ends) {
		return nil, false
	}
	delete(t.leads, code)
	return h.token, h.person
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
	sessionKey struct{} // of a request with a session of the page: whether it is the person's who saw the code
)

// authorized lets in who has a token, or a session of the page.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Query().Has("token") {
			s.logIn(w, r)
			return
		}
		host, port, _ := splitHost(r.Host)
		if _, err := r.Cookie(formerCookieName(port)); err == nil {
			s.setCookie(w, formerCookieName(port), "")
		}
		t := s.o.Tokens.open
		if text, any := bearerOf(r); any {
			t = s.o.Tokens.find(text)
		} else if c, err := r.Cookie(cookieName(port)); err == nil {
			found, ok := s.o.Tokens.session(c.Value, host, s.now())
			if found.renewed != "" {
				s.setCookie(w, cookieName(port), found.renewed)
			}
			if t == nil || ok && s.o.Tokens.isOwn(found.token) {
				t = found.token
				r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, found.person))
			}
		}
		if t == nil {
			s.unauthorized(w, r)
			return
		}
		*callerOf(r.Context()) = *t
		s.conns.knows(r)
		next.ServeHTTP(w, r)
	})
}

// needsLogin is what a person sees whose browser has no session. The code is typed here and is in no address: other users see
// the addresses that a browser is started with, and would be there first.
const needsLogin = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Log in · lean-ctx</title></head>
<body><main><h1>This browser is not logged in</h1>
<form method="post" action="/login"><label>The code that <code>lean-ctx serve</code> printed last: <input name="code" size="16" autocomplete="off" autocapitalize="characters" spellcheck="false" autofocus required></label>
<input type="hidden" name="to" value="%s"><input type="hidden" name="host" value="%s"> <button>Log in</button></form>
<p>Each code logs in one browser, within ten minutes; then the next is printed.</p>
<p>Where that terminal is out of reach, stop the server and start it again: <code>lean-ctx serve</code>.</p></main></body></html>
`

func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request) { s.askForCode(w, r, r.URL) }

// askForCode asks a browser for the code, and then leads to an address of ours. A program is told what it needs.
func (s *Server) askForCode(w http.ResponseWriter, r *http.Request, to *url.URL) {
	accept, form := r.Header.Get("Accept"), r.URL.Path == loginPath
	if _, program := bearerOf(r); !program && (form || r.Method == http.MethodGet) && (strings.Contains(accept, "text/html") || form && accept == "") {
		q := to.Query()
		host := q.Get("host")
		q.Del("token")
		q.Del("host")
		back := url.URL{Path: to.Path, RawPath: to.RawPath, RawQuery: q.Encode()}
		htmlHeader(w, "form-action 'self' http://*.localhost:*; ")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, needsLogin, html.EscapeString(back.RequestURI()), html.EscapeString(host)) // a client that went away is no error
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="lean-ctx"`)
	refuse(w, http.StatusUnauthorized, "unauthorized", "a token is needed: open the page and give the code that lean-ctx serve printed last (each logs in once, within ten minutes; then it prints the next), or send Authorization: Bearer …")
}

// htmlHeader says that an answer is a page that may load nothing, and what it may do besides.
func htmlHeader(w http.ResponseWriter, may string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; "+may+"frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
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
			refuse(w, http.StatusForbidden, "forbidden", "the page's buttons are for people: this machine's user, who logged in by a code that lean-ctx serve printed since it started; a program, and who has a named token, uses /api")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// logIn takes the token out of the address, where it would stay in the browser's history, and gives the browser a session:
// at a host name of the page's own, where it has some.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	s.logInWith(w, r, r.URL, r.URL.Query().Get("token"))
}

// loginPath takes the form of [needsLogin].
const loginPath = "/login"

// maxLogin is in bytes.
const maxLogin = 16 << 10

// logInForm takes the code of a form.
func (s *Server) logInForm(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	to, err := url.ParseRequestURI(r.PostFormValue("to"))
	if err != nil {
		to = &url.URL{Path: "/"}
	}
	q := to.Query()
	q.Set("host", r.PostFormValue("host"))
	to.RawQuery = q.Encode()
	s.logInWith(w, r, to, r.PostFormValue("code"))
}

// logInWith logs in with a code or a token, and leads to an address of ours.
func (s *Server) logInWith(w http.ResponseWriter, r *http.Request, at *url.URL, text string) {
	q := at.Query()
	host, port, _ := splitHost(r.Host)
	shared := q.Get("host") == "shared" // the browser does not find the page's host names
	q.Del("token")
	q.Del("host")
	to := &url.URL{Path: "/" + strings.TrimLeft(at.Path, "/\\"), RawQuery: q.Encode()} // never another host
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	followed := false
	t, person := s.o.Tokens.findLogin(text)
	if t == nil {
		t, person = s.o.Tokens.follow(text, host, s.now())
		followed = t != nil
	}
	if t == nil {
		if c, err := r.Cookie(cookieName(port)); err == nil {
			if _, known := s.o.Tokens.session(c.Value, host, s.now()); known { // the address may be opened again in the same browser
				http.Redirect(w, r, to.String(), http.StatusSeeOther)
				return
			}
		}
		s.askForCode(w, r, at)
		return
	}
	if s.ownHosts && !followed && !shared && !s.o.Tokens.isHost(host) {
		name, code := s.o.Tokens.lead(t, person, s.now())
		q.Set("token", code)
		at := &url.URL{Scheme: "http", Host: net.JoinHostPort(name, port), Path: to.Path, RawQuery: q.Encode()}
		http.Redirect(w, r, at.String(), http.StatusSeeOther)
		return
	}
	// At a host name that other servers share, each of them gets the cookie. Who chose that himself presses the buttons there too.
	person = person && (followed || shared || s.o.TLS || s.o.Tokens.isHost(host))
	s.setCookie(w, cookieName(port), s.o.Tokens.newSession(t, host, rand.Text(), person, s.now()))
	if followed { // a browser may not send a strict cookie where another site has led it: the page itself leads on
		htmlHeader(w, "")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=%[1]s"><title>lean-ctx</title></head><body><a href="%[1]s">The page</a></body></html>`, html.EscapeString(to.String()))
		return
	}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
