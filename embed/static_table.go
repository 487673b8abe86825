package embed

import (
	"encoding/binary"
	"encoding/hex"
	"math"
)

// # The file of a token table
//
// All numbers are little endian.
//
//	0   8 bytes   "lctable1"
//	8   uint32    rows
//	12  uint32    values a row
//	16  32 bytes  sha256 of all that follows the head
//	48  16 bytes  zero
//	64  float32   the scale of each row; the weight of its token is in it
//	    int8      the values, row by row; a value times its row's scale is meant
const (
	tableMagic = "lctable1"
	tableHead  = 64
)

// TableError says what is wrong with a token table.
type TableError struct{ Problem string }

func (e *TableError) Error() string {
	return "token table: " + e.Problem + "; it was made by another version or is damaged"
}

// table is a token table, read where it lies.
type table struct {
	n, dim int
	sum    string // the first 8 hex digits of its checksum
	scales string // 4 bytes a row
	values string // dim bytes a row
}

// openTable checks the head and the length. The checksum over 8 MB is left to
// tests: the data is part of the program.
func openTable(data string) (*table, error) {
	if len(data) < tableHead || data[:len(tableMagic)] != tableMagic {
		return nil, &TableError{Problem: "it does not begin with " + tableMagic}
	}
	head := []byte(data[:tableHead])
	n, dim := int64(binary.LittleEndian.Uint32(head[8:])), int64(binary.LittleEndian.Uint32(head[12:]))
	if n == 0 || dim == 0 || n > 1<<20 || dim > 1<<12 || int64(len(data)) != tableHead+n*(4+dim) {
		return nil, &TableError{Problem: "its length is not that of its rows"}
	}
	body := data[tableHead:]
	return &table{
		n:      int(n),
		dim:    int(dim),
		sum:    hex.EncodeToString(head[16:20]),
		scales: body[:4*n],
		values: body[4*n:],
	}, nil
}

// add adds the vector of a token, which must be below n, to v, of dim values.
func (t *table) add(v []float32, id int32) {
	at := int(id)
	s := t.scales[4*at : 4*at+4]
	scale := math.Float32frombits(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
	row := t.values[at*t.dim : (at+1)*t.dim]
	v = v[:len(row)]
	for i := range v {
		v[i] += float32(float32(int8(row[i])) * scale)
	}
}
