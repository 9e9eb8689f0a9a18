package run

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// grid is samples as a table: a row each, what names it first, then each number
// that was measured, under its name in events.jsonl. A value is a string, an
// int64 or a float64; a column that a sample does not have is empty there.
type grid struct {
	columns []string
	rows    []map[string]any
}

func gridOf(samples []Sample) *grid {
	g := &grid{}
	for i := range samples {
		s := &samples[i]
		row := map[string]any{}
		put := func(name string, v any) {
			if row[name] = v; !slices.Contains(g.columns, name) {
				g.columns = append(g.columns, name)
			}
		}
		put("workload", s.Cell.Workload)
		put("engine", s.Cell.Engine)
		names, values := s.Cell.Axes()
		for k := range names {
			put(names[k], values[k])
		}
		for _, x := range []struct{ name, v string }{{"phase", string(s.Phase)}, {"verdict", string(s.Verdict)}, {"proof", string(s.Proof)}, {"problem", s.Problem}, {"digest", s.Digest}} {
			put(x.name, x.v)
		}
		put("rep", int64(s.Rep))
		put("rows", int64(s.Rows))
		numbers("", reflect.ValueOf(s.measured), put)
		g.rows = append(g.rows, row)
	}
	return g
}

// numbers walks over what was measured. A structure's fields have its name
// before theirs, an element of a list the texts in it.
func numbers(prefix string, v reflect.Value, put func(name string, v any)) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		numbers(prefix, v.Elem(), put)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				numbers(prefix, v.Field(i), put)
			case name != "-" && f.Tag.Get("table") != "-" && (options == "" || !v.Field(i).IsZero()):
				numbers(strings.TrimPrefix(prefix+"_"+name, "_"), v.Field(i), put)
			}
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			named, x := []string{prefix}, v.Index(i)
			for k := range x.NumField() {
				if x.Field(k).Kind() == reflect.String && x.Type().Field(k).Tag.Get("table") != "-" {
					named = append(named, x.Field(k).String())
				}
			}
			numbers(strings.Join(named, "_"), x, put)
		}
	case v.CanInt():
		put(prefix, v.Int())
	case v.CanUint():
		put(prefix, int64(v.Uint())) //nolint:gosec // bytes and counts
	case v.CanFloat():
		put(prefix, v.Float())
	}
}

// WriteCSV writes samples as CSV: times are in nanoseconds, sizes in bytes; what
// is not proven has none.
func WriteCSV(w io.Writer, samples []Sample) error {
	g := gridOf(samples)
	out := csv.NewWriter(w)
	if err := out.Write(g.columns); err != nil {
		return err
	}
	for _, row := range g.rows {
		line := make([]string, len(g.columns))
		for i, c := range g.columns {
			switch v := row[c].(type) {
			case string:
				line[i] = v
			case int64:
				line[i] = strconv.FormatInt(v, 10)
			case float64:
				line[i] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeCSV(dir string, samples []Sample) error {
	var b bytes.Buffer
	if err := WriteCSV(&b, samples); err != nil {
		return err
	}
	return write(dir, "samples.csv", b.Bytes())
}

// writeParquet writes the table of WriteCSV; its columns are in the order of
// their names.
func writeParquet(path string, samples []Sample) error {
	g := gridOf(samples)
	group := parquet.Group{}
	for _, c := range g.columns {
		for _, row := range g.rows {
			switch row[c].(type) {
			case string:
				group[c] = parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
			case int64:
				group[c] = parquet.Optional(parquet.Int(64))
			case float64:
				group[c] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
			}
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	schema := parquet.NewSchema("sample", group)
	w := parquet.NewGenericWriter[any](file, schema)
	for _, row := range g.rows {
		line := make(parquet.Row, len(schema.Columns()))
		for i, c := range schema.Columns() {
			line[i] = parquet.NullValue().Level(0, 0, i)
			if v, ok := row[c[0]]; ok {
				line[i] = parquet.ValueOf(v).Level(0, 1, i)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(w.Close(), file.Close())
}
