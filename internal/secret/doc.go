// Package secret takes API keys, tokens, private keys and passwords out of texts before they
// are stored: each is replaced by [REDACTED:<rule>], the rest of the text stays as it is.
//
// # Rules
//
// The rules are gitleaks' (github.com/gitleaks/gitleaks, MIT, see LICENSE.gitleaks), which are
// well kept and written for RE2. We do not link gitleaks: it brings viper and dozens of other
// modules. gen/main.go reads its rules as text and writes gitleaks_table.go and stopwords.txt; a newer gitleaks is a changed
// version number there and go generate. Left out are rules that need a file's name, and public
// identifiers. own.go adds what gitleaks has not: passwords and tokens in URLs, private keys
// whose end is missing, password = value where it is certain enough, Bearer and Basic headers,
// passwords of .netrc, mysql -p, --password= and curl -u, and the keys of newer services.
//
// Facts are prose, and gitleaks is made for source code. So we differ in both directions:
//   - A token is found also before a comma, a bracket or a full stop.
//   - A token with a prefix of its own (ghp_, glpat-, sk_live_) is taken whatever its entropy
//     and though it be a published example: no fact is the poorer for it.
//   - What is named key, token, secret and so on is taken only when its value has digits and is no
//     placeholder, name (oauth2-proxy-v7, EncapsulationKey1024), UUID, date, version, public key,
//     and no hash that is called one.
//
// # What it catches, and what it misses
//
// Measured: none of 147 sentences of engineering prose (clean_test.go) and none of the 465,000
// texts of the evaluation sets is touched; of 38,700 lines of Markdown in Go's tree and in the
// modules we use three are (JSON Web Tokens in examples of headers), of 5.57 million lines of
// their Go source fewer than 200, nearly all passwords, keys and credentials made up for tests.
// Every rule finds what its own expression describes.
//
// It misses: passwords in running text ("the password is …") and any unquoted one after a colon
// that has not three kinds of characters; a value that is a UUID, save where a service's rule says so;
// keys of services that nobody wrote a rule for, when nothing beside them says key, token or
// secret; secrets that are encoded again, cut into pieces or spelled with look-alikes; a '/' or
// '?' that stands unescaped in the password of a URL; names and addresses, which are no secrets.
//
// # Cost
//
// New compiles nothing. One pass looks for the literals with which a match can begin; where one
// stands, a few comparisons turn nearly all prose away; only then is the rule's expression compiled, once, and
// matched at that place. 200 bytes of prose cost 0.7 µs, the first text of a process 20 µs
// with New, a source tree passes at 75 MB/s.
//
// Redact is idempotent by construction: it goes on until no rule finds anything but markers.
package secret
