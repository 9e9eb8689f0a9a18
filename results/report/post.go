package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// posts contains the postings of a run, and the days of its live feed.
type posts struct {
	product     string
	cells, days []*posting
}

// posting is a sample with the values of its cell.
type posting struct {
	run.Sample
	run.Measured                   // Posting is nil if nothing is proven
	Test, Scenario, Design, Method string
}

// postsOf separates the postings of a run from the days of its live feed.
func postsOf(r *run.Run, samples []run.Sample) *posts {
	out := &posts{}
	if len(r.Archives) > 0 {
		out.product = r.Archives[0].Product + " " + r.Archives[0].Version
	}
	for _, s := range samples {
		c := s.Cell
		p := &posting{Sample: s, Test: c.Value("test"), Scenario: c.Value("scenario")}
		p.Design, p.Method = c.Value("design"), c.Value("method")
		p.Measured = *cmp.Or(s.Measured(), &run.Measured{})
		if c.Value("day") != "" {
			out.days = append(out.days, p)
		} else {
			out.cells = append(out.cells, p)
		}
	}
	return out
}

// openPosts reports a run of the workload post.
func openPosts(dir string, of *run.Run, samples []run.Sample) *Report {
	r := postsOf(of, samples)
	out := ofRun(dir, of, "How fast does each engine post river data?")
	out.Name, out.Data = "post · "+filepath.Base(dir), map[string]any{"run": of, "samples": samples}
	out.Answers = append(out.Answers, headline("%s", postSentence(r)))
	d := cmp.Or(of.Data.Decoded, &run.DecodeCounts{})
	decoded := fmt.Sprintf("%s: %s, %s lost; %s, %s",
		several(d.Products, "product"), several(d.Values, "value"), count(d.Lost), several(d.Errors, "error"), several(d.Warnings, "warning"))
	facts := []Fact{{"Engine", r.product}, {"Products", of.Data.Source}, {"Decoded", decoded}, {"Policy", of.Policy}}
	out.Facts = slices.Concat(facts, runFacts(of), []Fact{{"Command", commandLine(of.Args)}})
	var lines strings.Builder
	for _, c := range r.cells {
		logStats(&lines, c)
	}
	out.Sections = filled(
		Section{ID: "2006", Title: "The report of 2006 next to this run", Terminal: true, Table: post2006(r)},
		Section{ID: "rates", Title: "Posting rates", Terminal: true, Table: postRates(r)},
		Section{ID: "days", Title: "The live feed, day by day", Terminal: true, Table: postDays(r)},
		Section{ID: "pictures", Title: "Pictures", Pictures: postPictures(r)},
		Section{ID: "rows", Title: "Rows and bytes", Terminal: true, Table: postRows(r)},
		Section{ID: "logstats", Title: "log_stats", Terminal: true, Words: explain("log_stats"), Text: lines.String()})
	schema := Section{ID: "designs", Title: "The tables", Words: explain("schema of postings")}
	out.Sections = append(out.Sections, schema)
	return out
}

// logStats prints the lines of log_stats, a script of the report of 2006: averages in seconds with two decimals, maxima
// in integer seconds.
func logStats(w io.Writer, c *posting) {
	if c.Posting == nil || c.Products == 0 {
		return
	}
	fmt.Fprintf(w, "# %s %s, %s, %s\n", c.Test, c.Scenario, c.Design, c.Method)
	fmt.Fprintf(w, "Number of Products: %d\nNumber of records Processed: %d\n", c.Products, c.Values)
	fmt.Fprintf(w, "Avg Parse time: %.2f\nAvg Post time: %.2f\n", c.Parse.Mean.Seconds(), c.Post.Mean.Seconds())
	fmt.Fprintf(w, "Max Parse Time: %d\nMax Post Time: %d\n\n", int(c.Parse.Max.Seconds()), int(c.Post.Max.Seconds()))
}

// postRates lists the times of products and the rates of values.
func postRates(r *posts) *Table {
	t := table("test", "scenario", "design", "method", "posters", "messages per commit", "messages", "values",
		"avg parse (ms)", "avg post (ms)", "p50 (ms)", "p95 (ms)", "p99 (ms)", "max post (ms)", "values/s")
	for _, c := range r.cells {
		posters, perCommit := countCell(int(c.Cell.Number("posters"))), countCell(int(c.Cell.Number("together")))
		cells := append(texts(c.Test, c.Scenario, c.Design, c.Method), posters, perCommit)
		if c.Posting == nil {
			t.addWrong(cells, len(t.Head)-1)
			continue
		}
		if c.Products == 0 {
			continue
		}
		t.add("", append(cells, countCell(c.Products), countCell(c.Values), millis(c.Parse.Mean), millis(c.Post.Mean),
			millis(c.Post.P50), millis(c.Post.P95), millis(c.Post.P99), millis(c.Post.Max), numeric(c.Rate()))...)
	}
	return t
}

// addWrong adds a row for an unproven result: it has no figures, and the given column contains "wrong".
func (t *Table) addWrong(cells []Cell, column int) {
	for len(cells) < column {
		cells = append(cells, dim(none))
	}
	t.add("", append(cells, bad("wrong"))...)
}

