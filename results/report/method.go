package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// planLimit is the maximum size of a query and its plan on the page, in bytes; keys of a long
// period take megabytes.
const planLimit = 560

// planSection lists the plans by case.
func (f *folder) planSection() Section {
	s := Section{ID: "plans", Title: "Queries and plans"}
	for _, c := range append(slices.Clone(f.cases), run.Case{}) {
		part := Section{Title: cmp.Or(c.Name, "other"), Folded: true}
		for _, p := range f.plans {
			queried := cellKeyOf(p.Cell)
			if queried.Case != c.Name {
				continue
			}
			shown := Section{ID: anchor("plan", queried), Class: "plan", Title: queried.String(), Text: p.Text, Folded: true}
			if c.Name == "" {
				shown.ID, shown.Title = "", p.Name
			}
			if len(p.Text) > planLimit {
				tail := p.Text[len(p.Text)-planLimit/2:]
				shown.Text = strings.ToValidUTF8(p.Text[:planLimit/2], "") + fmt.Sprintf("\n\n… %s left out …\n\n", byteSize(float64(len(p.Text)-planLimit))) + strings.ToValidUTF8(tail, "")
			}
			shown.Prose = [][]Cell{{{Text: "plans/" + p.Name + ".txt", Link: "plans/" + url.PathEscape(p.Name) + ".txt"}}}
			part.Parts = append(part.Parts, shown)
		}
		place := func(s Section) int {
			return slices.IndexFunc(f.configurations, func(w Configuration) bool { return w.String() == s.Title })
		}
		slices.SortStableFunc(part.Parts, func(a, b Section) int { return place(a) - place(b) })
		part.Small = count(len(part.Parts))
		s.Parts = append(s.Parts, filled(part)...)
	}
	if len(s.Parts) == 0 {
		s.Words = []Words{{"none", "This run kept no plans."}}
	}
	return s
}

// anchor is the id of an element of the page for a cell. kind is "plan", "cell" (its row in the
// table of its case), "way" (its row in the table of all cases) or "archive".
func anchor(kind string, c CellKey) string {
	return kind + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, "."))
}

// method describes how the run measured, and how to repeat it.
func (f *folder) method() Section {
	s := Section{ID: "method", Title: "How it was measured", Facts: glossary(), Notes: []string{"Cold starts were not measured in this run."}}
	if f.run.ColdMethod != "" {
		s.Notes = []string{"Cold starts here: " + f.run.ColdMethod + "."}
	}
	load := Section{Title: "The client's own load", Words: []Words{{"none", "Not recorded."}}}
	if c := f.run.Client; c.Wall > 0 {
		load.Words = say("For an embedded engine this includes the engine, which runs inside the client.")
		load.Facts = []Fact{
			{"CPU", fmt.Sprintf("%s user and %s system in %s: %.0f %% of %s", elapsed(c.User), elapsed(c.System), elapsed(c.Wall), 100*c.Share(), several(c.Cores, "core"))},
			{"Memory", "peak resident " + byteSize(float64(c.PeakRSS))},
			{"Garbage collector", fmt.Sprintf("%s, %s in pauses, the longest %s", several(int(c.GCs), "cycle"), elapsed(c.GCPause), elapsed(c.GCPauseMax))},
		}
	}
	again := Section{Title: "To repeat it", Text: commandLine(f.run.Args), Notes: []string{fmt.Sprintf("Seed %d determines the order of the repetitions and the bootstrap. The run folder also contains histograms (latency.hlog), queries and plans (plans/) and unreadable lines (quarantine.csv).", f.run.Seed)}}
	again.Prose = [][]Cell{{{Text: "All repetitions: "}, {Text: "samples.csv", Link: "samples.csv"}, {Text: ", "}, {Text: "samples.parquet", Link: "samples.parquet"}, {Text: "."}}}
	s.Parts = []Section{load, again}
	return s
}

func glossary() []Fact {
	return []Fact{
		{"Cell", "an engine, a design and a flavour (the form in which a query is sent) in one case."},
		{"Equal", "Barograph compared the result with the reference, row by row and value by value, in order, and found no difference. It computes the reference from the input files, without a database. Only an equal result has a time; a result that differs is shown as wrong, a missing one as failed. A single wrong or missing repetition removes all times of its cell; a cold start that fails removes its cold times."},
		{"Time", "from the call to the last decoded row, by the client's monotonic clock. The client decodes the complete result into the same types for every engine, and compares it after the clock has stopped."},
		{"First row", "from the call to the first decoded row: the wait before anything appears. For an engine that returns everything at once it is close to the total time."},
		{"Median, interval", "the median of the repetitions, and the narrowest interval of order statistics that contains the true median with at least 95 % probability for any distribution (David and Nagaraja 2003). It takes at least 6 repetitions."},
		{"Ratio", "median divided by the median of the fastest configuration of the case. “~” before it: no significant difference. “?”: too few repetitions. *, **, ***: p below 0.05, 0.01, 0.001."},
		{"p", fmt.Sprintf("two-sided Mann–Whitney rank test against the fastest configuration, corrected by Holm (1979) for all comparisons of the table. A difference is significant if p is below %g.", measure.Alpha)},
		{"Group", "configurations that share a letter do not differ significantly; each pair is tested, and all pairs of the case are corrected together (Piepho 2004). This family of tests is stricter than that of p, so the two can disagree at the edge."},
		{"Interleaving", "each round runs every cell once, in a new random order, so a drift of the machine affects all alike. The client collects garbage between repetitions."},
		{"Client overhead", "the dry engine returns the result from memory: its time is the overhead of the client. It is part of every time and is never ranked."},
		{"Cold", "a new process opens the archive and runs the query once, after the archive's files were dropped from the page cache; the time includes opening. Caches of disks and hypervisors cannot be dropped."},
		{"Client", "processor time of this process during the call: driver, decoding and assembling. For an embedded engine it includes the engine."},
		{"Keys derived", "flavours that read by key compute the keys from the question and the archive's metadata before the call. The column “keys derived” has this time; the time of the call does not include it."},
		{"Complete archive", "the digest over all records of the archive equals that of the input. An incomplete archive is neither timed nor ranked."},
	}
}
