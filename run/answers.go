package run

import (
	"os"
	"path/filepath"

	"github.com/barograph/barograph/answer"
)

// The rows of an answer that a folder keeps: all where there are so few, else
// the first.
const (
	smallAnswer = 1000
	firstRows   = 10
)

// keptAnswer is a file of answers/.
type keptAnswer struct {
	Digest  string     `json:"digest"`
	Proof   string     `json:"proof"`
	Rows    int        `json:"rows"`
	Columns []string   `json:"columns"`
	Values  [][]string `json:"values"` // of all rows, or of the first ones; in canonical text
}

// CasesFile is the file of a run folder that holds the questions.
const CasesFile = "cases.yaml"

// Cases keeps the questions, as YAML.
func (f *Folder) Cases(yaml []byte) error {
	if f.Dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(f.Dir, CasesFile), yaml, 0o644)
}

// Answer keeps a proven answer, once for all cells that gave it: answers/DIGEST.json,
// which the samples name.
func (f *Folder) Answer(a *answer.Answer, p answer.Proof) error {
	if f.Dir == "" || !p.Valid() || f.answers[p.Digest()] {
		return nil
	}
	f.answers[p.Digest()] = true
	k := keptAnswer{Digest: answer.FormatDigest(p.Digest()), Proof: string(p.Degree()), Rows: a.Rows}
	for _, c := range a.Columns {
		k.Columns = append(k.Columns, c.Name)
	}
	n := a.Rows
	if n > smallAnswer {
		n = firstRows
	}
	for i := range n {
		var row []string
		for c := range a.Columns {
			row = append(row, string(a.AppendValue(nil, c, i)))
		}
		k.Values = append(k.Values, row)
	}
	return writeJSON(f.Dir, filepath.Join("answers", k.Digest+".json"), k)
}
