package tpcds

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
)

// kitScale is the largest scale factor of the TPC's kit.
const kitScale = 100_000

// checkKitScale refuses scale factors that the TPC's kit does not have.
func checkKitScale(scale float64) error {
	if scale < 1 || scale > kitScale || scale != math.Trunc(scale) {
		return &fault.Error{
			Setting: fmt.Sprintf("scale factor %g", scale),
			Problem: fmt.Sprintf("is not an integer from 1 to %d, as the TPC's kit requires", kitScale),
			Cure:    "choose another scale factor, or use the generator duckdb",
		}
	}
	return nil
}

// generateByKit runs tpcgen-cli, which writes one Parquet file for each table into the database's folder. The program
// can divide a table into several files, but not a table of less than a million tickets (purchases). Therefore
// Generate divides the rows.
func (d *database) generateByKit(ctx context.Context, o *Options) (source, error) {
	version, err := tpcgen(ctx, o.Program, "--version")
	if err != nil {
		return source{}, err
	}
	tables := []string{tpcds.StoreSales, tpcds.DateDim, tpcds.Item}
	_, err = tpcgen(ctx, o.Program, "tpcds", "parquet",
		"--scale-factor", strconv.FormatFloat(o.Scale, 'f', -1, 64), "--tables", strings.Join(tables, ","),
		"--compat", "c", "--output-dir="+d.dir, "--num-threads", strconv.Itoa(o.Workers), "--quiet", "--no-progress")
	if err != nil {
		return source{}, err
	}
	return source{
		generator: version, columns: typedColumns, number: "file_row_number",
		table: func(table string) string {
			escaper := strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]") // DuckDB reads a path as a pattern
			return "read_parquet(" + quote(escaper.Replace(filepath.Join(d.dir, table+".parquet"))) + ")"
		},
	}, nil
}

// tpcgen runs the program and returns what it prints.
func tpcgen(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var output bytes.Buffer
	cmd.Stderr = &output
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		if text := strings.TrimSpace(output.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, strings.ReplaceAll(text, "\n", "; "))
		}
		return "", &fault.Error{
			Setting: program, Problem: "failed", Err: err, Cure: "fix what it reports, such as a full disk",
		}
	}
	return strings.TrimSpace(string(out)), nil
}

// typedColumns returns the columns of a table in the order and with the types of the specification, as
// DuckDB's port makes them: a CHAR is a text without trailing spaces.
func typedColumns(table string) string {
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

// quote returns a text as an SQL literal.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
