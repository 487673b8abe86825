package config

// ownDir accepts every directory: on Windows a user's own are closed to others by the system.
func ownDir(string) error { return nil }
