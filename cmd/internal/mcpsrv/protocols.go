package mcpsrv

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Protocols are the protocol versions that the server speaks, newest first.
func Protocols() []string { return mcp.SupportedProtocolVersions() }
