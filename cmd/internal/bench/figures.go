package bench

import "fmt"

// Figure is a promise in numbers and what was measured.
type Figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"` // ms, MB or × (a ratio)
	Value float64 `json:"value"`
	Most  float64 `json:"most"`
	Met   bool    `json:"met"`
}

func (f Figure) String() string {
	return fmt.Sprintf("%s: %s %s, at most %s", f.Name, precise(f.Value), f.Unit, precise(f.Most))
}

// ContractSizes are the sizes that the figures of the contract are about.
func ContractSizes() []int { return []int{1_000, 20_000, 100_000} }

// figures are those that the sizes and rows of the report allow to say.
func (r *Report) figures() (all []Figure) {
	add := func(name, unit string, value, most float64) {
		all = append(all, Figure{name, unit, value, most, value <= most})
	}
	for _, facts := range []int{20_000, 100_000} {
		for _, row := range r.Rows {
			if row.Group != groupCommand || !promised(row.Name, facts) {
				continue
			}
			if c, ok := r.cell(row.Group, row.Name, facts); ok && c.FloorP50 != nil {
				add("command, "+row.Name+", "+grouped(facts)+" facts: over "+row.Floor, "ms", (c.P50-*c.FloorP50)/1000, 60)
			}
		}
	}
	many, _ := r.cell(groupServer, remember, 100_000)
	few, _ := r.cell(groupServer, remember, 1_000)
	if times, ok := compared(many, few); ok {
		add("server, remember, 100,000 facts: times that of 1,000", "×", times, 1.5)
	}
	alone, _ := r.cell(groupServer, rememberBare, 100_000)
	if times, ok := compared(many, alone); ok {
		add("server, remember, 100,000 facts: times that without an index", "×", times, 1.1)
	}
	if c, ok := r.cell(groupMemory, resident, 100_000); ok {
		add("server, memory, 100,000 facts", "MB", c.P50/1e6, 250)
	}
	for _, facts := range ContractSizes() {
		if c, ok := r.cell(groupCrew, postRead, facts); ok && c.FloorP50 != nil {
			add("agents, "+postRead+": times three fsyncs", "×", c.P50 / *c.FloorP50, 1)
			break
		}
	}
	r.meaningFigures(add)
	return all
}

// promised reports whether a command has a figure to meet at a size.
func promised(name string, facts int) bool {
	if name == remember {
		return facts == 20_000
	}
	if name == recallMissed || name == recallHybrid {
		return true
	}
	for _, q := range recalls() {
		if q.name == name {
			return true
		}
	}
	return false
}

// compared tells how many times another measure one is. Both are taken as
// multiples of their floors: they were measured at different times, and the
// disk of a shared machine is not the same a minute later.
func compared(one, other Cell) (times float64, ok bool) {
	a, okA := one.Ratio()
	b, okB := other.Ratio()
	if !okA || !okB {
		return 0, false
	}
	return a / b, true
}

// Missed are the figures that were not met.
func (r *Report) Missed() (missed []Figure) {
	for _, f := range r.Figures {
		if !f.Met {
			missed = append(missed, f)
		}
	}
	return missed
}
