package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// Where narrows or changes one header field of q: "vx_mask=G2/NHX,G2/SHX". An
// empty value ("fcst_lev=") asks for all.
func (q *Question) Where(text string) error {
	name, values, ok := strings.Cut(text, "=")
	f, known := record.FieldByName(name)
	if !ok || !known {
		return &fault.Error{Setting: strconv.Quote(text), Problem: "is not field=value,value", Cure: "name a header field of `barograph list linetypes`, e.g. vx_mask=G2/NHX"}
	}
	if values == "" {
		q.Header[f] = nil
		return nil
	}
	q.Header[f] = strings.Split(values, ",")
	return nil
}

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
