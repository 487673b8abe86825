// Package language reads plain English: what somebody asks for, and how. It knows no facts and no model.
//
// # What it reads
//
//	Clauses        the things that a prompt names, one by one; a pasted log or code block is none
//	Purposes       what a prompt is about to do: commit, test, add a dependency, deploy …
//	Command        the words of a shell command, without what it is fed with, and its purposes
//	FindDate       the past day or period that a question names; ReadDate reads an argument that is one
//	ReadPast       what a question asks about another time than now: before, since when, what changed …
//	ChangesMind    whether a prompt says that something is different from now on
//	Commands       whether a text commands: always, never, must …
//	PromptWeight   how rare a word is among prompts
//
// All are pure functions, and any text will do: other languages, code, 64 KiB of either. Each has a table of cases. A list of
// words has one meaning and stands once.
//
// # How rare a word is among prompts
//
// The word "test" is rare in a store of facts on billing, and yet says nothing about a prompt: most prompts hold it. So a
// word weighs the lesser of its rarity in the store and its rarity among prompts. frequencies.txt counts in how many of
// testdata/prompts.txt a stem stands. Those prompts are our own. Stems are those of package words, which callers use.
// MEASURED.md has the price against real prompts.
package language
