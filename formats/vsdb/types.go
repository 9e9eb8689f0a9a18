package vsdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// layout describes how the numbers of one VSDB line type become a row of a line type of the table.
// Each reader has one per VSDB type. It also stores the rows that were read and not yet returned.
type layout struct {
	vsdb string // the type in the file, without threshold: "FHO"
	t    *record.LineType

	cols     []int     // number i of the line → slot of its column; nil if derive or repeat fills the row
	least    int       // numbers of a line without the columns that were added later
	most     int       // numbers of a line; 0 = it depends on the model's "/n" (see size)
	emptyRow []float64 // the row without numbers: NaN, and the constants that METviewer's loader sets

	derive func(nums, row []float64) string                  // FHO, FSS: computes row; the reason for a rejection or ""
	size   func(n int) int                                   // HIST, RELI, RELP: count of numbers for a model "M/n"
	repeat func(n int, nums, row, group []float64) []float64 // appends the repeating columns to group
	count  int                                               // slot of the number of repetitions, if repeat is set

	ensemble bool // the model is "M/n" and loses "/n"

	batch      record.Batch
	generation uint32 // changes whenever batch is returned
	slot       map[string]int
	rules      []*record.Rule // by slot
	names      []string       // by slot
}

// kind is a row of the table of VSDB line types.
type kind struct {
	vsdb, target string
	cols         string // columns of the target in the order of the line; those after '|' are all present or absent
	zero         string // columns that METviewer's loader sets to 0
	set          func(l *layout)
}

// kinds is the table of VSDB line types. Source: METdataio 2.1.1, METdbLoad/ush/read_data_files.py.
// The columns that MET 12 added to the vector types do not occur in VSDB and stay missing.
var kinds = []kind{ //nolint:gochecknoglobals // a constant table
	{vsdb: "SL1L2", target: "SL1L2", cols: "total fbar obar fobar ffbar oobar | mae"},
	{vsdb: "SAL1L2", target: "SAL1L2", cols: "total fabar oabar foabar ffabar ooabar | mae"},
	{vsdb: "VL1L2", target: "VL1L2", cols: "total ufbar vfbar uobar vobar uvfobar uvffbar uvoobar | f_speed_bar o_speed_bar"},
	{vsdb: "VAL1L2", target: "VAL1L2", cols: "total ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar"},
	{vsdb: "GRAD", target: "GRAD", cols: "total fgbar ogbar mgbar egbar s1 s1_og fgog_ratio dx dy"},
	{vsdb: "FHO", target: "CTC", set: setFHO},
	{vsdb: "FSS", target: "NBRCNT", set: setFSS},
	{vsdb: "RMSE", target: "CNT", cols: "estdev rmse me mae anom_corr", zero: "total ranks frank_ties orank_ties", set: setEnsemble},
	{vsdb: "BSS", target: "PSTD", cols: "brier briercl bss reliability resolution uncertainty", zero: "total n_thresh", set: setEnsemble},
	{vsdb: "RPS", target: "ENSCNT", cols: "rpsf rpscl rpss crpsf crpscl crpss", set: setEnsemble},
	{vsdb: "RELI", target: "PCT", set: setRELI},
	{vsdb: "HIST", target: "RHIST", zero: "total", set: setHIST},
	{vsdb: "RELP", target: "RELP", zero: "total", set: setRELP},
	{vsdb: "ECON", target: "ECLV", zero: "total", set: setECON},
}

// newLayout finds the target and its columns in the table of line types. It returns nil if the
// table does not contain the target.
func newLayout(k kind) *layout {
	t, ok := record.TypeByName(k.target)
	if !ok {
		return nil
	}
	l := &layout{vsdb: k.vsdb, t: t, slot: make(map[string]int)}
	l.emptyRow = make([]float64, t.NumCols())
	for i := range l.emptyRow {
		l.emptyRow[i] = record.Missing()
	}
	for _, c := range t.Columns {
		if c.Kind != record.Text {
			l.slot[c.Name] = c.Slot
			l.rules, l.names = append(l.rules, c.Rule), append(l.names, c.Name)
		}
	}
	for name := range strings.FieldsSeq(k.zero) {
		l.emptyRow[l.slotOf(name)] = 0
	}
	for name := range strings.FieldsSeq(k.cols) {
		if name == "|" {
			l.least = len(l.cols)
			continue
		}
		l.cols = append(l.cols, l.slotOf(name))
	}
	l.most = len(l.cols)
	if k.set != nil {
		k.set(l)
	}
	if l.repeat != nil {
		l.ensemble, l.count = true, l.slotOf(t.Group.Count)
	}
	l.least = cmp.Or(l.least, l.most)
	return l
}

