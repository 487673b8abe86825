// Package agents lets several agents work on one project: they see each other,
// talk without losing or repeating a word, keep diaries that outlive them, do
// not edit the same file at once, and pass work on whole.
package agents
