package metstat

import (
	"fmt"
	"slices"
	"strings"

	"barograph/record"
)

// shorter lists, for each line type that has grown, how many fixed columns
// older versions of MET wrote in the order of today's: MET's
// met_header_columns_V2.0.txt … V11.1.txt. Layouts whose order was another one
// are not listed, and such lines do not fit: MPR before 6.1, RHIST before 8.0,
// PSTD before 6.1.
var shorter = map[string][]int{ //nolint:gochecknoglobals // a constant table
	"CNT":    {71, 77, 88, 94, 97},
	"CTC":    {5},
	"CTS":    {60, 93},
	"DMAP":   {21},
	"ECNT":   {12, 16, 25},
	"GRAD":   {8},
	"MCTC":   {2},
	"MCTS":   {16},
	"MPR":    {13},
	"NBRCTS": {60},
	"ORANK":  {12, 13, 15, 16, 19, 20},
	"RPS":    {8},
	"SAL1L2": {6},
	"SL1L2":  {6},
	"SSVAR":  {12},
	"VAL1L2": {8, 10},
	"VCNT":   {55, 63},
	"VL1L2":  {8, 10},
}

// badLength says why a line of type t cannot have n fixed columns; "" where it can.
func badLength(t *record.LineType, n int) string {
	full := len(t.Columns)
	switch {
	case n == full || slices.Contains(shorter[t.Name], n):
		return ""
	case n > full:
		return fmt.Sprintf("%d columns too many: %s has at most %d in MET 12", n-full, t.Name, full)
	}
	var b strings.Builder
	for _, k := range shorter[t.Name] {
		fmt.Fprintf(&b, "%d or ", k)
	}
	besides := ""
	if t.Group != nil {
		besides = " besides the repeating ones"
	}
	return fmt.Sprintf("the line is cut: it has %d columns of %s, MET writes %s%d%s", n, t.Name, b.String(), full, besides)
}
