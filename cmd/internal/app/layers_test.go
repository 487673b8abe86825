package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "leanctx"

// mayImport lists, for each of our packages, which of the others it may import.
// A package follows the rule of the nearest listed one above it. A package without
// a rule fails the test: add one.
var mayImport = map[string][]string{
	// floor 0
	"internal/journal":                      {"internal/atomicfile"},
	"internal/journal/jetstream":            {"internal/atomicfile", "internal/journal", "internal/prose"},
	"internal/journal/jetstream/natsserver": {"internal/atomicfile", "internal/journal/jetstream/teamtls"},
	"internal/secret":                       {"internal/prose"}, // what nobody sees
	"internal/prose":                        {},
	"internal/refusal":                      {},
	"internal/language":                     {},
	"internal/tokens":                       {},
	"internal/spool":                        {},
	"internal/args":                         {"internal/language", "internal/prose", "internal/refusal"},
	"internal/notice":                       {"internal/journal"},
	"internal/atomicfile":                   {},
	"internal/proctest":                     {},                 // for tests alone
	"formats":                               {"internal/prose"}, // how hidden characters are shown
	"formats/foreign":                       {"formats", "internal/prose"},
	"formats/plan":                          {"formats"},
	"formats/okf":                           {"formats"},
	"formats/transcript":                    {},
	"embed":                                 {"internal/atomicfile"},
	"embed/vectors":                         {"internal/atomicfile"},
	// floor 1: siblings never import siblings
	"knowledge":          {"embed/vectors", "internal/language", "knowledge/conflict", "knowledge/fact", "knowledge/verdict", "knowledge/state", "knowledge/reminder", "knowledge/meaning", "knowledge/index", "knowledge/recall", "knowledge/words", "knowledge/sourcefile", "knowledge/usage", "internal/args", "internal/journal", "internal/secret", "internal/notice", "internal/prose", "internal/refusal", "formats"},
	"knowledge/fact":     {"internal/language", "knowledge/words", "knowledge/verdict", "formats", "internal/prose", "internal/refusal"}, // the stop words
	"knowledge/state":    {"knowledge/fact", "knowledge/verdict", "knowledge/index", "knowledge/words", "internal/journal", "formats"},
	"knowledge/advice":   {"embed/vectors", "knowledge", "knowledge/verdict", "knowledge/conflict", "knowledge/fact", "knowledge/state", "knowledge/meaning", "internal/journal", "internal/notice", "internal/prose", "internal/refusal", "formats"},
	"knowledge/briefing": {"internal/args", "internal/language", "knowledge", "knowledge/fact", "knowledge/state", "knowledge/reminder", "internal/prose", "internal/refusal", "internal/tokens", "formats"},
	"knowledge/history":  {"internal/args", "knowledge/verdict", "knowledge", "knowledge/drawing", "knowledge/fact", "knowledge/state", "internal/prose", "internal/refusal", "formats"},
	"knowledge/replica":  {"internal/atomicfile", "knowledge", "knowledge/fact", "knowledge/reminder", "knowledge/state", "knowledge/verdict", "internal/journal", "internal/prose", "internal/refusal", "formats"},
	"knowledge/listing":  {"internal/args", "knowledge", "knowledge/drawing", "knowledge/fact", "knowledge/reminder", "knowledge/state", "internal/prose", "internal/refusal", "formats"},
	"knowledge/transfer": {"internal/args", "internal/atomicfile", "knowledge", "knowledge/listing", "knowledge/reminder", "knowledge/replica", "knowledge/fact", "knowledge/state", "knowledge/verdict", "internal/journal", "internal/prose", "internal/refusal", "formats", "formats/foreign", "formats/okf"},
	"knowledge/reminder": {"knowledge/fact", "internal/prose", "formats"},
	"knowledge/meaning":  {"internal/atomicfile", "embed/vectors", "knowledge/fact"},
	"knowledge/usage":    {"internal/atomicfile", "internal/spool", "knowledge/fact"},
	"knowledge/index":    {"knowledge/words", "internal/journal"},
	"knowledge/words":    {"internal/language"},
	"knowledge/drawing":  {"internal/prose"},
	"knowledge/recall":   {"internal/language", "knowledge/words"},
	"knowledge/verdict":  {"internal/language", "knowledge/words"},
	"knowledge/conflict": {"internal/language", "knowledge/verdict", "knowledge/words"},
	// the project's files
	"knowledge/sourcefile": {"formats"},
	"agents": {"agents/diary", "agents/lease", "agents/live",
		"internal/args", "internal/journal", "internal/secret", "internal/notice", "internal/prose", "internal/refusal"},
	"agents/diary":   {"internal/journal", "internal/notice", "internal/prose", "internal/refusal"},
	"agents/lease":   {"internal/prose"},
	"agents/live":    {"internal/journal"},
	"agents/session": {"formats/transcript", "internal/args", "knowledge/words", "internal/atomicfile", "internal/journal", "internal/prose", "internal/spool", "internal/refusal", "internal/language"},
	"agents/cost":    {"internal/prose", "internal/spool", "internal/refusal", "internal/tokens"},
	"agents/share":   {"internal/args", "internal/atomicfile", "internal/journal", "internal/secret", "internal/notice", "internal/prose", "internal/refusal", "internal/tokens"},
	"tasks":          {"formats", "formats/plan", "internal/args", "internal/atomicfile", "internal/journal", "internal/secret", "internal/notice", "internal/prose", "internal/refusal"},
	// floor 1½
	"overview/source":  {"formats", "knowledge/words", "internal/language"},
	"overview/graph":   {"overview/source"},
	"overview/tree":    {"internal/args"},
	"overview/project": {"internal/atomicfile", "internal/journal", "internal/refusal", "overview/tree"},
	"overview":         {"internal/atomicfile", "internal/prose", "internal/refusal", "internal/secret"},
	// floor 2
	"cmd/internal/op": {"internal/args", "internal/prose", "knowledge", "knowledge/advice", "knowledge/briefing", "knowledge/fact", "knowledge/history", "knowledge/listing", "knowledge/transfer", "agents", "agents/cost", "agents/session", "agents/share", "tasks", "overview", "internal/journal", "internal/refusal", "formats", "internal/language"},
	// floor 2½: none imports another
	"cmd/internal/cli":      {"cmd/internal/op", "internal/prose", "internal/refusal", "internal/language"},
	"cmd/internal/mcpsrv":   {"cmd/internal/op", "internal/prose", "formats"},
	"cmd/internal/web":      {"internal/args", "internal/atomicfile", "cmd/internal/op", "tasks"},
	"cmd/internal/web/page": {"cmd/internal/op", "knowledge", "knowledge/replica", "knowledge/advice", "knowledge/drawing", "knowledge/history", "knowledge/listing", "agents", "agents/cost", "tasks", "formats", "internal/prose", "internal/language"},
	"cmd/internal/hook":     {"knowledge/reminder", "internal/atomicfile", "internal/spool", "cmd/internal/op", "knowledge", "knowledge/briefing", "knowledge/fact", "knowledge/listing", "agents", "agents/session", "agents/share", "tasks", "internal/prose", "internal/refusal", "formats", "formats/transcript"},
	// beside them
	"cmd/internal/config": {"internal/args", "internal/atomicfile", "internal/prose", "internal/refusal", "internal/secret"},
	"cmd/internal/demo":   {"formats"},
	// floors 3 and 4
	"cmd/internal/app": {"internal/atomicfile", "internal/journal", "internal/journal/jetstream", "internal/journal/jetstream/natsserver", "internal/refusal", "cmd/internal/op", "cmd/internal/cli", "cmd/internal/mcpsrv", "cmd/internal/web", "cmd/internal/hook",
		"cmd/internal/config", "cmd/internal/demo", "knowledge", "knowledge/replica", "knowledge/advice", "knowledge/briefing", "knowledge/history", "knowledge/listing", "knowledge/transfer", "agents", "agents/cost", "agents/session", "agents/share", "tasks", "overview", "overview/project", "overview/tree", "embed", "formats", "formats/transcript", "internal/args", "internal/secret", "internal/prose"},
	"cmd/lean-ctx": {"cmd/internal/app"},
	"cmd/measure":  {"knowledge/words"}, // it runs the rest through the binary, as a user does
}

