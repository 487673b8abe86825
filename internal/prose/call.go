package prose

import (
	"fmt"
	"strconv"
	"strings"
)

// Syntax writes what a reader may type next: a call of another action of the same tool. pairs
// alternates the names and values of its arguments. Without an action it writes the arguments
// alone. An action of another tool has its tool before it: "ctx_share pull", which is written ctx_share action=pull. Each surface has its own: an answer in a shell names commands, one in MCP names
// actions.
type Syntax func(action string, pairs ...any) string

// Quoted is a value that stands in quotes although it need not.
type Quoted string

// MCP is the syntax of tools: action=judge category=api key=auth.
func MCP(action string, pairs ...any) string {
	var words []string
	if tool, other, ok := strings.Cut(action, " "); ok {
		words, action = append(words, tool), other
	}
	if action != "" {
		words = append(words, "action="+action)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := fmt.Sprint(pairs[i+1])
		if _, quoted := pairs[i+1].(Quoted); quoted || strings.ContainsAny(value, " \t\"'\\=") || value != Line(value) {
			value = strconv.Quote(value)
		}
		words = append(words, fmt.Sprintf("%v=%s", pairs[i], value))
	}
	return strings.Join(words, " ")
}
