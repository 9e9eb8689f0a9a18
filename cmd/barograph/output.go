package main

import (
	"io"
	"os"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/curve"
	"github.com/barograph/barograph/export"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/run"
)

// cell is a text as a cell of CSV.
func (e *env) cell(text string) string {
	if e.sheets {
		return export.Spreadsheet(text)
	}
	return text
}

// writeAnswer writes rows in a format; a nil file means stdout.
func (e *env) writeAnswer(file *os.File, format string, a *answer.Answer) error {
	if e.json {
		format = "json"
	}
	if file != nil {
		return export.Answer(file, format, a, e.cell)
	}
	if format == "parquet" {
		return fault.Misuse("--format parquet", "is binary", "name a file with --out")
	}
	return export.Answer(e.stdout, format, a, e.cell)
}

// writeCurves writes statistics: as tables, else in full.
func (e *env) writeCurves(file *os.File, format string, all []*run.Curves) error {
	w := e.stdout
	if file != nil {
		w = io.Writer(file)
	}
	if e.json || format == "json" {
		var v any = all
		if len(all) == 1 {
			v = all[0]
		}
		return (&env{stdout: w}).printJSON(v)
	}
	if format != "table" {
		return e.writeAnswer(file, format, curve.Rows(all))
	}
	for _, c := range all {
		if err := curve.Text(w, c); err != nil {
			return err
		}
	}
	return nil
}
