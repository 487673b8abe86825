package reminder

import (
	"path"
	"strings"
	"unicode"
)

// Names reports whether a word of a text is a file, or a glob that stands for a file. Examples are
// src/auth/**, auth.go, and .proto for all files of that extension.
func Names(word, file string) bool {
	const around = "`'\"()[]<>,:;!?"
	word = strings.TrimLeft(strings.TrimRight(word, around+"."), around)
	if !strings.ContainsAny(word, "./*") || !strings.ContainsFunc(word, unicode.IsLetter) {
		return false
	}
	if strings.HasPrefix(word, ".") && strings.Count(word, ".") == 1 && !strings.Contains(word, "/") && matchesPath("*"+word, file) {
		return true
	}
	return matchesPath(word, file)
}

// matchesPath reports whether a glob stands for a file.
func matchesPath(glob, file string) bool {
	glob = strings.TrimPrefix(strings.ReplaceAll(glob, `\`, "/"), "./")
	whole := strings.TrimSuffix(glob, "/")
	if !strings.Contains(whole, "/") && whole == glob {
		if ok, err := path.Match(glob, path.Base(file)); err == nil && ok {
			return true
		}
	}
	parts, globs := strings.Split(file, "/"), strings.Split(whole, "/")
	// The name of a directory matches everything in it.
	return matchesParts(globs, parts) || !strings.HasSuffix(whole, "*") && matchesParts(append(globs, "**"), parts)
}

// matchesParts matches part by part. It goes back to the last ** only. What an earlier ** could
// take, the last one can take as well. To go back to all of them would take exponential time.
func matchesParts(globs, parts []string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(parts) {
		if i < len(globs) && globs[i] == "**" {
			star, from = i, j
			i++
			continue
		}
		if i < len(globs) {
			if ok, err := path.Match(globs[i], parts[j]); err == nil && ok {
				i, j = i+1, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		i, j = star+1, from
	}
	for i < len(globs) && globs[i] == "**" {
		i++
	}
	return i == len(globs)
}
