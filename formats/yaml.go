package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The YAML that a file of somebody else's may hold. To parse one costs the square of its depth: 30,000
// brackets take 2 GB. What it reads as is never nested deeper than a few levels.
const (
	maxYAML      = 4 << 20 // bytes
	maxYAMLMarks = 40_000  // signs between which tokens stand: a token takes more than 1 kB
	maxYAMLDepth = 50
)

// yamlMarks are the signs that divide YAML into tokens.
const yamlMarks = ",:-[]{}?&*!\"'|>#\n"

// UnmarshalYAML parses YAML that anybody may have written. A text that is too large or nested too
// deeply, or that has an alias, which can stand for any number of values, is not parsed.
func UnmarshalYAML(data []byte, into any) error {
	if len(data) > maxYAML {
		return fmt.Errorf("it has more than %d MiB", maxYAML>>20)
	}
	n := 0
	for _, c := range data {
		if strings.IndexByte(yamlMarks, c) >= 0 {
			n++
		}
	}
	if n > maxYAMLMarks {
		return fmt.Errorf("it has more than %d entries and signs", maxYAMLMarks)
	}
	brackets, line, marks := 0, 0, 0
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			marks++
		case token.AliasType, token.MergeKeyType:
			return errors.New("it has an alias")
		}
		if slices.Max([]int{brackets, marks / 2, t.Position.IndentNum}) > maxYAMLDepth {
			return fmt.Errorf("line %d is nested too deeply", line)
		}
	}
	return yaml.Unmarshal(data, into)
}
