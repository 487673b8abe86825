package mcpsrv

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/internal/prose"
)

// probeTimeout is how long a server may take to list its tools.
const probeTimeout = 10 * time.Second

// Probe starts a server as a client would, and asks for its version and its tools.
func Probe(ctx context.Context, server *exec.Cmd) (version string, tools []string, err error) {
	var stderr bytes.Buffer
	server.Stderr = &stderr
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "lean-ctx-doctor", Version: "1"}, nil)
	session, err := client.Connect(limited, &mcp.CommandTransport{Command: server, TerminateDuration: time.Second}, nil)
	var list *mcp.ListToolsResult
	if err == nil {
		if list, err = session.ListTools(limited, nil); err == nil {
			version = session.InitializeResult().ServerInfo.Version
			for _, t := range list.Tools {
				tools = append(tools, t.Name)
			}
		}
		_ = session.Close() // how it ends says nothing about its answer
	}
	switch line := strings.Join(strings.Fields(stderr.String()), " "); {
	case err == nil:
	case limited.Err() != nil:
		err = fmt.Errorf("no answer within %s", probeTimeout)
	case line != "":
		err = fmt.Errorf("%w; its output: %s", err, prose.Clip(line, 200))
	}
	return version, tools, err
}
