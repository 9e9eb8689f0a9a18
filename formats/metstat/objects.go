package metstat

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// objects describes how the lines of MODE, MTD and TC-Pairs below a header line are translated into
// STAT lines.
type objects struct {
	tokens  map[string]int // column of the header line → token, the first with that name
	width   int            // columns of a line; 0 = the columns after LINE_TYPE are identified by position
	types   []*record.LineType
	sources [][]int // by type: for each column its token in the line, or one of the sources below
	words   []byte  // translation of the current line

	// For each column of the STAT line up to ALPHA, the name in the header line of the column that the translation of the
	// current line used; "" = none.
	sourceNames []string
}

// Sources of a column other than a token of the line.
const (
	noSource = -1 - iota
	forecastFlag
	simpleFlag
	matchedFlag
)

// modeHeader (MODE and MTD) and tcHeader (TC-Pairs) have one entry for each column of a STAT line
// from VERSION to ALPHA: the name of the column whose word the translation puts there. If an entry
// has two names, the second one replaces a missing first one. An empty entry becomes NA. The radius of
// MODE's smoothing becomes the interpolation points, the best track (BMODEL) becomes OBTYPE, and the
// basin becomes VX_MASK.
var (
	modeHeader = [...]string{ //nolint:gochecknoglobals // a constant table
		"VERSION", "MODEL", "DESC", "FCST_LEAD", "FCST_VALID OBS_VALID", "FCST_VALID OBS_VALID", "OBS_LEAD",
		"OBS_VALID FCST_VALID", "OBS_VALID FCST_VALID", "FCST_VAR", "FCST_UNITS", "FCST_LEV", "OBS_VAR", "OBS_UNITS",
		"OBS_LEV", "OBTYPE", "", "", "FCST_RAD", "FCST_THR", "OBS_THR", "", "",
	}
	tcHeader = [...]string{ //nolint:gochecknoglobals // a constant table
		"VERSION", "AMODEL", "DESC", "LEAD", "VALID", "VALID", "", "VALID", "VALID", "", "", "", "", "", "",
		"BMODEL", "BASIN", "", "", "", "", "", "",
	}
)

// cycloneColumns are columns of TC-Pairs before LINE_TYPE that a STAT line does not have. They become the
// first columns of the line type, in this order.
var cycloneColumns = [...]string{ //nolint:gochecknoglobals // a constant table
	"STORM_ID", "CYCLONE", "STORM_NAME", "INIT_MASK", "VALID_MASK",
}

// addedColumns returns how many of a type's columns the file does not have after LINE_TYPE, because translateCyclone
// adds them. Reasons do not count them: the user compares the numbers with the file.
func (l *layout) addedColumns(t *record.LineType) int {
	switch {
	case l.objects == nil || l.objects.width > 0:
		return 0
	case t.Name == "TCDIAG":
		return len(cycloneColumns) + 1 // diag_i, the names of the diagnostics
	default:
		return len(cycloneColumns)
	}
}

// requiredColumns are the columns of a valid header line, by its kind.
var requiredColumns = map[string]string{ //nolint:gochecknoglobals // a constant table
	"MODE":     "VERSION MODEL FCST_LEAD FCST_VALID FCST_RAD FCST_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV",
	"MTD":      "VERSION MODEL FCST_LEAD FCST_VALID FCST_RAD FCST_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID",
	"TC-Pairs": "VERSION AMODEL BMODEL STORM_ID BASIN CYCLONE STORM_NAME INIT LEAD VALID INIT_MASK VALID_MASK LINE_TYPE",
}

