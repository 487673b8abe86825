// Package a2a has the messages of the A2A 1.0 protocol that this program gives,
// in their JSON form: tasks, and the agent card. Members are those of lf.a2a.v1.
//
// It knows nothing of how tasks are kept: package tasks makes these of its own.
package a2a
