package tpcds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
)

// kitScale is the greatest scale factor of the TPC's kit.
const kitScale = 100_000

// kitSettles refuses scale factors that the kit does not have.
func kitSettles(scale float64) error {
	if scale < 1 || scale > kitScale || scale != math.Trunc(scale) {
		return &fault.Error{
			Setting: fmt.Sprintf("scale factor %g", scale), Problem: fmt.Sprintf("is none of the TPC's kit, which has whole ones from 1 to %d", kitScale),
			Cure: "name another, or make the tables with the other generator, DuckDB's port",
		}
	}
	return nil
}

// kit has tpcgen-cli write the tables as Parquet, a file for each: the program
// divides no table of less than a million tickets, so that they are divided here.
func (d *database) kit(ctx context.Context, o *Options) (source, error) {
	version, err := tpcgen(ctx, o.Program, "--version")
	if err != nil {
		return source{}, err
	}
	tables := []string{tpcds.StoreSales, tpcds.DateDim, tpcds.Item}
	_, err = tpcgen(ctx, o.Program, "tpcds", "parquet", "--scale-factor", strconv.FormatFloat(o.Scale, 'f', -1, 64), "--tables", strings.Join(tables, ","),
		"--compat", "c", "--output-dir="+d.dir, "--num-threads", strconv.Itoa(o.Workers), "--quiet", "--no-progress")
	if err != nil {
		return source{}, err
	}
	return source{
		generator: version, columns: typed, number: "file_row_number",
		table: func(table string) string {
			return "read_parquet(" + quote(filepath.Join(d.dir, table+".parquet")) + ")"
		},
	}, nil
}

// tpcgen runs the program and returns what it prints.
func tpcgen(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", &fault.Error{Setting: program, Problem: "makes no tables", Err: errors.Join(err, errors.New(strings.TrimSpace(failed.String()))), Cure: "is the disk full?"}
	}
	return strings.TrimSpace(string(out)), nil
}

// typed are the columns of a table in the order and the types of the
// specification, as DuckDB's port makes them: texts without the spaces that
// fill up a CHAR.
func typed(table string) string {
	var out []string
	for _, c := range tpcds.Columns(table) {
		t := ""
		switch c.Kind {
		case tpcds.Whole:
			t = "INTEGER"
		case tpcds.Big:
			t = "BIGINT"
		case tpcds.Decimal:
			t = "DECIMAL(7,2)"
		case tpcds.Date:
			t = "DATE"
		case tpcds.Char, tpcds.Varchar:
			t = "VARCHAR"
		}
		out = append(out, c.Name+"::"+t+" AS "+c.Name)
	}
	return strings.Join(out, ", ")
}

// quote is a text in SQL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
