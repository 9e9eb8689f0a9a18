package run

import "time"

// Owned is the Workload of a run that asks a user's own questions of tables of
// the user's own.
const Owned = "own"

// Own is what run.json has of such a run.
type Own struct {
	Tables    []OwnTable    `json:"tables"`
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
	Columns []string `json:"columns"` // with what they hold: price (decimal)
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
	Loose   int               `json:"loose,omitempty"`  // of these, those that tie where a limit cuts: only what orders them was compared
	Agreed  map[string]string `json:"agreed,omitempty"` // engine → the one whose answer its own was held against
}

// OwnCell is a question of a user's that an engine is asked.
func OwnCell(engine, question string) Cell { return NewCell(Owned, engine, "query", question) }
