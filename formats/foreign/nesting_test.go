package foreign

import (
	"strings"
	"testing"
	"time"
)

// However deep a text nests, it is read at once, and what stands around it is read as ever.
func TestNestedTextIsReadAtOnce(t *testing.T) {
	var list strings.Builder
	for i := range 1_200 {
		list.WriteString(strings.Repeat("  ", i) + "- the item\n")
	}
	for name, text := range map[string]string{
		"quotations": strings.Repeat(">", 300_000) + " a", "quotations with blanks": strings.Repeat("> ", 100_000) + "a",
		"items": strings.Repeat("- ", 100_000) + "a", "numbers": strings.Repeat("1. ", 100_000) + "a", "a list": list.String(),
	} {
		start := time.Now()
		m, err := Parse([]File{{"note.md", []byte("# Store\n\nWe use PostgreSQL.\n\n" + text + "\n\n# Cache\n\n> Redis 7 holds the sessions.\n")}}, "shop")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all := strings.Join(facts(m), "\n")
		if took := time.Since(start); took > 3*time.Second || !strings.Contains(all, "We use PostgreSQL.") || !strings.Contains(all, "Redis 7 holds the sessions.") {
			t.Errorf("%s: after %s, %.300s", name, took, all)
		}
	}
	deep := "---\nname: x\nmetadata:\n  type: user\nx: " + strings.Repeat("[", 30_000) + "\n---\nbody\n"
	if _, err := Parse([]File{{"y.md", []byte(deep)}}, "shop"); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Error(err)
	}
}
