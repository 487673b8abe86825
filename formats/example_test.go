package formats_test

import (
	"fmt"

	"leanctx/formats"
)

func ExampleFormatAAAK() {
	fmt.Print(formats.FormatAAAK([]formats.Room{{Category: "auth", Pairs: []formats.Pair{
		{Key: "token", Value: "JWT RS256", Stars: 4, User: true},
		{Key: "ttl", Value: "15 min", Stars: 2, Unconfirmed: true},
	}}}))
	// Output: AUTH:token=JWT RS256★★★★u|ttl=15 min★★?
}
