package agents

import (
	"slices"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// What agents write waits in the registry until it is read, and hooks and calls of every project read the registry whole.
// These are the most that may wait: of one agent, and, since an agent can call itself anything, of all of a project. An
// agent that comes to them is told so. What was written before is kept, and what nobody reads for as
// long as broadcasts wait counts no more.
const (
	maxWaiting      = 500     // messages of one sender
	maxWaitingBytes = 2 << 20 // their texts
	maxAllWaiting   = 4_000
	maxAllBytes     = 6 << 20

	maxPresent = 1_000 // agents that were active in a day

	maxHandoffs    = 20 // of one agent, which nobody has received
	maxAllHandoffs = 100

	maxFindingBytes = 2 << 20 // of the findings that everybody has read
	tidyBytes       = 1 << 20 // of broadcasts: so many more make tidy run
)

// maySend refuses a message of a sender who has too many that somebody has not read yet.
func (p *project) maySend(m *message, now time.Time) error {
	floor := min(p.seen(m), p.messages.newsCursor(now)) // broadcasts up to it are kept for nobody
	own, ownBytes, all, bytes := 1, len(m.Text), 1, len(m.Text)
	for _, list := range p.messages.to {
		for _, x := range list {
			if x.expired(now) || now.Sub(x.At) > holdFor || x.toAll() && x.Number <= floor {
				continue
			}
			all, bytes = all+1, bytes+len(x.Text)
			if x.From == m.From {
				own, ownBytes = own+1, ownBytes+len(x.Text)
			}
		}
	}
	switch {
	case own > maxWaiting || ownBytes > maxWaitingBytes:
		return refusal.Argument("message", "%s of yours wait to be read, %d KiB: nothing more is posted until they are. What one agent needs is sent with to_agent, what is worth reading for a while with ttl",
			prose.Count(own-1, "message"), ownBytes>>10)
	case all > maxAllWaiting || bytes > maxAllBytes:
		return refusal.Argument("message", "%s of this project wait to be read, %d KiB: nothing more is posted until they are", prose.Count(all-1, "message"), bytes>>10)
	}
	return nil
}

// mayEnter refuses one more agent where many were active within a day.
func (p *project) mayEnter(now time.Time) error {
	if n := len(p.present(now)); n >= maxPresent {
		return refusal.Argument("agent_type", "%s were active in this project within a day, the most: go on as one of them (agent), or wait", prose.Count(n, "agent"))
	}
	return nil
}

// mayHandOff refuses a handoff where many wait to be received.
func (p *project) mayHandOff(from string, now time.Time) error {
	own, all := 0, 0
	for _, h := range p.handoffs {
		if now.Sub(h.At) > holdFor {
			continue
		}
		if all++; h.From == from {
			own++
		}
	}
	if own >= maxHandoffs || all >= maxAllHandoffs {
		return refusal.Argument("to_agent", "%s wait to be received, %d of them yours: nothing more is handed over until some are", prose.Count(all, "handoff"), own)
	}
	return nil
}

// textBytes is the size of the texts of messages.
func textBytes(list []*message) (n int) {
	for _, m := range list {
		n += len(m.Text)
	}
	return n
}

// newest is the last findings, within both bounds.
func newest(list []*message) []*message {
	list = list[max(0, len(list)-maxFindings):]
	bytes := 0
	for i, m := range slices.Backward(list) {
		if bytes += len(m.Text); bytes > maxFindingBytes/2 {
			return slices.Clone(list[i+1:])
		}
	}
	return slices.Clone(list)
}
