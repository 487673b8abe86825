// Package source reads one file of a project. It finds the file's language, definitions,
// imports and description, and the words by which it is found.
//
// # How it reads
//
// Go is read by its own parser. The other languages are rows of a table (syntaxes). A row
// says what comments and long strings look like. It has one pattern each for definitions,
// imports and the package. Comments and long strings become spaces, and the patterns are
// matched against the rest. Most patterns begin at the start of a line. So they find nothing
// inside a string or an expression. Code that does not compile is read as far as possible.
//
// This is not exact, and need not be: the results rank files and describe them in a line. A
// class in a function counts as a definition. So does code in a here document or behind
// "#if 0".
//
// Read never fails, ends on any text, and what it returns is bounded.
//
// # What is read
//
// Definitions and imports of Go, TypeScript and JavaScript, Python, Rust, Java, Kotlin, C and
// C++, C#, Ruby and PHP. From module files (go.mod, package.json, Cargo.toml) it
// takes what imports are resolved with. Of other text it tells the language, and of Markdown
// the title.
//
// MEASURED.md tells what else was tried.
package source
