package hook

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"leanctx/formats"
	"leanctx/internal/refusal"
)

// Remote is a server that listens at an address, as lean-ctx serve does.
type Remote struct {
	URL   string // of MCP
	Token string
}

// clientHeader names the client of a request. Over HTTP most clients say who they are in
// their first request alone, and a server without sessions has forgotten it by the next.
const clientHeader = "X-Lean-Ctx-Client"

// ParseRemote checks an address. One without a path is the server of a project of this
// machine, by its hash. An empty token is this machine's for the project, which goes to no other machine.
func ParseRemote(address, token, hash string) (Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Remote{}, &refusal.HintError{Problem: fmt.Sprintf("--url %q is not the address of a server", address), Hint: "give the one that lean-ctx serve prints, such as http://127.0.0.1:7337"}
	}
	if ip := net.ParseIP(u.Hostname()); token == "" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Remote{}, &refusal.HintError{Problem: "--url leads to another machine, whose token is not known here", Hint: "give a file with it: --token-file"}
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/p/" + hash + "/mcp"
	}
	return Remote{URL: u.String(), Token: token}, nil
}

// Project is the hash of the project that the address names, or empty.
func (r Remote) Project() string {
	if m := projectAddress().FindStringSubmatch(r.URL); m != nil {
		return m[1]
	}
	return ""
}

// byURL are the edits for a client that reaches a server by its address: the server's
// entry alone. Hooks work on the files of this machine, so connect without a URL writes
// them. The token is in the file, so it becomes the user's alone.
func (c *client) byURL(all []edit, r Remote) []edit {
	if len(all) == 0 || c.remote == "" {
		return nil
	}
	e := all[0]
	headers := map[string]string{"Authorization": "Bearer " + r.Token, clientHeader: c.name}
	e.entry = strings.NewReplacer("URL", encoded(r.URL), "HEADERS", encoded(headers)).Replace(c.remote)
	e.version, e.events, e.private, e.secret = false, nil, true, true
	e.note = fmt.Sprintf("%s: %s holds a token for this project. Do not commit it.", c.name, e.path)
	return []edit{e}
}

// addressOf is the address in an entry of a server that is reached by one.
func addressOf(entry map[string]any) string {
	for _, key := range []string{"url", "httpUrl", "serverUrl"} {
		if address, ok := entry[key].(string); ok {
			return address
		}
	}
	return ""
}

// projectAddress is how the address of a project ends.
var projectAddress = formats.Regexp(`/p/([0-9a-f]{16})/mcp$`)
