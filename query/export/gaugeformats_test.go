package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// noon is 2026-11-10T12:00:00Z.
var noon = time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC).Unix()

func id(text string) (id record.ID) {
	copy(id[:], text)
	return id
}

// stages is a result with two values. The first has only the required properties, the second has all of them and is
// reported as missing.
func stages() *shef.Result {
	return &shef.Result{
		Product: shef.Product{File: "in.shef", Number: 2, Line: 3, Heading: "SRUS54 KLCH 101813 RRA", AWIPS: "RR1LCH", Issued: noon + 6*3600 + 13*60},
		Values: []record.Gauge{
			{Station: id("GWRM1"), Code: record.Parameter([]byte("HGIRGZZ")), Quality: 'Z', Time: noon, Created: record.NoTime, Value: 1.5, Probability: -1, Line: 4},
			{
				Station: id("ABCDEFGH"), Source: id("SRC"), Code: record.Parameter([]byte("PPDFFZ5")), Quality: 'M', Time: noon + 3600, Created: noon - 60,
				Value: record.NoValue, Duration: 2001, Probability: .5, Revised: true, Series: 2, HasProbability: true, Line: 5, Comment: `=say "hi", all`,
			},
		},
	}
}

// lake gives the first station of stages its properties.
func lake() Sites {
	lat, lon := 30.25, -93.5
	return Sites{id("GWRM1"): {Name: "Ann, Lake", Latitude: &lat, Longitude: &lon, Zone: "CST6CDT"}}
}

// TestGaugeFormats: every format has all properties of a value. A missing number has the word "missing" for a person, null
// in JSON, an empty cell in CSV and -9999 in the text of the decoder.
func TestGaugeFormats(t *testing.T) {
	for format, want := range map[string]string{
		"table": `
station   time (UTC)           code     value         quality  duration  created (UTC)        rev  series  source    comment
GWRM1     2026-11-10 12:00:00  HGIRGZZ  1.5           Z        0000      -                    no   0       -         .
ABCDEFGH  2026-11-10 13:00:00  PPDFFZ5  missing       M        2001      2026-11-10 11:59:00  yes  2       SRC       =say "hi", all
`,
		"csv": `
station,time,code,value,quality,duration,probability,created,revised,series,source,comment,product,file,line,center,issued,name,latitude,longitude,zone
GWRM1,2026-11-10T12:00:00Z,HGIRGZZ,1.5,Z,0,,,false,0,,,RR1LCH,in.shef,4,KLCH,2026-11-10T18:13:00Z,"Ann, Lake",30.25,-93.5,CST6CDT
ABCDEFGH,2026-11-10T13:00:00Z,PPDFFZ5,,M,2001,0.5,2026-11-10T11:59:00Z,true,2,SRC,"'=say ""hi"", all",RR1LCH,in.shef,5,KLCH,2026-11-10T18:13:00Z,,,,
`,
		"json": `
{"station":"GWRM1","time":"2026-11-10T12:00:00Z","code":"HGIRGZZ","value":1.5,"quality":"Z","duration":0,"revised":false,"series":0,` +
			`"product":"RR1LCH","file":"in.shef","line":4,"center":"KLCH","issued":"2026-11-10T18:13:00Z","name":"Ann, Lake","latitude":30.25,"longitude":-93.5,"zone":"CST6CDT"}
{"station":"ABCDEFGH","time":"2026-11-10T13:00:00Z","code":"PPDFFZ5","value":null,"quality":"M","duration":2001,"probability":0.5,"created":"2026-11-10T11:59:00Z",` +
			`"revised":true,"series":2,"source":"SRC","comment":"=say \"hi\", all","product":"RR1LCH","file":"in.shef","line":5,"center":"KLCH","issued":"2026-11-10T18:13:00Z"}
`,
		"shefit": `
GWRM1     2026-11-10 12:00:00  0000-00-00 00:00:00  HGIRGZ          1.5000 Z   -1.000  0000 0 0            " "
ABCDEFGH  2026-11-10 13:00:00  2026-11-10 11:59:00  PPDFFZ5     -9999.0000 M    0.500  2001 1 2  SRC       "=say "hi", all"
`,
	} {
		want = strings.ReplaceAll(want[1:], "   -         .\n", "   -         \n") // no line of this file ends with blanks
		var out strings.Builder
		w, err := NewGauges(&out, format, Spreadsheet, lake())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(stages()), w.Flush()); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out.String(), want)
		}
		one := stages()
		one.Values = one.Values[:1]
		if err := errors.Join(w.Write(one), w.Close()); err != nil {
			t.Fatal(err)
		}
		lines, first := strings.SplitAfter(want, "\n"), 0
		if format == "table" || format == "csv" { // only the first result has the head before it
			first = 1
		}
		if got := strings.TrimPrefix(out.String(), want); got != lines[first] {
			t.Errorf("%s: the second result is\n%s", format, got)
		}
	}
	if _, err := NewGauges(io.Discard, "xml", Spreadsheet, nil); fault.Code(err) != fault.Usage {
		t.Errorf("xml: %v", err)
	}
}

