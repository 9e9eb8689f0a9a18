package metstat

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestSizesOfBatches: by default a batch has 8192 lines. Before that, it ends with the line that fills 16 MiB.
func TestSizesOfBatches(t *testing.T) {
	long := "hello" + strings.Repeat(" ", 1<<20-5) + "\n" // a line of the greatest length that is read
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"short lines": {head24 + strings.Repeat(plain24+"FHO 1 0 0 0\n", 8193), []int{8192, 1}},
		"long lines":  {strings.Repeat(long, 17), []int{16, 1}},
	} {
		var got []int
		for _, b := range readAll(t, c.text, 0) {
			got = append(got, b.Lines)
			for _, r := range b.Rejects {
				if !strings.HasPrefix(r.Reason, `the line begins with "hello"`) {
					t.Fatalf("%s: %s", name, r.Reason)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: batches of %d lines, want %d", name, got, c.want)
		}
	}
}

// TestBoundedCaches: the reader remembers at most 65536 words, and the headers of a line type until there are more.
func TestBoundedCaches(t *testing.T) {
	var text strings.Builder
	for i := range 70_000 {
		text.WriteString(strings.Replace(plain24, "GFS", fmt.Sprint("M", i), 1) + "FHO 1 0 0 0\n")
	}
	r := NewReader(strings.NewReader(text.String()), "x", Options{Rows: 1})
	var b record.Batch
	var mostWords, mostTexts, mostHeaders, n int
	for ; ; n++ {
		if err := r.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if b.Len() != 1 || b.Header(0)[record.Model] != fmt.Sprint("M", n) {
			t.Fatalf("record %d: %d rows, %v, rejects %v", n, b.Len(), b.Headers, b.Rejects)
		}
		p := r.batches["FHO"]
		mostWords, mostTexts, mostHeaders = max(mostWords, len(r.words)), max(mostTexts, len(p.byRaw)), max(mostHeaders, len(p.byHeader))
	}
	if n != 70_000 || mostWords != 65536 || mostTexts != 65536 || mostHeaders != 65536 {
		t.Errorf("%d records; at most %d words, %d texts of headers and %d headers", n, mostWords, mostTexts, mostHeaders)
	}
}

// TestOneTextOfAHeader: lines that differ only in their times and values share the text of their header, which is not built
// again.
func TestOneTextOfAHeader(t *testing.T) {
	text := head24
	for hour := range 24 {
		text += strings.NewReplacer("060000", fmt.Sprintf("%02d0000", hour), "_18", fmt.Sprintf("_%02d", hour)).Replace(plain24) + fmt.Sprintf("FHO %d 0 0 0\n", hour)
	}
	r := NewReader(strings.NewReader(text), "x", Options{})
	if all := drain(t, r); len(all) != 1 || all[0].Len() != 24 || len(all[0].Headers) != 1 {
		t.Fatalf("%d batches", len(all))
	}
	if p := r.batches["FHO"]; len(p.byRaw) != 1 || len(p.byHeader) != 1 {
		t.Errorf("%d texts, %d headers", len(p.byRaw), len(p.byHeader))
	}
}

// mtdFields replaces columns of a line of MTD by name: "FCST_LEAD=020000 OBJECT_ID=F_2".
func mtdFields(line, changes string) string {
	names, words := strings.Fields(strings.SplitN(mtd2D, "\n", 2)[0]), strings.Fields(line)
	for change := range strings.FieldsSeq(changes) {
		name, value, _ := strings.Cut(change, "=")
		words[slices.Index(names, name)] = value
	}
	return strings.Join(words, " ") + "\n"
}

// TestLinesOfRevisions: lines of MTD are revisions only if all below a header line are forecasts of one valid time that
// agree in these columns. A line that cannot be read separates those before it from those after it.
func TestLinesOfRevisions(t *testing.T) {
	head, rest, _ := strings.Cut(mtd2D, "\n")
	line, _, _ := strings.Cut(rest, "\n")
	at := func(lead, changes string) string { return mtdFields(line, "FCST_LEAD="+lead+" "+changes) }
	three := at("030000", "AREA=100") + at("020000", "AREA=90") + at("010000", "AREA=95")
	const changes = "-10 5 "
	bad := at("000000", "AREA=x")
	for name, c := range map[string]struct{ text, want string }{
		"three lines":                  {three, changes},
		"a bad line before them":       {bad + three, changes},
		"a bad line after them":        {three + bad, changes},
		"a bad line between":           {three + bad + three, changes + changes},
		"two, a bad line, two":         {at("030000", "") + at("020000", "") + bad + at("010000", "") + at("000000", ""), ""},
		"two objects":                  {three + strings.ReplaceAll(three, "F_001", "F_002"), changes + changes},
		"two lines of another object":  {three + at("030000", "OBJECT_ID=F_2") + at("020000", "OBJECT_ID=F_2"), changes},
		"two files":                    {three + head + "\n" + three, changes + changes},
		"another file":                 {three + at("030000", "MODEL=X") + head + "\n" + three, changes},
		"another model":                {three + at("030000", "MODEL=X"), ""},
		"another model, then more":     {at("030000", "MODEL=X") + three, ""},
		"another description":          {three + at("030000", "DESC=X"), ""},
		"another radius":               {three + at("030000", "FCST_RAD=3"), ""},
		"another observed radius":      {three + at("030000", "OBS_RAD=3"), ""},
		"an observed radius of no one": {strings.ReplaceAll(three, " 2 >=5 APCP", " NA >=5 APCP"), changes},
		"a missing observed radius":    {three + at("030000", "OBS_RAD=NA"), ""},
		"another threshold":            {three + at("030000", "FCST_THR=>6"), ""},
		"another observed threshold":   {three + at("030000", "OBS_THR=>6"), ""},
		"another level":                {three + at("030000", "FCST_LEV=A2"), ""},
		"another observed level":       {three + at("030000", "OBS_LEV=A2"), ""},
		"another time":                 {three + at("030000", "FCST_VALID=20100517_040000"), ""},
		"another time of observation":  {three + at("030000", "OBS_VALID=20100517_040000"), ""},
		"other units":                  {three + at("030000", "FCST_UNITS=in OBJECT_ID=F_2"), changes},
	} {
		got := ""
		for _, b := range readAll(t, head+"\n"+c.text, 0) {
			area, _ := b.Type.Column("area")
			for i := range b.Len() {
				isRevision := strings.HasPrefix(b.Header(i)[record.FcstVar], "REV_")
				if isRevision {
					got += fmt.Sprint(b.Num[area.Slot][i], " ")
				}
				if isRevision && b.Lead[i] == 3*3600 {
					t.Errorf("%s: the first line of an object is a revision", name)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: changes of the area %q, want %q", name, got, c.want)
		}
	}
	for _, b := range readAll(t, head+"\n"+three, 0) { // a revision has the number of its later line
		if fmt.Sprint(b.Line) != "[2 3 4 3 4]" || b.Lines != 5 {
			t.Errorf("lines %v of %d", b.Line, b.Lines)
		}
	}
}

// TestFlags: METviewer's flags of objects and pairs, from their OBJECT_ID and OBJECT_CAT (METdataio, write_mode_sql.py and
// write_mtd_sql.py).
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		id, cat                   string
		pair                      bool
		forecast, simple, matched byte
	}{
		{"F001", "CF001", false, 1, 1, 1},
		{"F001", "CF000", false, 1, 1, 0},
		{"O012", "CO003", false, 0, 1, 1},
		{"CF001", "CF001", false, 1, 0, 1},
		{"CO001", "CO000", false, 0, 0, 0},
		{"F001_O002", "CF001_CO001", true, 1, 1, 1},
		{"F001_O002", "CF001_CO002", true, 1, 1, 0},
		{"F001_O002", "CF101_CO201", true, 1, 1, 0},
		{"F001_O002", "CF000_CO000", true, 1, 1, 0},
		{"CF001_CO001", "CF001_CO001", true, 1, 0, 1},
		{"CF001_O001", "CF001_CO001", true, 1, 1, 1},
		{"F001_CO001", "CF001_CO001", true, 1, 1, 1},
		{"CF001_O001", "CF001_CO001", false, 1, 0, 1}, // a pair of MTD has the rules of objects
		{"F_O", "C_C", true, 1, 1, 1},                 // no number
	} {
		got := [3]byte{}
		for i, flag := range []int{forecastFlag, simpleFlag, matchedFlag} {
			got[i] = flagOf(flag, c.pair, []byte(c.id), []byte(c.cat))
		}
		if want := [3]byte{c.forecast, c.simple, c.matched}; got != want {
			t.Errorf("%s in %s, pair: %t: flags %v, want %v", c.id, c.cat, c.pair, got, want)
		}
	}
}

// TestLeadsOfCyclones: the lead of a line of TC-Pairs, or if it is missing, that from the initialization to the valid time.
func TestLeadsOfCyclones(t *testing.T) {
	for _, c := range []struct{ init, lead, want string }{
		{"20220926_000000", "060000", "6h"},
		{"20220926_000000", "6", "6h"},
		{"20220926_000000", "NA", "6h"},
		{"20220926_000000", "-9999", "6h"},
		{"20220926_120000", "-060000", "-6h"},
		{"20220926_120000", "NA", "-6h"},
		{"NA", "120000", "12h"},
		{"NA", "NA", "0h"},
		{"20220926_060000", "NA", "0h"},
		{"19000101_000000", "NA", "0h"}, // a lead of more than 68 years is not stored
		{"20220926_000000", "070000", "INIT 20220926_000000, LEAD 070000 and VALID contradict each other"},
		{"20220926_000000", "-060000", "INIT 20220926_000000, LEAD -060000 and VALID contradict each other"},
		{"20220926_000000", "6h", `column LEAD: "6h" is not a lead: [-]H…[MMSS] is expected`},
		{"20220926", "060000", `column INIT: "20220926" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
	} {
		line := strings.Replace(tcLine(c.lead, "TCDIAG 1 1 A B C 0"), "20220926_000000", c.init, 1)
		b := readAll(t, tcHead+line, 0)[0]
		got := ""
		if b.Len() == 1 {
			got = fmt.Sprint(b.Lead[0]/3600, "h")
		} else {
			got = b.Rejects[0].Reason
		}
		if got != c.want {
			t.Errorf("INIT %s, LEAD %s: %s, want %s", c.init, c.lead, got, c.want)
		}
	}
	bad := strings.Replace(tcLine("NA", "TCDIAG 1 1 A B C 0"), "20220926_060000", "noon", 1)
	if b := readAll(t, tcHead+bad, 0)[0]; len(b.Rejects) != 1 || !strings.HasPrefix(b.Rejects[0].Reason, `column VALID: "noon"`) {
		t.Errorf("%v", b.Rejects)
	}
}

// TestLastIntensity: the percentile that the user chose is the column after INTENSITY_90. A file that ends there has none.
func TestLastIntensity(t *testing.T) {
	common := modeHead + "OBJECT_ID OBJECT_CAT "
	for _, c := range []struct{ names, values, want string }{
		{"INTENSITY_50 INTENSITY_90 INTENSITY_95", "5 9 9.5", "5 9 9.5"},
		{"INTENSITY_50 INTENSITY_95 INTENSITY_90", "5 9.5 9", "5 9 NaN"},
	} {
		b := one(t, common+c.names+"\n"+modeLine+"F001 CF001 "+c.values+"\n")
		if got := fmt.Sprint(num(t, b, "intensity_50"), num(t, b, "intensity_90"), num(t, b, "intensity_nn")); got != c.want {
			t.Errorf("%s: %s, want %s", c.names, got, c.want)
		}
	}
}