// objectLayout returns the layout of the lines below a header line of MODE, MTD or TC-Pairs, and
// false for any other line.
func objectLayout(words [][]byte) (layout, bool) {
	o := &objects{tokens: map[string]int{}, width: len(words)}
	for i, w := range words {
		if _, exists := o.tokens[string(w)]; !exists {
			o.tokens[string(w)] = i
		}
	}
	kind, types := "MODE", "MODE_OBJ_SINGLE MODE_OBJ_PAIR"
	switch {
	case o.has("AMODEL"):
		kind, types, o.width = "TC-Pairs", "", 0
	case o.has("T_DELTA") && o.has("TIME_INDEX"):
		kind, types = "MTD", "MTD_2D_OBJ"
	case o.has("T_DELTA") && o.has("SPACE_CENTROID_DIST"):
		kind, types = "MTD", "MTD_3D_OBJ_PAIR"
	case o.has("T_DELTA"):
		kind, types = "MTD", "MTD_3D_OBJ_SINGLE"
	case o.has("FIELD"):
		types = "MODE_CTS"
	case !o.has("OBJECT_ID"):
		return layout{}, false
	}
	l := assumedLayout()
	l.isAssumed, l.objects = false, o
	if i, ok := o.tokens["LINE_TYPE"]; ok && o.width == 0 {
		// Columns after LINE_TYPE are identified by position. Without this, a column that is only there would be looked up
		// by its name in a truncated line, which may end at its line type.
		maps.DeleteFunc(o.tokens, func(_ string, token int) bool { return token > i })
		l.names = slices.Concat(cycloneColumns[:], toStrings(words[i+1:]))
	}
	names := requiredColumns[kind]
	if o.has("OBJECT_ID") {
		names += " OBJECT_CAT"
	}
	for name := range strings.FieldsSeq(names) {
		if !o.has(name) {
			const format = "the preceding header line looks like one of %s, but lacks column %s"
			l.headerProblem = fmt.Sprintf(format, kind, name)
			return l, true
		}
	}
	known := map[string]bool{}
	for name := range strings.FieldsSeq(types) {
		t, _ := record.TypeByName(name) // a constant table
		o.types, o.sources = append(o.types, t), append(o.sources, o.sourcesOf(t, known))
	}
	for name := range strings.FieldsSeq(strings.Join(modeHeader[:], " ")) {
		known[name] = true
	}
	var omitted []string // columns of the line that no type has
	for i, w := range words {
		isNamed := known[string(w)] || i > 0 && string(words[i-1]) == "INTENSITY_90"
		if o.width > 0 && !isNamed && o.tokens[string(w)] == i {
			omitted = append(omitted, string(w))
		}
	}
	l.omitted = strings.Join(omitted, " ")
	return l, true
}

func (o *objects) has(name string) bool { _, ok := o.tokens[name]; return ok }

// nameInFile returns the name in the file's header line of the STAT column at token i. A file of MODE, MTD or TC-Pairs
// does not have the STAT column, hence reasons quote this name.
func (l *layout) nameInFile(i int, statName string) string {
	if l.objects == nil {
		return statName
	}
	return cmp.Or(l.objects.sourceNames[i], statName)
}

// sourcesOf finds the positions of a type's columns.
func (o *objects) sourcesOf(t *record.LineType, known map[string]bool) (sources []int) {
	for _, c := range t.Columns {
		name := strings.ToUpper(c.Name)
		i, ok := o.tokens[name]
		known[name] = true
		switch name {
		case "INTENSITY_NN": // its name is INTENSITY_ and the percentile that the user chose
			i, ok = o.tokens["INTENSITY_90"]
			i++
			ok = ok && i < o.width
		case "FCST_FLAG":
			i, ok = forecastFlag, true
		case "SIMPLE_FLAG":
			i, ok = simpleFlag, true
		case "MATCHED_FLAG":
			i, ok = matchedFlag, true
		}
		if !ok {
			i = noSource
		}
		sources = append(sources, i)
	}
	return sources
}

// translate translates the current line into a STAT line.
func (r *Reader) translate() string {
	o := r.layout.objects
	o.words = o.words[:0]
	reason := ""
	if o.width == 0 {
		reason = r.translateCyclone(o)
	} else {
		reason = r.translateObject(o)
	}
	if reason == "" {
		r.line = o.words
		r.split()
	}
	return reason
}

// put appends a word.
func (o *objects) put(word []byte) { o.words = append(append(o.words, word...), ' ') }

// putCommon appends the words of a STAT line up to the line type. If lead is not nil, it replaces the
// lead of the line.
func (r *Reader) putCommon(o *objects, columns []string, lead []byte, lineType string) {
	o.sourceNames = o.sourceNames[:0]
	for k, names := range columns {
		word, source := []byte(record.NA), ""
		for name := range strings.FieldsSeq(names) {
			if i, ok := o.tokens[name]; ok && string(word) == record.NA {
				word, source = r.token(i), name
			}
		}
		o.sourceNames = append(o.sourceNames, source)
		if k == r.layout.lead && lead != nil {
			word = lead
		}
		o.put(word)
	}
	o.put([]byte(lineType))
}

// translateObject translates a line of MODE or MTD.
func (r *Reader) translateObject(o *objects) string {
	if n := len(r.tok); n != o.width {
		return fmt.Sprintf("the line has %d columns, but the preceding header line names %d", n, o.width)
	}
	typeIndex := 0
	var id, cat []byte
	if i, ok := o.tokens["OBJECT_ID"]; ok {
		id, cat = r.token(i), r.token(o.tokens["OBJECT_CAT"])
		if len(o.types) > 1 && bytes.IndexByte(id, '_') >= 0 {
			typeIndex = 1
		}
	}
	r.putCommon(o, modeHeader[:], nil, o.types[typeIndex].Name)
	for _, i := range o.sources[typeIndex] {
		switch {
		case i >= 0:
			o.put(r.token(i))
		case i == noSource:
			o.put([]byte(record.NA))
		default:
			o.put([]byte{'0' + flagOf(i, typeIndex == 1, id, cat)})
		}
	}
	return ""
}

