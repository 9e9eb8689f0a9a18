package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"barograph/report/plot"
	"barograph/run"
)

// recorded2006 are values a second of the report of 14 April 2006, its test 1:
// PostgreSQL 7.4.8 on the report's own server, and Informix 9.3, of which it
// gives 150 to 162 for all four scenarios.
func recorded2006(design, scenario string) float64 {
	array := strings.HasPrefix(design, "array")
	switch {
	case design != "single" && !array:
		return math.NaN()
	case array && scenario == "insert":
		return 32.0
	case array && scenario == "update":
		return 30.0
	case scenario == "insert":
		return 83.4
	case scenario == "update":
		return 67.0
	}
	return math.NaN()
}

const note2006 = "2006: values a second of test 1 of the report of 14 April 2006 on PostgreSQL 7.4.8; Informix 9.3 had 150 to 162 in all four scenarios. " +
	"With noise both lost 17 to 60 %. Its machine, its products and its network are not ours: the column says how far things have come, not which database is better."

// postPage is what the template shows.
type postPage struct {
	page
	Run      *run.Posts
	Facts    []fact
	Sentence string
	Rates    table
	Rows     table
	Days     table
	LogStats string
	Pictures []postPicture
}

type postPicture struct {
	Title string
	SVG   []byte
}

// WritePosts writes report.html of a run of the workload post and returns its path.
func WritePosts(dir string) (string, error) {
	r, err := run.ReadPosts(dir)
	if err != nil {
		return "", err
	}
	p := &postPage{page: page{Title: "Barograph · post · " + filepath.Base(dir)}, Run: r, Sentence: postSentence(r)}
	if err := p.assets(); err != nil {
		return "", err
	}
	p.Facts = []fact{
		{"Engine", r.Product + " " + r.Version}, {"Products", r.Feed}, {"Decoded", postRead(r)}, {"Policy", r.Policy},
		{"Machine", r.Machine.CPU}, {"Command", "barograph " + strings.Join(r.Args, " ")},
	}
	p.Rates, p.Rows, p.Days = postRates(r), postRows(r), postDays(r)
	var lines strings.Builder
	for i := range r.Cells {
		logStats(&lines, &r.Cells[i])
	}
	p.LogStats = lines.String()
	if p.Pictures, err = postPictures(r); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := render(&b, "post.html", p); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// PostFolder reports whether dir holds a run of the workload post.
func PostFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, run.PostFile))
	return err == nil
}

