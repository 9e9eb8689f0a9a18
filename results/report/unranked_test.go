package report

import (
	"strings"
	"testing"
)

// TestStandInIsNotRankedInStudy: the report shows the times of a stand-in for a server, and the reason why it is not
// ranked, even if it was the fastest.
func TestStandInIsNotRankedInStudy(t *testing.T) {
	r, cells := makeRun()
	s, _ := summary(t, writeRun(t, r, cells, reps))
	best := s.Ranking[0].Engine
	const why = "it is a stand-in for MongoDB"
	for i := range r.Archives {
		if r.Archives[i].Engine == best {
			r.Archives[i].Unranked = why
		}
	}
	dir := writeRun(t, r, cells, reps)
	s, _ = summary(t, dir)
	for _, rank := range s.Ranking {
		if rank.Engine == best {
			t.Errorf("%s is ranked", best)
		}
	}
	for i := range s.Cases {
		if k := s.Cases[i].fastest(); k != nil && k.Engine == best {
			t.Errorf("%s is the fastest of %s", best, s.Cases[i].Name)
		}
		for _, k := range s.Cases[i].Cells {
			if k.Engine == best && (k.Unranked != why || k.isUnbeaten() || k.Times != nil && k.Times.Mark != "") {
				t.Errorf("%s: %+v is compared", s.Cases[i].Name, k)
			}
		}
	}
	if strings.Contains(s.InWords, best) {
		t.Errorf("the answer names %s: %s", best, s.InWords)
	}
	for _, out := range []string{html(t, dir), terminal(t, dir)} {
		if !strings.Contains(out, "not ranked") || !strings.Contains(out, "because "+why) {
			t.Error("the report lacks the reason why it is not ranked")
		}
	}
}

// TestCaseWithoutRowsIsNotRanked: a case without rows is in no ranking, mean or headline, although its results were
// correct and folders of earlier versions have times of it.
func TestCaseWithoutRowsIsNotRanked(t *testing.T) {
	r, cells := makeRun()
	for i := range cells {
		if cells[i].Case == "test_2" {
			cells[i].rows, cells[i].wrongAt = 0, -1
		}
	}
	dir := writeRun(t, r, cells, reps)
	s, _ := summary(t, dir)
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.empty() != (c.Name == "test_2") || c.empty() && c.fastest() != nil {
			t.Errorf("%s: empty %v, fastest %+v", c.Name, c.empty(), c.fastest())
		}
	}
	const left = "No record of this data matches test_2, so no ranking includes it."
	if !strings.Contains(s.InWords, left) || !strings.Contains(html(t, dir), left) || !strings.Contains(terminal(t, dir), "no rows") {
		t.Errorf("it is not reported: %s", s.InWords)
	}
}
