package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// sameSite refuses requests for another host and those of other sites' pages.
func (s *Server) sameSite(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection() // by Sec-Fetch-Site, where a browser sends it
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, ok := splitHost(r.Host)
		if !ok || !s.ourHost(host) {
			refuse(w, http.StatusForbidden, "forbidden", "this server has another name: --host gives it one more")
			return
		}
		if o := r.Header.Values("Origin"); len(o) > 1 || len(o) == 1 && !s.sameOrigin(o[0], r.Host) || sites.Check(r) != nil {
			refuse(w, http.StatusForbidden, "forbidden", "requests from pages of other sites are refused")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ourHost reports whether a host names this server. An address needs no DNS, so nobody else
// can make it point here.
func (s *Server) ourHost(host string) bool {
	is := func(name string) bool { return strings.EqualFold(name, host) }
	if slices.ContainsFunc(s.o.Hosts, is) || slices.ContainsFunc(s.o.ProxyHosts, is) || s.ownHosts && s.o.Tokens.isHost(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	return !s.o.Loopback || ip.Unmap().IsLoopback()
}

// splitHost is a Host header in lower case, without and with its port. It takes a name or an
// address, as a browser writes it, and nothing else: no zone, no user, no empty port.
func splitHost(hostport string) (host, port string, ok bool) {
	host = strings.ToLower(hostport)
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '+' {
			return "", "", false
		}
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		inner, found = strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(inner)
		return inner, port, found && err == nil && ip.Is6() && ip.Zone() == ""
	}
	host = strings.TrimSuffix(host, ".")
	return host, port, host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}

// sameOrigin reports whether an Origin is the server's own page: the scheme that we are reached
// by, and the Host to the letter. A proxy that does TLS for us is reached by https at its name.
func (s *Server) sameOrigin(origin, host string) bool {
	if s.o.TLS {
		return strings.EqualFold(origin, "https://"+host)
	}
	name, _, _ := splitHost(host)
	proxied := slices.ContainsFunc(s.o.ProxyHosts, func(n string) bool { return strings.EqualFold(n, name) })
	return strings.EqualFold(origin, "http://"+host) || proxied && strings.EqualFold(origin, "https://"+host)
}
