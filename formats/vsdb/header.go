package vsdb

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/barograph/barograph/record"
)

// headerSeries is the common part of all lines with one header text (without lead and valid time).
type headerSeries struct {
	layout  *layout
	members int // n of a model "M/n" of an ensemble type
	least   int // count of numbers of a line without the columns that were added later
	most    int // count of numbers of a complete line
	head    *batchHeader
}

// batchHeader is a header and its index in the layout's open batch. Several header texts can
// have the same header: a level may be attached to '=' in one line and padded in the next.
type batchHeader struct {
	header     record.Header
	generation uint32 // the layout's generation when index was set; 0 = never
	index      uint32
}

// linePositions are the positions of a line's parts.
type linePositions struct {
	start            int // of the first token
	lead, leadEnd    int
	valid, validEnd  int
	headEnd, numbers int // end of the header, start of the numbers
}

// split finds the parts of a nonblank line, whose first token begins at start; ok is false if it has
// too few tokens.
func split(b []byte, start int) (f linePositions, ok bool) {
	f.start = start
	i := skipBlanks(b, tokenEnd(b, start))
	f.lead = skipBlanks(b, tokenEnd(b, i))
	f.leadEnd = tokenEnd(b, f.lead)
	f.valid = skipBlanks(b, f.leadEnd)
	f.validEnd = tokenEnd(b, f.valid)
	i = f.validEnd
	for range 3 { // obtype, vx_mask, line type
		i = tokenEnd(b, skipBlanks(b, i))
	}
	if i == len(b) {
		return f, false
	}
	if eq := bytes.IndexByte(b[i:], '='); eq >= 0 {
		f.headEnd, f.numbers = i+eq, i+eq+1
		return f, true
	}
	f.headEnd = tokenEnd(b, skipBlanks(b, i)) // the variable
	level := skipBlanks(b, f.headEnd)
	if level < len(b) && !isNumeric(b[level:tokenEnd(b, level)]) {
		f.headEnd = tokenEnd(b, level)
	}
	f.numbers = f.headEnd
	return f, true
}

// isNumeric reports whether a token can only be a number or what Fortran writes in place of one:
// asterisks, NaN. Levels begin with a letter.
func isNumeric(tok []byte) bool {
	if tok[0] == '*' || notFiniteWord(tok) {
		return true
	}
	if c := tok[0]; c > '9' || c < '0' && c != '+' && c != '-' && c != '.' {
		return false
	}
	return len(bytes.Trim(tok, "0123456789+-.eEdD")) == 0
}

// findSeries returns the series of a line, from a table if the header text is known. The header
// text does not include lead and valid time.
func (r *Reader) findSeries(b []byte, f *linePositions) (*headerSeries, error) {
	r.key = append(append(r.key[:0], b[f.start:f.lead]...), b[f.validEnd:f.headEnd]...)
	if s, ok := r.series[string(r.key)]; ok {
		return s, nil
	}
	if len(r.key) > maxHeader {
		return nil, fmt.Errorf("header text from %s on has %d bytes; the limit is %d", quote(string(r.key)), len(r.key), maxHeader)
	}
	key := string(r.key)
	s, err := r.newSeries(b, key)
	if err != nil {
		return nil, err
	}
	r.series[key] = s
	return s, nil
}

// newSeries checks an unknown header. key is its text without lead and valid time, b the complete
// line.
func (r *Reader) newSeries(b []byte, key string) (*headerSeries, error) {
	var room [8]string
	tok := room[:0]
	for i := skipBlanks(r.key, 0); i < len(key); {
		end := tokenEnd(r.key, i)
		tok = append(tok, key[i:end])
		i = skipBlanks(r.key, end)
	}
	for _, t := range tok {
		if err := checkText(t); err != nil {
			return nil, err
		}
	}
	// Without lead and valid time: version model obtype vx_mask type variable [level].
	if n := len(tok); n != 6 && n != 7 || strings.Contains(tok[0]+tok[1]+tok[2]+tok[3], "=") || tok[4][0] == '=' {
		return nil, tokenCountError(b)
	}
	version, model, lineType := tok[0], tok[1], tok[4]
	if len(version) < 2 || version[0] != 'V' || strings.Trim(version[1:], "0123456789") != "" {
		return nil, fmt.Errorf("version %s does not have the form V01", quote(version))
	}
	l, thresh, err := r.layoutOf(lineType)
	if err != nil {
		return nil, err
	}
	s := allocate(&r.seriesMem)
	*s = headerSeries{layout: l, least: l.least, most: l.most}
	if l.ensemble {
		if model, s.members, err = r.ensembleModel(l, model); err != nil {
			return nil, err
		}
		if l.size != nil {
			s.most = l.size(s.members)
			s.least = s.most
		}
	}
	if l.vsdb == "RELI" {
		thresh = "==1/" + strconv.Itoa(s.members+1)
	}
	level := strings.Join(tok[6:], "") // "" without one
	s.head = r.intern([...]string{l.vsdb, version, model, tok[2], tok[3], tok[5], level, cmp.Or(thresh, record.NA)})
	return s, nil
}

