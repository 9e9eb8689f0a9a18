package report

import (
	"strings"
)

// loads says what was loaded, and what lies where.
func (s *scans) loads() *Table {
	columns := []string{"configuration", "workers", "loads", "mean load (s)"}
	if s.Lab != "" {
		columns = append(columns, "until its server was there (s)", "restarts", "mean restart (s)")
	}
	what, note := "facts", ""
	if s.Archive != nil {
		what, note = "archive", "Archive: all that the database holds under this design or, of some engines, under all. Without a load: the archive held the files."
	}
	t := table(append(columns, what, "on each path")...)
	t.Note = note
	for i, c := range s.Configs {
		total := int64(0)
		var sizes []string
		for _, n := range c.Bytes {
			total += n
			sizes = append(sizes, byteSize(float64(n)))
		}
		cells := []Cell{text(s.names[i]), when(c.Workers > 0, whole(c.Workers), none), whole(c.Loads), numeric(c.Load.Seconds() / float64(c.Loads))}
		if s.Lab != "" {
			cells = append(cells, numeric(c.Open.Seconds()/float64(c.Opens)), whole(c.Restarts), numeric(c.Restart.Seconds()/float64(c.Restarts)))
		}
		t.add("", append(cells, when(total > 0, size(total, ""), none), text(strings.Join(sizes, ", ")))...)
	}
	return t
}

// gaveUp are the configurations that ended with an error; the page shows all of
// it beside their plans.
func (s *scans) gaveUp() *Table {
	t := table("configuration", "answers before", "why")
	t.Note = "An error ended these; what was measured before it counts."
	for i, c := range s.Configs {
		if c.Problem == "" {
			continue
		}
		n := 0
		for _, cell := range s.cells {
			if cell.config == i {
				n += len(cell.answers)
			}
		}
		why, _, _ := strings.Cut(c.Problem, "\n")
		t.add("", text(s.names[i]), whole(n), bad(why))
	}
	return t
}

// givenUp says how many configurations were given up, to end a sentence with.
func (s *scans) givenUp() string {
	n := len(s.gaveUp().Rows)
	if n == 0 {
		return ""
	}
	return " " + several(n, "configuration") + " of " + count(len(s.Configs)) + " ended with an error: see Given up."
}

// server tells what the server was, and who started it; "" where there is none.
func (s *scans) server() string {
	server := s.run.Archives[0].Server
	if server == nil {
		return ""
	}
	words := serverInWords(server) + "; its settings are for " + byteSize(float64(server.Memory)) + " of memory a node"
	if s.Lab != "" {
		words += "; " + s.Lab
	}
	return words
}
