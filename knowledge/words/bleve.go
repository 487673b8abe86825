package words

import "github.com/blevesearch/bleve/v2/analysis"

// Analyzer is the one analyzer as bleve knows analyzers, for bleve's own tools.
type Analyzer struct{}

// Analyze implements analysis.Analyzer.
func (Analyzer) Analyze(text []byte) analysis.TokenStream {
	var out analysis.TokenStream
	Scan(string(text), func(t Token) {
		out = append(out, &analysis.Token{Term: []byte(t.Term), Position: len(out) + 1, Type: analysis.AlphaNumeric})
	})
	return out
}
