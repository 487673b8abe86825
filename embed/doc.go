// Package embed turns texts into vectors, so that a question finds a fact with
// which it shares no word.
package embed
