package project

import (
	"context"
	"os/user"
	"strings"
)

// maxPerson is the most bytes of a person's name that are read.
const maxPerson = 1 << 10

// Person is the name of who uses this machine, as commits in a directory have it: git's user.name, else
// the name of the login. It is empty if neither is known.
func (p *Registry) Person(ctx context.Context, dir string) string {
	limited, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	if out, err := p.git(limited, dir, "config", "--get", "user.name"); err == nil {
		if name := strings.TrimSpace(string(out[:min(len(out), maxPerson)])); name != "" {
			return name
		}
	}
	login, err := user.Current()
	if err != nil {
		return ""
	}
	return login.Username[strings.LastIndexByte(login.Username, '\\')+1:] // Windows puts the domain before it
}
