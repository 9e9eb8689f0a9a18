package couchbase

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// ident quotes an identifier of N1QL.
func ident(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// literal writes a text of N1QL, which has the form of JSON.
func literal(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // cannot happen: a string always marshals
		return `""`
	}
	return string(text)
}

func number[T int32 | int64](v T) string { return strconv.FormatInt(int64(v), 10) }

func list[T any](items []T, f func(T) string) string {
	return "[" + flavour.Join(items, ", ", f) + "]"
}

// keyspace returns the path of the collection in N1QL.
func (d *database) keyspace() string {
	if d.scope == "_default" && d.collection == "_default" {
		return ident(d.bucket)
	}
	return ident(d.bucket) + "." + ident(d.scope) + "." + ident(d.collection)
}

// indexStatements create the secondary indexes: the fields that the cases name, then the time in either form.
func indexStatements(keyspace string) []string {
	var out []string
	for i, time := range []string{"fcst_valid_epoch", "fcst_valid_beg"} {
		out = append(out, fmt.Sprintf("CREATE INDEX barograph_%d IF NOT EXISTS ON "+
			"%s(subset, dataType, model, fcst_var, fcst_lev, geoLocation_id, %s)", i+1, keyspace, time))
	}
	return out
}

// phrase writes a question in N1QL, with the original's template: it first selects documents and then unnests them.
type phrase struct {
	keyspace string
	q        *question.Question
	flavour  flavour.Name
	catalog  *design.Catalog
}

func (p *phrase) text() (string, error) {
	from := "USE KEYS $keys"
	if p.flavour != flavour.Keys {
		where, err := p.conditions()
		if err != nil {
			return "", err
		}
		from = "WHERE " + strings.Join(where, " AND ")
	}
	columns := flavour.Join(p.q.Columns, ", ", func(c question.Column) string {
		return expression(&c) + " AS " + ident(c.Name)
	})
	text := "SELECT " + columns + "\nFROM ( SELECT mdata.* FROM " + p.keyspace + " AS mdata\n       " + from +
		" ) AS r\nUNNEST r.data AS data"
	if entries := p.entries(); len(entries) > 0 {
		text += "\nWHERE " + strings.Join(entries, " AND ")
	}
	if order := p.order(); len(order) > 0 {
		text += "\nORDER BY " + flavour.Join(order, ", ", func(c question.Column) string { return expression(&c) })
	}
	return text + ";", nil
}

// order lists the columns to sort by: those of the question, and its tie-breakers whose values can differ in this
// archive.
func (p *phrase) order() []question.Column {
	facts := p.catalog.Facts(p.q)
	out := append([]question.Column(nil), p.q.Order...)
	for _, c := range p.q.TieBreakers() {
		sameHeader := c.Role == question.HeaderField && !facts.Varies[c.Field]
		if !sameHeader && (c.Role < question.ValidEnd || !facts.Plain) {
			out = append(out, c)
		}
	}
	return out
}

// conditions returns the conditions that select documents.
func (p *phrase) conditions() ([]string, error) {
	equal := func(name string, values []string) string {
		if len(values) == 1 {
			return "mdata." + name + " == " + literal(values[0])
		}
		return "mdata." + name + " IN " + list(values, literal)
	}
	var types []string
	for _, v := range p.catalog.Facts(p.q).Versions {
		types = append(types, dataType(v, p.q.Type))
	}
	out := []string{equal("dataType", types), equal("subset", []string{p.q.Subset})}
	for f, values := range p.q.Header {
		if len(values) > 0 {
			out = append(out, equal(memberName(record.Field(f)), values))
		}
	}
	times, err := p.times()
	return append(out, times...), err
}

// memberName returns the member of a document that an index contains for a header field.
func memberName(f record.Field) string {
	if f == record.VxMask {
		return "geoLocation_id"
	}
	return f.String()
}

// times returns the conditions on the valid time. A range also contains the times between the steps of a
// grid, which must be excluded. iso-range excludes them outside, among the entries, because a condition on
// the epoch next to one on the text would make the planner read both indexes.
func (p *phrase) times() ([]string, error) {
	v := &p.q.Valid
	if v.IsAll() {
		return nil, nil
	}
	iso := func(t int64) string { return literal(string(design.AppendISO(nil, t))) }
	switch p.flavour {
	case flavour.ISOList, flavour.EpochList:
		if !v.IsDiscrete() {
			return nil, flavour.ErrCannotExpress
		}
		if p.flavour == flavour.ISOList {
			return []string{"mdata.fcst_valid_beg IN " + list(v.Expand(), iso)}, nil
		}
		return []string{"mdata.fcst_valid_epoch IN " + list(v.Expand(), number[int64])}, nil
	}
	first, last, step, ok := v.Grid()
	if !ok {
		return nil, flavour.ErrCannotExpress
	}
	out := []string{"mdata.fcst_valid_beg BETWEEN " + iso(first) + " AND " + iso(last)}
	if p.flavour == flavour.EpochRange {
		out = []string{"mdata.fcst_valid_epoch BETWEEN " + number(first) + " AND " + number(last)}
	}
	if step > 1 && p.flavour == flavour.EpochRange {
		out = append(out, onGrid("mdata", first, step))
	}
	return out, nil
}

