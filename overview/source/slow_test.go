package source

import (
	"strings"
	"testing"
	"time"

	"leanctx/internal/proctest"
)

// Text that was made to be slow ends soon in every language. It is compared with as much
// ordinary text in the same run. The bound is for work that grows like a power.
func TestReadingEndsSoon(t *testing.T) {
	ordinary := strings.Repeat("export function walk(path: string): number { return path.length + 1 }\n", 150)
	floor := proctest.Best(0, func() { Read("a.ts", ordinary, nil) })
	parts := []string{"{", "(", "\"", "'", "`", "\"${", "`${", "\"#{", "$\"{", "/*", "//\n", "#", "#if\n", "#define A(\n", "class A {", "class A\n", "use {", "a,{", "<<A\n",
		"%w(", "\"\"\"", "@\"", "import \"\n", "export {", "from a import (", "def ", "a ", "a=", "/", "R\"(", "r#\"", "?>", "<?php ", "<<<A\n", "template <", "fn a() {", "a:: b("}
	for _, name := range []string{"a.ts", "a.py", "a.rs", "a.cpp", "a.php", "a.go"} {
		for _, part := range parts {
			src := strings.Repeat(part, 10_000/len(part))
			if strings.HasSuffix(name, ".php") {
				src = "<?php " + src
			}
			took := proctest.Best(200*floor, func() { Read(name, src, nil) })
			t.Logf("%-7s %-12q %8v (%.1f times ordinary text)", name, part, took.Round(10*time.Microsecond), float64(took)/float64(floor))
			if took > 200*floor {
				t.Errorf("%s, %q: %v, ordinary text %v", name, part, took, floor)
			}
		}
	}
}
