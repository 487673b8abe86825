// Package source reads one file of a project: its language, what it defines and
// imports, what it says of itself, and the words by which it is found.
//
// # How it reads
//
// Go is read by its own parser. Of the other languages, strip makes spaces of
// comments and of what is in strings; a table says what these look like in each
// language. Then outlines leaves out the bodies of functions and what is in
// parentheses, and one pattern a language finds definitions, another imports, in
// what is left. So what is in a comment, a string or a body never counts, and
// code that does not compile is read as far as it goes.
//
// Read never fails, ends on any text, and what it returns is bounded.
//
// # What is read
//
// Definitions and imports of Go, TypeScript and JavaScript, Python, Rust, Java,
// Kotlin, C and C++, C#, Ruby and PHP. Of module files (go.mod, package.json,
// tsconfig.json, Cargo.toml) what imports are resolved with. Of other text its
// language and, of Markdown, its title.
//
// MEASURED.md tells what else was tried.
package source