// onGrid excludes the times between the steps of a grid.
func onGrid(alias string, first, step int64) string {
	return "(" + alias + ".fcst_valid_epoch - " + number(first) + ") % " + number(step) + " == 0"
}

// entries returns the conditions on leads and on columns that depend on them.
func (p *phrase) entries() []string {
	var out []string
	if first, _, step, ok := p.q.Valid.Grid(); ok && step > 1 && p.flavour == flavour.ISORange {
		out = append(out, onGrid("r", first, step))
	}
	if len(p.q.Lead) > 0 {
		out = append(out, "data.fcst_lead IN "+list(p.q.Lead, number[int32]))
	}
	const valid, init = "r.fcst_valid_epoch", "(r.fcst_valid_epoch - data.fcst_lead)"
	hours := func(epoch string, hs []int) {
		if len(hs) > 0 {
			seconds := list(hs, func(h int) string { return strconv.Itoa(3600 * h) })
			e := "(" + epoch + " + " + flavour.SinceYear1 + ")"
			out = append(out, "("+e+" % 86400 - "+e+" % 3600) IN "+seconds)
		}
	}
	c := &p.q.TimeFilter
	hours(valid, c.ValidHour)
	hours(init, c.InitHour)
	switch first, last, ok := c.Init.Bounds(); {
	case !ok:
	case c.Init.IsDiscrete():
		out = append(out, init+" IN "+list(c.Init.Expand(), number[int64]))
	default:
		out = append(out, init+" BETWEEN "+number(first)+" AND "+number(last))
	}
	return out
}

// expression returns a column of the answer or of the order. Times are epochs, spans seconds.
func expression(c *question.Column) string {
	switch c.Role {
	case question.HeaderField:
		return "r." + memberName(c.Field)
	case question.ValidBeg:
		return "r.fcst_valid_epoch"
	case question.InitBeg:
		return "r.fcst_valid_epoch - data.fcst_lead"
	case question.ValidEnd, question.ObsBeg, question.ObsEnd:
		return "IFMISSING(data." + c.Name + ", r.fcst_valid_epoch)"
	case question.ObsLead:
		return "IFMISSING(data." + c.Name + ", 0)"
	}
	return "data." + ident(c.StoredName())
}

// decodeRow appends one row of a reply. A missing number has no member.
func decodeRow(row []byte, columns []question.Column, into *answer.Builder) error {
	values := make(map[string]gjson.Result, len(columns))
	gjson.ParseBytes(row).ForEach(func(name, value gjson.Result) bool {
		values[name.Str] = value
		return true
	})
	for k := range columns {
		c := &columns[k]
		if err := appendValue(values[c.Name], c, k, into); err != nil {
			return fmt.Errorf("row %d, column %s: %w", into.Rows+1, c.Name, err)
		}
	}
	into.Row()
	return nil
}

// appendValue appends a value of a reply to column k.
func appendValue(v gjson.Result, c *question.Column, k int, into *answer.Builder) error {
	switch {
	case c.Kind == question.Text && v.Type == gjson.String:
		into.Text(k, v.Str)
	case c.Kind == question.Number && v.Type == gjson.Number:
		into.Num(k, v.Float())
	case c.Kind == question.Number && (v.Type == gjson.Null || !v.Exists()):
		into.Num(k, record.Missing())
	case c.Kind == question.List:
		var repeats []float64
		var err error
		if v.Exists() {
			repeats, err = design.ParseRepeats([]byte(v.Raw), nil)
		}
		into.List(k, repeats)
		return err
	case (c.Kind == question.Time || c.Kind == question.Duration) && v.Type == gjson.Number:
		into.Seconds(k, v.Int())
	case !v.Exists():
		return errors.New("the reply has no value")
	default:
		return fmt.Errorf("the reply contains %s, which the column cannot have", v.Raw)
	}
	return nil
}

// accesses finds the operators of a plan that reach documents of a table. In the bucket, documents of all
// line types are together.
func accesses(table string, plan []byte) []archive.Access {
	var out []archive.Access
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.IsObject() {
			a := archive.Access{Object: table, Index: v.Get("index").Str, Examined: -1, Kept: -1}
			switch v.Get(`\#operator`).Str {
			case "PrimaryScan", "PrimaryScan2", "PrimaryScan3":
				a.Method = archive.FullScan
			case "IndexScan", "IndexScan2", "IndexScan3":
				a.Method = archive.IndexScan
			case "KeyScan":
				a.Method, a.Index = archive.KeyLookup, ""
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
