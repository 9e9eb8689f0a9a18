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

// planLimit is how much of a query and its plan the page shows, in bytes; keys
// of a long period fill megabytes.
const planLimit = 560

// planSection are the plans, by cases.
func (f *folder) planSection() Section {
	s := Section{ID: "plans", Title: "Queries and plans"}
	for _, c := range append(slices.Clone(f.cases), run.Case{}) {
		part := Section{Title: cmp.Or(c.Name, "other"), Folded: true}
		for _, p := range f.plans {
			asked := askedOf(p.Cell)
			if asked.Case != c.Name {
				continue
			}
			shown := Section{ID: anchor("plan", asked), Class: "plan", Title: asked.String(), Text: p.Text, Folded: true}
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
			return slices.IndexFunc(f.ways, func(w Way) bool { return w.String() == s.Title })
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

// anchor is the place of what is shown of a cell in the page: its "plan", its
// "cell" in the table of its case, its "way" in that of all, its "archive".
func anchor(kind string, c Asked) string {
	return kind + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, "."))
}

// method says how it was measured, and how to repeat it.
func (f *folder) method() Section {
	s := Section{ID: "method", Title: "How it was measured", Facts: glossary(), Notes: []string{"Cold starts were not measured in this run."}}
	if f.run.ColdHow != "" {
		s.Notes = []string{"Cold starts here: " + f.run.ColdHow + "."}
	}
	load := Section{Title: "The client's own load", Words: []Words{{"none", "Not recorded."}}}
	if c := f.run.Client; c.Wall > 0 {
		load.Words = say("For an embedded engine this contains the engine, which works inside the client.")
		load.Facts = []Fact{
			{"CPU", fmt.Sprintf("%s user and %s system in %s: %.0f %% of %s", elapsed(c.User), elapsed(c.System), elapsed(c.Wall), 100*c.Share(), several(c.Cores, "core"))},
			{"Memory", "peak resident " + byteSize(float64(c.PeakRSS))},
			{"Garbage collector", fmt.Sprintf("%s, %s in pauses, the longest %s", several(int(c.GCs), "cycle"), elapsed(c.GCPause), elapsed(c.GCPauseMax))},
		}
	}
	again := Section{Title: "To repeat it", Text: commandLine(f.run.Args), Notes: []string{fmt.Sprintf("Seed %d fixes the order of the repetitions and the bootstrap. Beside this file are histograms in latency.hlog, queries and plans in plans/, unreadable lines in quarantine.csv.", f.run.Seed)}}
	again.Prose = [][]Cell{{{Text: "All repetitions: "}, {Text: "samples.csv", Link: "samples.csv"}, {Text: ", "}, {Text: "samples.parquet", Link: "samples.parquet"}, {Text: "."}}}
	s.Parts = []Section{load, again}
	return s
}

func glossary() []Fact {
	return []Fact{
		{"Cell", "an engine, a design and a flavour (a way of asking) at one case."},
		{"Equal", "the answer was compared with the reference, row by row and value by value, in order, and is the same. The reference is computed from the input files by no database. Only such answers have a time; one that differs is shown as wrong, one that did not come as failed. A single wrong or missing repetition takes away all times of its cell; a cold start that fails, its cold times."},
		{"Time", "from the call to the last decoded row, by the client's monotonic clock. Every answer is decoded whole into the same types. It is compared after the clock has stopped."},
		{"First row", "from the call to the first decoded row: what a reader waits before anything appears. For an engine that returns everything at once it is close to the whole."},
		{"Median, interval", "the middle of the repetitions, and the narrowest interval of order statistics that contains the true median with at least 95 % probability whatever the distribution (David and Nagaraja 2003). It takes at least 6 repetitions."},
		{"Ratio", "median divided by that of the fastest way of the case. “~” before it: no difference larger than the noise. “?”: too few repetitions to tell. *, **, ***: p below 0.05, 0.01, 0.001."},
		{"p", fmt.Sprintf("two-sided Mann–Whitney rank test against the fastest way, corrected by Holm (1979) for all comparisons of the table. A difference counts where p is below %g.", measure.Alpha)},
		{"Group", "ways that share a letter do not differ, each pair tested and all pairs of the case corrected together (Piepho 2004): a stricter family than that of p, so that the two can disagree at the edge."},
		{"Interleaving", "each round asks every cell once, in a fresh random order, so that drift of the machine meets all alike. Garbage is collected between repetitions."},
		{"Floor", "the dry engine recalls the answer from memory: what the client itself costs. It is part of every time and ranked nowhere."},
		{"Cold", "a new process opens the archive and asks once, after the archive's files were dropped from the page cache; the time includes opening. Disks and hypervisors have caches beyond our reach."},
		{"Client", "processor time of this process in the call: what the driver, decoding and assembling took. For an embedded engine the engine itself is in it."},
		{"Keys derived", "flavours that ask by keys compute the ids from the question and the archive's metadata before the call. That time stands beside the call's, not inside it."},
		{"Whole", "the digest over every record that the archive holds equals that of the input. An archive that is not whole is neither timed nor ranked."},
	}
}