// TestGaugesWithoutHeading: a product without a heading has neither a center nor a time.
func TestGaugesWithoutHeading(t *testing.T) {
	r := stages()
	r.Product.Heading, r.Product.Issued = "SRUS54", record.NoTime
	if row := newGauge(&r.Product, &r.Values[0], nil); row.Center != "" || row.Issued != nil {
		t.Errorf("%+v", row)
	}
}

// TestProbabilities: -0.5 is the probability of a mean, and -1 is none.
func TestProbabilities(t *testing.T) {
	for p, isGiven := range map[float32]bool{-1: false, -.5: true, 0: true, .05: true, 1: true} {
		row := newGauge(&shef.Product{}, &record.Gauge{Probability: p}, nil)
		if (row.Probability != nil) != isGiven || isGiven && *row.Probability != p {
			t.Errorf("%v: %v", p, row.Probability)
		}
	}
}

// TestGaugesToFullDisk: values that could not be written are an error in every format.
func TestGaugesToFullDisk(t *testing.T) {
	r := stages()
	r.Values[0].Comment = strings.Repeat("x", 200_000) // more than a buffer
	for _, format := range GaugeFormats() {
		for _, room := range []full{0, 30, 300} {
			start := room
			w, err := NewGauges(&room, format, Spreadsheet, nil)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; err == nil && n < 3; n++ {
				err = w.Write(r)
			}
			if isBuffered := format == "parquet"; !isBuffered && err == nil {
				t.Errorf("%s with room for %d bytes: no error before the end", format, start)
			}
			if errors.Join(err, w.Close()) == nil {
				t.Errorf("%s with room for %d bytes: no error", format, start)
			}
		}
	}
}

