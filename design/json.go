package design

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"barograph/fault"
	"barograph/record"
)

// The JSON form of a document:
//
//	{"id": …, "line_type": "SAL1L2", "subset": …, all header fields under METviewer's names,
//	 "fcst_valid_epoch": 1546300800, "fcst_valid_beg": "2019-01-01T00:00:00Z",
//	 "data": [{"fcst_lead": 0, "total": 3600, "fabar": 26.9635266, …}, …]}
//
// fcst_lead is in seconds. Numbers are numbers, in the shortest text that
// parses to the same float64; a missing value has no member. An entry whose
// times are not plain has fcst_valid_end, obs_lead, obs_valid_beg and
// obs_valid_end too (epochs, seconds); repeating columns stand in "repeats".

// ISO is the text form of valid times in documents.
const ISO = "2006-01-02T15:04:05Z"

// AppendISO appends a time as 2019-01-01T00:00:00Z.
func AppendISO(dst []byte, epoch int64) []byte {
	return time.Unix(epoch, 0).UTC().AppendFormat(dst, ISO)
}

// AppendJSON appends the document of rows b, which share one header and valid time.
func AppendJSON(dst []byte, subset string, b *record.Batch) []byte {
	h := &b.Headers[0]
	valid := b.Valid[0]
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, string(AppendKey(nil, b.Type, subset, h, valid)))
	dst = append(dst, `,"line_type":`...)
	dst = appendString(dst, b.Type.Name)
	dst = append(dst, `,"subset":`...)
	dst = appendString(dst, subset)
	for f := range record.NumFields {
		dst = append(dst, ',', '"')
		dst = append(dst, f.String()...)
		dst = append(dst, '"', ':')
		dst = appendString(dst, h[f])
	}
	dst = append(dst, `,"fcst_valid_epoch":`...)
	dst = appendInt(dst, valid)
	dst = append(dst, `,"fcst_valid_beg":"`...)
	dst = AppendISO(dst, valid)
	dst = append(dst, `","data":`...)
	dst = AppendEntries(dst, b)
	return append(dst, '}')
}

// AppendEntries appends the array of entries of a document.
func AppendEntries(dst []byte, b *record.Batch) []byte {
	dst = append(dst, '[')
	for i := range b.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendEntry(dst, b, i)
	}
	return append(dst, ']')
}

func appendEntry(dst []byte, b *record.Batch, i int) []byte {
	dst = append(dst, `{"fcst_lead":`...)
	dst = appendInt(dst, int64(b.Lead[i]))
	if !b.Plain(i) {
		dst = append(dst, `,"fcst_valid_end":`...)
		dst = appendInt(dst, b.ValidEnd[i])
		dst = append(dst, `,"obs_lead":`...)
		dst = appendInt(dst, int64(b.ObsLead[i]))
		dst = append(dst, `,"obs_valid_beg":`...)
		dst = appendInt(dst, b.ObsBeg[i])
		dst = append(dst, `,"obs_valid_end":`...)
		dst = appendInt(dst, b.ObsEnd[i])
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if c.Kind != record.Text && math.IsNaN(b.Num[c.Slot][i]) {
			continue
		}
		dst = append(dst, ',', '"')
		dst = append(dst, c.Name...)
		dst = append(dst, '"', ':')
		if c.Kind == record.Text {
			dst = appendString(dst, b.Text[c.Slot][i])
		} else {
			dst = strconv.AppendFloat(dst, b.Num[c.Slot][i], 'g', -1, 64)
		}
	}
	if b.Type.Group != nil {
		dst = append(dst, `,"repeats":`...)
		dst = AppendRepeats(dst, b.Repeats(i))
	}
	return append(dst, '}')
}

// AppendRepeats appends repeating columns as a JSON array; a missing value is null.
func AppendRepeats(dst []byte, values []float64) []byte {
	dst = append(dst, '[')
	for k, f := range values {
		if k > 0 {
			dst = append(dst, ',')
		}
		if math.IsNaN(f) {
			dst = append(dst, "null"...)
		} else {
			dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
		}
	}
	return append(dst, ']')
}

// ParseRepeats is the inverse of AppendRepeats.
func ParseRepeats(text []byte, into []float64) ([]float64, error) {
	var values []*float64
	if err := json.Unmarshal(text, &values); err != nil {
		return into, err
	}
	for _, v := range values {
		if v == nil {
			into = append(into, record.Missing())
		} else {
			into = append(into, *v)
		}
	}
	return into, nil
}

// appendString appends a JSON string. Barograph's names are mostly plain
// ASCII; everything else goes through encoding/json.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil { // cannot be: a string always marshals
				return append(dst, `""`...)
			}
			return append(dst, text...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// ParseJSON appends the records of a document to b, which is of the
// document's line type, and returns the subset. The header is added to b.
func ParseJSON(text []byte, b *record.Batch) (subset string, err error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		return "", &fault.Error{Setting: "document", Problem: "is no JSON object", Err: err}
	}
	var h record.Header
	for f := range record.NumFields {
		if err := json.Unmarshal(doc[f.String()], &h[f]); err != nil {
			return "", &fault.Error{Setting: "document, member " + f.String(), Err: err}
		}
	}
	var valid int64
	if err := json.Unmarshal(doc["fcst_valid_epoch"], &valid); err != nil {
		return "", &fault.Error{Setting: "document, member fcst_valid_epoch", Err: err}
	}
	if err := json.Unmarshal(doc["subset"], &subset); err != nil {
		return "", &fault.Error{Setting: "document, member subset", Err: err}
	}
	return subset, ParseEntries(doc["data"], b, b.AddHeader(h), valid)
}

// ParseEntries appends the entries of a document to b, under header head.
func ParseEntries(text []byte, b *record.Batch, head uint32, valid int64) error {
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return &fault.Error{Setting: "document, member data", Err: err}
	}
	for _, e := range entries {
		if err := parseEntry(e, b, head, valid); err != nil {
			return err
		}
	}
	return nil
}

func parseEntry(e map[string]json.RawMessage, b *record.Batch, head uint32, valid int64) error {
	whole := func(name string, otherwise int64) int64 {
		v, err := strconv.ParseInt(string(e[name]), 10, 64)
		if err != nil {
			return otherwise
		}
		return v
	}
	b.AppendTimes(head, int32(whole("fcst_lead", 0)), valid, 0)
	i := b.Len() - 1
	b.ValidEnd[i] = whole("fcst_valid_end", valid)
	b.ObsLead[i] = int32(whole("obs_lead", 0))
	b.ObsBeg[i], b.ObsEnd[i] = whole("obs_valid_beg", valid), whole("obs_valid_end", valid)
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		raw, ok := e[c.Name]
		switch {
		case c.Kind == record.Text:
			s := record.NA
			if ok {
				if err := json.Unmarshal(raw, &s); err != nil {
					return &fault.Error{Setting: "document, member " + c.Name, Err: err}
				}
			}
			b.Text[c.Slot] = append(b.Text[c.Slot], s)
		case !ok:
			b.Num[c.Slot] = append(b.Num[c.Slot], record.Missing())
		default:
			f, err := strconv.ParseFloat(string(raw), 64)
			if err != nil {
				return &fault.Error{Setting: "document, member " + c.Name, Err: err}
			}
			b.Num[c.Slot] = append(b.Num[c.Slot], f)
		}
	}
	if b.Type.Group != nil {
		var err error
		if b.Group, err = ParseRepeats(slices.Clone(e["repeats"]), b.Group); err != nil {
			return &fault.Error{Setting: "document, member repeats", Err: err}
		}
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	return nil
}
