package project

import (
	"cmp"
	"context"
	"os/user"
	"strings"
)

// maxPerson is the most bytes of a person's name that are read.
const maxPerson = 1 << 10

// Person is the name of who uses this machine, as commits have it: git's user.name, else the name of the login. The
// configuration of the repository in the directory does not count: whoever works in a clone may write it, and would sign as
// somebody else, or have the user's own name taken. It is empty if neither is known.
func (p *Registry) Person(ctx context.Context, dir string) string {
	name, _ := p.Persons(ctx, dir)
	return name
}

// Persons are [Registry.Person], and the name that the repository's configuration has and that does not count.
func (p *Registry) Persons(ctx context.Context, dir string) (name, notCounted string) {
	limited, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	out, err := p.git(limited, dir, "config", "--null", "--show-scope", "--get-all", "user.name")
	if err != nil && limited.Err() == nil { // before git 2.26 no scope is shown
		out, err = p.git(limited, dir, "config", "--null", "--global", "--includes", "--get", "user.name")
		out = append([]byte("global\x00"), out...)
	}
	if err == nil {
		if name, notCounted = namesIn(string(out)); name != "" {
			return name, notCounted
		}
	}
	login, err := user.Current()
	if err != nil {
		return "", notCounted
	}
	return login.Username[strings.LastIndexByte(login.Username, '\\')+1:], notCounted // Windows puts the domain before it
}

// namesIn reads what git lists, each value after its scope: the last one that is not the repository's own, and the last one that is.
func namesIn(out string) (own, repository string) {
	parts := strings.Split(out, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		name := &own
		if scope := parts[i]; scope == "local" || scope == "worktree" {
			name = &repository
		}
		*name = cmp.Or(strings.TrimSpace(parts[i+1][:min(len(parts[i+1]), maxPerson)]), *name)
	}
	return own, repository
}
