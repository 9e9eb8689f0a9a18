package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// TestInterruptedPosts: the report marks interrupted postings as incomplete.
func TestInterruptedPosts(t *testing.T) {
	f := newPosts(t, run.Run{Archives: []run.Archive{{Product: "X"}}})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	text := terminal(t, f.Dir)
	if !strings.Contains(text, "INTERRUPTED: ") || !strings.Contains(text, "no posting was recorded") || strings.Contains(text, "0 of 0") {
		t.Errorf("a run without an end:\n%s", text)
	}
}

// TestUnprovenDays: an unproven day is a gap in the picture of the live feed. It does not shift the later days, and the
// start of its phase has its mark.
func TestUnprovenDays(t *testing.T) {
	posted := &run.Posting{Values: 100, Post: run.PostTimes{Total: time.Second}}
	day := func(phase string, p *run.Posting) *posting {
		return &posting{Measured: run.Measured{Posting: p}, Scenario: phase, Design: "single", Method: "bulk"}
	}
	unproven := day("on", nil)
	unproven.Method = "upsert" // without any proven day, so it has no curve
	p := postDaysPicture(&posts{days: []*posting{
		day("on", posted), day("on", posted), day("off", nil), day("off", posted), day("full", posted), unproven,
	}}).(plot.Lines)
	starts := []plot.Moment{{At: 0.5, Label: "on"}, {At: 2.5, Label: "off"}, {At: 4.5, Label: "full"}}
	if !slices.Equal(p.Moments, starts) {
		t.Errorf("%v, want %v", p.Moments, starts)
	}
	if c := p.Curves[0]; len(p.Curves) != 1 || !slices.Equal(c.Positions, []float64{1, 2, 3, 4, 5}) || !math.IsNaN(c.Value[2]) || c.Value[3] != 100 {
		t.Errorf("%+v", p.Curves)
	}
}

// TestUnprovenPosts: an unproven posting has no number on the terminal or on the page. No headline has a rate, because
// each rate is from one run.
func TestUnprovenPosts(t *testing.T) {
	m := run.Measured{
		Total:   time.Second,
		Posting: &run.Posting{Products: 3, Values: 4321, Post: run.PostTimes{Total: time.Second}, RowsInserted: 4321},
	}
	for _, want := range []string{"after 0 of 2 postings", "after 1 of 3 postings"} {
		proven := strings.Contains(want, "1 of 3")
		f := newPosts(t, run.Run{Archives: []run.Archive{{Product: "X"}}})
		f.add(run.PostCell("x", "quiet", "insert", "ihfs", "bulk"), m, false)
		f.add(run.PostCell("x", "live", "maintenance on", "single", "bulk", "day", "2024-01-01"), m, false)
		if proven {
			f.add(run.PostCell("x", "quiet", "insert", "single", "bulk"), m, true)
		}
		dir := f.close()
		for _, out := range []string{html(t, dir), terminal(t, dir)} {
			if !strings.Contains(out, want) || !strings.Contains(out, "wrong") || strings.Contains(out, "4,320 values") ||
				strings.Contains(out, "4,320") != proven || strings.Contains(out, "times as many") {
				t.Errorf("want %q\n%.3000s", want, out)
			}
		}
	}
}

// TestPost2006: each figure of the report of 2006 is next to the measurement of the same test. The table has the
// slowest and the fastest day of the live feed. Unproven postings have no row.
func TestPost2006(t *testing.T) {
	f := newPosts(t, run.Run{Archives: []run.Archive{{Product: "X"}}})
	measured := func(seconds int) run.Measured {
		p := &run.Posting{Products: 3, Values: 1200, Post: run.PostTimes{Total: time.Duration(seconds) * time.Second}, RowsUpdated: 77}
		return run.Measured{Total: 2 * time.Second, Posting: p}
	}
	f.add(run.PostCell("x", "quiet", "update", "single", "bulk"), measured(1), true)
	f.add(run.PostCell("x", "noise", "insert", "array24", "bulk"), measured(2), true)
	f.add(run.PostCell("x", "noise", "update", "array96", "bulk"), measured(2), false)
	f.add(run.PostCell("x", "queue", "insert", "single", "bulk"), measured(3), true)
	f.add(run.PostCell("x", "bloat", "load", "single", "bulk"), measured(3), true)
	f.add(run.PostCell("x", "delete", "older than 2006-03-09", "array96", "bulk"), measured(3), true)
	f.add(run.PostCell("x", "live", "maintenance off", "single", "bulk", "day", "1"), measured(4), true)
	f.add(run.PostCell("x", "live", "maintenance off", "single", "bulk", "day", "2"), measured(12), true)
	text := terminal(t, f.close())
	text = text[strings.Index(text, "The report of 2006 next"):]
	var got []string
	for line := range strings.Lines(text[:strings.Index(text, "\n\n")]) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"1 update single 152.5 67.0 bulk 1,200 1,200", "2 insert array24 — 26.5 bulk 1,200 600", "3 insert single 142.5 45.5 bulk 1,200 400",
		"deletes — array96 — 3,794 rows in 3 s bulk — 77 rows in 2s",
		"live feed maintenance off single — 52.4 falling to 32.8 bulk 2,400 100 to 300",
	}
	if len(got) < 2+len(want) || strings.Join(got[2:2+len(want)], "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, line := range got[2+len(want):] {
		if strings.HasPrefix(line, "2 update") || strings.Contains(line, "bloat") {
			t.Errorf("%q has a row", line)
		}
	}
}
