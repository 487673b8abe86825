// Package overview finds the files of a project that matter for a task. It lists them in
// tiers, each with a reason, and adds the briefing.
//
//   - package project: which project a path belongs to;
//   - package tree: the files as git sees them; package source: what a file defines and imports; package graph: how
//     files hang together;
//   - scan.go and cache.go: each file is read once, and again only when its size or time has changed;
//   - rank.go: scores by the task's words, the imports, recent changes, and the files that facts name;
//     centrality.go: without a task, what a newcomer should read;
//   - tier.go: the lines.
package overview
