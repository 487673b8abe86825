package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/drawing"
)

//go:embed assets templates
var files embed.FS

// asset is a file that a page loads.
type asset struct {
	path string // with the hash of its contents
	kind string
	body []byte
}

// assets and views are made at the first request: commands start without them.
var assets = sync.OnceValue(func() map[string]asset {
	return map[string]asset{
		"page.css": newAsset("page.css", "text/css; charset=utf-8", drawing.Style),
		"page.js":  newAsset("page.js", "text/javascript; charset=utf-8", ""),
		"icon.svg": newAsset("icon.svg", "image/svg+xml", ""),
	}
})

func newAsset(name, kind, more string) asset {
	body, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	body = append(body, more...)
	hash := sha256.Sum256(body)
	return asset{"/page/" + hex.EncodeToString(hash[:8]) + "/" + name, kind, body}
}

// serveAsset answers with a file. Its address changes with its contents, so that a
// browser may keep it for ever.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, known := assets()[r.PathValue("file")]
	if !known || a.path != r.URL.Path {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	send(w, r, http.StatusOK, a.body)
}

// views are the templates, each with the layout around it.
var views = sync.OnceValue(parseViews)

func parseViews() map[string]*template.Template {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	functions := template.FuncMap{
		"visible": visible, "editable": editable, "inline": inline, "brief": brief, "percent": prose.Percent, "meter": meter, "day": day, "ago": func(t time.Time) string { return prose.Ago(time.Now(), t) },
		"left":  func(t time.Time) string { return prose.Left(time.Until(t)) },
		"clock": clock, "count": prose.Count[int], "number": prose.Number[int64], "spans": spans,
		"shown": func(n int) int { return min(n, pairsMost) }, "hidden": func(n int) int { return max(0, n-pairsMost) },
	}
	out := map[string]*template.Template{}
	for _, name := range names {
		t := template.New("").Funcs(functions)
		t = template.Must(t.ParseFS(files, "templates/layout.html", "templates/parts.html"))
		out[name[len("templates/"):]] = template.Must(t.ParseFS(files, name))
	}
	return out
}
