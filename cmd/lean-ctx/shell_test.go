package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// atHome is a home with a project in it, of which something is remembered.
func atHome(t *testing.T) (env []string, project string) {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "LEAN_CTX_DATA_DIR=", "LEAN_CTX_PROJECT_ROOT=", "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb")
	for _, args := range [][]string{
		{"knowledge", "remember", "Uses JWT", "--category", "auth", "--key", "token"},
		{"agent", "register", "cursor", "--role", "dev"},
		{"task", "create", "Fix auth middleware"},
	} {
		ran(t, env, project, "lean-ctx", args...)
	}
	return env, project
}

// ran gives what a program prints; what it says on standard error is a failure
// too.
func ran(t *testing.T, env []string, dir, program string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Env = dir, env
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", program, args, err, out, errs.String())
	}
	return string(out)
}

// asked are the completions of some command lines in each shell. compopt only
// works below a key, so it is taken out of bash's way, and zsh is asked
// what its function would choose from.
var asked = map[string]string{
	"bash": `. /usr/share/bash-completion/bash_completion; compopt() { :; }
source <(lean-ctx completion bash)
ask() { COMP_LINE="$1"; read -ra COMP_WORDS <<<"$1"; case "$1" in *' ') COMP_WORDS+=("");; esac
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMPREPLY=()
  __start_lean-ctx lean-ctx; echo "$1: ${COMPREPLY[*]}"; }
`,
	"zsh": `autoload -U compinit; compinit -u -D
source <(lean-ctx completion zsh)
[ "${_comps[lean-ctx]}" = _lean-ctx ] || exit 1
_describe() { shown=(${completions%%:*}) }
ask() { words=("${(@s: :)1}"); typed=${1##* }; CURRENT=$#words; shown=(); BUFFER=$1 _lean-ctx; echo "$1: ${(@M)shown:#${typed}*}"; }
`,
	"fish": `lean-ctx completion fish | source
function ask; echo "$argv[1]: "(complete -C $argv[1] | string replace -r '\t.*' '' | string join ' '); end
`,
}

func TestCompletionInShells(t *testing.T) {
	for shell, script := range asked {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("SKIPPED: %s is not on PATH, so its completion is not tried", shell)
			}
			if shell == "bash" {
				if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); err != nil {
					t.Skip("SKIPPED: the package bash-completion is not there, so the completion is not tried in bash")
				}
			}
			env, project := atHome(t)
			flag := map[string]string{"bash": "--norc", "zsh": "-f", "fish": "--no-config"}[shell]
			script += "ask 'lean-ctx connect co'\nask 'lean-ctx knowledge recall --category '\nask 'lean-ctx knowledge why auth/'\nask 'lean-ctx knowledge export --format js'\n"
			got := ran(t, env, project, shell, flag, "-c", script)
			for _, want := range []string{
				"lean-ctx connect co: codex copilot\n", "--category : auth\n", "why auth/: auth/token\n", "--format js: json jsonl\n",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// Whatever is wrong with what completion reads, nothing is said in the middle
// of the line that is being typed, and no file is touched.
func TestCompletionIsSilent(t *testing.T) {
	env, project := atHome(t)
	var home string
	for _, e := range env {
		if h, ok := strings.CutPrefix(e, "HOME="); ok {
			home = h
		}
	}
	before := homeOf(t, home)
	ask := func(env []string, dir string) {
		t.Helper()
		for _, args := range [][]string{{"knowledge", "recall", "--category", ""}, {"knowledge", "why", "auth/"}} {
			c := exec.CommandContext(t.Context(), "lean-ctx", append([]string{"__complete"}, args...)...)
			c.Dir, c.Env = dir, env
			out, err := c.CombinedOutput()
			if err != nil || strings.Contains(string(out), "lean-ctx: ") {
				t.Errorf("%v: %v, %s", args, err, out)
			}
		}
	}
	ask(env, project)
	for path, was := range homeOf(t, home) {
		if before[path] != was {
			t.Errorf("%s was touched", path)
		}
	}
	ask(append(env, "LEAN_CTX_LOG=nonsense"), project)
	ask(append(env, "LEAN_CTX_PROJECT_ROOT="+filepath.Join(home, "missing")), project)
	err := filepath.WalkDir(filepath.Join(home, ".lean-ctx"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.WriteFile(path, []byte("no store at all\n"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	ask(env, project)
}
