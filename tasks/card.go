package tasks

import (
	"cmp"
	"fmt"
	"strings"
)

// AgentCard describes this program to A2A clients, without the addresses that a server adds.
type AgentCard struct {
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	Version            string   `json:"version"`
	DefaultInputModes  []string `json:"defaultInputModes"`
	DefaultOutputModes []string `json:"defaultOutputModes"`
	Skills             []Skill  `json:"skills"`
}

// Skill is one ability of the agent.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
}

func card(version string) AgentCard {
	return AgentCard{
		Name:               "lean-ctx",
		Description:        "Keeps the tasks that coding agents of one project give each other, with their messages, history and results.",
		Version:            cmp.Or(version, "dev"),
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
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
	var text strings.Builder
	text.WriteString(fmt.Sprintf("Agent card: %s %s (A2A 1.0)\n  %s\n  lean-ctx serve publishes it.", c.Name, c.Version, c.Description))
	for _, s := range c.Skills {
		text.WriteString("\n  Skill " + s.ID + ": " + s.Description)
	}
	return text.String()
}
