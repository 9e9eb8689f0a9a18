package mariadb

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Explain runs the question once and returns ANALYZE FORMAT=JSON.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	var plan string
	err := a.db.pool.QueryRowContext(ctx, "ANALYZE FORMAT=JSON "+q.Text, q.Args...).Scan(&plan)
	if absent(err) {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, nil
	}
	if err != nil {
		return engine.Plan{}, sqlengine.Failed(ctx, err)
	}
	out := engine.Plan{Text: plan}
	out.Access, err = accesses([]byte(plan), func(name string) string {
		if name == "ld" {
			return a.typeName(q.Question.Type)
		}
		return sqlengine.Called(a.Design, q.Question.Type, name)
	})
	return out, err
}

// tableAccess is how ANALYZE FORMAT=JSON tells of a table
// (mariadb.com/kb/en/analyze-format-json). Counts that start with r_ were
// measured; they are means over the loops, and absent where nothing was run.
type tableAccess struct {
	Table     string   `json:"table_name"`
	Type      string   `json:"access_type"`
	Function  string   `json:"table_function"` // json_table makes rows of what was read before
	Key       string   `json:"key"`
	Parts     []string `json:"used_key_parts"`
	Condition string   `json:"attached_condition"`
	Rows      float64  `json:"rows"`
	Loops     *float64 `json:"r_loops"`
	Read      *float64 `json:"r_rows"`
	Passed    *float64 `json:"r_filtered"` // percent
}

// accesses reads the tables of a plan in the order in which they stand; called
// gives the table of an alias.
func accesses(plan []byte, called func(name string) string) ([]engine.Access, error) {
	var out []engine.Access
	err := walk(plan, func(t *tableAccess) {
		if t.Function == "" && !strings.HasPrefix(t.Table, "<") { // <derived2>: rows of another step
			out = append(out, t.access(called(t.Table)))
		}
	})
	return out, err
}

// walk calls f for every table of a plan, in the order of the text, which a
// map of Go would lose.
func walk(text []byte, f func(*tableAccess)) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	var t tableAccess
	if text[0] == '{' && bytes.Contains(text, []byte(`"access_type"`)) {
		if err := json.Unmarshal(text, &t); err == nil && t.Type != "" {
			f(&t)
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		if text[0] == '{' {
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := walk(value, f); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (t *tableAccess) access(object string) engine.Access {
	a := engine.Access{Object: object, Method: engine.IndexScan, Index: t.Key, Examined: int64(math.Round(t.Rows)), Kept: -1}
	switch t.Type {
	case "ALL", "index": // index: all of an index
		a.Method = engine.FullScan
	case "const", "eq_ref", "system":
		a.Method = engine.KeyLookup
	case "range":
		if t.Key == "PRIMARY" && len(t.Parts) == 1 && oneByOne.MatchString(t.Condition) {
			a.Method = engine.KeyLookup
		}
	}
	if t.Loops == nil || *t.Loops > 0 && t.Read == nil {
		return a
	}
	a.Measured, a.Examined, a.Kept = true, 0, 0
	if *t.Loops > 0 {
		examined := *t.Read * *t.Loops
		a.Examined = int64(math.Round(examined))
		if t.Passed != nil {
			examined *= *t.Passed / 100
		}
		a.Kept = int64(math.Round(examined))
	}
	return a
}

// oneByOne is a condition that names the values of the key.
var oneByOne = regexp.MustCompile("^[^']*`?id`? (in \\(|= )'")
