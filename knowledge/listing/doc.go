// Package listing lists what a store of knowledge holds: rooms, links, disputes,
// reminders, and the counts of status. Nothing here changes a store.
//
//	rooms.go      [Rooms]: categories with counts, now or at an instant
//	status.go     [Status]: counts, and where things are kept
//	relations.go  [Relations]
//	disputes.go   [Disputes]
//	reminders.go  [Reminders], and what is set on a file: [Triggered], [GotchasAt]
//	asserted.go   [Asserted]: what an agent asserted since an instant
//
// All but status, asserted, and rooms at an instant read a few facts through the index.
package listing
