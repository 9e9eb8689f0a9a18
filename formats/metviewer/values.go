package metviewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// values reads val, date_list and date_range, in place or by name.
func (s *plots) values(n *node) (Values, error) {
	var v Values
	for _, k := range n.kids {
		def := k
		if strings.HasPrefix(k.name, "date_") && len(k.kids) == 0 {
			if def = s.lists[refersTo(k)]; def == nil || def.name != k.name {
				return v, s.errorAt(k.line, k.name+" "+strconv.Quote(refersTo(k)), "is missing", "write it before the plot")
			}
		}
		switch k.name {
		case "val":
			text := cmp.Or(k.text, k.attrs["name"])
			if first, last, ok := parseBetween(text); ok {
				if v.First, v.Last = first, last; first == "" || last == "" {
					return v, s.errorAt(k.line, "val "+strconv.Quote(text), "is a range without a limit", "write BETWEEN 'first' AND 'last'")
				}
				continue
			}
			v.List = append(v.List, text)
		case "date_list":
			list, isStored := s.dateList(def)
			if isStored {
				if v.First, v.Last = s.date(list.child("start")), s.date(list.child("end")); v.First == "" || v.Last == "" {
					return v, s.errorAt(list.line, "date_list", "lacks a date for start or end", "write both as 2019-01-01 00:00:00")
				}
				continue
			}
			ds, err := dates(s.spec.File, list, s.today, false)
			if err != nil {
				return v, err
			}
			v.List = append(v.List, ds...)
		case "date_range":
			if v.First, v.Last = s.date(def.child("start")), s.date(def.child("end")); v.First == "" || v.Last == "" {
				return v, s.errorAt(def.line, "date_range", "lacks a date for start or end", "write both as 2019-01-01 00:00:00")
			}
		case "date_range_list":
			setting, problem := k.name+" "+strconv.Quote(def.attrs["name"]), "requests one plot of each of its ranges, which is not supported"
			return v, s.errorAt(k.line, setting, problem, "write a plot for each range, with a date_range")
		default:
			return v, s.errorAt(k.line, n.name+"/"+k.name, "is not supported", "use val, date_list or date_range")
		}
	}
	if v.First != "" && len(v.List) > 0 {
		return v, s.errorAt(n.line, n.name, "has both values and a range", "use one of them")
	}
	return v, nil
}

// dateList returns a list of dates with a step. In the form of 2010 a list has a field and no step:
// isStored reports that it means all its dates in the database. If it also has an hour, dateList returns
// the list of that hour of each day.
func (s *plots) dateList(n *node) (list *node, isStored bool) {
	hour := n.child("hour")
	if n.child("inc") != nil || n.child("field") == nil && hour == nil {
		return n, false
	}
	if hour == nil {
		s.warn(n.line, "date_list "+strconv.Quote(n.attrs["name"]), "has no step: one query gets all its dates in the database")
		return n, true
	}
	list = &node{name: n.name, attrs: n.attrs, line: n.line, kids: []*node{{name: "inc", text: "86400", line: n.line}}}
	for _, k := range n.kids {
		if k.name == "start" || k.name == "end" {
			day, _, _ := strings.Cut(s.date(k), " ")
			k = &node{name: k.name, line: k.line, text: fmt.Sprintf("%s %02s:00:00", day, hour.text)}
		}
		list.kids = append(list.kids, k)
	}
	return list, false
}

// date is the text of a date, with a relative date resolved.
func (s *plots) date(n *node) string {
	if t, ok := offset(n, s.today); ok {
		return t.Format(time.DateTime)
	}
	if n == nil {
		return ""
	}
	return n.text
}

// parseBetween reads METviewer's BETWEEN 'a' AND 'b'.
func parseBetween(text string) (first, last string, ok bool) {
	rest, ok := strings.CutPrefix(text, "BETWEEN ")
	if !ok {
		return "", "", false
	}
	first, last, ok = strings.Cut(rest, " AND ")
	return strings.Trim(first, " '"), strings.Trim(last, " '"), ok
}
