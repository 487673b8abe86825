package formats

// The methods below keep unknown members where encoding/json is at work, as in
// a journal's commit.

func marshal(rec record) ([]byte, error) {
	w := &writer{compact: true}
	w.write(rec)
	return w.buf, w.err
}

func unmarshal(data []byte, rec record) error {
	r := newReader(data, 1)
	if r.null() {
		return nil
	}
	return r.read(rec)
}

// MarshalJSON writes s with its unknown members.
func (s Source) MarshalJSON() ([]byte, error) { return marshal(&s) }

// UnmarshalJSON reads s and keeps unknown members.
func (s *Source) UnmarshalJSON(data []byte) error { return unmarshal(data, s) }

// MarshalJSON writes b with its unknown members.
func (b Belief) MarshalJSON() ([]byte, error) { return marshal(&b) }

// UnmarshalJSON reads b and keeps unknown members.
func (b *Belief) UnmarshalJSON(data []byte) error { return unmarshal(data, b) }

// MarshalJSON writes f with its unknown members.
func (f Fact) MarshalJSON() ([]byte, error) { return marshal(&f) }

// UnmarshalJSON reads f and keeps unknown members.
func (f *Fact) UnmarshalJSON(data []byte) error { return unmarshal(data, f) }

// MarshalJSON writes c with its unknown members.
func (c Pattern) MarshalJSON() ([]byte, error) { return marshal(&c) }

// UnmarshalJSON reads c and keeps unknown members.
func (c *Pattern) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

// MarshalJSON writes g with its unknown members.
func (g Gotcha) MarshalJSON() ([]byte, error) { return marshal(&g) }

// UnmarshalJSON reads g and keeps unknown members.
func (g *Gotcha) UnmarshalJSON(data []byte) error { return unmarshal(data, g) }

// MarshalJSON writes r with its unknown members.
func (r Relation) MarshalJSON() ([]byte, error) { return marshal(&r) }

// UnmarshalJSON reads r and keeps unknown members.
func (r *Relation) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

// MarshalJSON writes r with its unknown members.
func (r Reminder) MarshalJSON() ([]byte, error) { return marshal(&r) }

// UnmarshalJSON reads r and keeps unknown members.
func (r *Reminder) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

// MarshalJSON writes j with its unknown members.
func (j JudgedPair) MarshalJSON() ([]byte, error) { return marshal(&j) }

// UnmarshalJSON reads j and keeps unknown members.
func (j *JudgedPair) UnmarshalJSON(data []byte) error { return unmarshal(data, j) }

// MarshalJSON writes i with its unknown members.
func (i Insight) MarshalJSON() ([]byte, error) { return marshal(&i) }

// UnmarshalJSON reads i and keeps unknown members.
func (i *Insight) UnmarshalJSON(data []byte) error { return unmarshal(data, i) }

// MarshalJSON writes t with its unknown members.
func (t Tombstone) MarshalJSON() ([]byte, error) { return marshal(&t) }

// UnmarshalJSON reads t and keeps unknown members.
func (t *Tombstone) UnmarshalJSON(data []byte) error { return unmarshal(data, t) }
