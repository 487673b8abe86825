package scratchpad

import (
	"slices"
	"strconv"
	"time"
)

// Message is one post, as it is stored. Its first members are what a slip
// knows: see parseHead.
type Message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id
	ToType   string    `json:"to_type,omitempty"`  // any one of this type; both empty: everybody
	Priority string    `json:"priority,omitempty"` // empty: normal
	Expires  time.Time `json:"expires_at,omitzero"`
	Category string    `json:"category"`
	Private  bool      `json:"private,omitempty"`
	Text     string    `json:"message"`
	At       time.Time `json:"timestamp"`
}

// Expired tells whether a message's ttl has passed.
func (m *Message) Expired(now time.Time) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }

func (m *Message) toAll() bool { return m.To == "" && m.ToType == "" }

// The priorities. Urgent messages are read before others, low ones are only
// marked.
const (
	Low      = "low"
	Normal   = "normal" // stored as nothing
	High     = "high"
	Critical = "critical"
)

func urgency(priority string) uint8 {
	switch priority {
	case High:
		return 1
	case Critical:
		return 2
	}
	return 0
}

// maxFindings is how many findings are kept for consolidation at least; the
// oldest go first.
const maxFindings = 500

// promotes tells whether consolidation may make a fact of a message.
func (m *Message) promotes() bool {
	return !m.Private && slices.Contains([]string{"finding", "decision", "insight", "blocker"}, m.Category)
}

// Ref names a message for good: message:17.
func (m *Message) Ref() string { return "message:" + strconv.FormatUint(m.Number, 10) }
