package metviewer

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// noon is a day on which relative dates are resolved in tests.
var noon = time.Date(2020, 3, 1, 12, 34, 56, 0, time.UTC)

// dateListOf parses the content of a date_list.
func dateListOf(t *testing.T, body string) *node {
	t.Helper()
	n, err := parse("d.xml", []byte("<date_list name='d'>"+body+"</date_list>"), "date_list")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDateFormats: the letters of Java's SimpleDateFormat that METdbLoad and METviewer use, quoted text, and other
// characters, which stand for themselves.
func TestDateFormats(t *testing.T) {
	at := time.Date(2019, 2, 3, 16, 5, 6, 0, time.UTC)
	for pattern, want := range map[string]string{
		"yyyyMMddHHmmss": "20190203160506", "yy/MM/dd": "19/02/03", "yyyyDDD": "2019034", "yyyy D": "2019 034", "hh": "04", "HHz": "16+0000",
		"yyyy-MM-dd HH:mm:ss": "2019-02-03 16:05:06", "'V'HH'_06h'": "V16_06h", "''yyyy": "2019", "--yyyy__": "--2019__", "@[`{/:": "@[`{/:", "": "",
		"'MM'MM": "MM02",
	} {
		f, err := dateFormatOf(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got := f.format(at); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	for _, pattern := range []string{"a", "Z", "A", "zz", "0", "9", "yyyyww", "yyy", "M", "dT"} {
		if f, err := dateFormatOf(pattern); err == nil || !strings.Contains(err.Error(), "is not supported; use yyyy, MM, dd, HH, mm, ss") {
			t.Errorf("%s: %v, %v", pattern, f, err)
		}
	}
	for _, pattern := range []string{"yyyy'V", "'", "''yyyy'"} {
		if _, err := dateFormatOf(pattern); err == nil || !strings.Contains(err.Error(), "has no end") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestParsedDates: a text has exactly the fields and the characters of its format.
func TestParsedDates(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{"yyyyMMddHH", "2019020316", "2019-02-03 16:00:00"},
		{"yyMMdd", "190203", "2019-02-03 00:00:00"},
		{"yyyyDDD", "2019034", "2019-02-03 00:00:00"},
		{"yyyyMMdd'2006'HH", "20190203200616", "2019-02-03 16:00:00"}, // digits of a text are not those of a field
		{"yyyy/'V'MM", "2019/V02", "2019-02-01 00:00:00"},
		{"yyyyMMdd", "2019020", ""},
		{"yyyyMMdd", "201902030", ""},
		{"yyyyMMdd", "20190230", ""},
		{"yyyy-MM", "2019/02", ""},
		{"yyyy'V'", "2019W", ""},
		{"yyyy'V'", "2019", ""},
		{"yyyy", "201x", ""},
	} {
		f, err := dateFormatOf(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at, err := f.parse(c.text); err == nil {
			got = at.Format(time.DateTime)
		}
		if got != c.want {
			t.Errorf("%s as %s: %q, want %q", c.text, c.pattern, got, c.want)
		}
	}
}

// TestListsOfDates: METdbLoad's list has the end even if the steps pass it. A plot's list stops before it, may go
// backwards, has a default format, and may have days without an hour.
func TestListsOfDates(t *testing.T) {
	const relative = "<date_offset><day_offset>%d</day_offset><hour>%d</hour></date_offset>"
	for _, c := range []struct{ body, load, plot string }{
		{"<start>20190101</start><end>20190103</end><inc>86400</inc><format>yyyyMMdd</format>", "[20190101 20190102 20190103]", "[20190101 20190102 20190103]"},
		{"<start>20190101</start><end>20190103</end><inc>100000</inc><format>yyyyMMdd</format>", "[20190101 20190102 20190103]", "[20190101 20190102]"},
		{"<start>20190101</start><end>20190101</end><inc>1</inc><format>yyyyMMdd</format>", "[20190101]", "[20190101]"},
		{"<start>20190101</start><end>20190101</end><inc>-1</inc><format>yyyyMMdd</format>", `"-1" is not a number of seconds`, "[20190101]"},
		{"<start>20190103</start><end>20190101</end><inc>-86400</inc><format>yyyyMMdd</format>", `"-86400" is not a number of seconds`, "[20190103 20190102 20190101]"},
		{"<start>20190103</start><end>20190101</end><inc>86400</inc><format>yyyyMMdd</format>", "ends before it begins", "ends before it begins"},
		{"<start>20190101</start><end>20190103</end><inc>-86400</inc><format>yyyyMMdd</format>", `"-86400" is not a number of seconds`, "ends before it begins"},
		{"<start>20190101</start><end>20190103</end><inc>0</inc><format>yyyyMMdd</format>", `"0" is not a number of seconds`, `"0" is not a number of seconds`},
		{"<start>20190101</start><end>20190103</end><inc>2147483648</inc><format>yyyyMMdd</format>", "is not a number of seconds", "is not a number of seconds"},
		{"<start>20190101</start><end>20190103</end><inc>2147483647</inc><format>yyyyMMdd</format>", "[20190101 20190103]", "[20190101]"},
		{"<start>2019-01-01 00:00:00</start><end>2019-01-01 06:00:00</end><inc>21600</inc>", "lacks <format>", "[2019-01-01 00:00:00 2019-01-01 06:00:00]"},
		{"<start>2019-01-01</start><end>2019-01-02</end><inc>86400</inc><format>yyyyMMddHH</format>", "start is not written as yyyyMMddHH", "[2019010100 2019010200]"},
		{"<start>20190101</start><end>later</end><inc>1</inc><format>yyyyMMdd</format>", "end is not written as yyyyMMdd", "end is not written as yyyyMMdd"},
		{"<end>20190101</end><inc>1</inc><format>yyyyMMdd</format>", "lacks <start>", "lacks <start>"},
		{"<start>20190101</start><inc>1</inc><format>yyyyMMdd</format>", "lacks <end>", "lacks <end>"},
		{"<start>20190101</start><end>20190101</end><format>yyyyMMdd</format>", "lacks <inc>", "lacks <inc>"},
		{"<start>20190101</start><end>20190101</end><inc>1</inc><format/>", "lacks <format>", "start is not written as yyyy-MM-dd HH:mm:ss"},
		{"<start>1</start><end>1</end><inc>1</inc><format>x</format>", `"x" in "x" is not supported`, `"x" in "x" is not supported`},
		{
			"<start>" + fmt.Sprintf(relative, -1, 6) + "</start><end>" + fmt.Sprintf(relative, 0, 0) + "</end><inc>43200</inc><format>yyyyMMddHH</format>",
			"[2020022906 2020022918 2020030100]", "[2020022906 2020022918]",
		},
		{
			"<start>" + fmt.Sprintf(relative, 0, 0) + "</start><end>" + fmt.Sprintf(relative, 31, 23) + "</end><inc>2000000</inc><format>MMddHH</format>",
			"[030100 032403 040123]", "[030100 032403]",
		},
	} {
		for inclusive, want := range map[bool]string{true: c.load, false: c.plot} {
			list, err := dates("d.xml", dateListOf(t, c.body), noon, inclusive)
			got := fmt.Sprint(list)
			if err != nil {
				got = err.Error()
				if !strings.HasPrefix(got, "d.xml:1") || !strings.Contains(got, `date_list "d"`) {
					t.Errorf("%s: %s", c.body, got)
				}
			}
			if err == nil && got != want || err != nil && !strings.Contains(got, want) {
				t.Errorf("%s, inclusive: %t: %s, want %s", c.body, inclusive, got, want)
			}
		}
	}
}

// TestLimitOfDates: a list has at most 2^18 steps.
func TestLimitOfDates(t *testing.T) {
	for minutes, want := range map[int]string{262144: "", 262145: "has more than 262144 dates"} {
		end := time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC).Format("200601021504")
		n := dateListOf(t, "<start>200001010000</start><end>"+end+"</end><inc>60</inc><format>yyyyMMddHHmm</format>")
		list, err := dates("d.xml", n, noon, false)
		if want == "" && (err != nil || len(list) != 262145) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d minutes: %d dates, %v", minutes, len(list), err)
		}
	}
}

// TestRelativeDates: a date may be a number of days from today at an hour, both 0 by default, whatever the name of the element is.
func TestRelativeDates(t *testing.T) {
	for body, want := range map[string]string{
		"<date_offset><day_offset>-1</day_offset><hour>6</hour></date_offset>": "2020-02-29 06:00:00",
		"<offset_days><day_offset>31</day_offset></offset_days>":               "2020-04-01 00:00:00",
		"<date_offset><hour>18</hour></date_offset>":                           "2020-03-01 18:00:00",
		"<date_offset/>": "2020-03-01 00:00:00",
		"<date_offset><day_offset>x</day_offset></date_offset>": "",
		"<date_offset><hour>x</hour></date_offset>":             "",
		"2019-01-01": "",
	} {
		n := dateListOf(t, "<start>"+body+"</start>")
		got := ""
		if at, ok := offset(n.child("start"), noon); ok {
			got = at.Format(time.DateTime)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	if _, ok := offset(nil, noon); ok {
		t.Error("a missing date is a relative one")
	}
}

// TestRangesOfDates: the ranges of a date_range_list, each a plot of its own. The list is in place or defined before, by
// name or id; it may also contain ranges that are written explicitly.
func TestRangesOfDates(t *testing.T) {
	list := ranges("2020-01-01", "2020-01-02", "90", "600")
	const three = "2020-01-01 00:00:00 … 2020-01-01 01:30:00, 2020-01-01 10:00:00 … 2020-01-01 11:30:00, 2020-01-01 20:00:00 … 2020-01-01 21:30:00, "
	const one = "2020-01-05 00:00:00 … 2020-01-06 00:00:00, "
	explicit := "<date_range><start>2020-01-05 00:00:00</start><end>2020-01-06 00:00:00</end></date_range>"
	named := "<date_range name='one'>" + strings.TrimPrefix(explicit, "<date_range>")
	for _, c := range []struct{ before, field, want string }{
		{"", list, three},
		{strings.Replace(list, "<date_range_list>", "<date_range_list name='r'>", 1), "<date_range_list name='r'/>", three},
		{strings.Replace(list, "<date_range_list>", "<date_range_list name='r'>", 1), "<date_range_list id='r'/>", three},
		{"", "<date_range_list>" + explicit + explicit + "</date_range_list>", one + one},
		{named, "<date_range_list><date_range name='one'/></date_range_list>", one},
		{"", strings.Replace(list, "<date_range_list>", "<date_range_list>"+explicit, 1), one + three},
		{"", ranges("2020-01-01", "2020-01-01", "0", "1"), "2020-01-01 00:00:00 … 2020-01-01 00:00:00, "},
		{"", ranges("2020-01-01", "2020-01-02", "1", "1440"), "2020-01-01 00:00:00 … 2020-01-01 00:01:00, 2020-01-02 00:00:00 … 2020-01-02 00:01:00, "},
		{"", ranges("2020-01-01", "2020-01-01", "134217728", "134217728"), "2020-01-01 00:00:00 … 2275-03-11 18:08:00, "},
		{"", explicit, one},
		{named, "<date_range name='one'/>", one},
		{"", "<val>a</val><set><val>b</val><val>c</val></set>", "[a], [b c], "},
		{"", "<date_list><start>2020-01-01</start><end>2020-01-02</end><inc>86400</inc></date_list>", "[2020-01-01 00:00:00], [2020-01-02 00:00:00], "},
		{"", "<date_list><start>a</start><end>b</end><field>f</field></date_list>", "a … b, "},
	} {
		s := specOf(t, c.before+"<plot><plot_fix><field name='validdate' equalize='true'>"+c.field+"</field></plot_fix></plot>")
		got := ""
		fix := s.Plots[0].Fix[0]
		for _, v := range fix.Sets {
			got += v.shown() + ", "
		}
		if got != c.want || fix.Name != "fcst_valid_beg" || !fix.Equalize {
			t.Errorf("%s %s: %s, want %s; %+v", c.before, c.field, got, c.want, fix)
		}
	}
	for _, list := range []string{
		ranges("2020-01-01", "2020-01-02", "90", "0"), ranges("2020-01-01", "2020-01-02", "90", "-1"), ranges("2020-01-01", "2020-01-02", "-1", "60"),
		ranges("2020-01-01", "2020-01-02", "134217729", "60"), ranges("2020-01-01", "2020-01-02", "60", "134217729"), ranges("2020-01-01", "soon", "60", "60"),
		ranges("soon", "2020-01-01", "60", "60"), ranges("2020-01-01", "2020-01-02", "x", "60"), ranges("2020-01-01", "2020-01-02", "60", "x"),
		ranges("2020-01-01", "2020-07-02", "1", "1"), "<date_range_list><range_start>2020-01-01 00:00:00</range_start></date_range_list>",
	} {
		got := refusal(t, "<plot><plot_fix><field name='f'>\n"+list+"</field></plot_fix></plot>", 2)
		if !strings.Contains(got, "is not valid; write range_start and a later range_end as 2019-01-01 00:00:00, range_length and inc as minutes, for at most 262144 ranges") {
			t.Errorf("%s: %s", list, got)
		}
	}
	got := refusal(t, "<plot><plot_fix><field name='f'><date_range_list>\n<date_range><start>a</start></date_range></date_range_list></field></plot_fix></plot>", 2)
	if !strings.Contains(got, "lacks a date for start or end") {
		t.Error(got)
	}
}

// TestDependentDates: the dates of the independent variable may be relative to another date.
func TestDependentDates(t *testing.T) {
	const relative = "<start><date_offset><day_offset>-1</day_offset></date_offset></start><end><date_offset><hour>12</hour></date_offset></end>"
	for list, want := range map[string]string{
		"<date_list>" + relative + "<inc>86400</inc></date_list>": "[2020-02-29 00:00:00 2020-03-01 00:00:00]",
		"<date_range>" + relative + "</date_range>":               "2020-02-29 00:00:00 … 2020-03-01 12:00:00",
		"<date_list>" + relative + "<hour>3</hour></date_list>":   "[2020-02-29 03:00:00 2020-03-01 03:00:00]",
		"<date_list>" + relative + "<field>f</field></date_list>": "2020-02-29 00:00:00 … 2020-03-01 12:00:00",
	} {
		s := specOf(t, "<plot><indep name='fcst_valid_beg' equalize='true' depends='fcst_init_beg'>"+list+"</indep></plot>")
		p := &s.Plots[0]
		v, err := p.IndepOn("2020-03-01 12:34:56")
		if err != nil || v.shown() != want || p.Indep.Depends != "fcst_init_beg" || !p.Indep.Equalize || p.Indep.Name != "fcst_valid_beg" {
			t.Errorf("%s: %s, %v, want %s; %+v", list, v.shown(), err, want, p.Indep)
		}
		if other, err := p.IndepOn("not a date"); err != nil || other.shown() != p.Indep.shown() {
			t.Errorf("%s: without a date %s, %v; want those of today", list, other.shown(), err)
		}
	}
}

// TestValues: what a field's values may be, and the errors of all other forms.
func TestValues(t *testing.T) {
	const list = "<date_list name='d'><start>2019-01-01</start><end>2019-01-02</end><inc>86400</inc><format>MMdd</format></date_list>"
	const period = "<date_range name='r'><start>a</start><end>b</end></date_range>"
	for body, want := range map[string]string{
		"<val>a</val><val name='b'/><val name='c'>d</val>":                "[a b d]",
		"<val>BETWEEN 'x' AND 'y'</val>":                                  "x … y",
		"<val>BETWEEN x</val>":                                            "[BETWEEN x]",
		"<val>BETWEENX 'x' AND 'y'</val>":                                 "[BETWEENX 'x' AND 'y']",
		"<date_list name='d'/><val>x</val>":                               "[0101 0102 x]",
		"<date_list id='d'/>":                                             "[0101 0102]",
		"<date_range id='r'/>":                                            "a … b",
		"<date_range name='d'/>":                                          `date_range "d" is missing; write it before the plot`,
		"<date_list name='none'/>":                                        `date_list "none" is missing; write it before the plot`,
		"<date_range><start>a</start></date_range>":                       "date_range lacks a date for start or end",
		"<date_range><end>a</end></date_range>":                           "date_range lacks a date for start or end",
		"<date_list><start>x</start><end>y</end><inc>1</inc></date_list>": "start is not written as yyyy-MM-dd HH:mm:ss",
		"<date_range id='r'/><val>x</val>":                                "indep has both values and a range; use one of them",
		"<text>a</text>":                                                  "indep/text is not supported; use val, date_list or date_range",
		"<date_range_list><range_start/></date_range_list>":               "requests one plot of each of its ranges, which is not supported",
		"": "[]",
	} {
		s, err := ParsePlotSpec("p.xml", []byte("<plot_spec>"+list+period+"<plot><indep name='x'>"+body+"</indep></plot></plot_spec>"))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = s.Plots[0].Indep.shown()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
