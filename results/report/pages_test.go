package report

import (
	escape "html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// pageText returns the texts and numbers of a page, with a line for each row, heading or paragraph. It includes the
// texts of pictures, but not the descriptions of their marks.
func pageText(page string) string {
	for _, tag := range []string{"style", "script", "desc", "circle"} {
		page = regexp.MustCompile(`(?s)<`+tag+`[ >].*?</`+tag+`>`).ReplaceAllString(page, "")
	}
	page = strings.Join(strings.Fields(page), " ")
	page = strings.NewReplacer("<td", "</td><td", "</th></tr>", "</th></tr>", "</tr>", "</td></tr>").Replace(page) // cells have no end tag
	page = regexp.MustCompile(`(<tr[^>]*>)</td>`).ReplaceAllString(page, "$1")
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

// postsFolder returns a run with one proven posting, one wrong one, and two days.
func postsFolder(t *testing.T) string {
	t.Helper()
	p := newPosts(t, run.Run{
		Started: time.Unix(1_700_000_000, 0).UTC(), Args: []string{"post", "x"}, Policy: "newer",
		Warnings: []string{"a warning"}, Machine: measure.Machine{CPU: "Example CPU"},
		Data: run.Data{
			Source: "made up", Decoded: &run.DecodeCounts{Products: 3, Values: 4321, Lost: 1},
		}, Archives: []run.Archive{{Product: "PostgreSQL", Version: "15"}},
	})
	times := run.PostTimes{
		Total: 2 * time.Second,
		Latency: run.Latency{
			Mean:        300 * time.Millisecond,
			Percentiles: measure.Percentiles{P50: 200 * time.Millisecond, P95: time.Second, P99: time.Second, Max: 1500 * time.Millisecond},
		},
	}
	m := run.Measured{
		Total: 3 * time.Second, CPU: time.Second,
		Posting: &run.Posting{
			Products: 3, Values: 4321, Parse: times, Post: times, RowsRead: 7, RowsInserted: 4321, RowsUpdated: -1,
			TableBytes: 1e6, IndexBytes: -1, DeadRows: 4, LogBytes: 5e6,
		},
	}
	day := func(k int) string { return time.Unix(1_700_000_000, 0).UTC().AddDate(0, 0, k).Format(time.DateOnly) }
	for _, design := range []string{"array", "single"} {
		for _, method := range []string{"bulk", "upsert"} {
			p.add(run.PostCell("postgres", "quiet", "insert", design, method, "posters", 1, "together", 2), m, true)
		}
		p.add(run.PostCell("postgres", "quiet", "update", design, "bulk", "posters", 1, "together", 2), m, false)
		for i, phase := range []string{"maintenance on", "maintenance off"} {
			for k := range 3 {
				m := run.Measured{Posting: &run.Posting{Products: 3, Values: 4321, Post: times, Maintained: i == 0}}
				p.add(run.PostCell("postgres", "live", phase, design, "bulk", "day", day(k)), m, true)
			}
		}
	}
	p.add(run.PostCell("postgres", "live", "maintenance on", "single", "upsert", "day", day(0)), m, false)
	return p.close()
}

// postFolder is the folder of a run of postings that the test writes.
type postFolder struct {
	*testing.T
	*run.Folder
}

func newPosts(t *testing.T, r run.Run) postFolder {
	t.Helper()
	r.Workload = run.PostWorkload
	f, err := run.Create(t.TempDir(), r)
	if err != nil {
		t.Fatal(err)
	}
	return postFolder{t, f}
}

func (f postFolder) add(c run.Cell, m run.Measured, right bool) {
	d := record.Digest{Hi: 1, Records: 4321}
	got := d
	if !right {
		got.Hi++
	}
	p, err := answer.CompareRecords(d, got)
	if err := f.Add(run.Sample{Cell: c}.Judge(&m, p, err)); err != nil {
		f.Fatal(err)
	}
}

func (f postFolder) close() string { return finish(f.T, f.Folder) }

// mixFolder returns a run of mixes with the client overhead, a server that reports its usage, and one wrong point.
func mixFolder(t *testing.T) string {
	t.Helper()
	var all []*point
	for rep := 1; rep <= 6; rep++ {
		for i, n := range []int{1, 2, 4, 8} {
			p := newPoint("postgres", "server", n, rep, []float64{1000, 1900, 3300, 4800}[i]+float64(rep))
			p.Server = &run.ServerLoad{
				Local: true, Used: measure.ProcessLoad{CPU: 10 * time.Second, PeakRSS: 1e9, Read: 1e6, Written: 2e6},
				Counters: []run.Counter{{Name: "commits", Value: 1000}, {Name: "wal", Unit: "bytes", Value: 5e6}}, Waits: []run.SessionWait{
					{Kind: "lock", Event: "Lock:tuple", Sessions: 6}, {Kind: "cpu", Event: "running", Sessions: 2},
				},
			}
			all = append(all, p, newPoint("dry", "memory", n, rep, 1e6), newPoint("sqlite", "embedded", n, rep, 700+float64(rep)))
		}
	}
	bad := newPoint("mariadb", "server", 8, 1, 123456)
	bad = judgedPoint(bad.Sample, bad.Measured, run.Answers{Wrong: 17, Succeeded: 1, Found: 1},
		&os.PathError{Op: "ask", Path: "x", Err: os.ErrInvalid})
	return pointsFolder(t, append(all, bad)...)
}

// TestPages compares the text of every kind of report, on the page and on the terminal, with reviewed goldens.
func TestPages(t *testing.T) {
	for name, folder := range map[string]func(t *testing.T) string{
		"met":    func(t *testing.T) string { r, cells := makeRun(); return writeRun(t, r, cells, reps) },
		"growth": growthFolder, "ycsb": mixFolder, "post": postsFolder, "faults": killsFolder,
		"scan": func(t *testing.T) string {
			made := scanFolder(t)
			made.Run.Scan.Configs = append(made.Run.Scan.Configs, run.ScanConfig{
				Paths: 2, Partitions: 16, Problem: "load: no memory\nthe end of the log", Open: 3 * time.Second, Opens: 2,
			})
			return finish(t, made)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			page := html(t, dir)
			links(t, dir, page)
			words := pageText(page) + "\n=== terminal ===\n" + terminal(t, dir)
			golden(t, name+".txt", words)
		})
	}
}

// joinLines joins the words of a text with single spaces.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// links checks that the target of every link on a page exists.
func links(t *testing.T, dir, page string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`href="([^"#]*)#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		text := page
		if m[1] != "" {
			other, err := os.ReadFile(filepath.Join(dir, escape.UnescapeString(m[1])))
			if err != nil {
				t.Error(err)
			}
			text = string(other)
		}
		if !strings.Contains(text, `id="`+m[2]+`"`) {
			t.Errorf("%s#%s leads nowhere", m[1], m[2])
		}
	}
}
