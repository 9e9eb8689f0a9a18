package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"barograph/answer"
	"barograph/design"
	"barograph/fault"
	"barograph/question"
	"barograph/run"
	"barograph/stat"

	"github.com/parquet-go/parquet-go"
)

func designName(s string) design.Name { return design.Name(s) }

func answerFormats() []string { return []string{"table", "csv", "json", "parquet"} }

// writeAnswer writes rows in a format; a nil file means stdout.
func writeAnswer(file *os.File, format string, a *answer.Answer, e *env) error {
	w := e.stdout
	if file != nil {
		w = file
	}
	if e.json {
		format = "json"
	}
	switch format {
	case "table":
		return writeTable(w, a)
	case "csv":
		return writeCSV(w, a)
	case "json":
		return writeJSON(w, a)
	case "parquet":
		if file == nil {
			return usage(&fault.Error{Setting: "--format parquet", Problem: "is binary", Cure: "name a file with --out"})
		}
		return writeParquet(w, a)
	}
	return usage(fault.Unknown("--format", format, answerFormats()))
}

func names(a *answer.Answer) []string {
	out := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		out[i] = c.Name
	}
	return out
}

func writeTable(w io.Writer, a *answer.Answer) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(names(a), "\t"))
	var line []byte
	for i := range a.Rows {
		line = line[:0]
		for k := range a.Columns {
			if k > 0 {
				line = append(line, '\t')
			}
			line = a.AppendValue(line, k, i)
		}
		fmt.Fprintf(tw, "%s\n", line)
	}
	return tw.Flush()
}

func writeCSV(w io.Writer, a *answer.Answer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(names(a)); err != nil {
		return err
	}
	row := make([]string, len(a.Columns))
	for i := range a.Rows {
		for k := range a.Columns {
			row[k] = string(a.AppendValue(nil, k, i))
		}
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// writeJSON writes one object per line; a missing number is null.
func writeJSON(w io.Writer, a *answer.Answer) error {
	enc := json.NewEncoder(w)
	row := make(map[string]any, len(a.Columns))
	for i := range a.Rows {
		for k, c := range a.Columns {
			row[c.Name] = value(a, k, i)
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// value is column k of row i as JSON has it: times as ISO 8601.
func value(a *answer.Answer, k, i int) any {
	v := &a.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return v.Text[i]
	case question.Time:
		return string(a.AppendValue(nil, k, i))
	case question.Span:
		return v.Whole[i]
	}
	if math.IsNaN(v.Num[i]) {
		return nil
	}
	return v.Num[i]
}

// writeParquet writes times as Unix seconds (int64), numbers as optional doubles.
func writeParquet(w io.Writer, a *answer.Answer) error {
	group := parquet.Group{}
	for _, c := range a.Columns {
		switch c.Kind {
		case question.Text:
			group[c.Name] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		case question.Number:
			group[c.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		default:
			group[c.Name] = parquet.Leaf(parquet.Int64Type)
		}
	}
	schema := parquet.NewSchema("answer", group)
	pw := parquet.NewGenericWriter[map[string]any](w, schema, parquet.Compression(&parquet.Zstd))
	at := make([]int, len(a.Columns)) // column → place in the file, which is by name
	for i, path := range schema.Columns() {
		for k, c := range a.Columns {
			if c.Name == path[0] {
				at[k] = i
			}
		}
	}
	row := make(parquet.Row, len(a.Columns))
	for i := range a.Rows {
		for k := range a.Columns {
			row[at[k]] = parquetValue(a, k, i, at[k])
		}
		if _, err := pw.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return pw.Close()
}

func parquetValue(a *answer.Answer, k, i, column int) parquet.Value {
	v := &a.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return parquet.ByteArrayValue([]byte(v.Text[i])).Level(0, 0, column)
	case question.Number:
		if math.IsNaN(v.Num[i]) {
			return parquet.NullValue().Level(0, 0, column)
		}
		return parquet.DoubleValue(v.Num[i]).Level(0, 1, column)
	}
	return parquet.Int64Value(v.Whole[i]).Level(0, 0, column)
}

// writeCurves writes statistics: as a table one line per curve and point,
// rounded to METviewer's seven decimals; else in full.
func writeCurves(file *os.File, format string, all []*run.Curves, e *env) error {
	w := e.stdout
	if file != nil {
		w = file
	}
	if e.json || format == "json" {
		var v any = all
		if len(all) == 1 {
			v = all[0]
		}
		return (&env{stdout: w}).printJSON(v)
	}
	if format != "table" {
		return writeAnswer(file, format, curveRows(all), e)
	}
	for _, c := range all {
		if err := writeCurveTable(w, c); err != nil {
			return err
		}
	}
	return nil
}

func writeCurveTable(w io.Writer, c *run.Curves) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	unit := map[run.Axis]string{run.ByLead: " (h)", run.ByLevel: " (hPa)"}[c.Axis]
	fmt.Fprintf(tw, "series\t%s%s\tN\t%s\tinterval\n", c.Axis, unit, c.Stat)
	for _, s := range c.Series {
		for i, x := range s.X {
			interval := "NA"
			if !math.IsNaN(s.Low[i]) {
				interval = sevenDecimals(s.Low[i]) + " … " + sevenDecimals(s.High[i])
			}
			y := "NA"
			if !math.IsNaN(s.Y[i]) {
				y = sevenDecimals(s.Y[i])
			}
			fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\n", s.Name, axisValue(c.Axis, x), s.N[i], y, interval)
		}
	}
	return tw.Flush()
}

// curveRows are statistics of one axis as rows: a line for each statistic, curve and point.
func curveRows(all []*run.Curves) *answer.Answer {
	at := question.Column{Name: string(all[0].Axis), Kind: question.Number}
	if all[0].Axis == run.ByTime || all[0].Axis == run.ByInit {
		at.Kind = question.Time
	}
	a := &answer.Answer{Vectors: make([]answer.Vector, 7), Columns: []question.Column{
		{Name: "statistic", Kind: question.Text}, {Name: "series", Kind: question.Text}, at, {Name: "n", Kind: question.Number},
		{Name: "value", Kind: question.Number}, {Name: "low", Kind: question.Number}, {Name: "high", Kind: question.Number},
	}}
	for _, c := range all {
		for _, s := range c.Series {
			for i, x := range s.X {
				v := a.Vectors
				v[0].Text, v[1].Text = append(v[0].Text, c.Stat), append(v[1].Text, s.Name)
				v[2].Whole, v[2].Num = append(v[2].Whole, int64(x)), append(v[2].Num, x)
				for k, n := range []float64{float64(s.N[i]), s.Y[i], s.Low[i], s.High[i]} {
					v[3+k].Num = append(v[3+k].Num, n)
				}
				a.Rows++
			}
		}
	}
	return a
}

// sevenDecimals prints a statistic as METviewer does: ties are rounded up.
func sevenDecimals(v float64) string { return fmt.Sprintf("%.7f", stat.RoundHalfUp(v, 7)) }
