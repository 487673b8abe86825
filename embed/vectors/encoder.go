package vectors

// Encoders are what turns texts into vectors. Vectors of two encoders are never
// compared: whoever asks names the encoder.
type Encoders interface {
	// Usable are those that can be used now, the best first. wanted: there is a
	// question for them. The last one is instant.
	Usable(wanted bool) []Encoding

	// With calls f with the encoder of this name, which is loaded first if necessary.
	With(name string, f func(Encoder) error) error

	// Status tells which model is installed.
	Status() Status
}

// Encoding is an encoder that can be used. An instant one takes microseconds a
// text, any other so long that only a server has the time.
type Encoding struct {
	Name    string
	Instant bool
}

// Status tells which model is installed, and why it is or is not used.
type Status struct {
	Model        string // "present", "built-in" or "broken"
	AutoDownload bool   // a model is downloaded when it is first needed
	Why          string // what is used, and why nothing better
}
