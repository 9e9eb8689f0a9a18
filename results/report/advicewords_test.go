package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// exact returns an estimate without an interval.
func exact(v float64) measure.Estimate { return measure.Estimate{Value: v, Low: v, High: v} }

// choiceOf returns a choice with a score and the time of a query in seconds, with an interval of ±50 %.
func choiceOf(engine, place string, score float64) advise.Choice {
	query := measure.Estimate{Value: score / 100, Low: score / 200, High: score * 3 / 200}
	return advise.Choice{
		Engine: engine, Design: "wide", Flavour: "sql", Score: exact(score), Archive: run.Archive{Engine: engine, Place: place, URL: engine + ":x"},
		Figures: map[advise.Criterion]measure.Estimate{
			advise.QueryTime: query, advise.FullLoad: exact(90), advise.Disk: exact(5e6 * score),
		},
	}
}

// adviserOf returns an adviser on a study of some sizes, with weights for queries and disks.
func adviserOf(a advise.Advice, sizes int) *adviser {
	a.Counted = map[advise.Criterion]float64{advise.QueryTime: 5, advise.Disk: 1}
	if a.Weights == nil {
		a.Weights = advise.Weights{"ask": 5, "size": 1}
	}
	s := &advise.Study{}
	for range sizes {
		s.Sizes = append(s.Sizes, advise.Size{Copies: 1, Run: &run.Run{}})
	}
	return &adviser{Advice: &a, study: s}
}

