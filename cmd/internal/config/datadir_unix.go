//go:build unix

package config

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"leanctx/internal/refusal"
)

// ownDir refuses a directory of another user, who could read what is kept there and put other facts
// in its place. One that is not there yet is nobody's. With sudo the user's own stay his.
func ownDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // whoever opens it says why
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known || isOwner(int(stat.Uid), os.Geteuid(), os.Getenv("SUDO_UID")) {
		return nil
	}
	return &refusal.HintError{
		Problem: fmt.Sprintf("data directory %s belongs to another user (%d)", dir, stat.Uid),
		Hint:    fmt.Sprintf("set %s to a directory of your own, or make it yours: chown -R %d %s", DataDirVar, os.Geteuid(), strconv.Quote(dir)),
	}
}

// isOwner says whether a file of owner is this user's. sudo is the user who called sudo.
func isOwner(owner, user int, sudo string) bool {
	return owner == user || user == 0 && sudo != "" && strconv.Itoa(owner) == sudo
}
