// Package spool is for logs of lines that many processes append to, without a lock and without a sync: counts of
// tokens, retrievals, what a session was told. Such a log may lose its last lines in a crash, and a line may be torn.
// No line takes another one with it.
//
// A reader takes the file line by line ([bytes.Lines]) and passes over what it cannot decode: empty lines and torn
// ones. When a log gets a new file, by month, by day or by size, is a matter of its owner.
package spool

import (
	"bytes"
	"io"
)

// Append writes lines, without their line feeds, with a single write: those of two processes do not mix, if the file
// was opened to append. A line feed comes first, in case a killed process left the last line torn. It returns the
// bytes that the log grew by. After an error nothing is tried again, since a part may be in the file.
func Append(log io.Writer, lines ...[]byte) (n int, err error) {
	var block bytes.Buffer
	block.WriteByte('\n')
	for _, l := range lines {
		block.Write(l)
		block.WriteByte('\n')
	}
	return log.Write(block.Bytes())
}
