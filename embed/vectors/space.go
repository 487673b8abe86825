package vectors

// Space is memory for vectors that are needed only for a moment, such as those of the facts that a
// question is compared with: some hundred thousand bytes that would be new at each question. The zero
// value works, nil makes each vector new. It is not safe for concurrent use.
type Space struct {
	parts    [][]float32
	part, at int // where the next vector goes
}

const spacePart = 64 << 10 / 4 // values of a part

// maxSpace is how many parts are kept.
const maxSpace = 16

// Vector is a vector of zeros. It may be used until Reset.
func (s *Space) Vector(dim int) []float32 {
	if s == nil || dim > spacePart {
		return make([]float32, dim)
	}
	if s.part < len(s.parts) && s.at+dim > spacePart {
		s.part, s.at = s.part+1, 0
	}
	if s.part == len(s.parts) {
		s.parts = append(s.parts, make([]float32, spacePart))
	}
	v := s.parts[s.part][s.at : s.at+dim : s.at+dim]
	s.at += dim
	clear(v)
	return v
}

// Reset takes all vectors back.
func (s *Space) Reset() {
	if len(s.parts) > maxSpace {
		s.parts = s.parts[:maxSpace:maxSpace]
	}
	s.part, s.at = 0, 0
}
