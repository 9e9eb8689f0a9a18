package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Metviewer returns the data of the curves as METviewer writes them: the names of the columns, then the rows. For
// aggregated sums, these are the columns of METcalcpy's output: one row for each curve and position. For statistics of
// records, these are the columns that METviewer's SQL selects: one row for each record of each curve, and none of a derived
// curve, because METviewer derives it from these rows when it draws.
func (d *LazyCurves) Metviewer() (rows [][]string, err error) {
	records := d.method.SummaryMethod != stat.Overall || d.Picture == "box"
	if records && d.Baseline != "" || d.stat.OfObjects() || d.c.q.Drawing.ShowsLineType() || slices.Contains([]string{"scorecard", "revision", Equivalence}, d.Picture) {
		return nil, fault.Misuse("--format metviewer", "has no columns for the data of "+d.Case, "use --format csv")
	}
	q := *d.c.q // its version determines how METviewer writes leads
	q.Header[record.Version] = d.c.fieldValues(record.Version, d.c.rows())
	m := metviewerRows{d, &q, d.c.curveFields()}
	if records {
		return m.selected()
	}
	return m.aggregated(), nil
}

// metviewerRows builds the data of curves for METviewer.
type metviewerRows struct {
	*LazyCurves
	q      *question.Question
	fields []string // the fields whose values make curves
}

func (m *metviewerRows) aggregated() [][]string {
	keys := question.Unique(slices.Concat([]string{"fcst_var"}, m.fields, []string{string(m.Axis)}))
	rows := [][]string{append(slices.Clone(keys), "stat_name", "stat_value", "stat_bcl", "stat_bcu", "nstats")}
	for i, s := range m.Series {
		for k, p := range m.places[i] {
			row, name, n := m.cells(keys, m.labels[i], p.rows[0]), m.Stat, s.Records[k]
			if op := m.operations[i]; op != "" { // METcalcpy writes its name in the last field, and counts no records
				other := cmp.Or(p.other, &m.stat).Name
				row[slices.Index(keys, m.fields[len(m.fields)-1])] = op.Name(m.component(m.labels[i], p.rows[0], name), m.component(m.subtracted[i], p.baselineRows[0], other))
				if n = 0; other != name {
					name += "," + other
				}
			}
			rows = append(rows, append(row, name, orNA(s.Y[k], 7), orNA(s.Low[k], 7), orNA(s.High[k], 7), strconv.Itoa(n)))
		}
	}
	return rows
}

func (m *metviewerRows) selected() ([][]string, error) {
	keys := slices.Concat(m.fields, []string{"fcst_init_beg", "fcst_valid_beg", "fcst_lead"})
	for f := range record.NumFields {
		if len(m.c.q.Header[f]) > 0 && f != record.FcstVar || f.String() == string(m.Axis) {
			keys = append(keys, f.String())
		}
	}
	keys = question.Unique(append(keys, "fcst_var"))
	decimals, names, columns := 7, []string(nil), []string(nil) // columns of the line type, and METviewer's names of them
	if drawing := m.c.q.Drawing; drawing != nil && drawing.FromColumns || question.IsDefaultStatFromColumn(m.c.q.Type) {
		low, high, _ := m.stat.Limits('n')
		bootLow, bootHigh, _ := m.stat.Limits('b')
		decimals, names, columns = -1, []string{"stat_ncl", "stat_ncu", "stat_bcl", "stat_bcu"}, []string{low, high, bootLow, bootHigh}
	} else {
		for _, c := range m.c.q.Type.Columns {
			if c.Kind != record.Text && m.c.cols[c.Slot] != nil {
				names, columns = append(names, c.Name), append(columns, c.Name)
			}
		}
	}
	rows := [][]string{slices.Concat(keys, []string{"stat_name", "stat_value"}, names)}
	for i, places := range m.places {
		for _, p := range places {
			values, err := m.perCase("", p)
			if err != nil || m.operations[i] != "" {
				return rows, err // the curves after it are derived, too
			}
			cols := m.c.copyRows(p.rows)
			for k, r := range p.rows {
				row := append(m.cells(keys, m.labels[i], r), m.Stat, orNA(values[k], decimals))
				for _, name := range columns {
					y := math.NaN()
					if c, ok := m.c.q.Type.Column(name); ok {
						y = cols[c.Slot][k]
					}
					row = append(row, orNA(y, -1))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// cells returns the values of a row in some columns. In fields that make curves, it is the curve's value, with the members
// of a group joined as in a plot_spec. Elsewhere, or without labels, it is the record's value.
func (m *metviewerRows) cells(columns, labels []string, r int) (row []string) {
	for _, column := range columns {
		values := []string{record.NA}
		if g := slices.Index(m.fields, column); g >= 0 && labels != nil {
			values = m.c.groups[g].members[slices.Index(m.c.groups[g].all, labels[g])]
		} else if text, err := m.c.text(column); err == nil {
			values = []string{text(r)}
		} else if f, ok := record.FieldByName(column); ok && len(m.q.Header[f]) == 1 {
			values = m.q.Header[f]
		}
		if !strings.HasSuffix(column, "_hour") { // METviewer cuts leading zeros
			values = m.q.MetviewerValues(column, values)
		}
		row = append(row, strings.Join(values, ":"))
	}
	return row
}

// component names one of the two curves of a derived curve as METviewer does: its values, its variable and its statistic.
// A group of values has a name there: Group_y1_2 is the second one of the left axis.
func (m *metviewerRows) component(labels []string, r int, name string) string {
	words, axis, n := m.cells(append(slices.Clone(m.fields), "fcst_var"), labels, r), 1, 0
	if m.c.q.Drawing.RightAxis {
		axis = 2
	}
	for g, of := range m.c.groups {
		for i, members := range of.members {
			if len(members) < 2 {
				continue
			}
			if n++; labels[g] == of.all[i] {
				words[g] = fmt.Sprintf("Group_y%d_%d", axis, n)
			}
		}
	}
	return strings.Join(append(words, name), " ")
}
