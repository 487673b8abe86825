package config

import "io/fs"

// ownedByUs reports whether a file is this user's. Windows keeps other users out by the
// rights of directories.
func ownedByUs(fs.FileInfo) bool { return true }
