package hook

import (
	"fmt"
	"strings"
)

// Print gives what connect would write, for those who keep their files
// themselves.
func (p Place) Print(w Wish) (string, error) {
	chosen, err := choose(w.Clients, p.found)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range chosen {
		for _, s := range c.steps(p, orUser(w.Scope)) {
			fmt.Fprintf(&b, "%s: %s\n%s\n\n", c.name, s.path, indented(s.snippet()))
		}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}
