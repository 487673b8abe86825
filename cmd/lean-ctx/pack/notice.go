package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:generate go run . -notice -source ../../..

//go:embed notice.txt
var noticeHead string

// component is something in the program that is not ours, with one of its
// licences.
type component struct {
	name    string
	kinds   []string // of the licence: MIT, BSD-3-Clause, …
	holders []string // the lines that begin with Copyright
	text    string   // the licence without them
}

// writeNotice writes NOTICE: what is linked into the program on any platform,
// with the licences that are found beside it. Most ask for their text to go
// with every copy of the program, so it is here, each text once.
func writeNotice(source string) error {
	text, err := notice(source)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(source, "NOTICE"), text, 0o644)
}

func notice(source string) ([]byte, error) {
	dirs, err := linked(source, targets()...)
	if err != nil {
		return nil, err
	}
	var all []component
	for _, name := range sortedKeys(dirs) {
		found, err := licences(name, dirs[name])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	own, err := os.ReadFile(filepath.Join(source, "embed", "NOTICE"))
	if err != nil {
		return nil, err
	}
	rules, err := os.ReadFile(filepath.Join(source, "internal", "secret", "LICENSE.gitleaks"))
	if err != nil {
		return nil, err
	}
	all = append(all, read("the rules of gitleaks (internal/secret)", string(rules)))
	var b bytes.Buffer
	b.WriteString(strings.ReplaceAll(noticeHead, "{embed}", strings.TrimSpace(string(own))))
	for _, c := range all {
		fmt.Fprintf(&b, "  %s: %s\n", c.name, strings.Join(c.kinds, " and "))
	}
	texts(&b, all)
	return b.Bytes(), nil
}

// texts writes each licence once, after those who grant it.
func texts(b *bytes.Buffer, all []component) {
	done := make(map[string]bool)
	for _, c := range all {
		key := same(c.text)
		if done[key] {
			continue
		}
		done[key] = true
		fmt.Fprintf(b, "\n%s\n%s, of\n\n", strings.Repeat("-", 78), strings.Join(c.kinds, " and "))
		for _, other := range all {
			if same(other.text) != key {
				continue
			}
			fmt.Fprintf(b, "  %s\n", other.name)
			for _, h := range other.holders {
				fmt.Fprintf(b, "      %s\n", h)
			}
		}
		fmt.Fprintf(b, "\n%s\n", strings.TrimRight(c.text, "\n"))
	}
}

// same is a text by which two that say the same are told to be the same.
func same(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// standard is what NOTICE calls what comes with Go.
const standard = "the Go standard library and runtime"

// linked finds the modules whose packages are in the program on one of the
// platforms, and for each the directories to look for licences in.
func linked(source string, platforms ...target) (map[string][]string, error) {
	dirs := map[string][]string{}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	dirs[standard] = []string{strings.TrimSpace(string(root))}
	for _, t := range platforms {
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/"+program)
		c.Dir, c.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s/%s: %w", t.os, t.arch, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 3 {
				continue
			}
			for _, dir := range upTo(f[1], f[2]) {
				if !slices.Contains(dirs[f[0]], dir) {
					dirs[f[0]] = append(dirs[f[0]], dir)
				}
			}
		}
	}
	for _, d := range dirs {
		slices.Sort(d)
	}
	return dirs, nil
}

// upTo is the directories from a module's down to a package's.
func upTo(module, dir string) []string {
	all := []string{module}
	rel, err := filepath.Rel(module, dir)
	if err != nil || rel == "." {
		return all
	}
	at := module
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		all = append(all, at)
	}
	return all
}

// licenceFile is what licences, and what is to be said beside them, stand in.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

// licences reads the licences of a module; one without any is refused.
func licences(name string, dirs []string) ([]component, error) {
	var all []component
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !licenceFile.MatchString(e.Name()) || !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			label := name
			if dir != dirs[0] {
				label += strings.ReplaceAll(strings.TrimPrefix(dir, dirs[0]), string(filepath.Separator), "/")
			}
			all = append(all, read(label, string(text)))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no licence in %s", name, dirs[0])
	}
	return all, nil
}

var (
	holderLine = regexp.MustCompile(`(?im)^[ \t]*copyright[ \t]+(\(c\)|©|[0-9]).*$`)
	apacheText = regexp.MustCompile(`(?s)[ \t]*Apache License\s+Version 2\.0, January 2004.*END OF TERMS AND CONDITIONS`)
)

// read takes a licence apart.
func read(name, text string) component {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	c := component{name: name, kinds: kinds(text)}
	for _, line := range holderLine.FindAllString(text, -1) {
		if line = strings.Join(strings.Fields(line), " "); !strings.ContainsAny(line, "[{") && !slices.Contains(c.holders, line) {
			c.holders = append(c.holders, line)
		}
	}
	c.text = strings.Trim(holderLine.ReplaceAllString(text, ""), "\n")
	if slices.Equal(c.kinds, []string{"Apache-2.0"}) { // the same with and without its appendix
		if t := apacheText.FindString(text); t != "" {
			c.text = t
		}
	}
	return c
}

// kinds tells licences by what they say.
func kinds(text string) []string {
	t := same(text)
	has := func(s string) bool { return strings.Contains(t, s) }
	var out []string
	if has("apache license version 2.0") || has("apache license, version 2.0") {
		out = append(out, "Apache-2.0")
	}
	if has("permission is hereby granted, free of charge") {
		out = append(out, "MIT")
	}
	if has("redistribution and use in source and binary forms") {
		out = append(out, cmp.Or(map[bool]string{true: "BSD-3-Clause"}[has("endorse or promote")], "BSD-2-Clause"))
	}
	if has("additional ip rights grant (patents)") {
		out = append(out, "a grant of patents")
	}
	if out == nil && len(t) < 400 {
		out = append(out, "a notice")
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
