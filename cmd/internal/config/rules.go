package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"leanctx/internal/secret"
)

// AddRule writes a rule into the user's file. It replaces a rule of the same name and keeps
// everything else.
func (c *Config) AddRule(r secret.Rule) error {
	path := c.UserFile()
	members, err := readMembers(path)
	if err != nil {
		return err
	}
	f, err := parse(path, members)
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
	return replace(path, out.Bytes())
}

// replace replaces a file atomically: a reader finds the old content or the new one, also
// after a power failure.
func replace(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".config-*") // 0600
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	// Before the rename: else a crash could leave the name with no content.
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
