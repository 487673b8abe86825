package config

import "os"

// Home is the user's home directory.
func (c *Config) Home() (string, error) { return c.homeDir() }

// Getenv reads a variable of another program, such as the directory of its files.
func Getenv(name string) string { return os.Getenv(name) }
