package proctest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

type job struct {
	Print []string
	Fail  bool
	Hang  bool
}

func (j job) run(context.Context) error {
	for _, line := range j.Print {
		fmt.Println(line)
	}
	if j.Hang {
		fmt.Print("half a line")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	if j.Fail {
		return errors.New("as it was told")
	}
	return nil
}

func TestMain(m *testing.M) { Main(m, job.run) }

func TestRun(t *testing.T) {
	var got []string
	keep := func(line string) { got = append(got, line) }
	if err := Run(Command(t, job{Print: []string{"a", "b c"}}), keep); err != nil || strings.Join(got, "|") != "a|b c" {
		t.Errorf("%q, %v", got, err)
	}
	var errs strings.Builder
	c := Command(t, job{Fail: true})
	c.Stderr = &errs
	if err := Run(c, keep); err == nil || errs.String() != "as it was told\n" {
		t.Errorf("%q, %v", &errs, err)
	}
}

// What a killed process did not finish saying is not said.
func TestKilled(t *testing.T) {
	c := Command(t, job{Print: []string{"whole"}, Hang: true})
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got []string
	err = Run(c, func(line string) {
		got = append(got, line)
		_ = c.Process.Kill()
	})
	if err == nil || strings.Join(got, "|") != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}
