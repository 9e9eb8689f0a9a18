package curve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Metviewer returns the data of the curves as METviewer writes them: the names of the columns, then the rows. For
// aggregated sums, these are the columns of METcalcpy's output: one row for each curve and position. For statistics of
// records, these are the columns that METviewer's SQL selects: one row for each record of each curve, and none of a derived
// curve, because METviewer derives it from these rows when it draws. ROC diagrams of probabilities, rank histograms and
// economic values of the files have a row for each repeating value of each record.
func (d *LazyCurves) Metviewer() (rows [][]string, err error) {
	q := *d.c.q // its version determines how METviewer writes leads
	q.Header[record.Version] = d.c.fieldValues(record.Version, d.c.rows())
	m := metviewerRows{d, &q, d.c.curveFields()}
	records := d.method.SummaryMethod != stat.Overall || d.Picture == "box" || d.Picture == "revision"
	switch fromGroup := q.Type.Group != nil; {
	case fromGroup && slices.Contains([]string{"roc", "rank_histogram"}, d.Picture), d.Picture == "eclv" && q.Type.Name == "ECLV":
		return m.records(true)
	case !records && d.method.bootstrap == nil && slices.Contains([]string{"performance", "taylor"}, d.Picture):
		return m.statistics()
	case records && d.Baseline != "" || d.stat.NeedsRecords() || q.Drawing.ShowsLineType() || d.Picture == "scorecard" || !records && d.Picture == Equivalence:
		return nil, fault.Misuse("--format metviewer", "has no columns for the data of "+d.Case, "use --format csv")
	case records:
		return m.records(false)
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
	keys := question.Unique(append(slices.Clone(m.fields), string(m.Axis)))
	rows := [][]string{append(slices.Clone(keys), "stat_name", "fcst_var", "stat_value", "stat_btcl", "stat_btcu", "nstats")}
	for i, s := range m.Series {
		for k, p := range m.places[i] {
			row, name, n := m.cells(keys, m.labels[i], p.rows[0]), m.statName(&m.stat), s.Records[k]
			// METcalcpy writes the name of a derived curve into the first field in which its two curves differ, or else
			// into the last field. It writes 0 as the number of records.
			if op := m.operations[i]; op != "" {
				one, two := m.cells(m.fields, m.labels[i], p.rows[0]), m.cells(m.fields, m.subtracted[i], p.baselineRows[0])
				field, other := len(m.fields)-1, m.statName(cmp.Or(p.other, &m.stat))
				for g := range slices.Backward(m.fields) {
					if one[g] != two[g] {
						field = g
					}
				}
				row[slices.Index(keys, m.fields[field])] = op.Name(m.component(m.labels[i], p.rows[0], name), m.component(m.subtracted[i], p.baselineRows[0], other))
				if n = 0; other != name {
					name += "," + other
				}
			}
			variable := m.cells([]string{"fcst_var"}, nil, p.rows[0])[0]
			rows = append(rows, append(row, name, variable, orNA(s.Y[k], 7), orNA(s.Low[k], 7), orNA(s.High[k], 7), strconv.Itoa(n)))
		}
	}
	return rows
}

// statistics returns the statistics behind a performance or Taylor diagram, as METcalcpy aggregates them.
func (m *metviewerRows) statistics() ([][]string, error) {
	keys := slices.DeleteFunc(question.Unique(append(slices.Clone(m.fields), string(m.c.axis))), func(k string) bool { return k == "" })
	rows := [][]string{append(slices.Clone(keys), "stat_name", "fcst_var", "stat_value", "stat_btcl", "stat_btcu", "nstats")}
	names := []string{"FBAR", "FSTDEV", "OBAR", "OSTDEV", "PR_CORR", "RMSE"}
	if m.Picture == "performance" {
		names = []string{strings.TrimSuffix(m.stat.Name, "PODY") + "FAR", m.stat.Name}
	}
	for _, curve := range m.c.names {
		one := &pictureBuilder{LazyCurves: m.LazyCurves, Series: run.Series{Name: curve}}
		for _, x := range slices.Sorted(maps.Keys(m.c.points[curve])) {
			at := m.c.points[curve][x]
			values, err := one.statistics(at, names...)
			if err != nil {
				return nil, err
			}
			for i, name := range names {
				row := append(m.cells(keys, m.c.labels[curve], at[0]), name, m.cells([]string{"fcst_var"}, nil, at[0])[0])
				rows = append(rows, append(row, orNA(values[i], 7), record.NA, record.NA, strconv.Itoa(len(at))))
			}
		}
	}
	return rows, nil
}

// records returns the records of all curves: a row with the statistic of each or, if repeats, a row for each of its repeating
// values.
func (m *metviewerRows) records(repeats bool) ([][]string, error) {
	keys := slices.Concat(m.fields, []string{"fcst_init_beg", "fcst_valid_beg", "fcst_lead"})
	for f := range record.NumFields {
		if len(m.c.q.Header[f]) > 0 && f != record.FcstVar || f.String() == string(m.c.axis) {
			keys = append(keys, f.String())
		}
	}
	keys = question.Unique(append(keys, "fcst_var"))
	t, decimals, columns := m.q.Type, 7, make([]string, 4) // limits of the file; METcalcpy has none of a statistic that it computes
	head := []string{"stat_name", "stat_value", "stat_ncl", "stat_ncu", "stat_bcl", "stat_bcu"}
	switch drawing := m.c.q.Drawing; {
	case repeats:
		head, columns = append([]string{"bin_size", "i_value"}, t.Group.Fields...), []string{"bin_size"}
	case drawing != nil && drawing.FromColumns || question.IsDefaultStatFromColumn(t):
		decimals = -1
		columns[0], columns[1], _ = m.stat.Limits('n')
		columns[2], columns[3], _ = m.stat.Limits('b')
	}
	rows, seen := [][]string{append(slices.Clone(keys), head...)}, map[int]bool{}
	for _, curve := range m.c.names {
		for _, x := range slices.Sorted(maps.Keys(m.c.points[curve])) {
			at := slices.DeleteFunc(slices.Clone(m.c.points[curve][x]), func(r int) bool { return seen[r] }) // not of an earlier group
			var values []float64
			var err error
			if !repeats {
				if values, err = m.perCase("", point{rows: at}); err != nil {
					return nil, err
				}
			}
			cols := m.c.copyRows(at)
			for k, r := range at {
				seen[r] = true
				row := m.cells(keys, nil, r)
				if !repeats {
					row = append(row, m.statName(&m.stat), orNA(values[k], decimals))
				}
				for _, name := range columns {
					y := math.NaN()
					if c, ok := t.Column(name); ok {
						if y = cols[c.Slot][k]; !repeats {
							y, _ = m.stat.Func([]float64{y})
						}
					}
					row = append(row, orNA(y, -1))
				}
				if repeats {
					rows = append(rows, m.repeated(row, r)...)
				} else {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows, nil
}

// repeated returns a row for each repetition of record r. METviewer's tables lack a last threshold that has no bin.
func (m *metviewerRows) repeated(row []string, r int) (rows [][]string) {
	fields := m.q.Type.Group.Fields
	list := func(field string) []float64 { return m.c.a.Vectors[columnOf(m.c.a, field)].List(r) }
	for i := range list(fields[len(fields)-1]) {
		one := append(slices.Clone(row), strconv.Itoa(i+1))
		for _, field := range fields {
			one = append(one, orNA(list(field)[i], -1))
		}
		rows = append(rows, one)
	}
	return rows
}

// statName is METviewer's name of a statistic, as the plot writes it: VL1L2_BIAS.
func (m *metviewerRows) statName(s *stat.Stat) string {
	if m.c.q.Drawing != nil {
		if i := indexOfStat(m.c.q, m.c.q.Drawing.Stats, s); i >= 0 {
			return m.c.q.Drawing.Stats[i]
		}
	}
	return s.Name
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
