package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
)

// OwnWorkload is the Workload of a run that queries a user's own tables with the user's own
// questions.
const OwnWorkload = "own"

// Own describes, in run.json, a run over a user's own tables.
type Own struct {
	Tables       []OwnTable    `json:"tables"`
	SkippedFiles []SkippedFile `json:"skipped_files,omitempty" old:"files_left_aside"`
	Questions    []OwnQuestion `json:"questions"`
	Tolerance    float64       `json:"tolerance"` // relative, for numbers that are not exact decimals
	Streams      []int         `json:"streams,omitempty"`
	// how long each number of streams sent queries
	StreamDuration time.Duration `json:"stream_ns,omitempty"`
	// checksums of the questions, with the values of their parameters, and of the files with statements for a table;
	// earlier versions do not write them
	Checksums map[string]string `json:"checksums,omitempty"`
}

// OwnTable is a table.
type OwnTable struct {
	Name    string   `json:"name"`
	Files   []string `json:"files"`
	Bytes   int64    `json:"bytes_of_files"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"` // with their types: price (decimal(9, 2))

	Sources []OwnFile `json:"sources,omitempty"`
	Notes   []string  `json:"notes,omitempty"`   // columns that were skipped, or are missing in some files
	Problem string    `json:"problem,omitempty"` // why the table was skipped; "" = it was read
}

// Values of OwnQuestion.ComparedWith that name no engine. An engine's answer is compared with DuckDB's answer over the
// files (OverFiles). DuckDB's own answer is compared with that of an engine with other code, such as SQLite; if no such
// engine gave the same answer, it is Unconfirmed.
const (
	OverFiles   = "DuckDB over the files"
	Unconfirmed = "no engine of other code" // no engine other than DuckDB confirmed its answer
)

// OwnFile is a file of a table.
type OwnFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"`
	Lines  int64  `json:"lines,omitempty"`  // CSV files only: number of lines, counted without parsing rows
	SHA256 string `json:"sha256,omitempty"` // digest of the stored file; earlier versions have it of CSV files only
}

// SkippedFile is a file that belongs to no table, and the reason.
type SkippedFile struct {
	File   string `json:"file"`
	Reason string `json:"reason" old:"why"`
}

// OwnQuestion is a question.
type OwnQuestion struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	// number of parameter sets, which are used in turn
	ParameterSets int               `json:"parameter_sets" old:"values"`
	Texts         map[string]string `json:"texts"` // by engine; "" = all others
	OrderRule     string            `json:"order"` // how the order of rows was compared, in words
	Rows          int               `json:"rows"`  // rows of the answer with the first parameter set
	// Loose is written by earlier versions: the number of rows that tie at a limit, of which only the
	// order columns were compared.
	Loose int `json:"loose,omitempty"`
	// ComparedWith maps each engine to the source with which its answer was compared: another engine, OverFiles or
	// Unconfirmed.
	ComparedWith map[string]string `json:"compared_with,omitempty" old:"agreed"`

	// why the question allows several answers; "" = it does not
	Undetermined string `json:"undetermined,omitempty"`
	Fix          string `json:"fix,omitempty" old:"determined"` // a change that would determine the answer
}

// OwnCell is the cell of a user's question on an engine.
func OwnCell(engine, question string) Cell { return NewCell(OwnWorkload, engine, "query", question) }

// Accounting returns lines that account for every file: each table with its files, rows and typed columns or with the
// reason why it was skipped, then the files of no table.
func (o *Own) Accounting() (out []string) {
	indented := func(text string) string { return "  " + text }
	for _, t := range o.Tables {
		if t.Problem != "" {
			out = append(append(out, "table "+t.Name+" was skipped: "+t.Problem), lists.Map(t.Files, indented)...)
			continue
		}
		files, rows := CountOf(len(t.Files), "file"), CountOf(t.Rows, "row")
		out = append(out, fmt.Sprintf("table %s: %s, %s: %s", t.Name, files, rows, strings.Join(t.Columns, ", ")))
		for _, f := range t.Sources {
			words := CountOf(f.Rows, "row")
			if f.Lines > 0 {
				words += ", " + CountOf(f.Lines, "line") + ", SHA-256 " + f.SHA256
			}
			out = append(out, "  "+f.File+": "+words)
		}
		out = append(out, lists.Map(t.Notes, indented)...)
	}
	return append(out, lists.Map(o.SkippedFiles, func(f SkippedFile) string { return "skipped: " + f.File + ": " + f.Reason })...)
}
