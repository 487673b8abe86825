package tree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// mostCompared is how large a file may be that is compared with its commit.
const mostCompared = 8 << 20

// Uncommitted reports whether a file of a work tree differs from the last commit. The path is slash-separated,
// from root. `git status` would run the programs that the repository names to clean a file, so the content
// is compared here. A file that git would have changed on its way differs then.
func Uncommitted(ctx context.Context, root, file string) bool {
	out, err := Git(ctx, "git", root, "", "rev-parse", "--verify", "-q", "HEAD:./"+file)
	committed := strings.TrimSpace(string(out))
	if err != nil || committed == "" {
		_, err := Git(ctx, "git", root, "", "check-ignore", "-q", "--", file)
		exit, told := errors.AsType[*exec.ExitError](err)
		_, gone := os.Lstat(filepath.Join(root, filepath.FromSlash(file)))
		return told && exit.ExitCode() == 1 && gone == nil // it is new, and not ignored
	}
	f, err := os.OpenFile(filepath.Join(root, filepath.FromSlash(file)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, mostCompared+1))
	return err == nil && (len(text) > mostCompared || blobName(text, len(committed)) != committed &&
		blobName(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), len(committed)) != committed)
}

// blobName is git's name of a content, with a number of digits.
func blobName(text []byte, digits int) string {
	var h hash.Hash = sha1.New()
	if digits == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}
