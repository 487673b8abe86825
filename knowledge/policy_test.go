package knowledge

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// What an assertion, a dispute and a finding do to the facts is decided by pure functions: they take facts and
// give events. The files of the policy know no disk, no index and no context, and nothing in them takes a Store.
func TestThePolicyIsPure(t *testing.T) {
	for _, name := range []string{"remember.go", "place.go", "dispute.go", "remembered.go", "finding.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil || slices.Contains([]string{"context", "os", "io", "io/fs", "path/filepath", "leanctx/internal/journal", "leanctx/knowledge/index", "leanctx/knowledge/usage", "leanctx/embed/vectors"}, path) {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if x, ok := n.(*ast.Ident); ok && (x.Name == "Store" || x.Name == "core") {
				t.Errorf("%s names %s", name, x.Name)
			}
			return true
		})
	}
}
