package atomicfile

import "io/fs"

// Owned reports whether a file is this user's. Windows keeps other users out by the access lists of directories, and has links
// for administrators alone.
func Owned(fs.FileInfo) bool { return true }

func open(fs.FileInfo) bool { return false }
