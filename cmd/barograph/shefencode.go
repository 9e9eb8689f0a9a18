package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/barograph/barograph/export"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"

	"github.com/spf13/cobra"
)

func newShefEncode(e *env) *cobra.Command {
	var out, heading, awips, shefparm string
	c := &cobra.Command{
		Use:   "encode FILES…",
		Short: "Write values of CSV or Parquet as SHEF messages",
		Long: `Write values as SHEF messages, which decode to the same values in the same order.

FILES are CSV or Parquet as decode writes them; of CSV the columns station, time, code and value are enough, in any order.
Values that have a source become .B messages, two equal steps of one parameter and more .E, all others .A. Dates have their
century, times are UTC, units English. With --heading the messages are a product in SOH … ETX. A value that SHEF cannot
express is told, left out, and makes the exit status 4.`,
		Example: `  barograph shef encode values.csv --heading 'SRUS54 KLCH 101813' --awips RR1LCH --out RR1LCH.txt
  barograph shef encode values.parquet | barograph shef decode -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			var tables *shef.Tables
			if shefparm != "" {
				if tables, err = readTable(shefparm, shef.ReadTables); err != nil {
					return err
				}
			}
			return e.writeTo(out, func(f *os.File) error {
				if f == nil {
					return e.encode(e.stdout, args, tables, heading, awips)
				}
				return e.encode(f, args, tables, heading, awips)
			})
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write into (default: standard output)")
	c.Flags().StringVar(&heading, "heading", "", "WMO heading, which makes a product of the messages")
	c.Flags().StringVar(&awips, "awips", "", "AWIPS id below the heading")
	c.Flags().StringVar(&shefparm, "shefparm", "", "shefparm file of a centre's own elements and codes")
	return c
}

func (e *env) encode(w io.Writer, files []string, tables *shef.Tables, heading, awips string) (err error) {
	if heading != "" {
		fmt.Fprintf(w, "\x01\r\r\n000 \r\r\n%s\r\r\n%s\r\r\n", heading, awips)
	}
	values, lost := 0, 0
	encoder := shef.NewEncoder(w, tables)
	for _, name := range files {
		err = errors.Join(err, export.ReadGauges(name, tables, func(g *record.Gauge, err error) error {
			if err == nil {
				if err = encoder.Write(g); err != nil {
					err = fmt.Errorf("%s:%d: %w", name, g.Line, err)
				}
			}
			values++
			if err != nil {
				lost++
				e.tells(err)
			}
			return nil
		}))
	}
	err = errors.Join(err, encoder.Close())
	if heading != "" {
		fmt.Fprint(w, "\x03")
	}
	fmt.Fprintf(e.stderr, "%d values, %d left out\n", values, lost)
	if lost > 0 && err == nil {
		err = &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values could not be encoded", lost)}
	}
	return err
}
