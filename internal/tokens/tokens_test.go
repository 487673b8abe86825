package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "make averages.go anew from the texts of the repository")

var exact = codec.NewO200kBase()

func count(t testing.TB, text string) int {
	n, err := exact.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// corpus are the texts by kind.
func corpus(t testing.TB) map[string][]string {
	out, files := map[string][]string{}, 0
	root := filepath.Join("..", "..")
	if err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (strings.HasPrefix(e.Name(), ".g") || e.Name() == "node_modules" || e.Name() == "build") {
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if e.IsDir() {
			return nil
		}
		kind := map[string]string{".md": "prose", ".go": "code", ".txtar": "code", ".json": "JSON", ".jsonl": "JSON"}[filepath.Ext(path)]
		if filepath.Base(filepath.Dir(filepath.Dir(path))) == "tokens" {
			kind = strings.TrimSuffix(e.Name(), ".txt")
		}
		if files++; kind == "" || kind == "code" && files%8 > 0 || e.Name() == "averages.go" { // 200,000 tokens of code are enough
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) < 200<<10 {
			out[kind] = append(out[kind], strings.ToValidUTF8(string(data), "\uFFFD"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := make([]byte, 32)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		out["hashes"] = append(out["hashes"],
			fmt.Sprintf("commit %x, sha256:%s", b[:20], hex.EncodeToString(b)),
			base64.StdEncoding.EncodeToString(b),
			fmt.Sprintf("s-%x %x-%x-%x-%x-%x", b[:4], b[4:8], b[8:10], b[10:12], b[12:14], b[14:20]))
	}
	return out
}

func TestAverages(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	var sum, weight [classes][longest]float64
	for _, texts := range corpus(t) {
		size := 0
		for _, text := range texts {
			size += len(text)
		}
		w := 1.0 / math.Sqrt(float64(size)) // much code does not outvote few words of a language
		for _, text := range texts {
			seen := map[string]float64{}
			kinds := map[string]piece{}
			rest := text
			for p := range pieces(text) {
				key := fmt.Sprint(p.class, " ", rest[:p.bytes])
				seen[key]++
				kinds[key] = p
				rest = rest[p.bytes:]
			}
			for key, p := range kinds {
				if p.length > 2*longest {
					continue // such as a test's 10,000 times the same letter
				}
				i := min(p.length, longest) - 1
				_, s, _ := strings.Cut(key, " ")
				per := float64(count(t, s))
				if p.length > longest {
					per *= longest / float64(p.length)
				}
				sum[p.class][i] += w * seen[key] * per
				weight[p.class][i] += w * seen[key]
			}
		}
	}
	var b strings.Builder
	b.WriteString("package tokens\n\n// averages are the tokens of a piece, by class and length. `go test ./internal/tokens -update` makes them.\nvar averages = [classes][longest]float64{\n")
	for c := range classes {
		fmt.Fprintf(&b, "{")
		last := 1.0
		for i := range longest {
			if weight[c][i] > 0 {
				last = sum[c][i] / weight[c][i]
			} else if i > 0 {
				last = max(last, last*float64(i+1)/float64(i))
			}
			fmt.Fprintf(&b, "%.2f, ", last)
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	code, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("averages.go", code, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestEstimate holds what the comments promise, on the texts that the averages are made of. The
// lists of the kinds that are too short for 5% are of other alphabets.
func TestEstimate(t *testing.T) {
	for kind, texts := range corpus(t) {
		sum, want := 0.0, 0
		for _, text := range texts {
			n := count(t, text)
			sum, want = sum+average(text), want+n
		}
		off, most := sum/float64(want)-1, .05
		if want < 100 {
			most = .1
		}
		if math.Abs(off) > most {
			t.Errorf("%s: %d tokens are estimated %+.1f%%", kind, want, 100*off)
		}
		t.Logf("%-8s %7d tokens, estimate %+.1f%%", kind, want, 100*off)
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct{ text, pieces string }{
		{"", ""},
		{"hello world", "hello| world"},
		{"HTTPServer camelCase", "HTTPServer| camel|Case"},
		{"don't WE'RE", "don't| WE'RE"},
		{"a  b\n\n\tc", "a| | b|\n\n|\tc"},
		{"12345 6", "123|45| |6"},
		{"(foo) (\"bar\");\n", "(foo|)| (\"|bar|\");\n"},
		{"x\xff\xfey", "x|\xff\xfe|y"},
		{"用 Go 写", "用| Go| 写"},
		{"🚀🚀 ok", "🚀🚀| ok"},
		{"   ", "   "},
	} {
		var got []string
		rest := c.text
		for p := range pieces(c.text) {
			got, rest = append(got, rest[:p.bytes]), rest[p.bytes:]
		}
		if s := strings.Join(got, "|"); s != c.pieces {
			t.Errorf("%q: %q", c.text, s)
		}
	}
}

// FuzzPieces: every text is cut to its end.
func FuzzPieces(f *testing.F) {
	f.Add("it's (A1) \r\n\xff é́ 漢字")
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for p := range pieces(text) {
			if p.bytes < 1 || p.length < 1 || p.tokens() <= 0 {
				t.Fatalf("%q: %+v", text[size:], p)
			}
			size += p.bytes
		}
		if size != len(text) {
			t.Fatalf("%q: %d of %d bytes", text, size, len(text))
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Estimate(string(text))
	}
}
