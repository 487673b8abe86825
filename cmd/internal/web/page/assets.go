package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/drawing"
	"leanctx/knowledge/history"
)

//go:embed assets templates
var files embed.FS

// assets are the files that a page loads, by their names, and their types.
var assets = map[string]string{"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "changes.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}

// started is when the files were last changed, as far as a browser must know.
var started = time.Now()

// serveAsset answers with a file. A browser that has it asks whether it has changed.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind, known := assets[name]
	body, err := files.ReadFile("assets/" + name)
	if !known || err != nil {
		http.NotFound(w, r)
		return
	}
	if name == "page.css" {
		body = append(body, drawing.Style...)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, started, bytes.NewReader(packed(w, r, body)))
}

// minPacked is how many bytes a body has at least that is worth packing.
const minPacked = 1024

// packed is a body as a browser takes it, in gzip where that is said to be taken.
func packed(w http.ResponseWriter, r *http.Request, body []byte) []byte {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) < minPacked || !takesGzip(r) {
		return body
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one
	_, _ = z.Write(body)                            // a buffer takes everything
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	return b.Bytes()
}

// takesGzip reads Accept-Encoding (RFC 9110, 12.5.3).
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, given := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			n, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && n > 0
		}
	}
	return false
}

// templates are the views, each with the layout around it. They are made at the first
// request: commands start without them.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	functions := template.FuncMap{
		"visible": visible, "editable": editable, "inline": inline, "brief": brief, "percent": prose.Percent, "meter": meter, "day": day, "ago": func(t time.Time) string { return prose.Ago(time.Now(), t) },
		"left":  func(t time.Time) string { return prose.Left(time.Until(t)) },
		"clock": clock, "count": prose.Count[int], "number": prose.Number[int64], "spans": spans, "seen": seenValue,
		"time":  func(t time.Time) string { return t.UTC().Format("15:04") },
		"few":   func(list []history.Change) []history.Change { return list[:min(len(list), 7)] },
		"sum":   func(a, b int) int { return a + b },
		"kinds": func() []string { return []string{"facts", "tasks", "messages"} },

		"shown": func(n int) int { return min(n, maxPairs) }, "hidden": func(n int) int { return max(0, n-maxPairs) },
	}
	out := map[string]*template.Template{}
	for _, name := range names {
		t := template.New("").Funcs(functions)
		t = template.Must(t.ParseFS(files, "templates/layout.html", "templates/parts.html"))
		out[name[len("templates/"):]] = template.Must(t.ParseFS(files, name))
	}
	return out
}
