package source

import (
	"strings"
	"testing"
	"time"
)

// Text that was made to be slow ends soon in every language. The bound is far
// from what it takes, milliseconds: it is for work that grows like a power.
func TestReadingEndsSoon(t *testing.T) {
	parts := []string{"{", "(", "\"", "'", "`", "\"${", "`${", "\"#{", "$\"{", "/*", "//\n", "#", "#if\n", "#define A(\n", "class A {", "class A\n", "use {", "a,{", "<<A\n",
		"%w(", "\"\"\"", "@\"", "import \"\n", "export {", "from a import (", "def ", "a ", "a=", "/", "R\"(", "r#\"", "?>", "<?php ", "<<<A\n", "template <", "fn a() {", "a:: b("}
	for _, name := range []string{"a.ts", "a.py", "a.rs", "A.java", "a.kt", "a.cpp", "a.cs", "a.rb", "a.php", "a.go"} {
		for _, part := range parts {
			src := strings.Repeat(part, 40_000/len(part))
			if strings.HasSuffix(name, ".php") {
				src = "<?php " + src
			}
			start := time.Now()
			Read(name, src)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s, %q: %v", name, part, took)
			}
		}
	}
}