// onlyIn lists the packages that may import a library. No other package may depend
// on it.
var onlyIn = map[string][]string{
	"github.com/nats-io/nats.go":             {"internal/journal/jetstream"},
	"github.com/nats-io/nkeys":               {"internal/journal/jetstream"},
	"github.com/klauspost/compress":          {"formats/transcript"},
	"github.com/nats-io/nats-server/":        {"internal/journal/jetstream/natsserver"},
	"github.com/go-json-experiment/":         {"formats", "internal/journal", "internal/prose"},
	"github.com/blevesearch/":                {"cmd/measure", "knowledge/index", "knowledge/words"},
	"github.com/modelcontextprotocol/go-sdk": {"cmd/internal/mcpsrv", "cmd/internal/demo", "cmd/measure"},
	"github.com/spf13/":                      {"cmd/internal/cli", "cmd/lean-ctx/pack"}, // the manual pages
	"github.com/google/jsonschema-go":        {"cmd/internal/op"},
	"github.com/knights-analytics/hugot":     {"embed"},
	"github.com/tailscale/hujson":            {"cmd/internal/hook", "overview/source"},
	"github.com/pelletier/go-toml":           {"cmd/internal/hook"},
	"github.com/goccy/go-yaml":               {"cmd/internal/hook", "formats"},
	"github.com/yuin/goldmark":               {"formats/foreign"},
	"github.com/tiktoken-go/":                {}, // tests compare estimates with it
	"github.com/a2aproject/":                 {"cmd/internal/web"},
	"github.com/zricethezav/gitleaks":        {"internal/secret"},
	"golang.org/x/sys":                       {"internal/journal", "agents"},
	"golang.org/x/term":                      {"cmd/internal/cli"},
	"github.com/rogpeppe/go-internal":        {"cmd/internal/hook"},
	"github.com/google/go-cmp":               {},
	"pgregory.net/rapid":                     {},
	"github.com/anishathalye/porcupine":      {},
	"net/http":                               {"cmd/internal/web", "cmd/internal/mcpsrv", "cmd/internal/app", "embed", "internal/journal/jetstream/natsserver"},
	"os/signal":                              {"cmd/internal/app", "cmd/measure"},
}

