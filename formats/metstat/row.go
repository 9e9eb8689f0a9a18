package metstat

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/barograph/barograph/formats/lines"
	"github.com/barograph/barograph/formats/number"
	"github.com/barograph/barograph/record"
)

// row buffers the values of one line until all of them are valid: a batch never contains part of a
// line.
type row struct {
	lead, obsLead                   int32
	valid, validEnd, obsBeg, obsEnd int64
	num                             []float64
	text                            []string
	group                           []float64
	omitted                         string // names of the columns that are not stored
}

// readData reads the current data line into the batch of its type. It returns the batch, and the reason
// if the line is quarantined.
func (r *Reader) readData(ln lines.Line) (*openBatch, string) {
	switch {
	case ln.Long:
		return r.rejectsOnly, fmt.Sprintf("the line is longer than %d bytes", maxLine)
	case !utf8.Valid(r.line):
		return r.rejectsOnly, "the line is not UTF-8 text"
	case bytes.IndexByte(r.line, 0) >= 0:
		return r.rejectsOnly, "the line contains a NUL byte"
	case r.layout.headerProblem != "":
		return r.rejectsOnly, r.layout.headerProblem
	case string(r.token(0)) == firstWord:
		return r.rejectsOnly, record.MaybeTruncated // a header line without a line end
	}
	if r.layout.objects != nil {
		if reason := r.translate(); reason != "" {
			return r.rejectsOnly, reason
		}
	}
	p, reason := r.readLineType()
	if reason != "" {
		return r.rejectsOnly, r.withAssumption(reason)
	}
	if reason = r.readValues(p); reason != "" {
		return p, r.withAssumption(reason)
	}
	if !ln.Ended {
		return p, record.MaybeTruncated
	}
	head, reason := r.readHeader(p)
	if reason != "" {
		return p, r.withAssumption(reason)
	}
	r.store(p, head, r.in.Number)
	r.keepLine(p, head)
	return p, ""
}

// withAssumption adds to a reason that the reader assumed the layout, if it did.
func (r *Reader) withAssumption(reason string) string {
	if r.layout.isAssumed {
		return reason + fmt.Sprintf(" (the file has no header line before it; %d columns were assumed)", len(commonColumns))
	}
	return reason
}

// readLineType reads the line type.
func (r *Reader) readLineType() (*openBatch, string) {
	v := r.token(0)
	if len(v) < 2 || v[0] != 'V' || v[1]-'0' > 9 {
		return nil, fmt.Sprintf("the line begins with %q, not with a version of MET", shorten(v))
	}
	if at := r.layout.lineType; len(r.tok) <= at {
		return nil, fmt.Sprintf("the line is truncated: it has %d of the %d header columns and ends in %q",
			len(r.tok), at+1, shorten(r.token(len(r.tok)-1)))
	}
	name := r.token(r.layout.lineType)
	if p := r.openBatchOf(name); p != nil {
		return p, ""
	}
	return nil, fmt.Sprintf("unknown line type %q", shorten(name))
}

// readValues reads times and columns into r.row.
func (r *Reader) readValues(p *openBatch) string {
	if reason := r.readTimes(); reason != "" {
		return reason
	}
	lt := p.lt
	first := r.layout.lineType + 1
	order, reason := r.reorder(lt, first)
	if reason != "" {
		return reason
	}
	lineColumns := len(r.tok) - first
	known := lineColumns // how many of them the reader stores; in a type with a group, this depends on the repetitions
	if lt.Group == nil {
		known = order.knownColumns(lineColumns, 0)
	}
	leading := min(known, lt.ColumnsBeforeGroup)
	r.row.num, r.row.text, r.row.group = r.row.num[:0], r.row.text[:0], r.row.group[:0]
	if reason := r.readColumns(lt.Columns[:leading], first); reason != "" {
		return reason
	}
	repeats := 0
	if lt.Group != nil {
		if leading < lt.ColumnsBeforeGroup {
			added := r.layout.addedColumns(lt)
			inFile := known - min(added, len(cycloneColumns)) // a line as short as this has no diag_i
			return fmt.Sprintf("the line is truncated: it has %d columns of %s, but %d precede the repeating ones",
				inFile, lt.Name, lt.ColumnsBeforeGroup-added)
		}
		n, reason := r.countRepeats(p, known-leading)
		if reason != "" {
			return reason
		}
		if reason := r.readGroup(lt.Group, first+leading, n); reason != "" {
			return reason
		}
		repeats = n
		known = order.knownColumns(lineColumns, n)
	}
	if r.row.omitted = r.layout.omitted; known < lineColumns {
		r.row.omitted = strings.Join(order.names[known:], " ")
	}
	fixed := known - repeats
	if reason := badLength(lt, fixed, r.layout.addedColumns(lt), r.token(0)); reason != "" {
		return reason
	}
	if reason := r.readColumns(lt.Columns[leading:fixed], first+leading+repeats); reason != "" {
		return reason
	}
	r.fillMissing(p)
	return ""
}

// readTimes reads the six columns from FCST_LEAD on.
func (r *Reader) readTimes() string {
	at := r.layout.lead
	var ok bool
	if r.row.lead, ok = parseLead(r.token(at)); !ok {
		return r.badTime(0, "a lead", "[-]H…[MMSS]")
	}
	if r.row.obsLead, ok = parseLead(r.token(at + 3)); !ok || r.row.obsLead < 0 {
		return r.badTime(3, "a lead of an observation", "H…[MMSS]")
	}
	for i, into := range [timeColumns]*int64{1: &r.row.valid, 2: &r.row.validEnd, 4: &r.row.obsBeg, 5: &r.row.obsEnd} {
		if into == nil {
			continue
		}
		if *into, ok = r.cachedTime(r.token(at + i)); !ok {
			return r.badTime(i, fmt.Sprintf("a time from %d to %d", record.FirstYear, record.LastYear), "YYYYMMDD_HHMMSS")
		}
	}
	return record.InitProblem(r.row.valid, r.row.lead)
}

