package atomicfile

import "io/fs"

// A file's access list says who may write it: Windows has links for administrators alone.
func own(fs.FileInfo) bool { return true }

func open(fs.FileInfo) bool { return false }
