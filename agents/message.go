package agents

import "time"

// message is one post on the scratchpad.
type message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id
	ToType   string    `json:"to_type,omitempty"`  // any one of this type; both empty: everybody
	Category string    `json:"category"`
	Priority string    `json:"priority,omitempty"` // empty: normal
	Private  bool      `json:"private,omitempty"`
	Text     string    `json:"message"`
	At       time.Time `json:"timestamp"`
	Expires  time.Time `json:"expires_at,omitzero"`
}

func (m *message) expired(now time.Time) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }

const maxFindings = 500

func (m *message) promotes() bool { return false }
