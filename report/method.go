package report

import (
	"fmt"
	"slices"
	"strings"

	"barograph/measure"
)

// planLimit is how much of a query and its plan the page shows, in bytes; keys
// of a long period fill megabytes.
const planLimit = 6000

// planGroup are the plans of a case.
type planGroup struct {
	Case  string
	Plans []shownPlan
}

// shownPlan is a plan as the page shows it.
type shownPlan struct {
	Anchor, Name, Text string
}

func (f *folder) planGroups() []planGroup {
	by := map[string][]shownPlan{}
	for _, p := range f.plans {
		c := askedOf(p.Cell)
		known := c != Asked{}
		if !known {
			c.Case = "other"
		}
		shown := shownPlan{Anchor: planAnchor(c), Name: c.Engine + " · " + c.Design + " · " + c.Flavour, Text: p.Text}
		if !known {
			shown.Anchor, shown.Name = "", p.Name
		}
		if len(p.Text) > planLimit {
			tail := p.Text[len(p.Text)-planLimit/2:]
			shown.Text = strings.ToValidUTF8(p.Text[:planLimit/2], "") + fmt.Sprintf("\n\n… %s left out; the whole text is in plans/%s.txt …\n\n", byteSize(float64(len(p.Text)-planLimit)), p.Name) + strings.ToValidUTF8(tail, "")
		}
		by[c.Case] = append(by[c.Case], shown)
	}
	var out []planGroup
	for _, c := range f.cases {
		if len(by[c.Name]) > 0 {
			out = append(out, planGroup{c.Name, f.inOrder(by[c.Name])})
		}
	}
	if len(by["other"]) > 0 {
		out = append(out, planGroup{"other", by["other"]})
	}
	return out
}

// inOrder sorts plans as the ways of the tables.
func (f *folder) inOrder(plans []shownPlan) []shownPlan {
	place := func(p shownPlan) int {
		return slices.IndexFunc(f.ways, func(w way) bool { return w.String() == p.Name })
	}
	slices.SortStableFunc(plans, func(a, b shownPlan) int { return place(a) - place(b) })
	return plans
}

// method says how it was measured, and how to repeat it.
type method struct {
	Command  string
	Seed     uint64
	Glossary []fact
	Client   []fact
	Cold     string
	Reps     int
}

func (f *folder) method() method {
	c := f.run.Client
	m := method{Command: commandLine(f.run.Args), Seed: f.run.Seed, Cold: f.run.ColdHow, Reps: f.run.Reps, Glossary: glossary()}
	if c.Wall > 0 {
		m.Client = []fact{
			{"CPU", fmt.Sprintf("%s user and %s system in %s: %.0f %% of %s", elapsed(c.User), elapsed(c.System), elapsed(c.Wall), 100*c.Share(), several(c.Cores, "core"))},
			{"Memory", "peak resident " + byteSize(float64(c.PeakRSS))},
			{"Garbage collector", fmt.Sprintf("%s, %s in pauses, the longest %s", several(int(c.GCs), "cycle"), elapsed(c.GCPause), elapsed(c.GCPauseMax))},
		}
	}
	return m
}

// commandLine quotes arguments as a POSIX shell needs them.
func commandLine(args []string) string {
	out := make([]string, 0, len(args)+1)
	if len(args) == 0 || !strings.HasSuffix(args[0], "barograph") {
		out = append(out, "barograph")
	}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$&|;<>()*?[]#~`!{}") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

func glossary() []fact {
	return []fact{
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
