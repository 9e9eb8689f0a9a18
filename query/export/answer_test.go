package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// ranks is an answer with a column of each kind: three rows, with a missing number, a list that is empty and a text
// that a spreadsheet would run.
func ranks(t *testing.T) *answer.Answer {
	t.Helper()
	lt, _ := record.TypeByName("RHIST")
	cols, err := question.Columns(lt, "model", "fcst_valid_beg", "fcst_lead", "total", lt.Group.Fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return &answer.Answer{Rows: 3, Columns: cols, Vectors: []answer.Vector{
		{Text: []string{"GFS", "=SUM(A1)", "-1.5"}},
		{Seconds: []int64{1546300800, 1546304461, 0}},
		{Seconds: []int64{86400, -5400, 0}},
		{Num: []float64{10, math.NaN(), 0.1}},
		{Num: []float64{1, 2, math.NaN(), 4, 5}, End: []int{2, 2, 5}},
	}}
}

// TestAnswerFormats: each format has the rows in their order. A missing number is NA, null or absent, and a lead has
// hours for a person and seconds for a program.
func TestAnswerFormats(t *testing.T) {
	a := ranks(t)
	list := a.Columns[4].Name
	for format, want := range map[string]string{
		"table": "model     fcst_valid_beg        fcst_lead (h)  total  " + list + "\n" +
			"GFS       2019-01-01T00:00:00Z  24             10     1 2\n" +
			"=SUM(A1)  2019-01-01T01:01:01Z  -1h30m         NA     \n" +
			"-1.5      1970-01-01T00:00:00Z  0              0.1    NA 4 5\n",
		"csv": "model,fcst_valid_beg,fcst_lead,total," + list + "\n" +
			"GFS,2019-01-01T00:00:00Z,86400,10,1 2\n'=SUM(A1),2019-01-01T01:01:01Z,-5400,NA,\n-1.5,1970-01-01T00:00:00Z,0,0.1,NA 4 5\n",
		"json": fmt.Sprintf(`{"fcst_lead":86400,"fcst_valid_beg":"2019-01-01T00:00:00Z","model":"GFS",%q:[1,2],"total":10}
{"fcst_lead":-5400,"fcst_valid_beg":"2019-01-01T01:01:01Z","model":"=SUM(A1)",%[1]q:[],"total":null}
{"fcst_lead":0,"fcst_valid_beg":"1970-01-01T00:00:00Z","model":"-1.5",%[1]q:[null,4,5],"total":0.1}
`, list),
	} {
		var out bytes.Buffer
		if err := Answer(&out, format, a, Spreadsheet); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out.String(), want)
		}
	}
	if err := Answer(io.Discard, "xml", a, Spreadsheet); fault.Code(err) != fault.Usage {
		t.Errorf("xml: %v", err)
	}
}

