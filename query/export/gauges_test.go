package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// TestDamagedParquet: a Parquet file of values that is truncated or of another table gives an error with its name. A
// changed byte gives such an error or changed values, and never a panic or more rows. A complete file is read.
func TestDamagedParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.parquet")
	value := 1.5
	var rows []Gauge
	for i := range 100 {
		rows = append(rows, Gauge{Station: "GWRM1", Time: time.Unix(int64(i)*3600, 0).UTC(), Code: "HGIRGZZ", Value: &value, Quality: "Z"})
	}
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	complete, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) (n int, err error) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		err = ReadGauges(path, bytes.NewReader(text), nil, func(_ *record.Gauge, err error) error {
			if err == nil {
				n++
			}
			return nil
		})
		return n, err
	}
	if n, err := read(complete); n != 100 || err != nil {
		t.Fatalf("%d values, %v", n, err)
	}
	for cut := 4; cut < len(complete); cut += 97 {
		if _, err := read(complete[:cut]); err == nil || !strings.Contains(err.Error(), path+" is not a complete Parquet file of values") {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	for at := 4; at < len(complete); at += 13 {
		text := append([]byte(nil), complete...)
		text[at] ^= 0x55
		if n, err := read(text); n > 100 || err != nil && !strings.Contains(err.Error(), path+" is not a complete Parquet file of values") {
			t.Errorf("byte %d: %d values, %v", at, n, err)
		}
	}
	if err := parquet.WriteFile(path, []struct{ A, B int }{{1, 2}}); err != nil {
		t.Fatal(err)
	}
	other, _ := os.ReadFile(path)
	if _, err := read(other); err == nil || !strings.Contains(err.Error(), "it has no column station; write it with barograph shef decode") {
		t.Errorf("another table: %v", err)
	}
}

// TestSites: every text of a station is a CSV field of its own, and its place is on the earth.
func TestSites(t *testing.T) {
	sites, err := ReadSites(strings.NewReader("lid,name,lat,lon,zone\nAAA,\"Ann, Lake\",30.2,-93.2,\"=1,2\"\n"), "s.csv")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w, err := NewGauges(&out, "csv", Spreadsheet, sites)
	if err != nil {
		t.Fatal(err)
	}
	g := record.Gauge{Quality: 'Z', Created: record.NoTime, Probability: -1}
	copy(g.Station[:], "AAA")
	if err := errors.Join(w.Write(&shef.Result{Values: []record.Gauge{g}}), w.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][len(rows[1])-1] != "'=1,2" {
		t.Errorf("%q, %v", rows, err)
	}
	for _, place := range []string{"90,0", "-90,-180", "38.9,283", "0,360"} { // some networks count longitudes eastward to 360
		if _, err := ReadSites(strings.NewReader("lid,lat,lon\nAAA,"+place+"\n"), "s.csv"); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
	for _, place := range []string{"NaN,1", "1,inf", "91,1", "1,-200", "1,361", "x,1"} {
		if _, err := ReadSites(strings.NewReader("lid,lat,lon\nAAA,"+place+"\n"), "s.csv"); err == nil || !strings.Contains(err.Error(), "s.csv:2") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestPlacesOfIdentifiers: a place that an identifier contains is on the earth.
func TestPlacesOfIdentifiers(t *testing.T) {
	for text, want := range map[string]bool{"X3020932": true, "W9001800": true, "X9999999": false, "Y0001801": false, "X-123456": false} {
		var id record.ID
		copy(id[:], text)
		if got := Sites(nil).site(id); (got.Latitude != nil) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestLinesOfCSV: the error of a row names its first line, also after an empty line and after a field with a line end.
func TestLinesOfCSV(t *testing.T) {
	problems := ""
	text := strings.NewReader("station,time,code,value\n\n,,,x\n\"A\nB\",,,x\n1,2\n")
	err := ReadGauges("v.csv", text, nil, func(_ *record.Gauge, err error) error {
		problems += err.Error()
		return nil
	})
	for _, want := range []string{"v.csv:3 is not a value", "v.csv:4 is not a value", "v.csv:6 is not a value: record on line 6"} {
		if err != nil || !strings.Contains(problems, want) {
			t.Errorf("%s, %v; want %s", problems, err, want)
		}
	}
	if _, err := ReadSites(strings.NewReader("lid,lat\n\nAAA,x\n"), "s.csv"); err == nil || !strings.Contains(err.Error(), "s.csv:3") {
		t.Errorf("stations: %v", err)
	}
}

// TestIncompleteRows: a row of CSV without a station, a time or a code is no value. Without a value it is a missing value.
func TestIncompleteRows(t *testing.T) {
	for row, valid := range map[string]bool{
		"AAA,2026-11-10T12:00:00Z,HGIRGZZ,1.5": true,
		"AAA,2026-11-10T12:00:00Z,HGIRGZZ,":    true,
		",2026-11-10T12:00:00Z,HGIRGZZ,1.5":    false,
		"AAA,,HGIRGZZ,1.5":                     false,
		"AAA,2026-11-10T12:00:00Z,,1.5":        false,
		"AAA,2026-11-10T12:00:00.5Z,HGIRGZZ,1": false,
		"AAA,2026-11-10T12:00:00Z,HGIRGZZ,NaN": false,
	} {
		values, problems := 0, ""
		text := strings.NewReader("station,time,code,value\n" + row + "\n")
		err := ReadGauges("v.csv", text, nil, func(_ *record.Gauge, err error) error {
			if err == nil {
				values++
			} else {
				problems += err.Error()
			}
			return nil
		})
		if err != nil || (values == 1) != valid || strings.Contains(problems, "v.csv:2 is not a value") == valid {
			t.Errorf("%s: %d values, %s, %v", row, values, problems, err)
		}
	}
}

// TestUnreadableCSV: a file whose end cannot be read, such as a truncated .gz, ends the import with an error.
func TestUnreadableCSV(t *testing.T) {
	broken := errors.New("the disk failed")
	for _, head := range []string{"", "station,time,code,value\n", "station,time,code,value\nAAA,2026-11-10T12:00:00Z,HGIRGZZ,1.5\n"} {
		problems := 0
		err := ReadGauges("v.csv", io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)), nil, func(_ *record.Gauge, err error) error {
			if err == nil {
				return nil
			}
			if problems++; problems > 1 {
				return errors.New("the import continues without end")
			}
			return nil
		})
		if !errors.Is(err, broken) || problems > 0 {
			t.Errorf("after %q: %v, %d problems", head, err, problems)
		}
	}
}
