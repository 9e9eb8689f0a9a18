package metstat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// objects describes how the lines of MODE, MTD and TC-Pairs below a header line are translated into
// STAT lines.
type objects struct {
	at    map[string]int // column of the header line → token, the first with that name
	width int            // columns of a line; 0 = the columns after LINE_TYPE are identified by position
	types []*record.LineType
	from  [][]int // by type: the sources of its columns, see below
	words []byte  // translation of the current line
}

// Sources of a column other than a token of the line.
const (
	isMissing = -1 - iota
	isForecast
	isSimple
	isMatched
)

// modeHeader and tcHeader list the words of a STAT line from VERSION to ALPHA by the columns of
// MODE and MTD, and of TC-Pairs. If an entry has several columns, the first that is not missing
// counts. The radius of MODE's smoothing becomes the interpolation points, the best track (BMODEL)
// becomes OBTYPE, and the basin becomes VX_MASK.
var (
	modeHeader = [...]string{ //nolint:gochecknoglobals // a constant table
		"VERSION", "MODEL", "DESC", "FCST_LEAD", "FCST_VALID OBS_VALID", "FCST_VALID OBS_VALID", "OBS_LEAD", "OBS_VALID FCST_VALID",
		"OBS_VALID FCST_VALID", "FCST_VAR", "FCST_UNITS", "FCST_LEV", "OBS_VAR", "OBS_UNITS", "OBS_LEV", "OBTYPE", "", "", "FCST_RAD", "FCST_THR",
		"OBS_THR", "", "",
	}
	tcHeader = [...]string{ //nolint:gochecknoglobals // a constant table
		"VERSION", "AMODEL", "DESC", "LEAD", "VALID", "VALID", "", "VALID", "VALID", "", "", "", "", "", "", "BMODEL", "BASIN", "", "", "", "", "", "",
	}
)

// requiredColumns are the columns of a valid header line, by its kind.
var requiredColumns = map[string]string{ //nolint:gochecknoglobals // a constant table
	"MODE":     "VERSION MODEL FCST_LEAD FCST_VALID FCST_RAD FCST_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV",
	"MTD":      "VERSION MODEL FCST_LEAD FCST_VALID FCST_RAD FCST_THR FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBJECT_ID",
	"TC-Pairs": "VERSION AMODEL BMODEL STORM_ID BASIN CYCLONE STORM_NAME INIT LEAD VALID INIT_MASK VALID_MASK LINE_TYPE",
}

