package report

import (
	"strings"
	"testing"
	"time"

	"barograph/run"
)

// TestPostsUnproven: a posting that is not proven has no number on the terminal
// or in the page, and no headline has a rate, which is of one run.
func TestPostsUnproven(t *testing.T) {
	figures := run.PostFigures{Products: 3, Values: 4321, Wall: time.Second, Post: run.PostTimes{Total: time.Second}, RowsInserted: 4321}
	p := &run.Posts{Product: "X"}
	p.Add(run.PostCell{Test: "quiet", Scenario: "insert", Design: "ihfs", Method: "bulk"}, figures, run.PostProof{})
	p.AddDays([]run.PostDay{{Phase: "maintenance on", Design: "single", Method: "bulk", Post: figures.Post}}, run.PostProof{})
	for _, want := range []string{"of 2 postings 0 left", "of 3 postings 1 left"} {
		dir := t.TempDir()
		if err := p.Save(dir); err != nil {
			t.Fatal(err)
		}
		proven := strings.Contains(want, "1 left")
		for _, out := range []string{html(t, dir), terminal(t, dir)} {
			if !strings.Contains(out, want) || !strings.Contains(out, "wrong") || strings.Contains(out, "4,320 values") || strings.Contains(out, "4,320 ") != proven || strings.Contains(out, "times as many") {
				t.Errorf("want %q\n%.3000s", want, out)
			}
		}
		p.Add(run.PostCell{Test: "quiet", Scenario: "insert", Design: "single", Method: "bulk"}, figures, run.ProvePosts("a", "a"))
	}
}
