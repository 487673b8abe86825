// Package overview says which files of a project matter for a task, in tiers, with a reason for each, and what is
// remembered of the project beside them.
//
//   - package project: which project a path belongs to;
//   - package tree: the files as git sees them; package source: what a file defines and imports; package graph: how
//     files hang together;
//   - scan.go and cache.go: each file is read once, and again only when its size or time has changed;
//   - rank.go: the words of the task, what flows over the imports, what was touched last and what facts name;
//     centrality.go: without a task, what a newcomer should read;
//   - tier.go: the lines.
package overview
