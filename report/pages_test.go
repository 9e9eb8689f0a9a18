package report

import (
	escape "html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"barograph/measure"
	"barograph/run"
)

// pageWords are the words and figures of a page, a line for each row, heading or
// paragraph; those of pictures too.
func pageWords(page string) string {
	for _, tag := range []string{"style", "script", "desc"} {
		page = regexp.MustCompile(`(?s)<`+tag+`[ >].*?</`+tag+`>`).ReplaceAllString(page, "")
	}
	page = strings.Join(strings.Fields(page), " ")
	page = regexp.MustCompile(`</(td|th|dt|a)>|<small>`).ReplaceAllString(page, " | ")
	page = regexp.MustCompile(`</(tr|p|h1|h2|h3|li|dd|pre|summary|caption|svg)>`).ReplaceAllString(page, "\n")
	page = regexp.MustCompile(`</(text|title)>`).ReplaceAllString(page, "; ")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "")
	var out strings.Builder
	for line := range strings.Lines(escape.UnescapeString(page)) {
		if line = strings.Trim(line, " |\n;"); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// madePosts is a run with one proven posting, one that is wrong, and two days.
func madePosts(t *testing.T) string {
	t.Helper()
	p := &run.Posts{Started: time.Unix(1_700_000_000, 0).UTC(), Args: []string{"post", "x"}, Product: "PostgreSQL", Version: "15", Feed: "made up", Policy: "newer", Warnings: []string{"a warning"},
		Machine: measure.Machine{CPU: "Example CPU"}, Read: run.PostRead{Products: 3, Values: 4321, Lost: 1}}
	times := run.PostTimes{Total: 2 * time.Second, Mean: 300 * time.Millisecond, Percentiles: measure.Percentiles{P50: 200 * time.Millisecond, P95: time.Second, P99: time.Second, Max: 1500 * time.Millisecond}}
	figures := run.PostFigures{Products: 3, Values: 4321, Wall: 3 * time.Second, Parse: times, Post: times, RowsRead: 7, RowsInserted: 4321, RowsUpdated: -1, TableBytes: 1e6, IndexBytes: -1, DeadRows: 4, LogBytes: 5e6, ClientCPU: time.Second}
	for _, design := range []string{"array", "single"} {
		for _, method := range []string{"bulk", "upsert"} {
			p.Add(run.PostCell{Test: "quiet", Scenario: "insert", Design: design, Method: method, Posters: 1, Together: 2}, figures, run.ProvePosts("a", "a"))
		}
		p.Add(run.PostCell{Test: "quiet", Scenario: "update", Design: design, Method: "bulk"}, figures, run.PostProof{})
		for i, phase := range []string{"maintenance on", "maintenance off"} {
			for k := range 3 {
				p.AddDays([]run.PostDay{{Phase: phase, Day: time.Unix(1_700_000_000, 0).UTC().AddDate(0, 0, k), Design: design, Method: "bulk", Products: 3, Values: 4321, Post: times, Upkeep: i == 0}}, run.ProvePosts("b", "b"))
			}
		}
	}
	p.AddDays([]run.PostDay{{Phase: "maintenance on", Design: "single", Method: "upsert", Post: times}}, run.PostProof{})
	dir := t.TempDir()
	if err := p.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// madeSweep is a run of mixes with a floor, a server that tells of itself, and
// one point that is wrong.
func madeSweep(t *testing.T) string {
	t.Helper()
	var all []*point
	for rep := 1; rep <= 6; rep++ {
		for i, n := range []int{1, 2, 4, 8} {
			p := madePoint("postgres", "server", n, rep, []float64{1000, 1900, 3300, 4800}[i]+float64(rep))
			p.Server = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 10 * time.Second, PeakRSS: 1e9, Read: 1e6, Written: 2e6},
				Counters: []run.Counter{{Name: "commits", Value: 1000}, {Name: "wal", Unit: "bytes", Value: 5e6}}, Waits: []run.Waiting{{Kind: "lock", What: "Lock:tuple", Sessions: 6}, {Kind: "cpu", What: "running", Sessions: 2}}}
			all = append(all, p, madePoint("dry", "memory", n, rep, 1e6), madePoint("sqlite", "embedded", n, rep, 700+float64(rep)))
		}
	}
	bad := madePoint("mariadb", "server", 8, 1, 123456)
	bad = judged(bad.Sample, bad.Measured, run.Answers{Wrong: 17, Succeeded: 1, Found: 1}, &os.PathError{Op: "ask", Path: "x", Err: os.ErrInvalid})
	return madeFolder(t, append(all, bad)...)
}

// TestPages holds the words of every kind of report, on the page and on the
// terminal, against what was read once.
func TestPages(t *testing.T) {
	for name, folder := range map[string]func(t *testing.T) string{
		"met":    func(t *testing.T) string { r, cells := made(); return write(t, r, cells, reps) },
		"growth": grown, "ycsb": madeSweep, "post": madePosts, "faults": madeKills,
		"scan": func(t *testing.T) string {
			dir, s := t.TempDir(), madeScans(t)
			s.Configs = append(s.Configs, run.ScanConfig{Paths: 2, Partitions: 16, Problem: "load: no memory\nthe end of the log", Open: 3 * time.Second, Opens: 2})
			if err := s.Save(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			words := pageWords(html(t, dir)) + "\n=== terminal ===\n" + terminal(t, dir)
			golden(t, name+".txt", words)
		})
	}
}

// flat undoes the breaks of lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
