package bench

// Report is the outcome of a run.
type Report struct {
	Version string   `json:"version"` // of the program that was measured
	Machine Machine  `json:"machine"`
	Seed    uint64   `json:"seed"`
	Sizes   []int    `json:"sizes"` // facts of each store
	Floors  []string `json:"floors"`
	Rows    []Row    `json:"rows"`
	Figures []Figure `json:"figures,omitempty"` // of the contract, as far as the sizes have them
	Notes   []string `json:"notes,omitempty"`   // what to know when reading the table
}

// The units of a row.
const (
	Micros = "µs"
	Bytes  = "bytes"
)

// Row is one measure, on stores of every size.
type Row struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Unit  string `json:"unit"`            // Micros or Bytes
	Floor string `json:"floor,omitempty"` // what it stands beside
	Chart bool   `json:"chart,omitempty"` // drawn, too
	Cells []Cell `json:"cells"`           // one for each of the sizes
}

// Cell is a measure on a store of one size. A measure that there is once, a
// number of bytes, is its own median.
type Cell struct {
	Facts    int      `json:"facts"`
	Runs     int      `json:"runs"` // 0: it could not be measured here
	P50      float64  `json:"p50"`
	P95      float64  `json:"p95"`
	FloorP50 *float64 `json:"floor_p50,omitempty"`
	FloorP95 *float64 `json:"floor_p95,omitempty"`
}

// Ratio is how many times its floor the measure is; ok is false where there is
// no floor.
func (c Cell) Ratio() (ratio float64, ok bool) {
	if c.Runs == 0 || c.FloorP50 == nil || *c.FloorP50 <= 0 {
		return 0, false
	}
	return c.P50 / *c.FloorP50, true
}

// cell finds a measure by its row and the number of facts.
func (r *Report) cell(group, name string, facts int) (Cell, bool) {
	for _, row := range r.Rows {
		if row.Group != group || row.Name != name {
			continue
		}
		for _, c := range row.Cells {
			if c.Facts == facts && c.Runs > 0 {
				return c, true
			}
		}
	}
	return Cell{}, false
}