// slotOf returns the slot of a column. It panics if the target has no such column, which is a fault of
// this package that TestEveryTypeHasItsColumns finds.
func (l *layout) slotOf(name string) int {
	s, ok := l.slot[name]
	if !ok {
		panic(fmt.Sprintf("vsdb: line type %s has no column %q", l.t.Name, name))
	}
	return s
}

func setEnsemble(l *layout) { l.ensemble = true }

// setFHO stores FHO as CTC. VSDB gives the number of cases N and the rates of forecast, hit and
// observation, F, H and O, to five decimals. The original counts were N·F, N·H and N·O; the other
// cells follow by subtraction.
//
// Below 100,000 cases five decimals determine a count. If all three products are integers within
// that precision, they are rounded, and the cells are the original counts. In all other cases
// (weighted rates, or more cases) rounding would add information that the line does not contain,
// and the products are stored unchanged. METviewer rounds each of the four cells separately, hence
// its cells may not add up to N. The cells stored here do.
//
// A cell that is negative within the precision of the rates is stored as 0; only then do the cells add
// up to more than N. If a cell is negative beyond that precision, the rates form no contingency table,
// and the line is rejected. A missing rate makes
// the cells that need it missing. ec_value is 0.5, as in METviewer. If a line was truncated before
// O, METviewer takes 0 for O, and this reader rejects the line.
func setFHO(l *layout) {
	l.most = 4
	total, ec := l.slotOf("total"), l.slotOf("ec_value")
	cells := [4]int{l.slotOf("fy_oy"), l.slotOf("fy_on"), l.slotOf("fn_oy"), l.slotOf("fn_on")}
	l.derive = func(nums, row []float64) string {
		n, f, h, o := nums[0], nums[1], nums[2], nums[3]
		if f > 1 || o > 1 || h > 1 {
			return fmt.Sprintf("a rate of %g %g %g (forecast, hit, observed) is above 1", f, h, o)
		}
		fy, oy, hit := wholeCounts(n, n*f, n*o, n*h)
		row[total], row[ec] = n, 0.5
		for i, c := range [4]float64{hit, fy - hit, oy - hit, n - fy - oy + hit} {
			if c < -n*4*rateError {
				return fmt.Sprintf(
					"rates %g %g %g (forecast, hit, observed) of %g cases make no contingency table: %s would be %g",
					f, h, o, n, [4]string{"fy_oy", "fy_on", "fn_oy", "fn_on"}[i], c)
			}
			if c < 0 {
				c = 0
			}
			row[cells[i]] = c
		}
		return ""
	}
}

// rateError is half a unit of the fifth decimal, the precision of FHO's rates.
const rateError = 5e-6

// wholeCounts rounds the products of n cases and three rates if the rates determine integer counts.
// Otherwise it returns them unchanged.
func wholeCounts(n, fy, oy, hit float64) (float64, float64, float64) {
	tolerance := 1e-6 // of a product that differs from an integer only by binary rounding
	if n < 0.5/rateError {
		tolerance = n*rateError + 1e-9
	}
	for _, c := range [...]float64{fy, oy, hit} {
		if math.Abs(c-math.Round(c)) > tolerance {
			return fy, oy, hit
		}
	}
	return math.Round(fy), math.Round(oy), math.Round(hit)
}

// setFSS stores FSS as NBRCNT. The line contains N, the fractions Brier score FBS and the mean
// squares x and y of the forecast and observed fractions. The sum of x and y is the worst possible
// FBS: FSS = 1 − FBS/(x+y) (N. M. Roberts and H. W. Lean, Mon. Wea. Rev. 136, 2008). METdbLoad
// 2.1.1 computes 1 − FBS/x + y, because its brackets are wrong.
func setFSS(l *layout) {
	l.most = 4
	total, fbs, fss := l.slotOf("total"), l.slotOf("fbs"), l.slotOf("fss")
	l.derive = func(nums, row []float64) string {
		row[total], row[fbs] = nums[0], nums[1]
		if score := 1 - nums[1]/(nums[2]+nums[3]); !math.IsInf(score, 0) {
			row[fss] = score // NaN for 0/0 or a missing number
		}
		return ""
	}
}

// maxMembers bounds the "/n" of a model of HIST, RELI and RELP.
const maxMembers = 1000