// maxDoc is how many lines a package's documentation may have.
const maxDoc = 40

type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// listPackages asks the go command for our packages and their imports, without
// tests.
func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports", module+"/...")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestLayers(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 8 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	there := map[string]bool{}
	for _, p := range packages {
		for own := strings.TrimPrefix(p.ImportPath, module+"/"); own != "."; own = path.Dir(own) {
			there[own] = true
		}
	}
	for name, allowed := range mayImport {
		for _, p := range append([]string{name}, allowed...) {
			if !there[p] {
				t.Errorf("the rule of %s names %s, which is no package", name, p)
			}
		}
	}
	for _, p := range packages {
		own := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, listed := rule(own)
		if !listed {
			t.Errorf("%s: add its rule to mayImport", own)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok && !slices.Contains(allowed, ours) && !within(ours, own) {
				t.Errorf("%s imports %s", own, ours)
			}
			for library, importers := range onlyIn {
				if !within(imported, library) {
					continue
				}
				if !slices.ContainsFunc(importers, func(i string) bool { return within(own, i) }) {
					t.Errorf("%s imports %s, which only %v may", own, imported, importers)
				}
			}
		}
	}
}

func TestEveryPackageHasAShortDoc(t *testing.T) {
	for _, p := range listPackages(t) {
		own, lines := strings.TrimPrefix(p.ImportPath, module+"/"), 0
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(f.Doc.Text(), "\n")
		}
		switch {
		case lines == 0:
			t.Errorf("%s has no package documentation", own)
		case lines > maxDoc:
			t.Errorf("the documentation of %s has %d lines, more than %d; measurements go to its MEASURED.md", own, lines, maxDoc)
		}
	}
}

// rule finds the entry of a package, or of the nearest package above it.
func rule(own string) ([]string, bool) {
	for at := own; ; {
		if allowed, ok := mayImport[at]; ok {
			return allowed, true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return nil, false
		}
		at = at[:i]
	}
}

// within reports whether a path is, or lies below, another.
func within(path, above string) bool {
	above = strings.TrimSuffix(above, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}