// The headline names the choice and its figures, or the choices that cannot be distinguished, and the cost of the next.
func TestHeadlineOfAdvice(t *testing.T) {
	x, y, z := choiceOf("x", "embedded", 1), choiceOf("y", "embedded", 1), choiceOf("z", "server", 2)
	unknown := x
	unknown.Score.High = math.Inf(1)
	excluded := advise.Choice{Engine: "w", Design: "wide", Excluded: "its data are incomplete"}
	figures := "a query of the mix takes 10.0 ms (5.00 – 15.0), the archive takes 5.00 MB on disk."
	for name, c := range map[string]struct {
		choices []advise.Choice
		tied    int
		want    string
	}{
		"one is the best": {
			[]advise.Choice{x, z, excluded},
			1,
			"Choose x · wide · sql, because " + figures + " The next, z · wide · sql, is 2.00 times as costly by the weights.",
		},
		"the only one": {[]advise.Choice{x, excluded}, 1, "Only x · wide · sql can be recommended: " + figures},
		"by medians": {
			[]advise.Choice{unknown, z},
			2,
			"The repetitions are too few to distinguish the choices (use --reps 30). By the medians, x · wide · sql is the best: " + figures +
				" The next, z · wide · sql, is 2.00 times as costly by the weights.",
		},
		"two are tied": {
			[]advise.Choice{x, y, z},
			2,
			"x · wide · sql and y · wide · sql cannot be distinguished by these measurements. Choose the one you know; x · wide · sql has the better figures: " +
				figures + " The next, z · wide · sql, is 2.00 times as costly by the weights.",
		},
		"all are tied": {
			[]advise.Choice{x, z},
			2,
			"x · wide · sql and z · wide · sql cannot be distinguished by these measurements. Choose x · wide · sql, which needs less to run: " +
				figures + " The next, z · wide · sql, is 2.00 times as costly by the weights.",
		},
	} {
		if got := adviserOf(advise.Advice{Choices: c.choices, Tied: c.tied}, 1).headline(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	none := adviserOf(advise.Advice{Choices: []advise.Choice{excluded}}, 1)
	if got := none.paragraphs(); len(got) != 1 || withoutLinks(got[0]) != prose("no choice") {
		t.Errorf("%v", got)
	}
}

// The paragraphs have the weights, what the choice and the next one need, and what would change the choice.
func TestParagraphsOfAdvice(t *testing.T) {
	x, z := choiceOf("x", "embedded", 1), choiceOf("z", "server", 2)
	x.Archive.License, z.Archive.Install = "MIT", "z-server"
	a := adviserOf(advise.Advice{Choices: []advise.Choice{x, z}, Tied: 1, BestWithMoreData: 0}, 2)
	got := lists.Map(a.paragraphs(), withoutLinks)
	want := []string{
		"The weights are ask=5,load=0,size=1,growth=0,recover=0.",
		"x · wide · sql needs nothing besides Barograph. Its license: MIT. The next choice, z · wide · sql, is 2.00 times as costly by the weights: " +
			"a query of the mix takes 20.0 ms (10.0 – 30.0), the archive takes 10.0 MB on disk. It needs one server (z-server).",
		"With four times the subsets in the engine the choice is the same. The choice stays the same if any one weight is a tenth to ten times as large.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if link := a.cost(&a.Choices[1], &a.Choices[0]).Link; link != "#choice-.z.wide.sql" {
		t.Error(link)
	}
}

// What would change the advice: other weights, other data, and what has no weight.
func TestChangesOfAdvice(t *testing.T) {
	x, y, z := choiceOf("x", "embedded", 1), choiceOf("y", "embedded", 2), choiceOf("z", "server", 3)
	for _, c := range []*advise.Choice{&x, &z} {
		c.Figures[advise.Growth] = exact(1)
	}
	excluded := advise.Choice{Engine: "w", Design: "wide", Flavour: "sql", Excluded: "its data are incomplete"}
	all := []advise.Choice{x, y, z}
	const stays = "The choice stays the same if any one weight is a tenth to ten times as large."
	for name, c := range map[string]struct {
		advise.Advice
		sizes int
		want  []string
	}{
		"one size": {advise.Advice{Choices: all, Tied: 1, BestWithMoreData: -1}, 1, []string{prose("no choice of other data"), stays}},
		"an unknown growth": {
			advise.Advice{Choices: all, Tied: 1, BestWithMoreData: -1},
			2,
			[]string{fmt.Sprintf(prose("growth not determined"), "y · wide"), stays},
		},
		"the same with more data":      {advise.Advice{Choices: all, Tied: 2, BestWithMoreData: 1}, 2, []string{"With four times the subsets in the engine the choice is the same.", stays}},
		"another choice for more data": {advise.Advice{Choices: all, Tied: 1, BestWithMoreData: 1}, 2, []string{"With four times the subsets in the engine it is y · wide · sql.", stays}},
		"all tied":                     {advise.Advice{Choices: all, Tied: 3, BestWithMoreData: 0}, 2, []string{"With four times the subsets in the engine the choice is the same."}},
		"other weights": {
			advise.Advice{Choices: append(slices.Clone(all), excluded), Tied: 1, Changes: []advise.Change{{Weight: "ask", Factor: 0.5, To: 2}, {Weight: "size", Factor: 4, To: 1}}},
			2,
			[]string{
				"With four times the subsets in the engine the choice is the same.",
				"If the weight ask is below 2.50 (0.500 times as much), the choice is z · wide · sql.",
				"If the weight size is above 4.00 (4.00 times as much), the choice is y · wide · sql.",
				"w · wide · sql is excluded: its data are incomplete.",
			},
		},
		"not measured for all": {
			advise.Advice{Choices: all, Tied: 1, BestWithMoreData: 0, Missing: []advise.Criterion{advise.Growth, advise.NodeFailure}, Weights: advise.Weights{"ask": 5, "recover": 1}},
			2,
			[]string{
				"Growth has no weight, because it was not measured for y · wide.",
				"Killed node has no weight, because it was not measured for x · wide, y · wide and z · wide.",
				"With four times the subsets in the engine the choice is the same.", stays,
			},
		},
		"no node failures": {
			advise.Advice{Choices: all, Tied: 1, BestWithMoreData: 0, Weights: advise.Weights{"recover": 1}},
			2,
			[]string{"With four times the subsets in the engine the choice is the same.", stays, prose("no weight of node failures")},
		},
	} {
		if got := adviserOf(c.Advice, c.sizes).changes(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Each figure has its unit, its interval if it has one, and a link to the measurement.
func TestFiguresOfAChoice(t *testing.T) {
	c := choiceOf("x", "server", 1)
	c.Figures[advise.Growth] = measure.Estimate{Value: 1.5, Low: 1.25, High: 2}
	c.Figures[advise.IncrementalLoad], c.Figures[advise.NodeFailure] = exact(0.25), exact(150)
	a := adviserOf(advise.Advice{Choices: []advise.Choice{c}}, 2)
	a.dir, a.smallestPage = "runs/study", "x1/report.html"
	a.study.FaultFolders = []string{"runs/faults"}
	a.study.NodeFailures = []run.Sample{{Cell: run.NewCell("faults", "x", "design", "wide", "during", "load"), Kill: &run.Kill{}}}
	for by, want := range map[advise.Criterion]Cell{
		advise.QueryTime:       {Text: "10.0 ms", Sub: "5.00 – 15.0", Value: 0.01, Link: "x1/report.html#configuration-.x.wide.sql"},
		advise.FullLoad:        {Text: "90.0 s", Value: 90, Link: "x1/report.html#archive-.x.wide."},
		advise.IncrementalLoad: {Text: "250 ms", Value: 0.25, Link: "#archive-.x.wide."},
		advise.Disk:            {Text: "5.00 MB", Value: 5e6, Link: "x1/report.html#archive-.x.wide."},
		advise.Growth:          {Text: "1.50 times", Sub: "1.25 – 2.00", Value: 1.5, Link: "#laws"},
		advise.NodeFailure:     {Text: "2 min 30 s", Value: 150},
	} {
		got := a.figure(&c, by)
		if got.Text != want.Text || got.Sub != want.Sub || got.Value != want.Value || !got.Known || by != advise.NodeFailure && got.Link != want.Link {
			t.Errorf("%s: %+v, want %+v", by, got, want)
		}
		delete(c.Figures, by)
		if got := a.figure(&c, by); got.Text != none || got.Known || got.Class != "dim" {
			t.Errorf("without %s: %+v", by, got)
		}
	}
}

func TestNeedsOfAChoice(t *testing.T) {
	nodes := func(n int) *run.Server { return &run.Server{Nodes: n} }
	for _, c := range []struct {
		archive       run.Archive
		servers, want string
	}{
		{run.Archive{Place: "embedded", Install: "ignored"}, "embedded", "nothing besides Barograph"},
		{run.Archive{Place: "server"}, "one server", "one server"},
		{run.Archive{Place: "server", Server: nodes(1), Install: "pg"}, "one server", "one server (pg)"},
		{run.Archive{Place: "server", Server: nodes(2)}, "a cluster of 2 nodes", "a cluster of 2 nodes"},
		{run.Archive{Place: "server", Server: nodes(3), Install: "pg"}, "a cluster of 3 nodes", "a cluster of 3 nodes (pg)"},
	} {
		x := &advise.Choice{Archive: c.archive}
		if s, n := serversInWords(x), needs(x); s != c.servers || n != c.want {
			t.Errorf("%q, %q; want %q, %q", s, n, c.servers, c.want)
		}
	}
}

// The table lists all choices with the weights of the measured criteria. The tied ones are bold, and the reason replaces
// the cost of an excluded one.
func TestTableOfChoices(t *testing.T) {
	x, y := choiceOf("x", "embedded", 1), choiceOf("y", "server", 2)
	x.Archive.License, y.Score = "MIT", measure.Estimate{Value: 2, Low: 1.5, High: 3}
	delete(y.Figures, advise.FullLoad)
	a := adviserOf(advise.Advice{Choices: []advise.Choice{x, y, {Engine: "w", Design: "wide", Flavour: "keys", Excluded: "no"}}, Tied: 1}, 1)
	tb := a.table()
	compareRows(t, "choices", tb,
		"x | wide | sql | 1.00 | 10.0 ms (5.00 – 15.0) | 90.0 s | 5.00 MB | embedded | MIT",
		"y | wide | sql | 2.00 (1.50 – 3.00) | 20.0 ms (10.0 – 30.0) | — | 10.0 MB | one server | —",
		"w | wide | keys | excluded | — | — | — | one server | —",
	)
	names := lists.Map(tb.Head, func(c Column) string { return strings.TrimSpace(c.Name + " " + c.Unit) })
	if want := []string{"engine", "design", "flavour", "cost ×", "questions weight 5.00", "full load weight 0", "disk weight 1.00", "requirements", "license"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if got := lists.Map(tb.Rows, func(r Row) string { return r.Class + " " + r.ID }); !slices.Equal(got, []string{"best choice-.x.wide.sql", " choice-.y.wide.sql", "off choice-.w.wide.keys"}) {
		t.Errorf("%q", got)
	}
}

// The first section has a picture of all eligible choices and a table of the first ten.
func TestSectionOfTheChoice(t *testing.T) {
	for name, c := range map[string]struct {
		n, excluded, unloaded, rows, dots int
		tableNote, note                   string
	}{
		"ten":           {10, 0, 0, 10, 10, "", ""},
		"eleven":        {11, 0, 0, 10, 11, "1 more configuration: see the section “How the choice was made” of the report.", ""},
		"some excluded": {2, 3, 0, 2, 2, "3 more configurations: see the section “How the choice was made” of the report.", ""},
		"one unloaded":  {2, 0, 1, 2, 2, "", "Not in the picture, because their load was not measured: e00 · wide."},
		"none loaded":   {2, 0, 2, 2, 0, "", "There is no picture of query and load times: no load was measured in this run."},
	} {
		var choices []advise.Choice
		for i := range c.n {
			k := choiceOf(fmt.Sprintf("e%02d", i), "embedded", float64(1+i))
			if i < c.unloaded {
				delete(k.Figures, advise.FullLoad)
			}
			choices = append(choices, k)
		}
		for range c.excluded {
			choices = append(choices, advise.Choice{Excluded: "no"})
		}
		s := adviserOf(advise.Advice{Choices: choices, Tied: 1}, 1).chosen()
		if len(s.Table.Rows) != c.rows || s.Table.Note != c.tableNote || strings.Join(s.Notes, " ") != c.note || len(s.Pictures) != min(c.dots, 1) {
			t.Errorf("%s: %d rows, %q, %q, %d pictures", name, len(s.Table.Rows), s.Table.Note, s.Notes, len(s.Pictures))
		}
		if c.dots == 0 {
			continue
		}
		d, ok := s.Pictures[0].(plot.Dots)
		if !ok || len(d.Dots) != c.dots {
			t.Fatalf("%s: %+v", name, s.Pictures)
		}
		last := d.Dots[c.dots-1]
		if want := (plot.Dot{
			Label: fmt.Sprintf("e%02d · wide", c.n-1), Group: fmt.Sprintf("e%02d", c.n-1), X: 90, Y: 10 * float64(c.n), Size: 5e6 * float64(c.n),
			Note: fmt.Sprintf("e%02d · wide · sql: query %s ms, load 90.0 s, %s", c.n-1, number(10*float64(c.n)), byteSize(5e6*float64(c.n))),
		}); last != want || !d.Dots[0].Bold {
			t.Errorf("%s: %+v, want %+v", name, last, want)
		}
		if row := rowTexts(s.Table)[0]; c.unloaded == 0 && row != "e00 · wide · sql | 10.0 (5.00 – 15.0) | 90.0 s | 5.00 MB | embedded" {
			t.Errorf("%s: %s", name, row)
		}
	}
}

// The commands create, query and verify the recommended archive.
func TestCommandsOfAdvice(t *testing.T) {
	embedded, server := choiceOf("x", "embedded", 1), choiceOf("pg", "server", 1)
	server.Archive.Server = &run.Server{Nodes: 1}
	for name, c := range map[string]struct {
		choice advise.Choice
		run    run.Run
		prefix string
		want   []string
	}{
		"files and cases": {
			embedded,
			run.Run{Data: run.Data{Paths: []string{"my data", "b"}, Subset: "s"}, Cases: []run.Case{{Name: "q1"}, {Name: "q2"}}},
			"cases.yaml#",
			[]string{
				"# keep it", "barograph load 'my data' b --engine x:x --design wide --subset s",
				"barograph ask 'cases.yaml#q1' --engine x:x --design wide --subset s --flavour sql", "barograph verify x:x",
			},
		},
		"a server": {
			server,
			run.Run{Data: run.Data{Subset: "s"}},
			"",
			[]string{"# keep it", "barograph lab up pg   # a temporary server; for production use your own", "barograph verify pg:x"},
		},
	} {
		a := adviserOf(advise.Advice{Choices: []advise.Choice{c.choice}}, 1)
		a.study.Sizes[0].Run, a.casePrefix = &c.run, c.prefix
		if got := a.commands(); got != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if got := seconds(0.25); got != elapsed(250*time.Millisecond) {
		t.Error(got)
	}
}

// If no archive can be recommended, the report has the reasons, but no choice, headline or commands.
func TestNothingToRecommend(t *testing.T) {
	r, cells := makeRun()
	r.Archives = r.Archives[5:] // of an incomplete archive
	cells = slices.DeleteFunc(cells, func(c cellPlan) bool { return c.Engine != "mongodb" })
	out, err := Open(writeRun(t, r, cells, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range out.Sections {
		if s.ID == "choice" || s.ID == "advice" && (s.Text != "" || len(s.Table.Rows) != 1) {
			t.Errorf("%+v", s)
		}
	}
	if slices.ContainsFunc(out.Answers, func(w Words) bool { return w.Class == "answer" }) || out.Data["advice"] == nil {
		t.Errorf("%+v", out.Answers)
	}
}
