package hook

import (
	"strings"
	"testing"
)

// What a dry run shows may be passed on.
func TestDryRunShowsNoToken(t *testing.T) {
	const token = "451a031bba9a539f-071ebb63b5340ccb32705c510bd8963f"
	got := difference([]byte("{\n  \"old\": \"Bearer "+token+"\"\n}\n"), []byte("{\n  \"Authorization\": \"Bearer "+token+"\"\n}\n"))
	if strings.Contains(got, token) || !strings.Contains(got, `+  "Authorization": "Bearer …"`) {
		t.Error(got)
	}
}
