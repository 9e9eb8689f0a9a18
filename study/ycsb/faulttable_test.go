package ycsb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestFaultTable: every number of the table of killed nodes is that of its run folder.
func TestFaultTable(t *testing.T) {
	const docs = "../../docs/results/"
	text, err := os.ReadFile(docs + "ycsb.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| run | nodes |")
	table, _, _ = strings.Cut(table, "\n\n")
	var shown []string
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 8 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		name := strings.Split(cells[0], "`")[1]
		shown = append(shown, name)
		want := faultRow(t, docs+"ycsb/faults/"+name)
		for i, has := range []string{cells[1], cells[3], cells[4], cells[5], cells[6]} {
			if i == 0 {
				has = strings.Split(has, ",")[0]
			}
			if has != want[i] {
				t.Errorf("%s: the table says %q, its folder %q: %v", name, has, want[i], want)
			}
		}
		if truth := want[5]; truth == "yes" != strings.HasPrefix(cells[7], "yes") || truth == "no" && !strings.Contains(cells[7], "**") {
			t.Errorf("%s: did it tell the truth? The table says %q, its folder %s", name, cells[7], truth)
		}
	}
	kept, err := filepath.Glob(docs + "ycsb/faults/*/run.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		if name := filepath.Base(filepath.Dir(file)); !slices.Contains(shown, name) {
			t.Errorf("the folder of %s is in no row", name)
		}
	}
}

// TestBandwidthIsReported: the text about a limited bandwidth has the numbers of its run folder.
func TestBandwidthIsReported(t *testing.T) {
	text, err := os.ReadFile("../../docs/results/ycsb.md")
	if err != nil {
		t.Fatal(err)
	}
	_, samples, err := run.Read("../../docs/results/ycsb/bandwidth")
	if err != nil || len(samples) != 1 || len(samples[0].Measured().Series) < 11 {
		t.Fatalf("%+v, %v", samples, err)
	}
	var rates, medians []string
	series := samples[0].Measured().Series
	for _, s := range series[5:10] {
		rates, medians = append(rates, fmt.Sprint(s.Completed-s.Failed)), append(medians, fmt.Sprintf("%.1f", s.P50.Seconds()))
	}
	want := fmt.Sprintf("%s operations/s in its five seconds, the median after %s s, and %d in the second after.", strings.Join(rates, ", "), strings.Join(medians, ", "), series[10].Completed)
	if !strings.Contains(string(text), want) {
		t.Errorf("the text does not say: %s", want)
	}
}

// faultRow returns the row of a folder: nodes, seconds without service and until 95 % of the rate, lost operations, calls
// of the history and unknown ones, and whether all promises were kept.
func faultRow(t *testing.T, folder string) []string {
	t.Helper()
	_, samples, err := run.Read(folder)
	if err != nil || len(samples) != 1 || samples[0].Fault == nil || samples[0].Fault.History == nil {
		t.Fatalf("%s: %d samples, %v", folder, len(samples), err)
	}
	s := &samples[0]
	without, back, truth := "–", "–", "yes"
	if m := s.Measured(); m != nil && m.FaultCost != nil {
		without, back = fmt.Sprintf("%.1f", m.FaultCost.TimeWithoutSuccess.Seconds()), fmt.Sprintf("%.1f", m.FaultCost.RecoveryTime.Seconds())
	}
	h := s.Fault.History
	for _, p := range h.Promises {
		if !p.Kept {
			truth = "no"
		}
	}
	return []string{s.Cell.Value("nodes"), without, back, grouped(s.Fault.Lost), fmt.Sprintf("%s, %d", grouped(int64(h.Operations)), h.Unknown), truth}
}

// grouped writes a count with commas between thousands.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
