package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"leanctx/internal/atomicfile"
	"leanctx/internal/secret"
)

// AddRule writes a rule into the user's file. It replaces a rule of the same name and keeps
// everything else.
func (c *Config) AddRule(r secret.Rule) error {
	path := c.UserFile()
	f, members, err := readFile(path)
	if err != nil {
		return err
	}
	rules := append(slices.DeleteFunc(f.Sensitive, func(old secret.Rule) bool { return old.ID == r.ID }), r)
	if err := check("the rule", rules); err != nil {
		return err
	}
	raw, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	if members == nil {
		members = make(map[string]json.RawMessage, 1)
	}
	members[sensitiveKey] = raw
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(members); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return atomicfile.WriteFile(path, out.Bytes(), atomicfile.Options{Sync: true})
}
