package sqlengine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// rowSink stores the values of a row as texts.
type rowSink map[int]string

func (s rowSink) Null(k int)                   { s[k] = "NULL" }
func (s rowSink) Text(k int, text string)      { s[k] = text }
func (s rowSink) Integer(k int, v int64)       { s[k] = fmt.Sprint(v) }
func (s rowSink) Number(k int, f float64)      { s[k] = fmt.Sprint(f) }
func (s rowSink) Time(k int, epoch int64)      { s[k] = time.Unix(epoch, 0).UTC().Format("0102T15") }
func (s rowSink) List(k int, values []float64) { s[k] = fmt.Sprint(values) }
func (s rowSink) JSON(k int, entries []byte)   { s[k] = string(entries) }

func (s rowSink) String() string {
	cells := make([]string, 0, len(s))
	for _, k := range slices.Sorted(maps.Keys(s)) {
		cells = append(cells, s[k])
	}
	return strings.Join(cells, "|")
}

// TestLoaderWritesRows: two commits write each header and file once, number them in the order of their first use, and
// write lines with these numbers, METviewer's codes of leads and its code of a missing number.
func TestLoaderWritesRows(t *testing.T) {
	rows := map[string][]string{}
	a := &Archive{Design: design.Normalized, Dialect: &flavour.Dialect{Name: "x", Table: func(_, table string) string { return table }}}
	l := a.NewLoader("a", LoadSession{
		Transaction:  func(_ context.Context, f func(q Querier) error) error { return f(&fresh{}) },
		Version:      func(context.Context, Querier) (int64, error) { return 1, nil },
		StoreCatalog: func(context.Context, Querier, []byte) error { return nil },
		MakeTable:    func(context.Context, Querier, *record.LineType) error { return nil },
		Insert: func(_ context.Context, _ Querier, table string, cols []Column, next Next) error {
			for {
				row := rowSink{}
				if ok, err := next(row); err != nil || !ok {
					return err
				}
				if len(row) != len(cols) {
					t.Errorf("%s: %d values for %d columns", table, len(row), len(cols))
				}
				if table == FileTable {
					row[4] = "now"
				}
				if table == design.HeaderTable {
					row = rowSink{0: row[0], 1: row[1], 2: row[2]}
				}
				rows[table] = append(rows[table], row.String())
			}
		},
	})
	lt, _ := record.TypeByName("GRAD")
	for day, c := range []struct {
		file    string
		models  []string
		version string
	}{{"in/day.vsdb.gz", []string{"GFS", "NAM"}, "V01"}, {"x.stat", []string{"NAM", "ECM"}, "V12.0"}, {"in/day.vsdb.gz", []string{"GFS"}, "V01"}} {
		b := &record.Batch{}
		b.Reset(lt, c.file)
		for i, model := range c.models {
			h := b.AddHeader(record.Header{record.Version: c.version, record.Model: model})
			b.AppendTimes(h, 36*3600, int64(day)*86400, uint32(10+i))
			for k := range b.Num {
				b.Num[k] = append(b.Num[k], float64(k))
			}
			b.Num[1][i] = record.Missing()
		}
		found := design.NewCatalog("a")
		found.Add(b)
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		done := []archive.Mark{{Path: c.file, Digest: fmt.Sprint(day), Loaded: time.Unix(1, 0)}}
		stored, err := l.Commit(t.Context(), archive.Commit{Catalog: found, Complete: done})
		if err != nil || stored.New != int64(len(c.models)) {
			t.Fatalf("commit %d: %+v, %v", day, stored, err)
		}
	}
	for table, want := range map[string][]string{
		design.HeaderTable: {"1|V01|GFS", "2|V01|NAM", "3|V12.0|NAM", "4|V12.0|ECM"},
		FileTable:          {"1|6|day.vsdb.gz|in|now|NULL", "2|7|x.stat||now|NULL"},
		"line_data_grad": {
			"1|1|10|36|0101T00|0101T00|1230T12|0|0101T00|0101T00|0|-9999|2|3|4|5|6|7|8|9||",
			"2|1|11|36|0101T00|0101T00|1230T12|0|0101T00|0101T00|0|-9999|2|3|4|5|6|7|8|9||",
			"3|2|10|360000|0102T00|0102T00|1231T12|0|0102T00|0102T00|0|-9999|2|3|4|5|6|7|8|9||",
			"4|2|11|360000|0102T00|0102T00|1231T12|0|0102T00|0102T00|0|-9999|2|3|4|5|6|7|8|9||",
			"1|1|10|36|0103T00|0103T00|0101T12|0|0103T00|0103T00|0|-9999|2|3|4|5|6|7|8|9||",
		},
	} {
		if got := rows[table]; !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
