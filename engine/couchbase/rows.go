package couchbase

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// decode appends one row of a reply. A missing number has no member.
func decode(row []byte, columns []question.Column, into *answer.Builder) error {
	values := make(map[string]gjson.Result, len(columns))
	gjson.ParseBytes(row).ForEach(func(name, value gjson.Result) bool {
		values[name.Str] = value
		return true
	})
	for k := range columns {
		c := &columns[k]
		if err := put(values[c.Name], c, k, into); err != nil {
			return fmt.Errorf("row %d, column %s: %w", into.Rows+1, c.Name, err)
		}
	}
	into.Row()
	return nil
}

func put(v gjson.Result, c *question.Column, k int, into *answer.Builder) error {
	switch {
	case c.Kind == question.Text && v.Type == gjson.String:
		into.Text(k, v.Str)
	case c.Kind == question.Number && v.Type == gjson.Number:
		into.Num(k, v.Float())
	case c.Kind == question.Number && (v.Type == gjson.Null || !v.Exists()):
		into.Num(k, record.Missing())
	case (c.Kind == question.Time || c.Kind == question.Span) && v.Type == gjson.Number:
		into.Whole(k, v.Int())
	default:
		return errors.New("the reply holds " + v.Raw)
	}
	return nil
}

// accesses finds the operators of a plan that reach documents of a table; in the
// bucket those of all line types lie together.
func accesses(table string, plan []byte) []engine.Access {
	var out []engine.Access
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.IsObject() {
			a := engine.Access{Object: table, Index: v.Get("index").Str, Examined: -1, Kept: -1}
			switch v.Get(`\#operator`).Str {
			case "PrimaryScan", "PrimaryScan2", "PrimaryScan3":
				a.Method = engine.FullScan
			case "IndexScan", "IndexScan2", "IndexScan3":
				a.Method = engine.IndexScan
			case "KeyScan":
				a.Method, a.Index = engine.KeyLookup, ""
			}
			if a.Method != "" {
				out = append(out, a)
			}
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, child gjson.Result) bool { walk(child); return true })
		}
	}
	walk(gjson.ParseBytes(plan))
	return out
}
