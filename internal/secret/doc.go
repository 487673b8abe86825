// Package secret removes API keys, tokens, private keys and passwords from texts before they
// are stored. Each is replaced by [REDACTED:<rule>]. The rest of the text stays as it is.
//
// # Rules
//
// The rules are gitleaks' (MIT, see LICENSE.gitleaks). They are well maintained and written
// for RE2. We do not link gitleaks, since it brings dozens of other modules. gitleaks_table.go
// has them as a table. For a newer gitleaks, compare its config/gitleaks.toml with that of
// v8.30.1, and change the rows of the rules that differ.
//
// own.go adds what gitleaks lacks: passwords in URLs, .netrc, headers, assignments, sentences and
// command lines, cookies of sessions, private keys without an end or in base64, and keys of
// newer services. named.go adds long random values after a name that says key, token, secret,
// password or -data. They are judged by their structure, with neither stop words nor entropy.
//
// Facts are prose, and gitleaks is made for source code. So we differ:
//   - A token is also found before a comma, a bracket or a full stop.
//   - A token with a prefix of its own (ghp_, glpat-, sk_live_) is removed whatever its entropy.
//   - Examples that a vendor published, hashes, ids, public keys and references pass.
//
// # What it misses
//
//   - Passwords of letters in a sentence that read as a word, and those after a colon with fewer
//     than three kinds of characters.
//   - Passwords of letters alone, but for a setting such as DB_PASSWORD=word. There all words are
//     taken, except those that say something about a password (required, optional, …).
//   - UUIDs, unless a service's rule says so.
//   - Keys of services without a rule, if nothing beside them says key, token or secret.
//   - Secrets that are encoded again, cut into pieces or spelled with letters of another alphabet. Those with
//     characters that nobody sees, and in letters of full width, are found: see shown.go.
//   - An unescaped '/' or '?' in the password of a URL.
//
// # How it works
//
// A rule has triggers: one of these words is in every text that can match. One pass over a text
// finds all triggers. Only then is the rule's expression compiled, once, and matched at the
// trigger, in its line or in the whole text. Clean repeats this until no rule finds anything, so
// it is idempotent. MEASURED.md has false alarms and cost.
package secret