// intern returns the unique batchHeader for a line type, version, model, obtype, vx_mask, variable,
// level and threshold, none of which contains a blank.
func (r *Reader) intern(f [8]string) *batchHeader {
	key := strings.Join(f[:], " ")
	if hd, ok := r.heads[key]; ok {
		return hd
	}
	hd := allocate(&r.headMem)
	hd.header = record.DefaultHeader()
	h := &hd.header
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = f[1], f[2], f[3], f[4]
	h[record.FcstVar], h[record.ObsVar] = f[5], f[5]
	h[record.FcstLev], h[record.ObsLev] = f[6], f[6]
	h[record.FcstThresh], h[record.ObsThresh] = f[7], f[7]
	r.heads[key] = hd
	return hd
}

// allocate returns a new T from mem, which grows in chunks.
func allocate[T any](mem *[]T) *T {
	if len(*mem) == 0 {
		*mem = make([]T, 64)
	}
	t := &(*mem)[0]
	*mem = (*mem)[1:]
	return t
}

// layoutOf finds the layout of a line's type and the threshold attached to it.
func (r *Reader) layoutOf(lineType string) (*layout, string, error) {
	name, thresh := lineType, ""
	if strings.HasPrefix(lineType, "FHO") || strings.HasPrefix(lineType, "FSS") {
		name, thresh = lineType[:3], lineType[3:]
		if thresh == "" {
			return nil, "", fmt.Errorf("line type %q has no threshold, as in \"%s>.50\"", lineType, lineType)
		}
	}
	for i, k := range kinds {
		if k.vsdb != name {
			continue
		}
		if r.layouts[i] == nil {
			return nil, "", fmt.Errorf("line type %q of VSDB is stored as %s, which is not in the table of line types", k.vsdb, k.target)
		}
		return r.layouts[i], thresh, nil
	}
	return nil, "", fmt.Errorf("line type %s of VSDB is not known; known are %s", quote(lineType), strings.Join(Types(), " "))
}

// ensembleModel splits "M/n" into the model, with the directory's suffix, and n. n is 0 for a type that
// does not need it.
func (r *Reader) ensembleModel(l *layout, model string) (string, int, error) {
	name, number, _ := strings.Cut(model, "/")
	if name == "" {
		return "", 0, fmt.Errorf("model %s of line type %s has no name before its slash", quote(model), l.vsdb)
	}
	if r.o.Ensemble != "" {
		name += "_" + r.o.Ensemble
	}
	if err := checkText(name); err != nil || l.size == nil {
		return name, 0, err
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxMembers {
		return "", 0, fmt.Errorf(
			"model %s of line type %s does not have a number of members from 1 to %d after a slash, as in \"GEFS/20\"",
			quote(model), l.vsdb, maxMembers)
	}
	return name, n, nil
}

// EnsembleOf returns the suffix that METviewer adds to the model of ensemble line types, for
// Options.Ensemble: the part after the last '_' of the last element of dir, the directory that
// contains the file; "" without one.
func EnsembleOf(dir string) string {
	dir = strings.TrimRight(dir, "/")
	dir = dir[strings.LastIndexByte(dir, '/')+1:]
	if i := strings.LastIndexByte(dir, '_'); i >= 0 {
		return dir[i+1:]
	}
	return ""
}

// tokenCountError describes the wrong number of header tokens of a line.
func tokenCountError(b []byte) error {
	tokens := 0
	for i := skipBlanks(b, 0); i < len(b); i = skipBlanks(b, i) {
		end := tokenEnd(b, i)
		if eq := bytes.IndexByte(b[i:end], '='); eq == 0 || eq > 0 && tokens != 6 {
			if eq > 0 {
				tokens++
			}
			return fmt.Errorf("%d header tokens left of '='; VSDB has 9, or 8 where the level is empty", tokens)
		}
		tokens++
		i = end
	}
	return fmt.Errorf("%d tokens and no '='; VSDB has 9 header tokens, or 8 where the level is empty, and numbers", tokens)
}

// checkText returns an error for header text that SQL and JSON cannot represent.
func checkText(tok string) error {
	if !utf8.ValidString(tok) {
		return fmt.Errorf("header token %s is not valid UTF-8", quote(tok))
	}
	for _, c := range tok {
		if c < ' ' || c == 0x7F {
			return fmt.Errorf("header token %s has the control character %#02x", quote(tok), c)
		}
	}
	return nil
}

// leadSeconds reads a lead of one to four digits, in hours.
func leadSeconds(tok []byte) (seconds int32, ok bool) {
	hours, end := digits(tok, 0, 0)
	return int32(hours) * 3600, end == len(tok) && end <= 4
}

// validTime reads YYYYMMDDHH, UTC, of a supported year. It caches the last one, because most files
// have very few.
func (r *Reader) validTime(tok []byte) (unix int64, ok bool) {
	n, end := digits(tok, 0, 0)
	if len(tok) != 10 || end != 10 {
		return 0, false
	}
	if n == r.lastValid {
		return r.lastTime, true
	}
	year, month, day, hour := int(n/1000000), time.Month(n/10000%100), int(n/100%100), int(n%100)
	t := time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
	isDate := t.Year() == year && t.Month() == month && t.Day() == day && t.Hour() == hour
	if !isDate || year < record.FirstYear || year > record.LastYear {
		return 0, false
	}
	r.lastValid, r.lastTime = n, t.Unix()
	return r.lastTime, true
}

// quote prints a token of a line in a reason, shortened for readers.
func quote(tok string) string {
	const longest = 40
	if len(tok) > longest {
		return strconv.Quote(tok[:longest]) + "…"
	}
	return strconv.Quote(tok)
}
