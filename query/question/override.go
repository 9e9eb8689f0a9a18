package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// SetHeader replaces conditions on header fields of q. Each text is FIELD=VALUE, such as
// "vx_mask=G2/NHX"; repeat it for further values, or separate values by commas. A backslash before
// a comma makes it part of the value. An empty value ("fcst_lev=") removes the condition.
func (q *Question) SetHeader(texts ...string) error {
	named := map[record.Field]bool{}
	for _, text := range texts {
		f, values, err := ParseCondition(text)
		if err != nil {
			return err
		}
		if named[f] && (len(values) == 0 || len(q.Header[f]) == 0) {
			problem := "requests both all values of " + f.String() + " and some"
			return &fault.Error{Setting: strconv.Quote(text), Problem: problem, Cure: "leave one out"}
		}
		if !named[f] {
			named[f], q.Header[f] = true, nil
		}
		q.Header[f] = Unique(append(q.Header[f], values...))
	}
	return nil
}

// ParseCondition reads one text of SetHeader. If it has no values, the condition is removed.
func ParseCondition(text string) (f record.Field, values []string, err error) {
	bad := func(problem, cure string) error {
		return &fault.Error{Setting: strconv.Quote(text), Problem: problem, Cure: cure}
	}
	name, list, ok := strings.Cut(text, "=")
	f, known := record.FieldByName(name)
	switch values = SplitList(list); {
	case !ok:
		return f, nil, bad("is not FIELD=VALUE", "write a field of `barograph list linetypes`, such as vx_mask=G2/NHX")
	case !known:
		return f, nil, bad("names no header field", "write a field of `barograph list linetypes`, such as vx_mask=G2/NHX")
	case list == "":
		return f, nil, nil
	case slices.Contains(values, ""):
		return f, nil, bad("has an empty value", `leave the comma out; a comma within a value is written \,`)
	}
	return f, values, nil
}

// SplitList splits a list at its commas. A backslash before a comma makes the comma part of the
// item, and two backslashes become one.
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

// EscapeItem writes an item in the form that SplitList reads.
func EscapeItem(item string) string { return strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(item) }

// SetValidTimes replaces the valid times of q by one time, a list "a,b,c", or a range "first..last"
// with an optional step "/6h". "all" removes the condition.
func (q *Question) SetValidTimes(text string) error {
	valid, err := parseTimesText(text).parse()
	if err != nil {
		return err
	}
	if err := valid.Check(); err != nil {
		return &fault.Error{Setting: strconv.Quote(text), Err: err, Cure: "give a list of times, or first..last/step"}
	}
	q.Valid = valid
	return nil
}

// parseTimesText splits one time, a list "a,b,c", or a range "first..last/6h" into its parts. "all" has none.
func parseTimesText(text string) (t timesYAML) {
	if first, rest, ok := strings.Cut(text, ".."); ok {
		t.First = first
		t.Last, t.Step, _ = strings.Cut(rest, "/")
	} else if text != "all" {
		t.List = strings.Split(text, ",")
	}
	return t
}

// SetLeads replaces the leads of q: "0,24,72" or "0-240/6,252-384/12" in hours, or durations. "all"
// removes the condition.
func (q *Question) SetLeads(text string) error {
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
