package question

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// FromQuery reads a question from a query string: header fields stand once for
// each value, times and leads as on the command line, and lists with commas. An
// unknown key is an error. What says nothing of axis, series or equal cases is
// drawn as its answer suggests.
func FromQuery(v url.Values) (*Question, error) {
	q, d := &Question{}, &Drawing{Method: "overall", Replicates: 300, Confidence: 0.95}
	for key, values := range v {
		if f, ok := record.FieldByName(key); ok {
			q.Header[f] = values
			continue
		}
		if len(values) != 1 {
			return nil, fault.Misuse(key, "is given twice", "give it once")
		}
		if err := q.set(d, key, values[0]); err != nil {
			return nil, err
		}
	}
	if q.Type == nil {
		return nil, fault.Misuse("line_type", "is missing", "name one of `barograph list linetypes`")
	}
	if d.Stats != nil || d.Axis != "" || d.Curves != nil || d.EventEqual || d.Minus != "" {
		q.Drawing = d
	}
	said := []string{q.Type.Name}
	for _, values := range q.Header {
		said = append(said, strings.Join(values, ", "))
	}
	q.Title = strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), " ")
	q.Select()
	return q, q.Check()
}

// set puts one key of a query string into a question or its drawing.
func (q *Question) set(d *Drawing, key, value string) (err error) {
	switch key {
	case "name":
		q.Name = value
	case "subset":
		q.Subset = value
	case "line_type":
		var ok bool
		if q.Type, ok = record.TypeByName(strings.ToUpper(value)); !ok {
			err = fault.Misuse(key+" "+value, "is not known", "see `barograph list linetypes`")
		}
	case "fcst_valid_beg":
		err = q.At(value)
	case "fcst_init_beg":
		t := timesOf(value)
		q.Clock.Init, err = t.parse()
	case "fcst_lead":
		err = q.Leads(value)
	case "valid_hour":
		q.Clock.ValidHour, err = hoursOf(value)
	case "init_hour":
		q.Clock.InitHour, err = hoursOf(value)
	case "stat":
		d.Stats = strings.Split(value, ",")
	case "axis":
		d.Axis = value
	case "series":
		for field := range strings.SplitSeq(value, ",") {
			d.Curves = append(d.Curves, Group{Field: field})
		}
	case "event_equal":
		d.EventEqual, err = strconv.ParseBool(value)
	case "equal_places":
		d.EqualPlaces, err = strconv.ParseBool(value)
	case "minus":
		d.Minus = value
	default:
		err = fault.Unknown("URL", key, append(fieldNames(), "line_type", "stat", "axis", "series", "fcst_valid_beg", "fcst_init_beg", "fcst_lead", "valid_hour", "init_hour", "event_equal", "equal_places", "minus"))
	}
	return err
}

func hoursOf(text string) (hs []int, err error) {
	for item := range strings.SplitSeq(text, ",") {
		h, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, fault.Misuse("hours "+text, "are no numbers", "write 0,6,12,18")
		}
		hs = append(hs, h)
	}
	return hs, nil
}
