// Package source reads one file of a project. It finds the file's language, definitions,
// imports and description, and the words by which it is found.
//
// # How it reads
//
// Go is read by its own parser. In other languages, strip replaces comments and the contents of
// strings by spaces. A table says what these look like in each language. Then outlines leaves
// out the bodies of functions and what is in parentheses. In the rest, one pattern of the
// language finds definitions, and another finds imports. So what is in a comment, a string or a
// body never counts. Code that does not compile is read as far as possible.
//
// Read never fails, ends on any text, and what it returns is bounded.
//
// # What is read
//
// Definitions and imports of Go, TypeScript and JavaScript, Python, Rust, Java, Kotlin, C and
// C++, C#, Ruby and PHP. From module files (go.mod, package.json, tsconfig.json, Cargo.toml) it
// takes what imports are resolved with. Of other text it tells the language, and of Markdown
// the title.
//
// MEASURED.md tells what else was tried.
package source
