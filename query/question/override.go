package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Where changes header fields of q: "vx_mask=G2/NHX" once for each value. Values
// may also stand in one text with commas between them; a comma that belongs to a
// value has a backslash before it. An empty value ("fcst_lev=") asks for all.
func (q *Question) Where(texts ...string) error {
	named := map[record.Field]bool{}
	for _, text := range texts {
		f, values, err := Condition(text)
		if err != nil {
			return err
		}
		if named[f] && (len(values) == 0 || len(q.Header[f]) == 0) {
			return &fault.Error{Setting: strconv.Quote(text), Problem: "both all values of " + f.String() + " and some are asked for", Cure: "leave one out"}
		}
		if !named[f] {
			named[f], q.Header[f] = true, nil
		}
		for _, v := range values {
			if !slices.Contains(q.Header[f], v) {
				q.Header[f] = append(q.Header[f], v)
			}
		}
	}
	return nil
}

// Condition reads one text of Where; no values = all.
func Condition(text string) (f record.Field, values []string, err error) {
	name, list, ok := strings.Cut(text, "=")
	f, known := record.FieldByName(name)
	if !ok || !known {
		problem := "is not FIELD=VALUE"
		if ok {
			problem = "names no header field"
		}
		return f, nil, &fault.Error{Setting: strconv.Quote(text), Problem: problem, Cure: "write a field of `barograph list linetypes`, such as vx_mask=G2/NHX"}
	}
	if list == "" {
		return f, nil, nil
	}
	if values = SplitList(list); slices.Contains(values, "") {
		return f, nil, &fault.Error{Setting: strconv.Quote(text), Problem: "has an empty value", Cure: `leave the comma out; a comma within a value is written \,`}
	}
	return f, values, nil
}

// SplitList cuts a list at its commas. A comma behind a backslash belongs to the
// item, and two backslashes are one.
func SplitList(text string) (items []string) {
	var item strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == ',' || text[i+1] == '\\'):
			i++
			item.WriteByte(text[i])
		case text[i] == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteByte(text[i])
		}
	}
	return append(items, item.String())
}

// EscapeItem writes an item as SplitList reads it.
func EscapeItem(item string) string { return strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(item) }

// At changes the valid times of q: one time, a list "a,b,c", or a range
// "first..last" with or without a step "/6h"; "all" asks for every time.
func (q *Question) At(text string) error {
	if text == "all" {
		q.Valid = Times{}
		return nil
	}
	t := timesOf(text)
	valid, err := t.parse()
	if err != nil {
		return err
	}
	if err := valid.Check(); err != nil {
		return &fault.Error{Setting: strconv.Quote(text), Err: err, Cure: "give a list of times, or first..last/step"}
	}
	q.Valid = valid
	return nil
}

// timesOf takes one time, a list "a,b,c", or a range "first..last/6h" apart.
func timesOf(text string) (t times) {
	if first, rest, ok := strings.Cut(text, ".."); ok {
		t.First = first
		t.Last, t.Step, _ = strings.Cut(rest, "/")
	} else {
		t.List = strings.Split(text, ",")
	}
	return t
}

// Leads changes the leads of q: "0,24,72" or "0-240/6,252-384/12" in hours, or
// durations; "all" asks for every lead.
func (q *Question) Leads(text string) error {
	if text == "all" {
		q.Lead = nil
		return nil
	}
	leads, err := parseLeads(slices.Collect(strings.SplitSeq(text, ",")))
	if err != nil {
		return err
	}
	q.Lead = leads
	return nil
}
