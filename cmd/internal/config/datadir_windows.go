package config

// PrivateDir accepts every directory: on Windows a user's own are closed to others by the system.
func PrivateDir(string, string) error { return nil }
