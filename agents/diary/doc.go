// Package diary keeps the diaries of agents: what each of them found, decided,
// finished and was held up by. A diary is a file of its own. It outlives its
// agent, and no other agent's entries have to be read for it.
//
// Who an agent is, and who may write in its name, is not known here.
package diary
