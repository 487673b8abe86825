package embed

import _ "embed"

//go:embed table/vocab.txt
var vocabulary30k string
