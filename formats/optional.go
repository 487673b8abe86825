package formats

import "encoding/json"

// Optional is a string that is written as null when it is empty.
type Optional string

// MarshalJSON writes null for the empty string.
func (o Optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	var w writer // unlike json.Marshal it leaves < > & to the encoder that asks
	w.text(string(o))
	return w.buf, nil
}

// UnmarshalJSON reads a string or null.
func (o *Optional) UnmarshalJSON(data []byte) error {
	*o = "" // null would leave it as it is
	return json.Unmarshal(data, (*string)(o))
}
