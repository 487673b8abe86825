// Package probe starts an MCP server as a client's configuration says and asks
// for its tools.
package probe
