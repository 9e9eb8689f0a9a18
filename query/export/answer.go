// Package export writes answers, and values of SHEF messages, for other
// programs and for people: a table, CSV, JSON, Parquet. It also reads values
// from CSV and Parquet (ReadGauges), and tables of stations (ReadSites).
package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"

	"github.com/parquet-go/parquet-go"
)

// CellEncoder returns the text that a cell of CSV contains, for example Spreadsheet.
type CellEncoder func(text string) string

// Spreadsheet puts an apostrophe before a text that a spreadsheet would run as a formula. It does
// not change numbers.
func Spreadsheet(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// AnswerFormats returns the formats that Answer writes.
func AnswerFormats() []string { return []string{"table", "csv", "json", "parquet"} }

// Answer writes rows in a format.
func Answer(w io.Writer, format string, a *answer.Answer, cell CellEncoder) error {
	switch format {
	case "table":
		return writeTable(w, a)
	case "csv":
		return writeCSV(w, a, cell)
	case "json":
		return writeJSON(w, a)
	case "parquet":
		return writeParquet(w, a)
	}
	return &fault.Status{Code: fault.Usage, Err: fault.Unknown("--format", format, AnswerFormats())}
}

func columnNames(a *answer.Answer) []string {
	return lists.Map(a.Columns, func(c question.Column) string { return c.Name })
}

func writeTable(w io.Writer, a *answer.Answer) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	head := columnNames(a)
	for k := range head {
		if a.Columns[k].Kind == question.Duration {
			head[k] += " (h)"
		}
	}
	fmt.Fprintln(tw, strings.Join(head, "\t"))
	var line []byte
	for i := range a.Rows {
		line = line[:0]
		for k := range a.Columns {
			if k > 0 {
				line = append(line, '\t')
			}
			if a.Columns[k].Kind == question.Duration { // a person reads hours; files have seconds
				line = append(line, question.FormatLeads([]int32{int32(a.Vectors[k].Seconds[i])})[0]...) //nolint:gosec // a lead
			} else {
				line = a.AppendValue(line, k, i)
			}
		}
		fmt.Fprintf(tw, "%s\n", line)
	}
	return tw.Flush()
}

func writeCSV(w io.Writer, a *answer.Answer, cell CellEncoder) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(columnNames(a)); err != nil { // column names do not come from files, so they need no encoding
		return err
	}
	row := make([]string, len(a.Columns))
	for i := range a.Rows {
		for k := range a.Columns {
			row[k] = string(a.AppendValue(nil, k, i))
			if a.Columns[k].Kind == question.Text {
				row[k] = cell(row[k])
			}
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

// value is column k of row i for JSON: times as ISO 8601.
func value(a *answer.Answer, k, i int) any {
	v := &a.Vectors[k]
	switch a.Columns[k].Kind {
	case question.Text:
		return v.Text[i]
	case question.Time:
		return string(a.AppendValue(nil, k, i))
	case question.Duration:
		return v.Seconds[i]
	case question.List:
		return optional(v.List(i))
	}
	return optional(v.Num[i : i+1])[0]
}

// optional returns numbers for JSON: a missing one is null, and −0 is 0.
func optional(list []float64) []any {
	out := make([]any, len(list))
	for k, f := range list {
		if !math.IsNaN(f) {
			out[k] = f + 0
		}
	}
	return out
}

// writeParquet writes times and leads in seconds (int64), numbers as optional doubles, and lists as repeated doubles, in
// which a missing number is NaN. −0 is 0.
func writeParquet(w io.Writer, a *answer.Answer) error {
	group := parquet.Group{}
	for _, c := range a.Columns {
		switch c.Kind {
		case question.Text:
			group[c.Name] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		case question.Number:
			group[c.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		case question.List:
			group[c.Name] = parquet.Repeated(parquet.Leaf(parquet.DoubleType))
		default:
			group[c.Name] = parquet.Leaf(parquet.Int64Type)
		}
	}
	schema := parquet.NewSchema("answer", group)
	pw := parquet.NewGenericWriter[map[string]any](w, schema, parquet.Compression(&parquet.Zstd))
	positions := make([]int, len(a.Columns)) // column → position in the file, which sorts its columns by name
	for i, path := range schema.Columns() {
		positions[slices.Index(columnNames(a), path[0])] = i
	}
	columns := make([][]parquet.Value, len(a.Columns))
	for i := range a.Rows {
		for k := range a.Columns {
			columns[positions[k]] = parquetValues(columns[positions[k]][:0], a, k, i, positions[k])
		}
		if _, err := pw.WriteRows([]parquet.Row{parquet.MakeRow(columns...)}); err != nil {
			return err
		}
	}
	return pw.Close()
}

// parquetValues appends the value of a row, or all values of its list, with their levels.
func parquetValues(dst []parquet.Value, a *answer.Answer, k, i, column int) []parquet.Value {
	v := &a.Vectors[k]
	value, definition := parquet.NullValue(), 0
	switch a.Columns[k].Kind {
	case question.Text:
		value = parquet.ByteArrayValue([]byte(v.Text[i]))
	case question.List:
		for n, f := range v.List(i) {
			dst = append(dst, parquet.DoubleValue(f+0).Level(min(n, 1), 1, column))
		}
		if len(dst) > 0 {
			return dst
		}
	case question.Number:
		if !math.IsNaN(v.Num[i]) {
			value, definition = parquet.DoubleValue(v.Num[i]+0), 1
		}
	default:
		value = parquet.Int64Value(v.Seconds[i])
	}
	return append(dst, value.Level(0, definition, column))
}
