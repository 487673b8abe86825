package app

import (
	"context"

	"leanctx/cmd/internal/op"
)

func (r *run) doctorTool() *op.Tool {
	return &op.Tool{Name: "doctor", Command: "doctor", Summary: "Start what is configured, and say what is wrong.",
		Operations: []op.Operation{op.New("", "Start what is configured, and say what is wrong and what to do.", op.Changes, r.doctor)}}
}

type checkup struct {
	Fix bool `json:"fix,omitempty" jsonschema:"connect again what is not as it should be"`
}

func (r *run) doctor(ctx context.Context, sc op.Scope, a checkup) (op.Result, error) {
	return told(""), nil
}
