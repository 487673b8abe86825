package embed

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// set is texts to find, questions, and which texts answer each.
type set struct {
	docs, questions []doc
	answers         map[string]map[string]bool // question id → doc ids
}

// doc is a text; a question looks among those of its group alone.
type doc struct {
	ID    string `json:"_id"`
	Group string `json:"group"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// paraphrases reads testdata/paraphrases.txt.
func paraphrases(t testing.TB) *set {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "paraphrases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := &set{answers: map[string]map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if question, ok := strings.CutPrefix(line, "? "); ok {
			s.questions = append(s.questions, doc{ID: question, Text: question})
			s.answers[question] = map[string]bool{s.docs[len(s.docs)-1].ID: true}
		} else if line != "" && !strings.HasPrefix(line, "#") {
			s.docs = append(s.docs, doc{ID: line, Text: line})
		}
	}
	return s
}

// readSet reads a folder of corpus.jsonl.gz, queries.jsonl.gz and qrels.tsv.gz.
func readSet(t testing.TB, dir string) *set {
	t.Helper()
	s := &set{answers: map[string]map[string]bool{}}
	docs := func(name string) (all []doc) {
		eachLine(t, filepath.Join(dir, name), func(line string) {
			var d doc
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		})
		return all
	}
	s.docs, s.questions = docs("corpus.jsonl.gz"), docs("queries.jsonl.gz")
	eachLine(t, filepath.Join(dir, "qrels.tsv.gz"), func(line string) {
		f := strings.Split(line, "\t")
		if len(f) == 3 && f[0] != "query-id" {
			if s.answers[f[0]] == nil {
				s.answers[f[0]] = map[string]bool{}
			}
			s.answers[f[0]][f[1]] = true
		}
	})
	return s
}

func eachLine(t testing.TB, name string, f func(line string)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// ndcg is the mean nDCG@10 of a ranking of s.docs for each question.
func (s *set) ndcg(scores func(question, group string) []float64) float64 {
	sum, n := 0.0, 0
	for _, q := range s.questions {
		right := s.answers[q.ID]
		if len(right) == 0 {
			continue
		}
		n++
		score := scores(q.Text, q.Group)
		order := make([]int, 0, len(s.docs))
		for i, d := range s.docs {
			if d.Group == q.Group && score[i] > 0 {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(score[b], score[a]), strings.Compare(s.docs[a].ID, s.docs[b].ID))
		})
		got, best := 0.0, 0.0
		for rank := range 10 {
			gain := 1 / math.Log2(float64(rank+2))
			if rank < len(order) && right[s.docs[order[rank]].ID] {
				got += gain
			}
			if rank < len(right) {
				best += gain
			}
		}
		sum += got / best
	}
	return sum / float64(n)
}

// byMeaning ranks by the cosines of an encoder's vectors.
func (s *set) byMeaning(t testing.TB, e *StaticEncoder) float64 {
	t.Helper()
	texts := make([]string, len(s.docs))
	for i, d := range s.docs {
		texts[i] = strings.TrimPrefix(d.Title+": "+d.Text, ": ")
	}
	vectors, err := e.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return s.ndcg(func(question, group string) []float64 {
		q, err := e.Encode(t.Context(), []string{question})
		if err != nil {
			t.Fatal(err)
		}
		scores := make([]float64, len(vectors))
		for i, v := range vectors {
			if s.docs[i].Group != group {
				continue
			}
			for j, x := range v {
				scores[i] += float64(x * q[0][j])
			}
		}
		return scores
	})
}

// byWords ranks by BM25 over lower-case words without endings, small ones too,
// k1 1.2, b 0.75.
func (s *set) byWords() float64 {
	docs := make([]map[string]float64, len(s.docs))
	holding := map[string]float64{}
	length, all := make([]float64, len(s.docs)), 0.0
	for i, d := range s.docs {
		docs[i] = map[string]float64{}
		for _, w := range allWords(d.Title + " " + d.Text) {
			if docs[i][w]++; docs[i][w] == 1 {
				holding[w]++
			}
			length[i]++
		}
		all += length[i]
	}
	mean := all / float64(len(docs))
	return s.ndcg(func(question, _ string) []float64 {
		scores := make([]float64, len(docs))
		for _, w := range allWords(question) {
			idf := math.Log(1 + (float64(len(docs))-holding[w]+0.5)/(holding[w]+0.5))
			for i, d := range docs {
				scores[i] += idf * d[w] * 2.2 / (d[w] + 1.2*(0.25+0.75*length[i]/mean))
			}
		}
		return scores
	})
}

// stems gives the words of a text that have a meaning, without their endings.
func stems(text string) []string {
	return slices.DeleteFunc(allWords(text), func(w string) bool { return slices.Contains(empty, w) })
}

// allWords gives the words of a text, without endings but for the small ones.
func allWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, end := range []string{"ing", "ies", "ed", "es", "s", "y", "e"} {
			if short, ok := strings.CutSuffix(w, end); ok && len(short) >= 3 && !slices.Contains(empty, w) {
				w = short
				break
			}
		}
		out = append(out, w)
	}
	return out
}

// empty are words without a meaning of their own.
var empty = strings.Fields(`a about after all am an and are as at be because been before but by can did do does don down each every for from get
	go had has have how i if in into is it its keep keeps kept made make makes may me much must my need needs never no not now of off often
	old on once one only or other our out over s set should so t than that the their them there they this through to two up us use used uses
	using was we were what when where which while who why will with without you`)
