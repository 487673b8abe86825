//go:build race

package embed

const raced = true