// PostText prints the tables for a terminal.
func PostText(w io.Writer, r *run.Posts) error {
	for i := range r.Cells {
		logStats(w, &r.Cells[i])
	}
	rates, rows, days := postRates(r), postRows(r), postDays(r)
	for _, t := range []*table{&rates, &rows, &days} {
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.write(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, x := range r.Warnings {
		fmt.Fprintln(w, x)
	}
	fmt.Fprintln(w, postRead(r))
	fmt.Fprintln(w, postSentence(r))
	return nil
}

// postRead says what decoding came to.
func postRead(r *run.Posts) string {
	d := r.Read
	return fmt.Sprintf("%s products: %s values, %s lost; %s errors, %s warnings", count(d.Products), count(d.Values), count(d.Lost), count(d.Errors), count(d.Warnings))
}

// logStats prints the lines of the report's log_stats: averages in seconds with
// two decimals, the longest in whole seconds.
func logStats(w io.Writer, c *run.PostCell) {
	if c.PostFigures == nil || c.Products == 0 {
		return
	}
	fmt.Fprintf(w, "# %s %s, %s, %s\n", c.Test, c.Scenario, c.Design, c.Method)
	fmt.Fprintf(w, "Number of Products: %d\nNumber of records Processed: %d\n", c.Products, c.Values)
	fmt.Fprintf(w, "Avg Parse time: %.2f\nAvg Post time: %.2f\n", c.Parse.Mean.Seconds(), c.Post.Mean.Seconds())
	fmt.Fprintf(w, "Max Parse Time: %d\nMax Post Time: %d\n\n", int(c.Parse.Max.Seconds()), int(c.Post.Max.Seconds()))
}

func postRates(r *run.Posts) table {
	t := table{Title: "Posting rates", Wide: true, Note: note2006, Head: []column{
		{Name: "test", Text: true}, {Name: "scenario", Text: true}, {Name: "design", Text: true}, {Name: "method", Text: true}, {Name: "posters"}, {Name: "together"},
		{Name: "messages"}, {Name: "values"}, {Name: "avg parse", Unit: "ms"}, {Name: "avg post", Unit: "ms"}, {Name: "p50", Unit: "ms"}, {Name: "p95", Unit: "ms"},
		{Name: "p99", Unit: "ms"}, {Name: "max post", Unit: "ms"}, {Name: "values/s"}, {Name: "2006", Unit: "values/s"},
	}}
	for i := range r.Cells {
		c := &r.Cells[i]
		head := []cell{text(c.Test), text(c.Scenario), text(c.Design), text(c.Method), text(count(c.Posters)), text(count(c.Together))}
		if c.PostFigures == nil {
			t.Rows = append(t.Rows, row{Cells: unproven(head, len(t.Head), len(t.Head)-2)})
			continue
		}
		if c.Products == 0 {
			continue
		}
		m := func(d time.Duration) cell { return value(ms(d), number(ms(d))) }
		old := recorded2006(c.Design, c.Scenario)
		if c.Test != "quiet" {
			old = math.NaN()
		}
		t.Rows = append(t.Rows, row{Cells: append(head, text(count(c.Products)), text(count(c.Values)),
			m(c.Parse.Mean), m(c.Post.Mean), m(c.Post.P50), m(c.Post.P95), m(c.Post.P99), m(c.Post.Max), value(c.Rate(), number(c.Rate())), text(number(old)))})
	}
	return t
}

// unproven fills a row with dashes, and says in one column what is the matter.
func unproven(head []cell, columns, at int) []cell {
	for i := len(head); i < columns; i++ {
		c := dim(none)
		if i == at {
			c = cell{Text: "wrong", Class: "bad"}
		}
		head = append(head, c)
	}
	return head
}

func postRows(r *run.Posts) table {
	t := table{Title: "Rows and bytes", Wide: true, Note: "Table: with its primary key where the engine keeps rows in it. WAL: bytes of the write-ahead log, written meanwhile, by others too. " +
		"Of the test delete, rows updated are the rows that were deleted, and the time is that of the statements. Proof: what the stored values were held against.", Head: []column{
		{Name: "test", Text: true}, {Name: "scenario", Text: true}, {Name: "design", Text: true}, {Name: "method", Text: true}, {Name: "rows read"}, {Name: "inserted"},
		{Name: "updated"}, {Name: "table"}, {Name: "index"}, {Name: "dead rows"}, {Name: "WAL"}, {Name: "wall", Unit: "s"}, {Name: "client CPU", Unit: "s"}, {Name: "retries"}, {Name: "proof", Text: true},
	}}
	size := func(n int64) cell {
		if n < 0 {
			return dim(none)
		}
		return value(float64(n), byteSize(float64(n)))
	}
	told := func(n int64) cell {
		if n < 0 {
			return dim(none)
		}
		return value(float64(n), count(n))
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		head := []cell{text(c.Test), text(c.Scenario), text(c.Design), text(c.Method)}
		if c.PostFigures == nil {
			t.Rows = append(t.Rows, row{Cells: unproven(head, len(t.Head), len(t.Head)-1)})
			continue
		}
		t.Rows = append(t.Rows, row{Cells: append(head, text(count(c.RowsRead)), told(c.RowsInserted), told(c.RowsUpdated),
			size(c.TableBytes), size(c.IndexBytes), told(c.DeadRows), size(c.LogBytes), text(number(c.Wall.Seconds())), text(number(c.ClientCPU.Seconds())), text(count(c.Retries)),
			cell{Text: c.Proof, Class: "ok"})})
	}
	return t
}

func postDays(r *run.Posts) table {
	t := table{Title: "The live feed, day by day", Wide: true, Note: "Late: products that were begun more than a minute of the feed's time after their time.", Head: []column{
		{Name: "phase", Text: true}, {Name: "day", Text: true}, {Name: "design", Text: true}, {Name: "method", Text: true}, {Name: "messages"}, {Name: "values"},
		{Name: "avg post", Unit: "ms"}, {Name: "p99", Unit: "ms"}, {Name: "max post", Unit: "ms"}, {Name: "values/s"}, {Name: "late"},
	}}
	for i := range r.Days {
		d := &r.Days[i]
		m := func(x time.Duration) cell { return value(ms(x), number(ms(x))) }
		head := []cell{text(d.Phase), text(d.Day.Format(time.DateOnly)), text(d.Design), text(d.Method), text(count(d.Products)), text(count(d.Values))}
		if d.Proof == "" {
			t.Rows = append(t.Rows, row{Cells: unproven(head, len(t.Head), len(t.Head)-2)})
			continue
		}
		t.Rows = append(t.Rows, row{Cells: append(head, m(d.Post.Mean), m(d.Post.P99), m(d.Post.Max), value(d.Rate(), number(d.Rate())), text(count(d.Late)))})
	}
	return t
}

// postSentence says what was done and proven. It has no rates: each is of one
// run, without an interval, so that no rank of methods could be told from noise.
func postSentence(r *run.Posts) string {
	all, proven := len(r.Cells)+len(r.Days), 0
	for i := range r.Cells {
		if r.Cells[i].Proof != "" {
			proven++
		}
	}
	for i := range r.Days {
		if r.Days[i].Proof != "" {
			proven++
		}
	}
	s := fmt.Sprintf("%s %s: of %d postings %d left in the tables what the reference has", r.Product, r.Version, all, proven)
	if proven < all {
		return s + "; the others are wrong, and have no figures."
	}
	return s + "; each was timed once, so that no rate has an interval."
}

// postPictures draws rates and times of products, and rates over days.
func postPictures(r *run.Posts) (out []postPicture, err error) {
	add := func(title string, svg []byte, drawn error) {
		if drawn != nil {
			err = drawn
			return
		}
		out = append(out, postPicture{title, svg})
	}
	rates, times := plot.HorizontalBars{Unit: "/s", Log: true}, plot.HorizontalBars{Unit: "ms", Log: true, Unsorted: true}
	rates.Title, rates.XLabel = "Values posted a second", "values a second"
	times.Title, times.XLabel = "Time of a product", "ms"
	at := map[string]int{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.PostFigures == nil || c.Products == 0 {
			continue
		}
		name := c.Test + ", " + c.Scenario
		k, ok := at[name]
		if !ok {
			k = len(rates.Panels)
			at[name] = k
			rates.Panels = append(rates.Panels, plot.BarPanel{Title: name})
			times.Panels = append(times.Panels, plot.BarPanel{Title: name})
		}
		rates.Panels[k].Bars = append(rates.Panels[k].Bars, plot.Bar{Label: c.Design + " " + c.Method, Group: c.Design, Value: plot.Value{V: c.Rate()}})
		for _, x := range []struct {
			name string
			d    time.Duration
		}{{"median", c.Post.P50}, {"95 %", c.Post.P95}, {"longest", c.Post.Max}} {
			times.Panels[k].Bars = append(times.Panels[k].Bars, plot.Bar{Label: c.Design + " " + c.Method + ", " + x.name, Group: x.name, Value: plot.Value{V: ms(x.d)}})
		}
	}
	if len(rates.Panels) > 0 {
		svg, drawn := rates.SVG()
		add("Rates", svg, drawn)
		svg, drawn = times.SVG()
		add("How long products take", svg, drawn)
	}
	if len(r.Days) > 0 {
		svg, drawn := postDaysPicture(r)
		add("The live feed", svg, drawn)
	}
	return out, err
}

// postDaysPicture draws the posting rate over all days of the programme, one
// phase behind the other, with the maintenance of each night and the begin of
// each phase marked.
func postDaysPicture(r *run.Posts) ([]byte, error) {
	p := plot.DieOff{Linear: true, LogAbove: 10}
	p.Title, p.YLabel, p.XLabel = "Posting rate of the live feed, day by day", "values a second", "day of posting"
	p.Caption = "Every phase posts the same days of the feed, with other values. Ticks at the bottom: maintenance (VACUUM with ANALYZE, or what the engine has for it) after a day; dashed: a phase begins."
	at, began := map[string]int{}, map[float64]bool{}
	for i := range r.Days {
		d := &r.Days[i]
		if d.Proof == "" {
			continue
		}
		name := d.Design + " " + d.Method
		k, ok := at[name]
		if !ok {
			k = len(p.Curves)
			at[name] = k
			p.Curves = append(p.Curves, plot.LeadCurve{Name: name})
		}
		c := &p.Curves[k]
		day := float64(len(c.Lead) + 1)
		if first := len(c.Lead) == 0 || r.Days[i-1].Phase != d.Phase; first && !began[day-.5] {
			began[day-.5] = true
			p.Moments = append(p.Moments, plot.Moment{At: day - .5, Label: d.Phase})
		}
		if d.Upkeep && !began[day+.4] {
			began[day+.4] = true
			p.Moments = append(p.Moments, plot.Moment{At: day + .4})
		}
		c.Lead, c.Value = append(c.Lead, day), append(c.Value, d.Rate())
	}
	return p.SVG()
}
