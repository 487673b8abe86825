package hook

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pluginFiles is the directory that Claude Code, Codex and Copilot install as a
// plugin, and the extension for Gemini CLI beside it.
//
//go:embed all:plugin
var pluginFiles embed.FS

// versionMark stands in the files of the plugin for this program's version.
const versionMark = "0.0.0-version"

// WritePlugin writes the files into a directory that is new, empty or written
// by it before. command starts this program. It returns how to install them.
func WritePlugin(dir, command, version string) (string, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		data, err := os.ReadFile(filepath.Join(dir, ".claude-plugin", "marketplace.json"))
		if err != nil || !strings.Contains(string(data), `"lean-ctx-market"`) {
			return "", &FileError{Path: dir, Problem: "is not empty: give a directory for the plugin alone"}
		}
	}
	err := fs.WalkDir(pluginFiles, "plugin", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "plugin")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(pluginFiles, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(fillIn(string(data), command, version)), 0o644)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`Plugin written to %[1]s. To install it:
  claude plugin marketplace add %[1]s && claude plugin install lean-ctx@lean-ctx-market
  codex plugin marketplace add %[1]s && codex plugin add lean-ctx@lean-ctx-market
  copilot plugin marketplace add %[1]s && copilot plugin install lean-ctx@lean-ctx-market
  gemini extensions link %[1]s/gemini`, dir), nil
}

// fillIn puts the version and the command into a file.
func fillIn(text, command, version string) string {
	text = strings.ReplaceAll(text, versionMark, version)
	if command == "lean-ctx" {
		return text
	}
	line := string(compact(Shell(command))) // a hook's is read by a shell
	text = strings.ReplaceAll(text, `"lean-ctx hook `, line[:len(line)-1]+" hook ")
	return strings.ReplaceAll(text, `"command": "lean-ctx"`, `"command": `+string(compact(command)))
}
