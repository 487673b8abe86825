package mcpsrv

import (
	"bufio"
	"bytes"
	"errors"
)

// maxLine is in bytes. A longer message is refused by its id.
const maxLine = 16 << 20

// line is one line of input, or why there is none.
type line struct {
	data []byte
	long *idScanner // set instead of data for a line over maxLine
	err  error
}

// scan sends on the lines of the input.
func (p *pipe) scan() {
	r := bufio.NewReaderSize(p.in, 64<<10)
	for {
		l := readLine(r)
		if l.err == nil && l.long == nil && len(l.data) == 0 {
			continue
		}
		select {
		case p.lines <- l:
		case <-p.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads a line of up to maxLine bytes. Of a longer one it keeps
// nothing but the id. A last line without its line feed counts.
func readLine(r *bufio.Reader) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case l.long != nil:
			l.long.feed(part)
		case len(l.data)+len(part) > maxLine:
			l.long = &idScanner{}
			l.long.feed(l.data)
			l.long.feed(part)
			l.data = nil
		default:
			l.data = append(l.data, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.data = bytes.TrimSpace(bytes.TrimPrefix(l.data, []byte("\ufeff"))) // a mark that some shells put before what they pipe
		if err != nil && len(l.data) == 0 && l.long == nil {
			l.err = err
		}
		return l
	}
}
