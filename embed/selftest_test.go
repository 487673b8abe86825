package embed

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const childMark = "EMBED_TEST_CHILD"

// testChild runs Work in another process of the test binary.
func testChild(how string) Child {
	return func(ctx context.Context, dir string) (Report, error) {
		os.Setenv(childMark, how)
		defer os.Unsetenv(childMark)
		return Exec(os.Args[0], "-test.run=^TestInChild$", "--")(ctx, dir)
	}
}

// TestInChild is the other process's side.
func TestInChild(t *testing.T) {
	switch os.Getenv(childMark) {
	case "work":
		if err := Work(t.Context(), flag.Args(), os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0) // before the test binary writes its own lines
	case "die":
		go panic("index out of range [1536] with length 1536") // as a kernel does
		select {}
	case "hang":
		select {}
	case "babble":
		os.Stdout.WriteString("hello\n")
		os.Exit(0)
	}
	t.Skip("runs in a child process of other tests only")
}

func TestSelfTest(t *testing.T) {
	for _, file := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		dir := installTiny(t, file).Dir
		report, err := SelfTest(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if report.Dim != 32 || report.Texts < 20 || report.Similar <= report.Unrelated-1 || report.LoadMS <= 0 || report.TextMS <= 0 {
			t.Errorf("%+v", report)
		}
		child, err := testChild("work")(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		child.LoadMS, child.TextMS = report.LoadMS, report.TextMS
		if child != report {
			t.Errorf("in a child: %+v\nhere:       %+v", child, report)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SelfTest(ctx, installTiny(t, "onnx/model.onnx").Dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A model may end the process it runs in, or never answer: what was in use
// before stays.
func TestInstallChildFails(t *testing.T) {
	dir := t.TempDir()
	before, err := Install(t.Context(), dir, tinyWith(t, "onnx/model.onnx"), &InstallOptions{Child: testChild("work")})
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"die":    "ended its process: exit status 2: panic: index out of range [1536]",
		"hang":   ": the self-test took longer than 1s",
		"babble": `wrote "hello\n" instead of a report`,
	} {
		o := &InstallOptions{Child: testChild(how)}
		if how == "hang" {
			o.Timeout = time.Second
		}
		_, err := Install(t.Context(), dir, tiny, o)
		if _, ok := errors.AsType[*ModelError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
		onlyModel(t, dir, before.Name)
	}
	if _, err := Exec(filepath.Join(dir, "none"))(t.Context(), dir); err == nil {
		t.Error("a program that is not there was run")
	}
	if err := Work(t.Context(), []string{"dance", "sing"}, os.Stdout); err == nil {
		t.Error("unknown work was done")
	}
}

// onlyModel checks that a models folder holds one model, in use, and nothing
// that an installation left behind.
func onlyModel(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	want := name + " " + currentFile
	if name == "" {
		want = ""
	}
	if got := strings.Join(found, " "); got != want && got != currentFile+" "+name {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
	if name != "" {
		if _, m, err := Current(dir); err != nil || m.Name != name {
			t.Errorf("in use: %v, %v", m, err)
		}
	}
}
