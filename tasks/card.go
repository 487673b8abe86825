package tasks

import (
	"cmp"
	"fmt"
	"strings"
)

// AgentCard describes this server to A2A clients.
type AgentCard struct {
	Name                string           `json:"name"`
	Description         string           `json:"description"`
	SupportedInterfaces []AgentInterface `json:"supportedInterfaces"` // empty unless a server listens
	Version             string           `json:"version"`
	Capabilities        Capabilities     `json:"capabilities"`
	DefaultInputModes   []string         `json:"defaultInputModes"`
	DefaultOutputModes  []string         `json:"defaultOutputModes"`
	Skills              []Skill          `json:"skills"`
}

// AgentInterface is an address of the agent.
type AgentInterface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"` // JSONRPC, GRPC or HTTP+JSON
	ProtocolVersion string `json:"protocolVersion"`
}

// Capabilities are the optional parts of the protocol.
type Capabilities struct {
	Streaming         bool `json:"streaming"`
	PushNotifications bool `json:"pushNotifications"`
}

// Skill is one ability of the agent.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
}

// card is the agent card of this program, without an address.
func card(version string) AgentCard {
	return AgentCard{
		Name:                "lean-ctx",
		Description:         "Keeps the tasks that coding agents of one project give each other, with their messages, history and results.",
		SupportedInterfaces: []AgentInterface{},
		Version:             cmp.Or(version, "dev"),
		DefaultInputModes:   []string{"text/plain"},
		DefaultOutputModes:  []string{"text/plain"},
		Skills: []Skill{
			{
				ID: "task-board", Name: "Task board", Tags: []string{"tasks", "coordination"},
				Description: "Takes a task for an agent of the project, and tells its state, its messages and what came of it.",
				Examples:    []string{"Fix auth middleware", "Add rate limiting"},
			},
		},
	}
}

// Text shows the card to people.
func (c AgentCard) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Agent card: %s %s (A2A 1.0)\n  %s", c.Name, c.Version, c.Description)
	for _, i := range c.SupportedInterfaces {
		fmt.Fprintf(&b, "\n  %s at %s", i.ProtocolBinding, i.URL)
	}
	if len(c.SupportedInterfaces) == 0 {
		b.WriteString("\n  No server listens yet.")
	}
	for _, s := range c.Skills {
		fmt.Fprintf(&b, "\n  Skill %s: %s", s.ID, s.Description)
	}
	return b.String()
}
