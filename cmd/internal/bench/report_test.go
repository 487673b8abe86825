package bench

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the tests compare with anew")

// golden compares text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what is made now (go test ./cmd/internal/bench -update): %s", file, diff)
	}
}

// sample is a report of made-up numbers.
func sample() Report {
	timed := func(facts, runs int, p50, p95, floor float64) Cell {
		return Cell{Facts: facts, Runs: runs, P50: p50, P95: p95, FloorP50: new(floor), FloorP95: new(floor * 1.5)}
	}
	r := Report{
		Version: "1.2.3", Seed: 1, Sizes: []int{1_000, 20_000, 100_000},
		Machine: Machine{CPU: "Model <7> & Co", Cores: 2, MemoryMiB: 8192, System: "linux/amd64", Go: "go1.26.0", FileSystem: "ext4"},
		Floors:  []string{floorProgram, floorAppend, floorScan, floorServer},
		Rows: []Row{
			{groupDisk, "fact file", Bytes, floorInput, false, []Cell{amount(1.3e6, 250e3), amount(26e6, 5e6), amount(130e6, 25e6)}},
			{groupCommand, recallRare, Micros, floorProgram, true, []Cell{timed(1_000, 21, 9_000, 12_000, 1_800), timed(20_000, 21, 18_000, 25_000, 1_900), timed(100_000, 12, 75_000, 99_000, 2_000)}},
			{groupCommand, remember, Micros, floorProgram, true, []Cell{timed(1_000, 21, 8_000, 9_000, 1_800), timed(20_000, 21, 9_500, 11_000, 1_900), timed(100_000, 21, 20_000, 25_000, 2_000)}},
			{groupServer, rememberBare, Micros, floorAppend, false, []Cell{timed(1_000, 101, 220, 300, 170), timed(20_000, 101, 222, 310, 171), timed(100_000, 101, 224, 900, 172)}},
			{groupServer, remember, Micros, floorAppend, true, []Cell{timed(1_000, 101, 230, 320, 170), timed(20_000, 101, 240, 330, 171), timed(100_000, 101, 250, 999, 172)}},
			{groupServer, recallRare, Micros, floorScan, true, []Cell{timed(1_000, 101, 50, 80, 55), timed(20_000, 101, 150, 300, 1_100), timed(100_000, 101, 999.6, 2_500, 9_950)}},
			{groupMemory, resident, Bytes, floorServer, false, []Cell{amount(25e6, 20e6), amount(80e6, 20e6), {Facts: 100_000}}},
		},
		Notes: []string{"a note"},
	}
	for i := range r.Rows {
		for j := range r.Rows[i].Cells {
			r.Rows[i].Cells[j].Facts = r.Sizes[j]
		}
	}
	r.Figures = r.figures()
	return r
}

func TestTable(t *testing.T) { golden(t, filepath.Join("testdata", "table.txt"), sample().Text()+"\n") }

func TestChart(t *testing.T) {
	svg := sample().SVG()
	golden(t, filepath.Join("testdata", "chart.svg"), svg)
	if again := sample().SVG(); again != svg {
		t.Error("the same numbers gave another picture")
	}
	wellFormed(t, svg)
	for _, never := range []string{"<script", "http://", "https://", "@import", "url("} {
		if strings.Contains(strings.ReplaceAll(svg, `xmlns="http://www.w3.org/2000/svg"`, ""), never) {
			t.Errorf("the picture holds %s", never)
		}
	}
}

// A report of one size, of none of the rows that are drawn, or with nothing
// measured has a picture and a table too.
func TestSmallReports(t *testing.T) {
	one := sample()
	one.Sizes = one.Sizes[:1]
	for i := range one.Rows {
		one.Rows[i].Cells = one.Rows[i].Cells[:1]
	}
	bare := one
	bare.Rows = bare.Rows[:1]
	unmeasured := Report{Sizes: []int{1_000}, Rows: []Row{{Group: groupServer, Name: remember, Unit: Micros, Chart: true, Cells: []Cell{{Facts: 1_000}}}}}
	for name, r := range map[string]Report{"one size": one, "bytes only": bare, "unmeasured": unmeasured, "zero": {}} {
		svg := r.SVG()
		wellFormed(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: a place that is no number:\n%s", name, svg)
		}
		if text := r.Text(); strings.Contains(text, "NaN") || strings.TrimSpace(text) == "" {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

// A report is the same after a journey as JSON.
func TestReportJSON(t *testing.T) {
	want := sample()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFigures(t *testing.T) {
	r := sample()
	met := map[string]bool{}
	for _, f := range r.Figures {
		met[f.Name] = f.Met
	}
	want := map[string]bool{
		"command, recall, a rare word, 20,000 facts: over an empty Go program":  true,
		"command, remember, 20,000 facts: over an empty Go program":             true,
		"command, recall, a rare word, 100,000 facts: over an empty Go program": false,
		"server, remember, 100,000 facts: times that of 1,000":                  true,
		"server, remember, 100,000 facts: times that without an index":          false,
		// the memory could not be measured: then nothing is said about it
	}
	if diff := cmp.Diff(want, met); diff != "" {
		t.Error(diff)
	}
	if n := len(r.Missed()); n != 2 {
		t.Errorf("%d were missed", n)
	}
	if got := r.Missed()[0].String(); got != "command, recall, a rare word, 100,000 facts: over an empty Go program: 73 ms, at most 60" {
		t.Error(got)
	}
}

func TestQuantity(t *testing.T) {
	for want, got := range map[string]string{
		"0 µs": quantity(0, Micros), "0.25 µs": quantity(.25, Micros), "3.8 µs": quantity(3.84, Micros), "221 µs": quantity(221.4, Micros),
		"1.0 ms": quantity(999.6, Micros), "12 ms": quantity(12_345, Micros), "1.5 s": quantity(1.5e6, Micros), "90 s": quantity(90e6, Micros),
		"1,000 s": quantity(1e9, Micros), "512 B": quantity(512, Bytes), "1.3 MB": quantity(1.3e6, Bytes), "2.0 GB": quantity(2e9, Bytes),
		"1,234,567": grouped(1_234_567), "-1,000": grouped(-1000), "999": grouped(999), "0.001": significant(.001),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
