package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"leanctx/cmd/internal/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lean-ctx": patient})
}

// patient is main, but a hook does not give up after a second, which a busy machine may need.
func patient() {
	if len(os.Args) < 2 || os.Args[1] != "hook" {
		main()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// TestScripts tells the stories of the command line, one file a topic. Every
// script has a home and a project of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.FromSlash("../../testdata/script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			program, err := exec.LookPath("lean-ctx")
			if err != nil {
				return err
			}
			e.Setenv("PROGRAM", filepath.ToSlash(program))
			e.Setenv("BAD", "\xff\xfe")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Ann\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":  code,
			"mode":  mode,
			"lines": lines,
			"take":  take,
		},
	})
}
