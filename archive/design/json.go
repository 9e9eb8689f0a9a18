package design

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// The JSON form of a document:
//
//	{"id": …, "line_type": "SAL1L2", "subset": …, all header fields under METviewer's names,
//	 "fcst_valid_epoch": 1546300800, "fcst_valid_beg": "2019-01-01T00:00:00Z",
//	 "data": [{"fcst_lead": 0, "total": 3600, "fabar": 26.9635266, …}, …]}
//
// fcst_lead is in seconds. Numbers are numbers, in the shortest text that
// parses to the same float64; a missing value has no member. An entry whose
// times are not plain also has fcst_valid_end, obs_lead, obs_valid_beg and
// obs_valid_end (epochs, seconds). Repeating columns are in "repeats".

// ISO is the text form of valid times in documents.
const ISO = "2006-01-02T15:04:05Z"

// AppendISO appends a time as 2019-01-01T00:00:00Z.
func AppendISO(dst []byte, epoch int64) []byte {
	return time.Unix(epoch, 0).UTC().AppendFormat(dst, ISO)
}

// AppendJSON appends the document of rows b, which must share one header and valid time.
func AppendJSON(dst []byte, subset string, b *record.Batch) []byte {
	h := &b.Headers[0]
	valid := b.Valid[0]
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, string(AppendKey(nil, b.Type, subset, h, valid)))
	dst = appendString(appendName(dst, "line_type"), b.Type.Name)
	dst = appendString(appendName(dst, "subset"), subset)
	for f := range record.NumFields {
		dst = appendString(appendName(dst, f.String()), h[f])
	}
	dst = appendInt(appendName(dst, "fcst_valid_epoch"), valid)
	dst = append(dst, `,"fcst_valid_beg":"`...)
	dst = AppendISO(dst, valid)
	dst = append(dst, `","data":`...)
	dst = AppendEntries(dst, b)
	return append(dst, '}')
}

// appendName starts a further member of an object. Its name must not need quoting.
func appendName(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
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
	if !b.HasPlainTimes(i) {
		dst = appendInt(appendName(dst, "fcst_valid_end"), b.ValidEnd[i])
		dst = appendInt(appendName(dst, "obs_lead"), int64(b.ObsLead[i]))
		dst = appendInt(appendName(dst, "obs_valid_beg"), b.ObsBeg[i])
		dst = appendInt(appendName(dst, "obs_valid_end"), b.ObsEnd[i])
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if c.Kind != record.Text && math.IsNaN(b.Num[c.Slot][i]) {
			continue
		}
		dst = appendName(dst, c.Name)
		if c.Kind == record.Text {
			dst = appendString(dst, b.Text[c.Slot][i])
		} else {
			dst = strconv.AppendFloat(dst, b.Num[c.Slot][i], 'g', -1, 64)
		}
	}
	if b.Type.Group != nil {
		dst = AppendRepeats(appendName(dst, "repeats"), b.Repeats(i))
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

// appendString appends a JSON string. Most names are plain ASCII; encoding/json handles all others.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil { // impossible: a string always marshals
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
		return "", &fault.Error{Setting: "document", Problem: "is not a JSON object", Err: err}
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

// ParseEntries appends the entries of a document to b, with header number head.
func ParseEntries(text []byte, b *record.Batch, head uint32, valid int64) error {
	bad := func(err error) error { return &fault.Error{Setting: "document, member data", Err: err} }
	if !gjson.ValidBytes(text) {
		return bad(errors.New("is not JSON"))
	}
	array := gjson.ParseBytes(text)
	if !array.IsArray() {
		return bad(errors.New("is not an array"))
	}
	var err error
	array.ForEach(func(_, entry gjson.Result) bool {
		err = parseEntry(entry, b, head, valid)
		return err == nil
	})
	if err != nil {
		return bad(err)
	}
	return nil
}

// parseEntry appends one entry: first a record with defaults, then the value of each member.
func parseEntry(entry gjson.Result, b *record.Batch, head uint32, valid int64) error {
	b.AppendTimes(head, math.MinInt32, valid, 0) // no lead
	i := b.Len() - 1
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], record.Missing())
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	var err error
	entry.ForEach(func(name, value gjson.Result) bool {
		if err = setMember(b, i, name.Str, value); err != nil {
			err = fmt.Errorf("member %s: %w", name.Str, err)
		}
		return err == nil
	})
	if b.Type.Group != nil {
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	if err == nil && b.Lead[i] == math.MinInt32 {
		err = errors.New("an entry has no fcst_lead")
	}
	return err
}

func setMember(b *record.Batch, i int, name string, value gjson.Result) (err error) {
	switch name {
	case "fcst_lead":
		return setInteger(&b.Lead[i], value)
	case "fcst_valid_end":
		return setInteger(&b.ValidEnd[i], value)
	case "obs_lead":
		return setInteger(&b.ObsLead[i], value)
	case "obs_valid_beg":
		return setInteger(&b.ObsBeg[i], value)
	case "obs_valid_end":
		return setInteger(&b.ObsEnd[i], value)
	case "repeats":
		b.Group, err = ParseRepeats([]byte(value.Raw), b.Group)
		return err
	}
	c, ok := b.Type.Column(name)
	switch {
	case !ok:
		return errors.New("is not a column of " + b.Type.Name)
	case c.Kind == record.Text && value.Type == gjson.String:
		b.Text[c.Slot][i] = value.Str
		return nil
	case c.Kind != record.Text && value.Type == gjson.Number:
		b.Num[c.Slot][i], err = strconv.ParseFloat(value.Raw, 64)
		return err
	}
	return errors.New(value.Raw + " is not of the column's kind")
}

func setInteger[T int32 | int64](into *T, value gjson.Result) error {
	v, err := strconv.ParseInt(value.Raw, 10, 64)
	if *into = T(v); int64(*into) != v {
		err = strconv.ErrRange
	}
	return err
}
