package table

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is one row of the table of sources.
type source struct {
	kind string
	most int
	path string
}

// runCorpus writes the sentences that the teacher reads, one a line. The same
// sources give the same bytes: files are walked in order, and a hash of each
// sentence decides whether it is taken, and where. So any prefix of the output is
// a fair sample of the whole.
func runCorpus(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("table corpus", flag.ContinueOnError)
	list := flags.String("sources", "cmd/measure/table/SOURCES.md", "the table of sources")
	goroot := flags.String("goroot", os.Getenv("GOROOT"), "where Go is installed ($GOROOT)")
	mod := flags.String("mod", os.Getenv("GOMODCACHE"), "the Go module cache ($MOD)")
	deb := flags.String("deb", "", "where Debian packages were unpacked ($DEB)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dirs := strings.NewReplacer("$GOROOT", *goroot, "$MOD", *mod, "$DEB", *deb)
	sources, err := readSources(*list)
	if err != nil {
		return err
	}
	var all []string
	seen := map[string]bool{}
	for _, s := range sources {
		found, err := extract(s.kind, dirs.Replace(s.path))
		if err != nil {
			return err
		}
		taken := take(found, s.most, seen)
		fmt.Fprintf(os.Stderr, "%6d of %6d  %s %s\n", len(taken), len(found), s.kind, s.path)
		all = append(all, taken...)
	}
	byHash(all)
	w := bufio.NewWriter(out)
	for _, s := range all {
		fmt.Fprintln(w, s)
	}
	return w.Flush()
}

// readSources reads the rows of the Markdown table in the file named.
func readSources(name string) ([]source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var rows []source
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			continue
		}
		most, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		if err != nil {
			continue // the head of the table
		}
		rows = append(rows, source{strings.TrimSpace(cells[1]), most, strings.TrimSpace(cells[5])})
	}
	return rows, nil
}

// take gives at most n sentences that were not seen before, chosen by hash.
func take(found []string, n int, seen map[string]bool) []string {
	var fresh []string
	for _, s := range found {
		if key := strings.ToLower(s); !seen[key] {
			seen[key] = true
			fresh = append(fresh, s)
		}
	}
	byHash(fresh)
	return fresh[:min(n, len(fresh))]
}

// byHash puts sentences into an order that has nothing to do with their source.
func byHash(all []string) {
	sum := func(s string) uint64 {
		h := fnv.New64a()
		io.WriteString(h, s)
		return h.Sum64()
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(a), sum(b)), strings.Compare(a, b))
	})
}

// walk calls read with the contents of each file under dir whose name ends in
// ext, tests and vendored trees left out.
func walk(dir, ext string, read func(text string)) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"testdata", "vendor", "node_modules", "tests", "test"}, d.Name()) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(path, ext) || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			read(string(text))
		}
		return err
	})
}
