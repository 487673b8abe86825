package op

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReference(t *testing.T) {
	want := "### ctx_sample · `lean-ctx sample`\n\nA sample.\n\n" +
		`| action | arguments (needed in bold) | what it does |
|---|---|---|
| remember | **category**, **value**, key, confidence, weight, limit, budget, correct, pinned, tags, mode | Assert. |
| remove | **category**, **key**, erase, confirm | Retract. |
| feedback | **vote** | Vote. |
| import | **file**, dry_run | Read a file. |
| rooms |  | List. |

| argument | type | meaning |
|---|---|---|
| category | string | the room, or its name |
| value | string | what is believed |
| key | string | name within the category |
| confidence | number | 0..1 |
| weight | number |  |
| limit | integer |  |
| budget | integer |  |
| correct | boolean |  |
| pinned | boolean |  |
| tags | list |  |
| mode | string | how; one of auto, exact |
| erase | boolean |  |
| vote | string | one of up, down |
| file | string |  |
| dry_run | boolean |  |
` + "| confirm (`--yes`) | boolean | true where an action asks for it |\n" +
		"| project | string | path of the project (default: the server's) |\n" +
		"| agent | string | your agent id, if you registered |\n" +
		"| output | string | form of the answer (default text); one of text, json |\n" +
		"\n```sh\nlean-ctx sample remember \"JWT RS256\" --category architecture --key auth\nlean-ctx sample remove --category architecture --key auth\n```\n"
	if diff := cmp.Diff(want, Reference([]*Tool{sampleTool()})); diff != "" {
		t.Error(diff)
	}
}