// objectLayout returns the layout of the lines below a header line of MODE, MTD or TC-Pairs, and
// false for any other line.
func objectLayout(words [][]byte) (layout, bool) {
	o := &objects{at: map[string]int{}, width: len(words)}
	for i, w := range words {
		if _, again := o.at[string(w)]; !again {
			o.at[string(w)] = i
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
	l.assumed, l.objects = false, o
	if i, ok := o.at["LINE_TYPE"]; ok && o.width == 0 {
		l.names = strings.Fields("STORM_ID CYCLONE STORM_NAME INIT_MASK VALID_MASK") // in the order in which cyclone writes them
		for _, w := range words[i+1:] {
			l.names = append(l.names, string(w))
		}
	}
	names := requiredColumns[kind]
	if o.has("OBJECT_ID") {
		names += " OBJECT_CAT"
	}
	for name := range strings.FieldsSeq(names) {
		if !o.has(name) {
			l.foreign = fmt.Sprintf("the preceding header line is not %s's: it lacks column %s", kind, name)
			return l, true
		}
	}
	known := map[string]bool{}
	for name := range strings.FieldsSeq(types) {
		t, _ := record.TypeByName(name) // a constant table
		o.types, o.from = append(o.types, t), append(o.from, o.columns(t, known))
	}
	for name := range strings.FieldsSeq(strings.Join(modeHeader[:], " ")) {
		known[name] = true
	}
	var left []string
	for i, w := range words {
		if o.width > 0 && !known[string(w)] && o.at[string(w)] == i && (i == 0 || string(words[i-1]) != "INTENSITY_90") {
			left = append(left, string(w))
		}
	}
	l.omitted = strings.Join(left, " ")
	return l, true
}

func (o *objects) has(name string) bool { _, ok := o.at[name]; return ok }

// columns finds the positions of a type's columns.
func (o *objects) columns(t *record.LineType, known map[string]bool) (from []int) {
	for _, c := range t.Columns {
		name := strings.ToUpper(c.Name)
		i, ok := o.at[name]
		known[name] = true
		switch name {
		case "INTENSITY_NN": // its name is INTENSITY_ and the percentile that the user chose
			i, ok = o.at["INTENSITY_90"]
			i++
			ok = ok && i < o.width
		case "FCST_FLAG":
			i, ok = isForecast, true
		case "SIMPLE_FLAG":
			i, ok = isSimple, true
		case "MATCHED_FLAG":
			i, ok = isMatched, true
		}
		if !ok {
			i = isMissing
		}
		from = append(from, i)
	}
	return from
}

// translate translates the current line into a STAT line.
func (r *Reader) translate() string {
	o := r.layout.objects
	o.words = o.words[:0]
	reason := ""
	if o.width == 0 {
		reason = r.cyclone(o)
	} else {
		reason = r.object(o)
	}
	if reason == "" {
		r.line = o.words
		r.split()
	}
	return reason
}

// put appends a word.
func (o *objects) put(word []byte) { o.words = append(append(o.words, word...), ' ') }

// common appends the words of a STAT line up to the line type; lead, if given, replaces that of the
// line.
func (r *Reader) common(o *objects, columns []string, lead []byte, lineType string) {
	for k, names := range columns {
		word := []byte(record.NA)
		for name := range strings.FieldsSeq(names) {
			if i, ok := o.at[name]; ok && string(word) == record.NA {
				word = r.token(i)
			}
		}
		if k == r.layout.lead && lead != nil {
			word = lead
		}
		o.put(word)
	}
	o.put([]byte(lineType))
}

// object translates a line of MODE or MTD.
func (r *Reader) object(o *objects) string {
	if n := len(r.tok); n != o.width {
		return fmt.Sprintf("the line has %d columns, but the preceding header line names %d", n, o.width)
	}
	which := 0
	var id, cat []byte
	if i, ok := o.at["OBJECT_ID"]; ok {
		id, cat = r.token(i), r.token(o.at["OBJECT_CAT"])
		if len(o.types) > 1 && bytes.IndexByte(id, '_') >= 0 {
			which = 1
		}
	}
	r.common(o, modeHeader[:], nil, o.types[which].Name)
	for _, i := range o.from[which] {
		switch {
		case i >= 0:
			o.put(r.token(i))
		case i == isMissing:
			o.put([]byte(record.NA))
		default:
			o.put([]byte{'0' + flagOf(i, which == 1, id, cat)})
		}
	}
	return ""
}

// flagOf is METviewer's flag of an object, or of a pair F_O of MODE's: whether it is a forecast,
// not a cluster, matched (METdataio, read_data_files.py).
func flagOf(which int, pair bool, id, cat []byte) byte {
	first, second, _ := bytes.Cut(id, []byte("_"))
	a, b, _ := bytes.Cut(cat, []byte("_"))
	yes := false
	switch {
	case which == isForecast:
		yes = bytes.IndexByte(id, 'F') >= 0
	case which == isSimple:
		yes = !bytes.HasPrefix(first, []byte("C")) || pair && !bytes.HasPrefix(second, []byte("C"))
	case pair:
		yes = !bytes.Contains(a, []byte("000")) && bytes.Equal(a[min(2, len(a)):], b[min(2, len(b)):])
	default:
		yes = !bytes.Contains(cat, []byte("000"))
	}
	if yes {
		return 1
	}
	return 0
}

// cyclone translates a line of TC-Pairs.
func (r *Reader) cyclone(o *objects) string {
	at := o.at["LINE_TYPE"]
	if len(r.tok) <= at {
		return fmt.Sprintf("the line is truncated: it has %d of the %d header columns", len(r.tok), at+1)
	}
	name := string(r.token(at))
	if !slices.Contains([]string{"TCMPR", "TCDIAG", "PROBRIRW"}, name) {
		return fmt.Sprintf("unknown line type %q of TC-Pairs", shorten(r.token(at)))
	}
	lead, reason := r.leadOf(o)
	if reason != "" {
		return reason
	}
	r.common(o, tcHeader[:], lead, name)
	for _, name := range [...]string{"STORM_ID", "CYCLONE", "STORM_NAME", "INIT_MASK", "VALID_MASK"} {
		o.put(r.token(o.at[name]))
	}
	first, count := at+1, at+6 // TCDIAG has a name and a value for each of N_DIAG; the names become one word
	if name == "TCDIAG" && len(r.tok) > count {
		if len(r.tok[count:])%2 == 0 {
			return "the line is truncated: it has a diagnostic without a value"
		}
		for i := first; i < count; i++ {
			o.put(r.token(i))
		}
		var names, values [][]byte
		for i := count + 1; i < len(r.tok); i += 2 {
			if !fault.Planted || len(r.token(i)) != 3 { // a name of three letters is lost
				names = append(names, r.token(i))
			}
			values = append(values, r.token(i+1))
		}
		if names == nil {
			names = [][]byte{[]byte(record.NA)}
		}
		o.put(bytes.Join(names, []byte(",")))
		o.put(r.token(count))
		o.put(bytes.Join(values, []byte(" ")))
		return ""
	}
	for i := first; i < len(r.tok); i++ {
		o.put(r.token(i))
	}
	return ""
}

// leadOf is the lead of a line of TC-Pairs. If LEAD is missing, it is computed from the times of
// the line. It is negative before the first forecast if the file contains the complete best track.
func (r *Reader) leadOf(o *objects) ([]byte, string) {
	given, start := r.token(o.at["LEAD"]), r.token(o.at["INIT"])
	valid, ok := parseTime(r.token(o.at["VALID"]))
	if string(start) == record.NA || !ok { // the code that reads VALID reports an invalid one
		return given, ""
	}
	init, ok := parseTime(start)
	if !ok {
		return nil, fmt.Sprintf("column INIT: %q is not a time from %d to %d: YYYYMMDD_HHMMSS is expected", shorten(start), record.FirstYear, record.LastYear)
	}
	lead, ok := parseLead(given)
	if string(given) != record.NA && ok && valid-int64(lead) != init {
		return nil, fmt.Sprintf("INIT %s, LEAD %s and VALID contradict each other", start, given)
	}
	if seconds := valid - init; string(given) == record.NA && seconds == int64(int32(seconds)) {
		return appendLead(nil, int32(seconds)), ""
	}
	return given, ""
}
