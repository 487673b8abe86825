package secret_test

import (
	"fmt"

	"leanctx/internal/secret"
)

func ExampleRedactor_Clean() {
	clean, rules := secret.BuiltIn().Clean("the database is at postgres://app:Xy7%23kq2LmP@db.internal/app")
	fmt.Println(clean)
	fmt.Println(rules)
	// Output:
	// the database is at postgres://app:[REDACTED:url-password]@db.internal/app
	// [url-password]
}