// cachedTime is parseTime with a cache of the last token, because tokens often repeat.
func (r *Reader) cachedTime(tok []byte) (int64, bool) {
	if string(tok) == string(r.timeToken[:]) {
		return r.timeValue, true
	}
	t, ok := parseTime(tok)
	if ok {
		r.timeValue = t
		copy(r.timeToken[:], tok)
	}
	return t, ok
}

// badTime returns the problem of the i-th of the time columns, which should contain what, in this form.
func (r *Reader) badTime(i int, what, form string) string {
	token := r.layout.lead + i
	names := [timeColumns]string{
		leadColumn, "FCST_VALID_BEG", "FCST_VALID_END", "OBS_LEAD", "OBS_VALID_BEG", "OBS_VALID_END",
	}
	name := r.layout.nameInFile(token, names[i])
	return fmt.Sprintf("column %s: %q is not %s: %s is expected", name, shorten(r.token(token)), what, form)
}

// readColumns reads the columns cols, the first from token at.
func (r *Reader) readColumns(cols []record.Column, at int) string {
	for i := range cols {
		c := &cols[i]
		tok := r.token(at + i)
		if c.Kind == record.Text {
			r.row.text = append(r.row.text, r.word(tok))
			continue
		}
		f, ok := parseValue(tok)
		if !ok || !c.Rule.Accepts(f) {
			return badValue(c.Rule, c.Name, tok, ok)
		}
		r.row.num = append(r.row.num, f)
	}
	return ""
}

// parseValue reads a number; NaN if it is missing.
func parseValue(tok []byte) (float64, bool) {
	if len(tok) == 2 && tok[0] == 'N' && tok[1] == 'A' {
		return math.NaN(), true
	}
	f, ok := number.Parse(tok)
	if f == missingNumber {
		return math.NaN(), true
	}
	return f, ok
}

// badValue returns the problem of a value that is no number or that its rule does not accept.
func badValue(rule *record.Rule, column string, tok []byte, isNumber bool) string {
	switch strings.ToLower(strings.TrimLeft(string(tok), "+-")) {
	case "inf", "infinity", "nan":
		return fmt.Sprintf("column %s: %q is not a finite number (NA is a missing one)", column, tok)
	}
	if isNumber {
		return rule.Violation(column, strconv.Quote(string(shorten(tok))))
	}
	return fmt.Sprintf("column %s: %q is not a number", column, shorten(tok))
}

// countRepeats returns how many tokens belong to the repeating group, from the column that counts the
// repetitions. remaining is the number of tokens after the leading columns.
func (r *Reader) countRepeats(p *openBatch, remaining int) (int, string) {
	g := p.lt.Group
	count := r.row.num[p.repetitionsSlot]
	if math.IsNaN(count) {
		return 0, ""
	}
	need := g.Len(int(min(count, float64(len(r.line))))) // the line cannot have more groups than bytes
	if need > remaining {
		return 0, fmt.Sprintf("the line is truncated: %s is %v, but only %d values follow", g.Count, count, remaining)
	}
	return need, ""
}

// readGroup reads the n repeating columns, beginning at token at.
func (r *Reader) readGroup(g *record.Group, at, n int) string {
	k := 0 // index of g.Fields
	for i := range n {
		tok := r.token(at + i)
		f, ok := parseValue(tok)
		if !ok || !g.Rules[k].Accepts(f) {
			return badValue(g.Rules[k], fmt.Sprintf("%s[%d]", g.Fields[k], i/len(g.Fields)+1), tok, ok)
		}
		r.row.group = append(r.row.group, f)
		if k++; k == len(g.Fields) {
			k = 0
		}
	}
	return ""
}

// fillMissing sets the columns that an older version did not write.
func (r *Reader) fillMissing(p *openBatch) {
	for len(r.row.num) < p.lt.NumCols() {
		r.row.num = append(r.row.num, record.Missing())
	}
	for len(r.row.text) < p.lt.TextCols() {
		r.row.text = append(r.row.text, record.NA)
	}
	if p.ecValueSlot == 0 || !math.IsNaN(r.row.num[p.ecValueSlot]) {
		return
	}
	categories := 2.0
	if p.nCatSlot != 0 {
		categories = r.row.num[p.nCatSlot]
	}
	if categories > 0 {
		r.row.num[p.ecValueSlot] = 1 / categories
	}
}

// store appends the row to p's batch.
func (r *Reader) store(p *openBatch, head, line uint32) {
	b, w := &p.batch, &r.row
	b.HeaderIndex = append(b.HeaderIndex, head)
	b.Lead = append(b.Lead, w.lead)
	b.Valid = append(b.Valid, w.valid)
	b.ValidEnd = append(b.ValidEnd, w.validEnd)
	b.ObsLead = append(b.ObsLead, w.obsLead)
	b.ObsBeg = append(b.ObsBeg, w.obsBeg)
	b.ObsEnd = append(b.ObsEnd, w.obsEnd)
	b.Line = append(b.Line, line)
	for k, f := range w.num {
		b.Num[k] = append(b.Num[k], f)
	}
	for k, s := range w.text {
		b.Text[k] = append(b.Text[k], s)
	}
	if w.omitted != "" {
		if b.OmittedColumns == nil {
			b.OmittedColumns = map[string]int{}
		}
		b.OmittedColumns[w.omitted]++
	}
	if p.lt.Group != nil {
		b.Group = append(b.Group, w.group...)
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
}
