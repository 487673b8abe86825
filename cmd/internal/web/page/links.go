package page

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
)

// links makes the addresses of a page.
type links struct {
	Prefix string   // what all begin with
	AsOf   string   // the day or instant that the page is about, as it was given; nothing: now
	url    *url.URL // of the open view
}

// Path is the address of the open view without a query.
func (l links) Path() template.URL { return template.URL(l.Prefix + l.url.EscapedPath()) }

// Here is the address of the open view, with names and values of its query in turn that
// are to be other ones. An empty value takes a name out; an answer to a button is shown once.
func (l links) Here(pairs ...string) template.URL {
	v := l.url.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if v.Del(pairs[i]); pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	v.Del("outcome")
	return template.URL(l.Prefix + joined(l.url.EscapedPath(), v))
}

// Back is the address for a form that comes back to the open view.
func (l links) Back() string { return string(l.Here("look", "")) }

// Now is the open view without its instant.
func (l links) Now() template.URL { return l.Here("as_of", "") }

// Page is the open view at another page of its list.
func (l links) Page(n int) template.URL { return l.Here("page", strconv.Itoa(n)) }

func joined(path string, v url.Values) string {
	if text := v.Encode(); text != "" {
		return path + "?" + text
	}
	return path
}

// Link is the address of a view at the same instant, with names and values of its query
// in turn. Empty values are left out.
func (l links) Link(path string, pairs ...string) template.URL {
	v := url.Values{}
	if l.AsOf != "" {
		v.Set("as_of", l.AsOf)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return template.URL(l.Prefix + joined(path, v))
}

// Action is the address of a button.
func (l links) Action(name string) template.URL { return template.URL(l.Prefix + "/do/" + name) }

// Fact is the address of a fact. A name that a browser would take for a step up in the
// path stands in the query.
func (l links) Fact(category, key string) template.URL {
	if dots(category) || dots(key) {
		return l.Link("/facts/", "category", category, "key", key)
	}
	return l.Link("/facts/" + url.PathEscape(category) + "/" + url.PathEscape(key))
}

func dots(s string) bool { return s == "." || s == ".." || s == "" }

// local reports whether an address is one of this page.
func (l links) local(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(address, l.Prefix+"/") && !strings.HasPrefix(address, "//") && !strings.ContainsAny(address, "\\\n\r\t")
}
