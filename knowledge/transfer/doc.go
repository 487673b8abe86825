// Package transfer moves facts in and out of a store as files.
//
// [Export] writes all of a project: native JSON, JSONL, an array, or Markdown with a file for
// each room. [Import] reads these, and what other programs remember (formats/foreign). It
// recognises a file by its content.
//
//   - A native export and its import keep every version, id and time.
//   - An import is one commit, however many facts it has. After a bad line nothing is imported,
//     unless the caller skips bad lines.
//   - What has no place in a store is named in the answer. Nothing is dropped silently.
//
// [Adopt] takes over the store of the existing program, once and whole. That store is never
// written.
package transfer
