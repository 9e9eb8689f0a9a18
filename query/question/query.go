package question

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// FromURLQuery reads a question from a URL's query string. A header field appears once for each
// value. Times and leads are written as on the command line, and lists with commas. An unknown key
// is an error. Without a key of the drawing, the answer has the default drawing of its line type.
func FromURLQuery(v url.Values) (*Question, error) {
	q, d := &Question{}, &Drawing{}
	for key, values := range v {
		if f, ok := record.FieldByName(key); ok {
			q.Header[f] = Unique(values)
			continue
		}
		if len(values) != 1 {
			return nil, fault.Misuse(key, "is given twice", "give it once")
		}
		if err := q.setURLKey(d, key, values[0]); err != nil {
			return nil, err
		}
	}
	if q.Type == nil {
		return nil, fault.Misuse("line_type", "is missing", "name one of `barograph list linetypes`")
	}
	if err := checkPicture(q.Type, d.Picture); err != nil {
		return nil, err
	}
	if d.ShowsLineType() {
		d.Stats = nil
	}
	if err := d.checkNames(q); err != nil {
		return nil, err
	}
	if !reflect.ValueOf(*d).IsZero() {
		defaults := NewDrawing(q.Type, strings.Join(d.Stats[:min(len(d.Stats), 1)], ""), "") // the first one decides, as in YAML
		d.Method, d.FromColumns = defaults.Method, defaults.FromColumns
		d.Replicates, d.Confidence = defaults.Replicates, defaults.Confidence
		q.Drawing = d
	}
	title := lists.Map(q.Header[:], func(values []string) string { return strings.Join(values, ", ") })
	q.Title = strings.Join(slices.DeleteFunc(append([]string{q.Type.Name}, title...), func(s string) bool { return s == "" }), " ")
	q.SelectColumns()
	return q, q.Check()
}

// setURLKey stores one key of a query string in a question or its drawing.
func (q *Question) setURLKey(d *Drawing, key, value string) (err error) {
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
		err = q.SetValidTimes(value)
	case "fcst_init_beg":
		q.TimeFilter.Init, err = parseTimesText(value).parse()
	case "fcst_lead":
		err = q.SetLeads(value)
	case "valid_hour":
		q.TimeFilter.ValidHour, err = parseHourList(value)
	case "init_hour":
		q.TimeFilter.InitHour, err = parseHourList(value)
	case "stat":
		d.Stats = strings.Split(value, ",")
	case "picture":
		d.Picture = value
	case "axis":
		d.Axis = value
	case "series":
		d.Curves = append(d.Curves, lists.Map(strings.Split(value, ","), func(field string) Group { return Group{Field: field} })...)
	case "event_equal", "equal_places":
		flag := map[string]*bool{"event_equal": &d.EventEqual, "equal_places": &d.EqualizeAcrossAxis}[key]
		if *flag, err = strconv.ParseBool(value); err != nil {
			err = fault.Misuse(key+" "+value, "is not true or false", "write true or false")
		}
	case "minus":
		d.Baseline = value
	default:
		err = fault.Unknown("URL", key, append(fieldNames(), "name", "subset", "line_type", "picture", "stat", "axis", "series", "fcst_valid_beg",
			"fcst_init_beg", "fcst_lead", "valid_hour", "init_hour", "event_equal", "equal_places", "minus"))
	}
	return err
}

func parseHourList(text string) (hs []int, err error) {
	for item := range strings.SplitSeq(text, ",") {
		h, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, fault.Misuse("hours "+text, "are not numbers", "write 0,6,12,18")
		}
		hs = append(hs, h)
	}
	slices.Sort(hs)
	return slices.Compact(hs), nil
}

// URLQuery writes the conditions of a question and the keys of its drawing that FromURLQuery reads, except name and
// subset. Of each series it writes only the field: the question that FromURLQuery reads has one curve for each value.
func URLQuery(q *Question) url.Values {
	v := url.Values{"line_type": {q.Type.Name}}
	for f := range record.NumFields {
		if len(q.Header[f]) > 0 {
			v[f.String()] = q.Header[f]
		}
	}
	put := func(key string, words ...string) {
		if text := strings.Join(words, ","); text != "" {
			v.Set(key, text)
		}
	}
	put("fcst_valid_beg", q.Valid.formatItems()...)
	put("fcst_init_beg", q.TimeFilter.Init.formatItems()...)
	put("fcst_lead", FormatLeads(q.Lead)...)
	put("valid_hour", lists.Map(q.TimeFilter.ValidHour, strconv.Itoa)...)
	put("init_hour", lists.Map(q.TimeFilter.InitHour, strconv.Itoa)...)
	if d := q.Drawing; d != nil {
		put("series", lists.Map(d.Curves, func(g Group) string { return g.Field })...)
		put("stat", d.Stats...)
		put("picture", d.Picture)
		put("axis", d.Axis)
		put("minus", d.Baseline)
		put("event_equal", map[bool]string{true: "true"}[d.EventEqual])
		put("equal_places", map[bool]string{true: "true"}[d.EqualizeAcrossAxis])
	}
	return v
}

// formatItems writes a list of times, or one range, as parseTimesText reads it.
func (t *Times) formatItems() (out []string) {
	if out = lists.Map(t.List, formatGroupTime); len(out) > 0 || t.IsAll() {
		return out
	}
	text := formatGroupTime(t.First) + ".." + formatGroupTime(t.Last)
	if t.Step > 0 {
		text += "/" + formatDuration(t.Step)
	}
	return []string{text}
}
