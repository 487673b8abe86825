package project

import (
	"os"
	"testing"
)

func TestNormalPath(t *testing.T) {
	for _, tt := range []struct {
		in      string
		windows bool
		want    string
	}{
		{"/home/u/app", false, "/home/u/app"},
		{"/home/u/app/", false, "/home/u/app"},
		{"/", false, "/"},
		{`/odd\name`, false, `/odd\name`},
		{`c:\Users\me\App`, true, "C:/Users/me/App"},
		{`C:/Users/me/App/`, true, "C:/Users/me/App"},
		{`\\?\c:\Users\me`, true, "C:/Users/me"},
		{`\\?\UNC\host\share\x`, true, "//host/share/x"},
		{`\\host\share\x`, true, "//host/share/x"},
		{`d:\`, true, "D:/"},
	} {
		if got := normalPath(tt.in, tt.windows); got != tt.want {
			t.Errorf("%s: %s, not %s", tt.in, got, tt.want)
		}
	}
}

func TestRemoteName(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com/acme/app.git":           "github.com/acme/app",
		"https://user:" + "pw@GitHub.com/Acme/app/": "github.com/Acme/app",
		"git@github.com:acme/app.git":               "github.com/acme/app",
		"github.com:acme/app":                       "github.com/acme/app",
		"ssh://git@github.com:22/acme/app.git":      "github.com/acme/app",
		"git://example.com/app":                     "example.com/app",
		"https://[::1]:8080/app":                    "[::1]/app",
		"/srv/git/app.git":                          "/srv/git/app",
		"../app":                                    "../app",
		"file:///srv/git/app.git":                   "/srv/git/app",
		"":                                          "",
	} {
		if got := remoteName(in); got != want {
			t.Errorf("%s: %q, not %q", in, got, want)
		}
	}
}

func TestAnotherSpellingIsTheSamePlace(t *testing.T) {
	b := newBench(t)
	dir := b.mkdir("app")
	_, err := os.Stat(b.path("APP")) // it is the same where case does not count
	if !sameFile(dir, dir) || sameFile(dir, b.path("APP")) != (err == nil) || sameFile(dir, b.path("none")) {
		t.Error("spellings")
	}
	b.mkdir("CAFE\u0301")
	_, err = os.Stat(b.path("caf\u00e9"))
	if sameFile(b.path("caf\u00e9"), b.path("CAFE\u0301")) != (err == nil) {
		t.Error("Unicode forms")
	}
}
