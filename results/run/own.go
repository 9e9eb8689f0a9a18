package run

import (
	"fmt"
	"strings"
	"time"
)

// Owned is the Workload of a run that asks a user's own questions of tables of
// the user's own.
const Owned = "own"

// Own is what run.json has of such a run.
type Own struct {
	Tables    []OwnTable    `json:"tables"`
	Aside     []OwnAside    `json:"files_left_aside,omitempty"`
	Questions []OwnQuestion `json:"questions"`
	Tolerance float64       `json:"tolerance"` // relative, of numbers that are no exact decimals
	Streams   []int         `json:"streams,omitempty"`
	For       time.Duration `json:"stream_ns,omitempty"` // that each number of streams was asked
}

// OwnTable is a table.
type OwnTable struct {
	Name    string   `json:"name"`
	Files   []string `json:"files"`
	Bytes   int64    `json:"bytes_of_files"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"` // with what they hold: price (decimal(9, 2))

	Sources []OwnFile `json:"sources,omitempty"`
	Notes   []string  `json:"notes,omitempty"`   // columns left aside, or missing in some files
	Problem string    `json:"problem,omitempty"` // why the table is left aside; "" = it was read
}

// What an answer was compared with: DuckDB's over the files. An answer of DuckDB
// itself is Unconfirmed where no other engine gives it, too.
const (
	OverFiles   = "DuckDB over the files"
	Unconfirmed = "no engine of other code"
)

// OwnFile is a file of a table.
type OwnFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"`
	Lines  int64  `json:"lines,omitempty"`  // of a CSV file, counted without an idea of rows
	SHA256 string `json:"sha256,omitempty"` // of a CSV file as it is stored
}

// OwnAside is a file that no table has, and why.
type OwnAside struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// OwnQuestion is a question.
type OwnQuestion struct {
	Name    string            `json:"name"`
	Title   string            `json:"title,omitempty"`
	File    string            `json:"file"`
	Line    int               `json:"line"`
	Values  int               `json:"values"`           // how many sets of parameters it is asked with, in turn
	Texts   map[string]string `json:"texts"`            // by engine; "" = of all others
	Ordered string            `json:"order"`            // what was compared of the order of rows, in words
	Rows    int               `json:"rows"`             // of the answer with the first values
	Loose   int               `json:"loose,omitempty"`  // written by earlier versions: rows that tie where a limit cuts, of which only what orders them was compared
	Agreed  map[string]string `json:"agreed,omitempty"` // engine → the one whose answer its own was compared with

	Undetermined string `json:"undetermined,omitempty"` // why the question does not fix its answer; "" = it does
	Determined   string `json:"determined,omitempty"`   // what would fix it
}

// OwnCell is a question of a user's that an engine is asked.
func OwnCell(engine, question string) Cell { return NewCell(Owned, engine, "query", question) }

// Read are the lines that account for every file: table, its files and rows, its
// columns with their types; then what was left aside.
func (o *Own) Read() (out []string) {
	for _, t := range o.Tables {
		if t.Problem != "" {
			out = append(out, "table "+t.Name+" is left aside: "+t.Problem)
			continue
		}
		out = append(out, fmt.Sprintf("table %s: %s, %s: %s", t.Name, Several(len(t.Files), "file"), Several(int(t.Rows), "row"), strings.Join(t.Columns, ", ")))
		for _, f := range t.Sources {
			words := Several(int(f.Rows), "row")
			if f.SHA256 != "" {
				words += ", " + Several(int(f.Lines), "line") + ", SHA-256 " + f.SHA256
			}
			out = append(out, "  "+f.File+": "+words)
		}
		for _, note := range t.Notes {
			out = append(out, "  "+note)
		}
	}
	for _, f := range o.Aside {
		out = append(out, "left aside: "+f.File+": "+f.Why)
	}
	return out
}
