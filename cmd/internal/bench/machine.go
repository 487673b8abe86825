package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what a run was made on. What cannot be had is empty or 0.
type Machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	MemoryMiB  int    `json:"memory_mib,omitempty"`
	System     string `json:"system"`
	Go         string `json:"go"`
	FileSystem string `json:"file_system,omitempty"` // where the stores were
}

func (m Machine) String() string {
	parts := []string{cmp.Or(m.CPU, "unknown CPU"), fmt.Sprintf("%d cores", m.Cores)}
	if m.MemoryMiB > 0 {
		parts = append(parts, fmt.Sprintf("%.0f GiB", float64(m.MemoryMiB)/1024))
	}
	parts = append(parts, m.System, m.Go)
	if m.FileSystem != "" {
		parts = append(parts, m.FileSystem)
	}
	return strings.Join(parts, ", ")
}

// machine looks around; dir is where the stores are.
func machine(ctx context.Context, dir string) Machine {
	m := Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	switch runtime.GOOS {
	case "linux":
		m.CPU = colon(read("/proc/cpuinfo"), "model name")
		if release := strings.TrimSpace(read("/proc/sys/kernel/osrelease")); release != "" {
			m.System += " " + release
		}
		kib, _ := strconv.Atoi(strings.TrimSuffix(colon(read("/proc/meminfo"), "MemTotal"), " kB"))
		m.MemoryMiB = kib / 1024
		m.FileSystem = mounted(read("/proc/self/mountinfo"), dir)
	case "darwin":
		if out, err := exec.CommandContext(ctx, "sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
			m.CPU = strings.TrimSpace(string(out))
		}
	}
	return m
}

// busy says that others work on the machine too, or nothing. Where the system
// does not tell how many processes want to run, nothing is said.
func busy(loadavg string, cores int) string {
	fields := strings.Fields(loadavg)
	if len(fields) == 0 {
		return ""
	}
	load, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || load < float64(cores)/2 {
		return ""
	}
	return fmt.Sprintf("the machine was busy when the run began (load average %.1f on %d cores): read the ratios rather than the times", load, cores)
}

// read is the text of a file, or nothing.
func read(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// colon finds the value of a line "name : value".
func colon(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// mounted is the type of the file system that a directory is on, by the lines
// of proc_pid_mountinfo(5).
func mounted(mountinfo, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	best, kind := "", ""
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		fields, kinds := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(kinds) == 0 {
			continue
		}
		point := fields[4]
		if (dir == point || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/")) && len(point) >= len(best) {
			best, kind = point, kinds[0]
		}
	}
	return kind
}