// setRELI stores RELI as PCT. For a model "M/n" the line contains n+1 hits oy_i and n+1 subtotals
// of the bins with threshold i/n; on_i = subtotal − oy_i. total is the sum of the subtotals,
// rounded to an integer; it is missing if one of them is. MET's n_thresh also counts the closing
// threshold. VSDB does not have that threshold, hence it is missing.
func setRELI(l *layout) {
	l.size = func(n int) int { return 2 * (n + 1) }
	total := l.slotOf("total")
	l.repeat = func(n int, nums, row, group []float64) []float64 {
		sum, bins := 0.0, n+1
		for i := range bins {
			hits, cases := nums[i], nums[bins+i]
			sum += cases
			group = append(group, float64(i)/float64(n), hits, cases-hits)
		}
		row[total] = math.Round(sum)
		return append(group, record.Missing())
	}
}

// setHIST stores HIST as RHIST: n+1 relative frequencies, in percent as METviewer stores them.
func setHIST(l *layout) {
	l.size = func(n int) int { return n + 1 }
	l.repeat = func(n int, nums, _, group []float64) []float64 {
		for i := range n + 1 {
			group = append(group, 100*nums[i])
		}
		return group
	}
}

// setRELP stores RELP: one relative position for each of n members.
func setRELP(l *layout) {
	l.size = func(n int) int { return n }
	l.repeat = func(_ int, nums, _, group []float64) []float64 { return append(group, nums...) }
}

// costLoss contains the cost/loss ratios of the 18 values of an ECON line.
var costLoss = [...]float64{ //nolint:gochecknoglobals // a constant table
	0.952380952, 0.909090909, 0.8, 0.666666667, 0.5, 0.333333333, 0.2, 0.125, 0.1,
	0.055555556, 0.037037037, 0.025, 0.016666667, 0.011111111, 0.007142857, 0.004761905, 0.002857143, 0.002,
}

// setECON stores ECON as ECLV: 18 pairs of cost/loss ratio and value.
func setECON(l *layout) {
	l.most = len(costLoss)
	l.repeat = func(_ int, nums, _, group []float64) []float64 {
		for i, cl := range costLoss {
			group = append(group, cl, nums[i])
		}
		return group
	}
}

// fill computes the row of a line from its numbers and appends its repeating columns to the open
// batch. If the numbers are invalid, it returns the reason and appends nothing; otherwise it
// returns "". text has the numbers in the line.
func (l *layout) fill(nums, row []float64, s *headerSeries, text []byte) string {
	copy(row, l.emptyRow)
	for i, v := range nums[:min(len(nums), len(l.cols))] {
		row[l.cols[i]] = v
	}
	if l.derive != nil {
		if reason := l.derive(nums, row); reason != "" {
			return reason
		}
	}
	from := len(l.batch.Group)
	if l.repeat != nil {
		l.batch.Group = l.repeat(s.members, nums, row, l.batch.Group)
		// The last repetition may be incomplete.
		row[l.count] = math.Ceil(float64(len(l.batch.Group)-from) / float64(len(l.t.Group.Fields)))
	}
	reason := l.violation(row, l.batch.Group[from:], text)
	if reason != "" {
		l.batch.Group = l.batch.Group[:from]
	}
	return reason
}

// violation returns the first violation of a column's rule by a row; "" = none.
func (l *layout) violation(row, group []float64, text []byte) string {
	for k, v := range row {
		if !l.rules[k].Accepts(v) {
			return l.rules[k].Violation(l.names[k], textOf(v, text))
		}
	}
	for i, v := range group {
		g := l.t.Group
		if k := i % len(g.Fields); !g.Rules[k].Accepts(v) {
			return g.Rules[k].Violation(fmt.Sprintf("%s[%d]", g.Fields[k], i/len(g.Fields)+1), textOf(v, text))
		}
	}
	return ""
}

// textOf returns a value as the line writes it, because a float64 cannot represent every number. A
// value that is not among the numbers of the line was computed from them; textOf formats it.
func textOf(v float64, text []byte) string {
	for i := skipBlanks(text, 0); i < len(text); i = skipBlanks(text, i) {
		read, n, _ := number(text[i:])
		if read == v {
			return string(text[i : i+n])
		}
		i += n
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// add appends a row to the open batch.
func (l *layout) add(s *headerSeries, lead int32, valid int64, line uint32, row []float64) {
	b := &l.batch
	if h := s.head; h.generation != l.generation {
		h.generation, h.index = l.generation, b.AddHeader(h.header)
	}
	b.AppendTimes(s.head.index, lead, valid, line)
	for k, v := range row {
		b.Num[k] = append(b.Num[k], v)
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	if l.t.Group != nil {
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	b.Lines++
}

// Types returns the names of the VSDB line types that are read, sorted.
func Types() []string {
	return slices.Sorted(slices.Values(lists.Map(kinds, func(k kind) string { return k.vsdb })))
}