// postRows lists the rows and bytes that the postings read and wrote.
func postRows(r *posts) *Table {
	t := table("test", "scenario", "design", "method", "rows read", "inserted", "updated", "table", "index", "dead rows",
		"WAL", "wall (s)", "client CPU (s)", "retries", "proof")
	t.Note = prose("posted rows")
	for _, c := range r.cells {
		cells := texts(c.Test, c.Scenario, c.Design, c.Method)
		if c.Posting == nil {
			t.addWrong(cells, len(t.Head)-1)
			continue
		}
		t.add("", append(cells, countCell(c.RowsRead), countCell(c.RowsInserted), countCell(c.RowsUpdated),
			size(c.TableBytes, ""), size(c.IndexBytes, ""), countCell(c.DeadRows), size(c.LogBytes, ""),
			numeric(c.Total.Seconds()), numeric(c.CPU.Seconds()), countCell(c.Retries),
			Cell{Text: string(c.Proof), Class: "ok"})...)
	}
	return t
}

// postDays lists the days of the live feed.
func postDays(r *posts) *Table {
	t := table("phase", "day", "design", "method", "messages", "values", "avg post (ms)", "p99 (ms)", "max post (ms)",
		"values/s", "late")
	t.Note = "Late: products whose posting started more than a minute of the feed's time after they were due. Of the " +
		"service: products that were committed more than a minute of that time after it noticed their file at the latest."
	for _, d := range r.days {
		cells := texts(d.Scenario, d.Cell.Value("day"), d.Design, d.Method)
		if d.Posting == nil {
			t.addWrong(cells, len(t.Head)-2)
			continue
		}
		t.add("", append(cells, countCell(d.Products), countCell(d.Values), millis(d.Post.Mean), millis(d.Post.P99),
			millis(d.Post.Max), numeric(d.Rate()), countCell(d.Late))...)
	}
	return t
}

// postSentence reports how many postings are proven. It contains no rates: each is from one run without an interval, so
// a ranking of methods could not be distinguished from noise.
func postSentence(r *posts) string {
	all := slices.Concat(r.cells, r.days)
	proven := len(lists.Filter(all, func(c *posting) bool { return c.Verdict == run.Equal }))
	s := fmt.Sprintf("%s: after %[3]d of %[2]d postings the tables equal the reference", r.product, len(all), proven)
	switch {
	case len(all) == 0:
		return r.product + ": no posting was recorded."
	case proven < len(all):
		return s + "; the others are wrong and have no figures."
	}
	return s + "; each was timed once, so no rate has an interval."
}

// postPictures draws rates and times of products, and rates over days.
func postPictures(r *posts) (out []Drawing) {
	rates := plot.Rows{
		Frame: plot.Frame{Title: "Values posted a second", XLabel: "values a second", Width: pageWidth},
		Unit:  "/s", Log: true, Sorted: true,
	}
	times := plot.Rows{
		Frame: plot.Frame{Title: "Time to post a product", XLabel: "ms", Width: pageWidth}, Unit: "ms", Log: true,
	}
	for _, c := range r.cells {
		if c.Posting == nil || c.Products == 0 {
			continue
		}
		name, configuration := c.Test+", "+c.Scenario, c.Design+" "+c.Method
		rates.AddRow(name, plot.Row{Label: configuration, Group: c.Design, Value: plot.Value{V: c.Rate()}})
		for _, x := range []struct {
			name string
			d    time.Duration
		}{{"median", c.Post.P50}, {"95 %", c.Post.P95}, {"longest", c.Post.Max}} {
			label := configuration + ", " + x.name
			times.AddRow(name, plot.Row{Label: label, Group: x.name, Value: plot.Value{V: ms(x.d)}})
		}
	}
	if len(rates.Panels) > 0 {
		out = append(out, rates, times)
	}
	if len(r.days) > 0 {
		out = append(out, postDaysPicture(r))
	}
	return out
}

// postDaysPicture draws the posting rate over all days of the live feed, one phase after the other. It marks the
// maintenance after each day and the start of each phase. An unproven day is a gap.
func postDaysPicture(r *posts) Drawing {
	p := plot.Lines{Frame: plot.Frame{
		Title: "Posting rate of the live feed, day by day", YLabel: "values a second", XLabel: "day of posting",
		Width: pageWidth, Caption: prose("posted days"),
	}, Coordinate: plot.Numbers, LogAbove: 10}
	for i, d := range r.days {
		c, rate := p.CurveNamed(d.Design+" "+d.Method, ""), math.NaN()
		day := float64(len(c.Positions) + 1)
		if len(c.Positions) == 0 || r.days[i-1].Scenario != d.Scenario {
			p.Moments = appendNew(p.Moments, plot.Moment{At: day - .5, Label: d.Scenario})
		}
		if d.Posting != nil {
			rate = d.Rate()
		}
		if d.Posting != nil && d.Maintained {
			p.Moments = appendNew(p.Moments, plot.Moment{At: day + .4})
		}
		c.Positions, c.Value = append(c.Positions, day), append(c.Value, rate)
	}
	p.Curves = slices.DeleteFunc(p.Curves, func(c plot.Curve) bool { // none of its days is proven
		return !slices.ContainsFunc(c.Value, func(rate float64) bool { return !math.IsNaN(rate) })
	})
	return p
}
