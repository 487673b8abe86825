package overview_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"leanctx/overview"
)

// The files for a task, and beside them what they import.
func Example() {
	root, err := os.MkdirTemp("", "project-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{
		"auth.ts": "// Signs and checks tokens.\nimport {pool} from './pool';\nexport function sign() {}\n",
		"pool.ts": "// Connections to the database.\nexport const pool = {};\n",
		"cart.ts": "// The cart of the shop.\nexport const cart = {};\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	o, err := overview.NewMap(root, nil).Overview(context.Background(), overview.Inquiry{Task: "refresh the tokens"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Critical[0].Path, o.Critical[0].Reason)
	fmt.Println(o.Reference[0].Path)
	// Output:
	// auth.ts Signs and checks tokens; sign
	// pool.ts
}
