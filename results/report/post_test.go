package report

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestPostsUnended: postings that were interrupted are not shown as if they were all.
func TestPostsUnended(t *testing.T) {
	f := madePosted(t, run.Run{Archives: []run.Archive{{Product: "X"}}})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if text := terminal(t, f.Dir); !strings.Contains(text, "INTERRUPTED: ") {
		t.Errorf("a run without an end:\n%s", text)
	}
}

// TestPostsUnproven: a posting that is not proven has no number on the terminal
// or in the page, and no headline has a rate, which is of one run.
func TestPostsUnproven(t *testing.T) {
	m := run.Measured{Total: time.Second, Posting: &run.Posting{Products: 3, Values: 4321, Post: run.PostTimes{Total: time.Second}, RowsInserted: 4321}}
	for _, want := range []string{"of 2 postings 0 left", "of 3 postings 1 left"} {
		proven := strings.Contains(want, "1 left")
		f := madePosted(t, run.Run{Archives: []run.Archive{{Product: "X"}}})
		f.add(run.PostCell("x", "quiet", "insert", "ihfs", "bulk"), m, false)
		f.add(run.PostCell("x", "live", "maintenance on", "single", "bulk", "day", "2024-01-01"), m, false)
		if proven {
			f.add(run.PostCell("x", "quiet", "insert", "single", "bulk"), m, true)
		}
		dir := f.close()
		for _, out := range []string{html(t, dir), terminal(t, dir)} {
			if !strings.Contains(out, want) || !strings.Contains(out, "wrong") || strings.Contains(out, "4,320 values") || strings.Contains(out, "4,320 ") != proven || strings.Contains(out, "times as many") {
				t.Errorf("want %q\n%.3000s", want, out)
			}
		}
	}
}
