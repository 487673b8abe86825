// Package linediff shows what changes in a short text, line by line.
package linediff

import (
	"strings"
)

const (
	around  = 2       // lines shown before and after a change
	mostLCS = 4 << 20 // pairs of lines that are compared
)

// Show gives the lines that change, with - and +, and two around them.
func Show(before, after []byte) string {
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, l := range a[max(0, head-around):head] {
		out = append(out, "  "+l)
	}
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail:][:min(around, tail)] {
		out = append(out, "  "+l)
	}
	var s strings.Builder
	for _, l := range out {
		s.WriteString("  " + strings.TrimRight(l, "\r") + "\n")
	}
	return s.String()
}

func split(data []byte) []string {
	text := strings.TrimSuffix(string(data), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// middle is the shortest way from a to b by lines.
func middle(a, b []string) (out []string) {
	if len(a)*len(b) > mostLCS {
		for _, l := range a {
			out = append(out, "- "+l)
		}
		a = nil
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
