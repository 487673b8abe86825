package live_test

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"leanctx/agents/live"
)

const agent = "cursor-a3f8"

// An agent is free when the last connection of the last process that acts as
// it has ended, and then no file is left.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	one, two := live.New(dir), live.New(dir) // two processes
	free := func() bool {
		t.Helper()
		third := live.New(dir)
		ok, err := third.Hold(agent, "x")
		if err = errors.Join(err, third.Close()); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := one.Hold(agent, "a"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	do(one.Join(agent, "b"))
	do(two.Join(agent, "c"))
	do(one.End("a"))
	if free() {
		t.Error("free while two connections act as it")
	}
	do(one.End("b"))
	if one.Holds(agent) || !two.Holds(agent) || free() {
		t.Error("free while a connection of another process acts as it")
	}
	do(two.Close())
	if two.Holds(agent) || !free() {
		t.Error("not free although nobody acts as it")
	}
	if files, err := os.ReadDir(dir); len(files) > 0 || err != nil {
		t.Error(files, err)
	}
}

// A client without a connection, as over HTTP, holds an agent for half an hour after its last
// call. A connection beside it holds it for longer.
func TestClientWithoutConnectionHoldsForHalfAnHour(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server, other := live.New(dir), live.New(dir)
		free := func() bool {
			t.Helper()
			ok, err := other.Hold(agent, "x")
			if err = errors.Join(err, other.Close()); err != nil {
				t.Fatal(err)
			}
			return ok
		}
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		if ok, err := server.Hold(agent, ""); !ok || err != nil {
			t.Fatal(ok, err)
		}
		wait(29 * time.Minute)
		if err := server.Join(agent, ""); err != nil {
			t.Fatal(err)
		}
		if wait(29 * time.Minute); free() {
			t.Error("free half an hour after it registered, though it has called since")
		}
		if wait(2 * time.Minute); server.Holds(agent) || !free() {
			t.Error("held half an hour after the last call")
		}
		if err := errors.Join(server.Join(agent, ""), server.Join(agent, "a connection")); err != nil {
			t.Fatal(err)
		}
		if wait(24 * time.Hour); free() {
			t.Error("free while a connection acts as it")
		}
		if err := server.End("a connection"); err != nil || !free() {
			t.Error(err, "held after the connection has ended")
		}
	})
}

// A connection is the agent that it registered last, until it ends.
func TestAgent(t *testing.T) {
	l := live.New(t.TempDir())
	l.Registered("a", agent)
	if got := l.Agent("a") + l.Agent("b"); got != agent {
		t.Error(got)
	}
	if err := l.End("a"); err != nil || l.Agent("a") != "" {
		t.Error(l.Agent("a"), err)
	}
}