// flagOf returns METviewer's flag, 0 or 1, of an object (id F001, CF001 if it is a cluster) or of a pair (id
// F001_O002), from its OBJECT_ID and OBJECT_CAT (METdataio, write_mode_sql.py and write_mtd_sql.py).
// forecastFlag is set for a forecast, simpleFlag for an object that is not a cluster, and matchedFlag for
// an object with a counterpart. Pairs of MODE (pair is true) have their own rules: simple is a pair with a
// simple object, and matched is a pair whose objects are in one cluster. Pairs of MTD have the rules of
// objects.
func flagOf(flag int, pair bool, id, cat []byte) byte {
	first, second, _ := bytes.Cut(id, []byte("_"))
	a, b, _ := bytes.Cut(cat, []byte("_"))
	isSet := false
	switch {
	case flag == forecastFlag:
		isSet = bytes.IndexByte(id, 'F') >= 0
	case flag == simpleFlag:
		isSet = !bytes.HasPrefix(first, []byte("C")) || pair && !bytes.HasPrefix(second, []byte("C"))
	case pair:
		clusterA, clusterB := a[min(2, len(a)):], b[min(2, len(b)):] // the number after CF or CO
		isSet = !bytes.Contains(a, []byte("000")) && bytes.Equal(clusterA, clusterB)
	default:
		isSet = !bytes.Contains(cat, []byte("000"))
	}
	if isSet {
		return 1
	}
	return 0
}

// translateCyclone translates a line of TC-Pairs.
func (r *Reader) translateCyclone(o *objects) string {
	lineType := o.tokens["LINE_TYPE"]
	if len(r.tok) <= lineType {
		return fmt.Sprintf("the line is truncated: it has %d of the %d header columns", len(r.tok), lineType+1)
	}
	name := string(r.token(lineType))
	if !slices.Contains([]string{"TCMPR", "TCDIAG", "PROBRIRW"}, name) {
		return fmt.Sprintf("unknown line type %q of TC-Pairs", shorten(r.token(lineType)))
	}
	lead, reason := r.leadOf(o)
	if reason != "" {
		return reason
	}
	r.putCommon(o, tcHeader[:], lead, name)
	for _, name := range cycloneColumns {
		o.put(r.token(o.tokens[name]))
	}
	// After N_DIAG, TCDIAG has a name and a value for each diagnostic; the names become one word.
	first, numDiag := lineType+1, lineType+6 // the tokens of TOTAL and N_DIAG
	if name == "TCDIAG" && len(r.tok) > numDiag {
		if len(r.tok[numDiag+1:])%2 == 1 {
			return "the line is truncated: it has a diagnostic without a value"
		}
		for i := first; i < numDiag; i++ {
			o.put(r.token(i))
		}
		var names, values [][]byte
		for i := numDiag + 1; i < len(r.tok); i += 2 {
			// Under the build tag plantedfault, a name of three letters is lost, and the fuzz test must find it.
			if !fault.Planted || len(r.token(i)) != 3 {
				names = append(names, r.token(i))
			}
			values = append(values, r.token(i+1))
		}
		if names == nil {
			names = [][]byte{[]byte(record.NA)}
		}
		o.put(bytes.Join(names, []byte(",")))
		o.put(r.token(numDiag))
		o.put(bytes.Join(values, []byte(" ")))
		return ""
	}
	for i := first; i < len(r.tok); i++ {
		o.put(r.token(i))
	}
	return ""
}

// leadOf returns the lead of a line of TC-Pairs as text, or the reason for rejecting the line. If LEAD
// is missing, leadOf computes it from the times of the line. A file with the complete best track has
// lines before the initialization time; their lead is negative.
func (r *Reader) leadOf(o *objects) ([]byte, string) {
	leadText, initText := r.token(o.tokens["LEAD"]), r.token(o.tokens["INIT"])
	valid, ok := parseTime(r.token(o.tokens["VALID"]))
	if string(initText) == record.NA || !ok { // the code that reads VALID reports an invalid one
		return leadText, ""
	}
	init, ok := parseTime(initText)
	if !ok {
		return nil, fmt.Sprintf("column INIT: %q is not a time from %d to %d: YYYYMMDD_HHMMSS is expected",
			shorten(initText), record.FirstYear, record.LastYear)
	}
	lead, ok := parseLead(leadText)
	if !isMissingLead(leadText) && ok && valid-int64(lead) != init {
		return nil, fmt.Sprintf("INIT %s, LEAD %s and VALID contradict each other", initText, leadText)
	}
	if seconds := valid - init; isMissingLead(leadText) && seconds == int64(int32(seconds)) {
		return appendLead(nil, int32(seconds)), ""
	}
	return leadText, ""
}
