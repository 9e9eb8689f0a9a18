package metviewer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
)

// maxDates bounds a list of dates: seven years by the hour.
const maxDates = 1 << 16

// dateLayout translates the letters of Java's SimpleDateFormat that METdbLoad
// and METviewer use: y M d H m s; other letters have to be quoted.
func dateLayout(pattern string) (string, error) {
	layouts := map[string]string{"yyyy": "2006", "yy": "06", "MM": "01", "dd": "02", "HH": "15", "mm": "04", "ss": "05"}
	var out strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		switch layout, known := layouts[pattern[i:i+n]]; {
		case known:
			out.WriteString(layout)
		case c == '\'':
			quoted, _, ok := strings.Cut(pattern[i+1:], "'")
			if !ok || strings.ContainsAny(quoted, "0123456789") {
				return "", fmt.Errorf("the quoted text in %q is not understood", pattern)
			}
			out.WriteString(quoted)
			n = len(quoted) + 2
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			return "", fmt.Errorf("%q in %q is not understood; use yyyy, MM, dd, HH, mm, ss", pattern[i:i+n], pattern)
		default:
			out.WriteString(pattern[i : i+n])
		}
		i += n
	}
	return out.String(), nil
}

// dates expands <date_list><start/><end/><inc/><format/></date_list>: from
// start to end by inc seconds. With end true the end is in the list even where
// the steps pass it by, as in METdbLoad; METviewer's plots stop before it.
func dates(file string, n *node, end bool) ([]string, error) {
	bad := func(at *node, problem string, err error) error {
		return &fault.Error{
			File: file, Line: at.line, Setting: "date_list " + strconv.Quote(n.attrs["name"]), Problem: problem, Err: err,
			Cure: "give start, end, inc (seconds) and format, e.g. 20190101, 20190131, 86400, yyyyMMdd",
		}
	}
	for _, must := range []string{"start", "end", "inc", "format"} {
		if n.child(must) == nil {
			return nil, bad(n, "lacks <"+must+">", nil)
		}
		if k := n.child(must); len(k.kids) > 0 {
			return nil, bad(k, "<"+k.kids[0].name+">: a date that depends on today's is not read", nil)
		}
	}
	layout, err := dateLayout(n.value("format"))
	if err != nil {
		return nil, bad(n.child("format"), "format", err)
	}
	first, err := time.ParseInLocation(layout, n.value("start"), time.UTC)
	if err != nil {
		return nil, bad(n.child("start"), "start is not written as "+n.value("format"), nil)
	}
	last, err := time.ParseInLocation(layout, n.value("end"), time.UTC)
	if err != nil {
		return nil, bad(n.child("end"), "end is not written as "+n.value("format"), nil)
	}
	inc, err := strconv.ParseInt(n.value("inc"), 10, 32)
	if err != nil || inc <= 0 {
		return nil, bad(n.child("inc"), strconv.Quote(n.value("inc"))+" is no number of seconds", nil)
	}
	if last.Before(first) {
		return nil, bad(n, "ends before it begins", nil)
	}
	if (last.Unix()-first.Unix())/inc > maxDates {
		return nil, bad(n, fmt.Sprintf("has more than %d dates", maxDates), nil)
	}
	var out []string
	t := first
	for ; !t.After(last); t = t.Add(time.Duration(inc) * time.Second) {
		out = append(out, t.Format(layout))
	}
	if end && t.Add(-time.Duration(inc)*time.Second).Before(last) {
		out = append(out, last.Format(layout))
	}
	return out, nil
}
