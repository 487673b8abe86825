//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"leanctx/internal/atomicfile"
	"leanctx/internal/refusal"
)

// PrivateDir refuses a directory in which another user of the machine could put other files in place of ours, as ssh does for
// ~/.ssh: one that is another user's, one of which a directory above may be written by others and is not sticky, one behind
// another user's link. One that is ours and may be written by others is closed to them, and refused if it holds files of others.
// One that is not there yet is judged by what is above it. purpose says what it is: data directory. With sudo the user's own
// stay his.
func PrivateDir(purpose, dir string) error {
	refuse := func(problem, hint string) error {
		return &refusal.HintError{Problem: fmt.Sprintf("%s %s %s", purpose, dir, problem), Hint: hint}
	}
	info, err := os.Stat(dir)
	if err == nil {
		if owner, ok := ownerOf(info); ok && !isOwner(owner, os.Geteuid(), os.Getenv("SUDO_UID")) {
			return refuse(fmt.Sprintf("belongs to another user (%d)", owner), fmt.Sprintf("use a directory of your own, or make it yours: chown -R %d %s", os.Geteuid(), strconv.Quote(dir)))
		}
		if open(info) {
			closed, err := closeToOthers(dir, info)
			if err != nil {
				return refuse(fmt.Sprintf("can be written by others (mode %04o): %v", info.Mode().Perm(), err), "chmod 700 "+strconv.Quote(dir))
			}
			if !closed {
				return nil // a file system without modes: what is above it tells nothing either
			}
			if foreign := foreignFile(dir); foreign != "" {
				return refuse("could be written by others, and "+foreign+" in it is another user's", "look at what is in it, and remove or chown what is not yours")
			}
		}
	}
	if culprit := openAbove(dir, os.Geteuid(), 0); culprit != "" {
		return refuse(fmt.Sprintf("can be replaced by others, who may write in %s", culprit), "use a directory whose parents only you and root may write in, as in your home directory")
	}
	return nil
}

// ownedAlone reports whether a directory that another program made holds what this user alone put there. It changes nothing.
func ownedAlone(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, ok := ownerOf(info)
	return ok && isOwner(owner, os.Geteuid(), os.Getenv("SUDO_UID")) && !open(info) && openAbove(dir, os.Geteuid(), 0) == "" && foreignFile(dir) == ""
}

func ownerOf(info fs.FileInfo) (int, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// open reports whether others may write. The group that a user has for himself is not others.
func open(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	if mode&0o002 != 0 {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && mode&0o020 != 0 && !privateGroup(int(stat.Gid))
}

// privateGroup reports whether a group is the one that systems make for each user, of his name.
func privateGroup(gid int) bool {
	if gid == 0 {
		return true // root's
	}
	group, err := user.LookupGroupId(strconv.Itoa(gid))
	if err != nil {
		return false
	}
	self, err := user.Current()
	return err == nil && group.Name == self.Username && self.Gid == group.Gid
}

// closeToOthers takes the right to write away. closed is false where the file system keeps no modes.
func closeToOthers(dir string, info fs.FileInfo) (closed bool, err error) {
	if err := os.Chmod(dir, info.Mode()&^0o022); err != nil {
		return false, errors.Unwrap(err)
	}
	now, err := os.Stat(dir)
	return err == nil && !open(now), err
}

// foreignFile is a file in a directory, or in one of the two levels below it, that is neither ours nor root's; empty if there is none.
func foreignFile(dir string) string {
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		names, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is good
		for _, name := range names {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err == nil && !atomicfile.Owned(info) {
				return name
			}
		}
	}
	return ""
}

// maxLinks is how many links a path may lead over, as the system has it.
const maxLinks = 40

// openAbove is the first directory above a path, from the root on, in which others than the user self may replace what leads to
// it; empty if there is none. Where root works in a user's directory, as in a container that was given one, that user is no other.
func openAbove(path string, self, links int) string {
	if !filepath.IsAbs(path) || links > maxLinks {
		return ""
	}
	at := "/"
	rest := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for i, name := range rest {
		parent, err := os.Lstat(at)
		if err != nil {
			return ""
		}
		sticky := parent.Mode()&fs.ModeSticky != 0
		if !trusted(parent, self) || open(parent) && !sticky {
			return at
		}
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return "" // what is not there yet is made by us
		}
		if i < len(rest)-1 && sticky && !trusted(info, self) {
			return at
		}
		if info.Mode().Type() != fs.ModeSymlink {
			continue
		}
		target, err := os.Readlink(at)
		if err != nil || !trusted(info, self) {
			return at
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		return openAbove(filepath.Join(append([]string{target}, rest[i+1:]...)...), self, links+1)
	}
	return ""
}

// trusted reports whether a file is this user's, root's, or, in a sandbox that knows no other users, nobody's.
func trusted(info fs.FileInfo, self int) bool {
	owner, ok := ownerOf(info)
	return ok && (owner == self || owner == 0 || owner == overflowUser || self == 0 && info.IsDir())
}

// overflowUser is the owner that a namespace shows for every user it does not know, as root of the machine around it.
const overflowUser = 65534

// isOwner says whether a file of owner is this user's. sudo is the user who called sudo.
func isOwner(owner, user int, sudo string) bool {
	return owner == user || user == 0 && sudo != "" && strconv.Itoa(owner) == sudo
}
