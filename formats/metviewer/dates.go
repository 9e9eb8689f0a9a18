package metviewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

const (
	// maxDates bounds a list of dates, 29 years by the hour: sites write their first date and count on
	// to today. maxFolders bounds the folders of a template. maxMinutes, 255 years, is less than the
	// longest time.Duration.
	maxDates   = 1 << 18
	maxFolders = 1 << 20
	maxMinutes = 1 << 27
)

// datePart is a field of a date, by Go's layout, or else a literal text.
type datePart struct{ layout, text string }

// dateFormat is a pattern of Java's SimpleDateFormat.
type dateFormat []datePart

// dateFormatOf reads the letters that METdbLoad and METviewer use: y M d D h H m s z. Other
// letters, and digits, must be quoted.
func dateFormatOf(pattern string) (f dateFormat, err error) {
	layouts := map[string]string{
		"yyyy": "2006", "yy": "06", "MM": "01", "dd": "02", "DDD": "002", "D": "002",
		"hh": "03", "HH": "15", "mm": "04", "ss": "05", "z": "-0700",
	}
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		switch layout, known := layouts[pattern[i:i+n]]; {
		case known:
			f = append(f, datePart{layout: layout})
		case c == '\'':
			quoted, _, ok := strings.Cut(pattern[i+1:], "'")
			if !ok {
				return nil, fmt.Errorf("the quoted text in %q has no end", pattern)
			}
			f, n = append(f, datePart{text: quoted}), len(quoted)+2
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			return nil, fmt.Errorf("%q in %q is not supported; use yyyy, MM, dd, HH, mm, ss", pattern[i:i+n], pattern)
		default:
			f = append(f, datePart{text: pattern[i : i+n]})
		}
		i += n
	}
	return f, nil
}

func (f dateFormat) format(t time.Time) string {
	var out strings.Builder
	for _, p := range f {
		if p.layout == "" {
			out.WriteString(p.text)
		} else {
			out.WriteString(t.Format(p.layout))
		}
	}
	return out.String()
}

// parse reads a date. It extracts the fields first, because Go would read digits of a literal text
// as fields.
func (f dateFormat) parse(text string) (time.Time, error) {
	var values, layouts []string
	for _, p := range f {
		n := len(p.text)
		if p.layout != "" {
			n = len(p.layout)
		}
		if n > len(text) || p.layout == "" && text[:n] != p.text {
			return time.Time{}, fmt.Errorf("%q is not %q", text, p.text)
		}
		if p.layout != "" {
			values, layouts = append(values, text[:n]), append(layouts, p.layout)
		}
		text = text[n:]
	}
	if text != "" {
		return time.Time{}, fmt.Errorf("the date is followed by %q", text)
	}
	return time.ParseInLocation(strings.Join(layouts, " "), strings.Join(values, " "), time.UTC)
}

// dates expands <date_list><start/><end/><inc/><format/></date_list>: from start to end in steps of
// inc seconds; both may be relative to today. In a load_spec, as in METdbLoad, the list includes
// the end even if the steps pass it. METviewer's plots stop before it, and may go backwards.
func dates(file string, n *node, today time.Time, inclusive bool) ([]string, error) {
	bad := func(element *node, problem string, err error) error {
		return &fault.Error{
			File: file, Line: element.line, Setting: "date_list " + strconv.Quote(n.attrs["name"]), Problem: problem, Err: err,
			Cure: "give start, end, inc (seconds) and format, e.g. 20190101, 20190131, 86400, yyyyMMdd",
		}
	}
	format := n.value("format")
	if !inclusive && format == "" {
		format = "yyyy-MM-dd HH:mm:ss"
	}
	for _, required := range []string{"start", "end", "inc", "format"} {
		if required == "format" && format == "" || required != "format" && n.child(required) == nil {
			return nil, bad(n, "lacks <"+required+">", nil)
		}
	}
	layout, err := dateFormatOf(format)
	if err != nil {
		return nil, bad(n.child("format"), "format", err)
	}
	var bounds [2]time.Time
	for i, name := range []string{"start", "end"} {
		k, ok := n.child(name), false
		if bounds[i], ok = offset(k, today); ok {
			continue
		}
		if bounds[i], err = layout.parse(k.text); err != nil && !inclusive {
			bounds[i], err = time.Parse(time.DateOnly, k.text)
		}
		if err != nil {
			return nil, bad(k, name+" is not written as "+format, nil)
		}
	}
	first, last := bounds[0], bounds[1]
	inc, err := strconv.ParseInt(n.value("inc"), 10, 32)
	if err != nil || inc == 0 || inc < 0 && inclusive {
		return nil, bad(n.child("inc"), strconv.Quote(n.value("inc"))+" is not a number of seconds", nil)
	}
	span := last.Unix() - first.Unix()
	steps := span / inc
	if span != 0 && (span > 0) != (inc > 0) {
		return nil, bad(n, "ends before it begins", nil)
	}
	if steps > maxDates {
		return nil, bad(n, fmt.Sprintf("has more than %d dates", maxDates), nil)
	}
	out := lists.Map(lists.Indices(int(steps+1)), func(i int) string { // a time.Duration has at most 292 years
		return layout.format(time.Unix(first.Unix()+int64(i)*inc, 0).In(first.Location()))
	})
	if inclusive && steps*inc < span {
		out = append(out, layout.format(last))
	}
	return out, nil
}

// offset reads <date_offset><day_offset/><hour/></date_offset> inside of a date: today at that
// hour, plus a number of days (MVUtil.parseDateOffset). The name of the element does not matter: in
// 2010 it was offset_days.
func offset(n *node, today time.Time) (t time.Time, ok bool) {
	if n == nil || len(n.kids) == 0 {
		return t, false
	}
	k := n.kids[0]
	days, err := strconv.Atoi(cmp.Or(k.value("day_offset"), "0"))
	hour, err2 := strconv.Atoi(cmp.Or(k.value("hour"), "0"))
	day := time.Date(today.Year(), today.Month(), today.Day(), hour, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, days), err == nil && err2 == nil
}
