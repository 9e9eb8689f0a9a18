package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"barograph/run"
)

// loads says what was loaded, and what lies where.
func (s *scans) loads() table {
	t := table{Title: "Configurations", Wide: true, Head: []column{
		{Name: "configuration", Text: true}, {Name: "workers"}, {Name: "loads"}, {Name: "mean load", Unit: "s"},
	}}
	if s.Lab != "" {
		t.Head = append(t.Head, column{Name: "until its server was there", Unit: "s"}, column{Name: "restarts"}, column{Name: "mean restart", Unit: "s"})
	}
	what := "facts"
	if s.Archive != nil {
		what, t.Note = "archive", "Archive: all that the database holds under this design or, of some engines, under all. Without a load: the archive held the files."
	}
	t.Head = append(t.Head, column{Name: what}, column{Name: "on each path", Text: true, Wrap: true})
	for i := range s.Configs {
		c := &s.Configs[i]
		workers := dim(none)
		if c.Workers > 0 {
			workers = text(count(c.Workers))
		}
		cells := []cell{text(s.names[i]), workers, text(count(c.Loads)), each(c.Load, c.Loads)}
		if s.Lab != "" {
			cells = append(cells, each(c.Open, c.Opens), text(count(c.Restarts)), each(c.Restart, c.Restarts))
		}
		total := int64(0)
		var sizes []string
		for _, n := range c.Bytes {
			total += n
			sizes = append(sizes, byteSize(float64(n)))
		}
		size := dim(none)
		if total > 0 {
			size = value(float64(total), byteSize(float64(total)))
		}
		t.Rows = append(t.Rows, row{Cells: append(cells, size, text(strings.Join(sizes, ", ")))})
	}
	return t
}

// each is the mean of n times that add up to all, in seconds.
func each(all time.Duration, n int) cell {
	mean := math.NaN()
	if n > 0 {
		mean = all.Seconds() / float64(n)
	}
	return value(mean, number(mean))
}

// gaveUp are the configurations that ended with an error; the page shows all of
// it beside their plans.
func (s *scans) gaveUp() table {
	t := table{Title: "Given up", Wide: true, Head: []column{{Name: "configuration", Text: true}, {Name: "answers before"}, {Name: "why", Text: true, Wrap: true}},
		Note: "An error ended these; what was measured before it counts."}
	for i := range s.Configs {
		if s.Configs[i].Problem == "" {
			continue
		}
		n := 0
		for k := range s.Points {
			if s.Points[k].Config == i && s.Points[k].Verdict == run.Equal {
				n++
			}
		}
		why, _, _ := strings.Cut(s.Configs[i].Problem, "\n")
		t.Rows = append(t.Rows, row{Cells: []cell{text(s.names[i]), text(count(n)), {Text: why, Class: "bad"}}})
	}
	return t
}

// givenUp says how many configurations were given up, to end a sentence with.
func (s *scans) givenUp() string {
	isGivenUp := func(c run.ScanConfig) bool { return c.Problem != "" }
	if !slices.ContainsFunc(s.Configs, isGivenUp) {
		return ""
	}
	rest := slices.DeleteFunc(slices.Clone(s.Configs), isGivenUp)
	return " " + several(len(s.Configs)-len(rest), "configuration") + " of " + count(len(s.Configs)) + " ended with an error: see Given up."
}

// server tells what the server was, and who started it.
func (s *scans) server() string {
	words := serverInWords(s.Server) + "; its settings are for " + byteSize(float64(s.Server.Memory)) + " of memory a node"
	if s.Lab != "" {
		words += "; " + s.Lab
	}
	return words
}
