package metstat

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/record"
)

// olderLength is the length of a line in older versions of MET.
type olderLength struct {
	columns int     // number of fixed columns, which are those that do not repeat
	before  version // the first version that wrote more
}

// version is 100·major + minor: 1001 is V10.1.
type version int

// olderLengths lists, for each line type to which columns were added, how many fixed columns older
// versions of MET wrote in today's order, and the version that wrote more: MET's
// met_header_columns_V2.0.txt … V12.0.txt. It does not list layouts with another order, and the
// reader rejects such lines: MPR before 6.1, RHIST before 8.0, PSTD before 6.1. Files of V10.1.0
// with 97 columns of CNT exist, although its table has 100.
var olderLengths = map[string][]olderLength{ //nolint:gochecknoglobals // a constant table
	"CNT":    {{71, 402}, {77, 501}, {88, 601}, {94, 901}, {97, 1100}},
	"CTC":    {{5, 1100}},
	"CTS":    {{60, 402}, {93, 1100}},
	"DMAP":   {{21, 1001}},
	"ECNT":   {{12, 1000}, {16, 1100}, {25, 1200}},
	"GRAD":   {{8, 801}},
	"MCTC":   {{2, 1001}},
	"MCTS":   {{16, 1001}},
	"MPR":    {{13, 1200}},
	"NBRCTS": {{60, 402}},
	"ORANK":  {{12, 402}, {13, 501}, {15, 600}, {16, 800}, {19, 1000}, {20, 1200}},
	"RPS":    {{8, 901}},
	"SAL1L2": {{6, 402}},
	"SL1L2":  {{6, 402}},
	"SSVAR":  {{12, 401}},
	"TCMPR":  {{71, 1100}}, // including five that precede LINE_TYPE: STORM_ID … VALID_MASK
	"VAL1L2": {{8, 1100}, {10, 1200}},
	"VCNT":   {{55, 1100}, {63, 1200}},
	"VL1L2":  {{8, 700}, {10, 1200}},
}

// versionOf reads the VERSION column, "V10.1.2" or "V5.0", up to a character that is neither a digit
// nor the first point. tok begins with V.
func versionOf(tok []byte) version {
	var n [2]version
	part := 0
	for _, c := range tok[1:] {
		switch {
		case c == '.' && part == 0:
			part = 1
		case c-'0' > 9 || n[part] > 99:
			return 100*n[0] + n[1]
		default:
			n[part] = 10*n[part] + version(c-'0')
		}
	}
	return 100*n[0] + n[1]
}

// badLength returns the reason why a line of type t, of the version in tok, cannot have n fixed
// columns; "" if it can. The reason does not count the added ones (see addedColumns).
func badLength(t *record.LineType, n, added int, tok []byte) string {
	full := len(t.Columns)
	switch {
	case n > full:
		return fmt.Sprintf("%s too many: %s has at most %d in MET 12",
			english.Plural(n-full, "column", ""), t.Name, full-added)
	case n == full:
		return ""
	}
	writer := versionOf(tok)
	var b strings.Builder
	for _, o := range olderLengths[t.Name] {
		if writer >= o.before {
			continue
		}
		if n == o.columns {
			return ""
		}
		fmt.Fprintf(&b, "%d or ", o.columns-added)
	}
	addition := ""
	if t.Group != nil {
		addition = " in addition to the repeating ones"
	}
	return fmt.Sprintf("the line is truncated: it has %d columns of %s, but MET %s writes %s%d%s",
		n-added, t.Name, shorten(tok), b.String(), full-added, addition)
}