// TestNegativeZero: every format has −0 as 0, because engines do not agree on it.
func TestNegativeZero(t *testing.T) {
	negative := math.Copysign(0, -1)
	a := &answer.Answer{Rows: 1, Columns: []question.Column{{Name: "x", Kind: question.Number}, {Name: "l", Kind: question.List}}, Vectors: []answer.Vector{
		{Num: []float64{negative}}, {Num: []float64{negative, 1}, End: []int{2}},
	}}
	for format, want := range map[string]string{"table": "x  l\n0  0 1\n", "csv": "x,l\n0,0 1\n", "json": `{"l":[0,1],"x":0}` + "\n"} {
		var out bytes.Buffer
		if err := Answer(&out, format, a, Spreadsheet); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out.String(), want)
		}
	}
	var out bytes.Buffer
	if err := Answer(&out, "parquet", a, nil); err != nil {
		t.Fatal(err)
	}
	type row struct {
		X *float64  `parquet:"x,optional"`
		L []float64 `parquet:"l"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != 1 || math.Signbit(*rows[0].X) || math.Signbit(rows[0].L[0]) {
		t.Errorf("parquet: %v, %v", rows, err)
	}
}

// TestWidthsOfTable: each character of a text counts for the width of its column, also in what looks like HTML. A
// shorter text is padded to this width.
func TestWidthsOfTable(t *testing.T) {
	a := &answer.Answer{Rows: 2, Columns: []question.Column{{Name: "a"}, {Name: "fcst_lead", Kind: question.Duration}}, Vectors: []answer.Vector{
		{Text: []string{"<b>&lt;", "x"}}, {Seconds: []int64{3600, 5400}},
	}}
	var out bytes.Buffer
	const want = "a        fcst_lead (h)\n<b>&lt;  1\nx        1h30m\n"
	if err := Answer(&out, "table", a, Spreadsheet); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

// TestAnswerParquet: a Parquet file has each column by its name, with its type. A missing number is null, or NaN in a
// list.
func TestAnswerParquet(t *testing.T) {
	a := ranks(t)
	var out bytes.Buffer
	if err := Answer(&out, "parquet", a, nil); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	names := f.Schema().Columns()
	rows := f.RowGroups()[0].Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 4)
	n, err := rows.ReadRows(buffer)
	if n != 3 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows, %v", n, err)
	}
	var got []string
	for _, row := range buffer[:n] {
		cells := map[string][]string{}
		for _, v := range row {
			name := names[v.Column()][0]
			cells[name] = append(cells[name], fmt.Sprintf("%v/%d/%d", v, v.RepetitionLevel(), v.DefinitionLevel()))
		}
		line := make([]string, 0, len(a.Columns))
		for _, c := range a.Columns {
			line = append(line, strings.Join(cells[c.Name], " "))
		}
		got = append(got, strings.Join(line, ", "))
	}
	want := []string{
		"GFS/0/0, 1546300800/0/0, 86400/0/0, 10/0/1, 1/0/1 2/1/1",
		"=SUM(A1)/0/0, 1546304461/0/0, -5400/0/0, <null>/0/0, <null>/0/0",
		"-1.5/0/0, 0/0/0, 0/0/0, 0.1/0/1, NaN/0/1 4/1/1 5/1/1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestListsOfParquet: a row of Parquet has all numbers of its list, and nothing else.
func TestListsOfParquet(t *testing.T) {
	a := &answer.Answer{Rows: 5, Columns: []question.Column{{Name: "bin_i", Kind: question.List}, {Name: "obs_lead", Kind: question.Duration}}, Vectors: []answer.Vector{
		{Num: []float64{1, 2, 3, 4, 5, 6}, End: []int{1, 1, 4, 6, 6}}, {Seconds: []int64{10, 20, 30, 40, 50}},
	}}
	var out bytes.Buffer
	if err := Answer(&out, "parquet", a, nil); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Bins []float64 `parquet:"bin_i"`
		Lead int64     `parquet:"obs_lead"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if got := fmt.Sprint(rows); err != nil || got != "[{[1] 10} {[] 20} {[2 3 4] 30} {[5 6] 40} {[] 50}]" {
		t.Errorf("%s, %v", got, err)
	}
}

// full is a writer that accepts some bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

// TestAnswerToFullDisk: an answer that could not be written completely is an error in every format.
func TestAnswerToFullDisk(t *testing.T) {
	a := ranks(t)
	a.Vectors[0].Text[2] = strings.Repeat("x", 10000) // more than a buffer
	for _, format := range AnswerFormats() {
		for _, room := range []full{0, 20, 300} {
			if err := Answer(&room, format, a, Spreadsheet); err == nil {
				t.Errorf("%s: no error", format)
			}
		}
	}
}

// TestSpreadsheet: a text that a spreadsheet would run as a formula has an apostrophe before it, a number has not.
func TestSpreadsheet(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "GFS": "GFS", "=1+1": "'=1+1", "+x": "'+x", "-x": "'-x", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx",
		"-1.5": "-1.5", "+3": "+3", "-": "'-", "a=1": "a=1", "G2/NHX": "G2/NHX",
	} {
		if got := Spreadsheet(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
