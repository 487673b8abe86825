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
	limited, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	out, err := p.git(limited, dir, "config", "--null", "--show-scope", "--get-all", "user.name")
	if err != nil && limited.Err() == nil { // before git 2.26 no scope is shown
		out, err = p.git(limited, dir, "config", "--null", "--global", "--includes", "--get", "user.name")
		out = append([]byte("global\x00"), out...)
	}
	if err == nil {
		if name := ownName(string(out)); name != "" {
			return name
		}
	}
	login, err := user.Current()
	if err != nil {
		return ""
	}
	return login.Username[strings.LastIndexByte(login.Username, '\\')+1:] // Windows puts the domain before it
}

// ownName is the last of the values that are not the repository's. Each comes after its scope.
func ownName(out string) (name string) {
	parts := strings.Split(out, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		if scope := parts[i]; scope != "local" && scope != "worktree" {
			name = cmp.Or(strings.TrimSpace(parts[i+1][:min(len(parts[i+1]), maxPerson)]), name)
		}
	}
	return name
}
