package report

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// growthFolder writes studies of four sizes. duckdb's times are proportional to the size of the archive, sqlite's to
// its square root, and pebble's are constant.
func growthFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range []int{1, 2, 4, 8} {
		r, cells := makeRun()
		r.Data.Copies = n
		for i := range cells {
			cells[i].noise = 0.01
			switch cells[i].Engine {
			case "duckdb":
				cells[i].ms *= float64(n)
			case "sqlite":
				cells[i].ms *= math.Sqrt(float64(n))
			}
		}
		if err := os.Rename(writeRun(t, r, cells, reps), filepath.Join(dir, "x"+count(n))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGrowth(t *testing.T) {
	dir := growthFolder(t)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := r.Data["growth"].(GrowthSummary)
	seen := map[string]bool{}
	for _, l := range sum.Laws {
		seen[l.Engine] = true
		want := map[string]float64{"duckdb": 1, "sqlite": 0.5}[l.Engine]
		if math.Abs(l.Exponent.Value-want) > 0.05 || l.Exponent.Low > want || l.Exponent.High < want {
			t.Errorf("%s of %s grows as %+v, want %v", l.Configuration, l.Case, l.Exponent, want)
		}
		if l.Engine == "mongodb" {
			t.Error("an incomplete archive has a law")
		}
		if l.Engine == "sqlite" && l.Case != "test_1" {
			t.Error("a wrong answer has a law")
		}
	}
	if !seen["duckdb"] || !seen["sqlite"] || !seen["pebble"] || len(sum.Sizes) != 4 {
		t.Errorf("the summary has the engines %v at the sizes %v", seen, sum.Sizes)
	}
	page := html(t, dir)
	for _, want := range []string{"pebble · keyvalue · keys-native", "128,342,347 documents", "x4/report.html", "<svg", "at 8×"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if text := strings.Join(strings.Fields(terminal(t, dir)), " "); !strings.Contains(text, "flat in every case") {
		t.Errorf("the text is\n%s", text)
	}
}

func TestGrowthWithoutSizes(t *testing.T) {
	if _, err := readGrowth(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--subsets") {
		t.Errorf("the error is %v", err)
	}
}

// TestGrowthOfTwoSizes: with two sizes or few repetitions, the growth has no interval, no archive is reported as flat,
// and nothing is projected.
func TestGrowthOfTwoSizes(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int
		reps  int
	}{"two sizes": {[]int{1, 4}, 11}, "few repetitions": {[]int{1, 2, 4}, 4}} {
		dir := t.TempDir()
		for _, n := range c.sizes {
			r, cells := makeRun()
			if err := os.Rename(writeRun(t, r, cells, c.reps), filepath.Join(dir, "x"+count(n))); err != nil {
				t.Fatal(err)
			}
		}
		g, err := readGrowth(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(g.sum); err != nil {
			t.Errorf("%s: the summary for machines: %v", name, err)
		}
		if s := g.sentence(g.sum.Laws); !strings.Contains(s, "no query configuration is shown to be flat") {
			t.Errorf("%s: %s", name, s)
		}
		for _, r := range g.laws().Rows {
			if last := r.Cells[len(r.Cells)-1].Text; r.Cells[5].Text != none || last != "cannot be determined" {
				t.Errorf("%s: the interval is %q, the prediction %q", name, r.Cells[5].Text, last)
			}
		}
	}
}

// TestHeadlineNumbersHaveIntervals: with too few repetitions for an interval, the text contains no ratios.
func TestHeadlineNumbersHaveIntervals(t *testing.T) {
	r, cells := makeRun()
	for _, c := range []struct {
		reps int
		want bool
	}{{reps, true}, {3, false}} {
		s, _ := summary(t, writeRun(t, r, cells, c.reps))
		for _, rank := range s.Ranking[1:] {
			if known := !math.IsNaN(float64(rank.Lo)); known != c.want || known && !(rank.Lo < rank.Ratio && rank.Ratio < rank.Hi) {
				t.Errorf("%d repetitions: %+v", c.reps, rank)
			}
		}
		if has := strings.Contains(s.InWords, "it takes 6.40 times ("); has != c.want || strings.Contains(s.InWords, " times the fastest") {
			t.Errorf("%d repetitions: %s", c.reps, s.InWords)
		}
		byMedians := strings.Contains(s.InWords, "By the medians")
		if byMedians == c.want || strings.Contains(s.InWords, "longer than the fastest") {
			t.Errorf("%d repetitions: %s", c.reps, s.InWords)
		}
	}
}

// TestGrowthOfArchives: an incomplete archive has neither a load rate nor a size, and an archive that one size lacks
// does not shift the columns of the other sizes.
func TestGrowthOfArchives(t *testing.T) {
	archive := func(engine string, complete bool) run.Archive {
		return run.Archive{Engine: engine, Design: "wide", Complete: complete, Load: time.Second, Bytes: 2e6}
	}
	g := &growth{unit: copiesUnit, measuredSizes: []int{1, 2}}
	for copies, archives := range [][]run.Archive{
		{archive("duckdb", true), archive("sqlite", true), archive("mongodb", false)},
		{archive("sqlite", true), archive("mongodb", true)},
	} {
		r := &run.Run{Data: run.Data{Records: 100, Copies: copies + 1}, Archives: archives}
		g.folders = append(g.folders, &folder{results: collect(r, nil, nil)})
	}
	var got []string
	for _, row := range g.archives().Rows {
		got = append(got, strings.Join(lists.Map(row.Cells, func(c Cell) string { return c.Text }), " "))
	}
	want := []string{"duckdb wide 2.00 — 100 —", "sqlite wide 2.00 2.00 100 100", "mongodb wide — 2.00 — 100"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	g.unit = "days" // a study that adds days has no time of its load
	table := g.archives()
	names := lists.Map(table.Head, func(c Column) string { return c.Name + " " + c.Unit })
	if want := []string{"engine ", "design ", "at 1 days MB on disk", "at 2 days MB on disk"}; !slices.Equal(names, want) ||
		len(table.Rows[0].Cells) != len(want) || strings.Contains(table.Note, "added at that size") {
		t.Errorf("%q, %q", names, table.Note)
	}
}

// TestLoadsOfCopies: the size of an archive is divided by all copies of the data, and the time of its load by the copies
// that the study of this size added.
func TestLoadsOfCopies(t *testing.T) {
	dir := growthFolder(t)
	for copies, want := range map[string]string{
		"x1": "duckdb wide 4.00 123,000 20.0 2 16.5 33.4 0.206",
		"x2": "duckdb wide 4.00 123,000 20.0 2 16.5 16.7 0.103",
		"x8": "duckdb wide 4.00 494,000 80.0 2 16.5 4.18 0.0258",
	} {
		row := met(t, filepath.Join(dir, copies)).loads().Table.Rows[1].Cells
		if got := strings.Join(lists.Map(row, func(c Cell) string { return c.Text })[:9], " "); got != want {
			t.Errorf("%s: %q\nwant %q", copies, got, want)
		}
	}
}

// TestBriefOfSeveralSizes: if all studies are finished and all their results correct, the brief output has the choice and
// the proof. A wrong result or an interrupted size shows everything.
func TestBriefOfSeveralSizes(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(r *run.Run, cells []cellPlan)
		isBrief bool
	}{
		"all correct": {func(*run.Run, []cellPlan) {}, true},
		"a wrong result at the first size": {func(_ *run.Run, cells []cellPlan) {
			cells[1].wrongAt = 2
		}, false},
		"the first size was interrupted": {func(r *run.Run, _ []cellPlan) { r.Finished = time.Time{} }, false},
	} {
		dir := t.TempDir()
		for n := 1; n <= 2; n++ {
			r, cells := makeRun()
			r.Archives[5].Complete = true
			for i := range cells {
				cells[i].wrongAt, cells[i].failedAt = -1, -1
			}
			if r.Data.Copies = n; n == 1 {
				c.change(&r, cells)
			}
			if err := os.Rename(writeRun(t, r, cells, reps), filepath.Join(dir, "x"+count(n))); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var brief, all strings.Builder
		if err := errors.Join(r.Brief(&brief), r.Print(&all)); err != nil {
			t.Fatal(err)
		}
		if isBrief := brief.String() != all.String(); isBrief != c.isBrief ||
			isBrief && !strings.Contains(brief.String(), "58 results over all sizes equal the reference.") {
			t.Errorf("%s:\n%s", name, brief.String())
		}
	}
}

// TestDocumentsOfOneCopy: the number of documents is a divisor, so an archive without any is ignored.
func TestDocumentsOfOneCopy(t *testing.T) {
	documents, rows := run.Archive{ObjectKind: "documents"}, run.Archive{ObjectKind: "rows", Objects: 70}
	for want, archives := range map[int64][]run.Archive{1: {documents}, 70: {documents, rows}} {
		g := &growth{folders: []*folder{{results: &results{run: &run.Run{Archives: archives}}}}}
		if got := g.documents(); got != want {
			t.Errorf("%+v: %d documents, want %d", archives, got, want)
		}
	}
}