// readBack reads values that were written, and fails if one of them is not a value.
func readBack(t *testing.T, name string, in io.Reader) (all []record.Gauge) {
	t.Helper()
	err := ReadGauges(name, in, nil, func(g *record.Gauge, err error) error {
		if err == nil {
			all = append(all, *g)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// TestGaugesAreReadBack: CSV and Parquet keep the properties of a value that ReadGauges returns. The line is that of the
// table: of CSV the line in the file, of Parquet the row. The position in a time series is not read.
func TestGaugesAreReadBack(t *testing.T) {
	r := stages()
	r.Values[1].Comment = "a comment"
	other := r.Values[1] // a duration without a letter, and a value of many digits
	other.Code, other.Duration, other.Value = record.Parameter([]byte("PPVFFZ5")), 5, 1234567.0625
	for range 1021 { // more than two buffers
		r.Values = append(r.Values, other)
	}
	for _, format := range []string{"csv", "parquet"} {
		file := filepath.Join(t.TempDir(), "values")
		var out bytes.Buffer
		w, err := NewGauges(&out, format, Spreadsheet, lake())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(r), w.Flush(), w.Close(), os.WriteFile(file, out.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		compressed := filepath.Join(t.TempDir(), "values.gz")
		if err := os.WriteFile(compressed, []byte("\x1f\x8b not the text itself"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{file, compressed, "-"} { // "-" is a pipe
			all := readBack(t, name, bytes.NewReader(out.Bytes()))
			if len(all) != len(r.Values) {
				t.Fatalf("%s from %s: %d values of %d", format, name, len(all), len(r.Values))
			}
			for i, got := range all {
				want := r.Values[i]
				want.Series, want.Line = 0, uint32(i+1)
				if format == "csv" {
					want.Line++
				}
				if got != want {
					t.Fatalf("%s from %s: value %d is\n%+v, want\n%+v", format, name, i, got, want)
				}
			}
		}
	}
}

// TestParquetIsReadFromItsFile: a file that is named is read itself, not its copy.
func TestParquetIsReadFromItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.parquet")
	value := 2.5
	if err := parquet.WriteFile(file, []Gauge{{Station: "A", Time: time.Unix(noon, 0).UTC(), Code: "HG", Value: &value, Quality: "Z"}}); err != nil {
		t.Fatal(err)
	}
	if all := readBack(t, file, strings.NewReader("PAR1 and no more")); len(all) != 1 || all[0].Value != 2.5 || all[0].Code.String() != "HGIRZZZ" {
		t.Errorf("%+v", all)
	}
}

// TestCellsOfCSV: each cell has the form that NewGauges writes, or its row is not a value. An empty cell has its default.
func TestCellsOfCSV(t *testing.T) {
	base := map[string]string{"station": "AAA", "time": "2026-11-10T12:00:00Z", "code": "HGVRGZZ", "value": "1"}
	columns := strings.Split(strings.TrimSuffix(gaugeCSVHead, "\n"), ",")
	want := record.Gauge{Station: id("AAA"), Code: record.Parameter([]byte("HGVRGZZ")), Quality: 'Z', Time: noon, Created: record.NoTime, Value: 1, Probability: -1, Line: 2}
	for _, c := range []struct {
		column, text string
		want         func(g *record.Gauge) // nil = not a value
	}{
		{"station", "ABCDEFGH", func(g *record.Gauge) { g.Station = id("ABCDEFGH") }},
		{"station", "ABCDEFGHI", nil},
		{"time", "2026-11-10T14:00:00+02:00", func(*record.Gauge) {}},
		{"time", "2026-11-10 12:00:00", nil},
		{"code", "HG", func(g *record.Gauge) { g.Code = record.Parameter([]byte("HGIRZZZ")) }},
		{"code", "H", nil},
		{"value", "-9999", func(g *record.Gauge) { g.Value = record.NoValue }},
		{"value", "-12.25", func(g *record.Gauge) { g.Value = -12.25 }},
		{"value", "x", nil},
		{"value", "1e10", nil},
		{"quality", "", func(*record.Gauge) {}},
		{"quality", "R", func(g *record.Gauge) { g.Quality = 'R' }},
		{"quality", "RR", nil},
		{"duration", "32767", func(g *record.Gauge) { g.Duration = 32767 }},
		{"duration", "32768", nil},
		{"duration", "1.5", nil},
		{"created", "2026-11-10T11:59:00Z", func(g *record.Gauge) { g.Created = noon - 60 }},
		{"created", "noon", nil},
		{"revised", "true", func(g *record.Gauge) { g.Revised = true }},
		{"revised", "perhaps", nil},
		{"source", "ABCDEFGH", func(g *record.Gauge) { g.Source = id("ABCDEFGH") }},
		{"source", "ABCDEFGHI", nil},
		{"comment", " two words ", func(g *record.Gauge) { g.Comment = "two words" }},
		{"latitude", "anything", func(*record.Gauge) {}},
	} {
		cells := make([]string, len(columns))
		for i, column := range columns {
			if cells[i] = base[column]; column == c.column {
				cells[i] = c.text
			}
		}
		var got []record.Gauge
		problems := ""
		text := gaugeCSVHead + "\n" + strings.Join(cells, ",") + "\n"
		err := ReadGauges("v.csv", strings.NewReader(text), nil, func(g *record.Gauge, err error) error {
			if err != nil {
				problems += err.Error()
			} else {
				got = append(got, *g)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == nil {
			if len(got) > 0 || !strings.HasPrefix(problems, "v.csv:2 is not a value") {
				t.Errorf("%s %q: %+v, %s", c.column, c.text, got, problems)
			}
			continue
		}
		expected := want
		c.want(&expected)
		if len(got) != 1 || got[0] != expected {
			t.Errorf("%s %q: %+v, %s, want %+v", c.column, c.text, got, problems, expected)
		}
	}
}

// TestTextsOfCSV: a text from a database with a comma, a quote or a line end is one field of CSV.
func TestTextsOfCSV(t *testing.T) {
	for _, text := range []string{"A,B", `A"B`, `"A"`, "A\nB", "A\rB", ","} {
		r := stages()
		g := r.Values[0]
		g.Station, g.Source, g.Comment = id(text), id(text), text
		g.Quality, g.Code[6] = text[len(text)/2], text[len(text)/2]
		r.Values[0], r.Product.Heading = g, "SRUS54 K"+(text + "ABC")[:3]+" 101813"
		var out strings.Builder
		w, err := NewGauges(&out, "csv", strings.Clone, Sites{g.Station: {Name: text, Zone: text}})
		if err := errors.Join(err, w.Write(r), w.Close()); err != nil {
			t.Fatal(err)
		}
		in := csv.NewReader(strings.NewReader(out.String()))
		in.FieldsPerRecord = len(strings.Split(gaugeCSVHead, ","))
		rows, err := in.ReadAll()
		if err != nil || len(rows) != 3 {
			t.Errorf("%q: %q, %v", text, rows, err)
			continue
		}
		row := newGauge(&r.Product, &g, nil)
		for column, want := range map[int]string{0: text, 2: row.Code, 4: row.Quality, 10: text, 11: text, 15: row.Center, 17: text, 20: text} {
			if rows[1][column] != want {
				t.Errorf("%q: column %d is %q, want %q", text, column, rows[1][column], want)
			}
		}
	}
}

// TestParquetWithoutQuality: the quality is Z if the file of another program has no such column, as in CSV.
func TestParquetWithoutQuality(t *testing.T) {
	type other struct {
		Station string    `parquet:"station"`
		Time    time.Time `parquet:"time,timestamp(millisecond)"`
		Code    string    `parquet:"code"`
		Value   float64   `parquet:"value"`
	}
	file := filepath.Join(t.TempDir(), "v.parquet")
	if err := parquet.WriteFile(file, []other{{"AAA", time.Unix(noon, 0).UTC(), "HGIRGZZ", 1.5}}); err != nil {
		t.Fatal(err)
	}
	text := "station,time,code,value\nAAA,2026-11-10T12:00:00Z,HGIRGZZ,1.5\n"
	for name, in := range map[string]string{file: "PAR1", "v.csv": text} {
		if all := readBack(t, name, strings.NewReader(in)); len(all) != 1 || all[0].Quality != 'Z' || all[0].Value != 1.5 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestRowsOfParquet: a row that another program wrote is a value, or an error with the number of the row.
func TestRowsOfParquet(t *testing.T) {
	at := time.Unix(noon, 0).UTC()
	for name, c := range map[string]struct {
		change  func(g *Gauge)
		problem string
	}{
		"complete":     {func(*Gauge) {}, ""},
		"largest":      {func(g *Gauge) { g.Duration = 32767 }, ""},
		"long":         {func(g *Gauge) { g.Duration = 32768 }, "duration 32768 is out of range"},
		"ignored":      {func(g *Gauge) { g.Code, g.Duration = "HGIRGZZ", 32768 }, ""}, // the code has a duration of its own
		"no station":   {func(g *Gauge) { g.Station = "" }, `station ""`},
		"no quality":   {func(g *Gauge) { g.Quality = "" }, ""},
		"qualities":    {func(g *Gauge) { g.Quality = "RR" }, `quality "RR"`},
		"no number":    {func(g *Gauge) { g.Value = new(math.NaN()) }, "value NaN is not a finite number; a missing value is an empty cell of CSV or null in Parquet"},
		"infinite":     {func(g *Gauge) { g.Value = new(math.Inf(-1)) }, "value -Inf is not a finite number"},
		"many digits":  {func(g *Gauge) { g.Value = new(1e10) }, "value 1e+10 has more digits than SHEF can express"},
		"missing":      {func(g *Gauge) { g.Value = nil }, ""},
		"milliseconds": {func(g *Gauge) { g.Time = at.Add(time.Millisecond) }, "12:00:00.001Z"},
	} {
		file, value := filepath.Join(t.TempDir(), "v.parquet"), 1.0
		row := Gauge{Station: "AAA", Time: at, Code: "HGVRGZZ", Value: &value, Quality: "Z"}
		changed := row
		c.change(&changed)
		if err := parquet.WriteFile(file, []Gauge{row, changed}); err != nil {
			t.Fatal(err)
		}
		values, problems := 0, ""
		err := ReadGauges(file, strings.NewReader("PAR1"), nil, func(_ *record.Gauge, err error) error {
			if err == nil {
				values++
			} else {
				problems += err.Error()
			}
			return nil
		})
		if err != nil || (values == 2) != (c.problem == "") ||
			c.problem != "" && (!strings.HasPrefix(problems, file+":2 is not a value") || !strings.Contains(problems, c.problem)) {
			t.Errorf("%s: %d values, %s, %v", name, values, problems, err)
		}
	}
}

// TestImportsStop: the error of the caller stops the import of CSV and of Parquet, at a value and at a row that is none.
func TestImportsStop(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.parquet")
	good := Gauge{Station: "AAA", Time: time.Unix(noon, 0).UTC(), Code: "HG", Quality: "Z"}
	bad := good
	bad.Code = "H"
	stop := errors.New("stop here")
	for name, c := range map[string]struct {
		csv string
		row Gauge
	}{
		"values": {"AAA,2026-11-10T12:00:00Z,HG,1\n", good},
		"others": {"AAA,2026-11-10T12:00:00Z,H,1\n", bad},
		"cells":  {"AAA,noon,HG,1\n", bad},
	} {
		if err := parquet.WriteFile(file, []Gauge{c.row, c.row, c.row}); err != nil {
			t.Fatal(err)
		}
		text := "station,time,code,value\n" + strings.Repeat(c.csv, 3)
		for source, in := range map[string]io.Reader{"v.csv": strings.NewReader(text), file: strings.NewReader("PAR1")} {
			calls := 0
			err := ReadGauges(source, in, nil, func(*record.Gauge, error) error {
				calls++
				return stop
			})
			if !errors.Is(err, stop) || calls != 1 {
				t.Errorf("%s of %s: %d calls, %v", name, source, calls, err)
			}
		}
	}
}

// TestHeadsOfCSV: a table without one of the required columns is an error that names the column. An empty file is none.
func TestHeadsOfCSV(t *testing.T) {
	for _, missing := range []string{"station", "time", "code", "value"} {
		head := strings.ReplaceAll("station,time,code,value", missing, "other")
		err := ReadGauges("v.csv", strings.NewReader(head+"\n"), nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "v.csv:1 names no column "+missing) {
			t.Errorf("%s: %v", head, err)
		}
	}
	if err := ReadGauges("v.csv", strings.NewReader(""), nil, nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// TestColumnsOfSites: a table of stations has its columns in any order. An identifier is written in capitals.
func TestColumnsOfSites(t *testing.T) {
	sites, err := ReadSites(strings.NewReader("owner,zone,lon,lat,lid,name\nme,EST,-93.5,,abcdefgh,Lake\nme,,,30.25,B,\n"), "s.csv")
	if err != nil || len(sites) != 2 {
		t.Fatalf("%v, %v", sites, err)
	}
	if s := sites[id("ABCDEFGH")]; s.Name != "Lake" || s.Zone != "EST" || s.Latitude != nil || s.Longitude == nil || *s.Longitude != -93.5 {
		t.Errorf("%+v", s)
	}
	if s := sites[id("B")]; s.Name != "" || s.Zone != "" || s.Longitude != nil || s.Latitude == nil || *s.Latitude != 30.25 {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{
		"":                         "s.csv:1 names no column lid",
		"id,name\n":                "s.csv:1 names no column lid",
		"lid,name\nABCDEFGHI,x\n":  "s.csv:2 is not a row of stations",
		"lid,name\nA,x\nB\n":       "s.csv:3 is not a row of stations",
		"lid,lat\nA,1\nB,ninety\n": "s.csv:3 is not a row of stations",
	} {
		if _, err := ReadSites(strings.NewReader(text), "s.csv"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestQuadrantsOfIdentifiers: the first letter of an identifier is its quadrant (SHEF manual 4.1.2). The table of stations
// has precedence.
func TestQuadrantsOfIdentifiers(t *testing.T) {
	known := Sites{id("X3020933"): {Name: "known"}}
	for text, want := range map[string]string{
		"W3020932": "-30.2 -93.2", "X3020932": "30.2 -93.2", "Y3020932": "30.2 93.2", "Z3020932": "-30.2 93.2",
		"Y9001800": "90 180", "Y9011800": "none", "Y9001801": "none", "Y0000001": "0 0.1",
		"V3020932": "none", "X302093": "none", "X30209A2": "none", "X3020933": "none",
	} {
		s, got := known.site(id(text)), "none"
		if s.Latitude != nil {
			got = fmt.Sprint(*s.Latitude, " ", *s.Longitude)
		}
		if got != want || (s.Name == "known") != (text == "X3020933") {
			t.Errorf("%s: %s %q, want %s", text, got, s.Name, want)
		}
	}
}

// TestProducts: the counts of a product are those of all its parts. Missing values are also among the values.
func TestProducts(t *testing.T) {
	r := stages()
	p := NewProduct(&r.Product)
	for n := range int64(2) {
		r.Account = shef.Account{Lines: 10 + n, Messages: 20 + n, Values: 30 + n, Lost: 40 + n, Nulls: 50 + n, Errors: 60 + n, Warnings: 70 + n}
		p.Add(r)
	}
	const head = "  lines  messages   values  missing     lost    nulls   errors  warnings  awips   heading                 product"
	const row = "     21        41       61        2       81      101      121       141  RR1LCH  SRUS54 KLCH 101813 RRA  in.shef:3"
	const object = `{"file":"in.shef","product":2,"line":3,"awips":"RR1LCH","heading":"SRUS54 KLCH 101813 RRA",` +
		`"lines":21,"messages":41,"values":61,"missing":2,"lost":81,"nulls":101,"errors":121,"warnings":141}`
	if ProductHead != head {
		t.Errorf("the head is\n%s", ProductHead)
	}
	for asJSON, want := range map[bool]string{false: row, true: object} {
		var out strings.Builder
		if err := p.Write(&out, asJSON); err != nil || out.String() != want+"\n" {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
		}
		var room full
		if err := p.Write(&room, asJSON); err == nil {
			t.Error("a full disk is no error")
		}
	}
}
