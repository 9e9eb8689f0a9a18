package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/query/export"

	"github.com/parquet-go/parquet-go"
)

const shefSample = `SRUS54 KLCH 101813
RR1LCH
.BR LCH 1110 C DH07/DC11101300/HG/PP
LKCL1 0.9 / .04 'it said "low"' : LAKE CHARLES
KDRL1 M //
.END
.A XXXX1 1110 Z DH12/HG 2.5/XX 1
`

// TestShefDecode: every format of one product, with its counts and exit status.
func TestShefDecode(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "RR1LCH")
	if err := os.WriteFile(name, []byte(shefSample), 0o644); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"table":  "LKCL1     2026-11-10 13:00:00  HGIRZZZ  0.9           Z        0000      2026-11-10 19:00:00  yes  0       LCH",
		"csv":    `KDRL1,2026-11-10T13:00:00Z,HGIRZZZ,,Z,0,,2026-11-10T19:00:00Z,true,0,LCH,,RR1LCH`,
		"json":   `{"station":"KDRL1","time":"2026-11-10T13:00:00Z","code":"HGIRZZZ","value":null,"quality":"Z"`,
		"shefit": `XXXX1     2026-11-10 12:00:00  0000-00-00 00:00:00  HGIRZZ          2.5000 Z   -1.000  0000 0 0            " "`,
	} {
		status, out, errs := barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", format, name)
		if status != 4 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d\n%s%s\nwant %s", format, status, out, errs, want)
		}
		if !strings.Contains(errs, "1 product, 2 messages, 7 lines: 4 values, 1 lost, 1 left empty; 1 error, 0 warnings") {
			t.Errorf("%s: %s", format, errs)
		}
	}
	file, problems := filepath.Join(dir, "v.parquet"), filepath.Join(dir, "problems")
	if status, _, errs := barograph(t, "shef", "decode", "--now", "2026-11-20", "--out", file, "--problems", problems, dir+"/RR1LCH"); status != 4 || !strings.Contains(errs, "1 value could not be decoded; "+problems+" lists the errors") {
		t.Fatal(errs)
	}
	rows, err := parquet.ReadFile[export.Gauge](file)
	if err != nil || len(rows) != 4 || rows[2].Station != "KDRL1" || rows[2].Value != nil || *rows[0].Value != .9 || rows[3].Created != nil ||
		!rows[0].Created.Equal(rows[0].Time.Add(6*time.Hour)) || rows[0].Center != "KLCH" || rows[0].Issued.Hour() != 18 {
		t.Errorf("%+v: %v", rows, err)
	}
	text, err := os.ReadFile(problems)
	if want := name + ": RR1LCH: error 062 at line 7: Non-existent value for given conversion factor parameter code \"XX 1\"\n"; err != nil || string(text) != want {
		t.Errorf("%q: %v", text, err)
	}
	status, out, _ := barograph(t, "shef", "decode", "--products", "--now", "2026-11-20", name)
	if status != 4 || !strings.Contains(out, "RR1LCH  SRUS54 KLCH 101813") {
		t.Errorf("status %d\n%s", status, out)
	}
	for _, args := range [][]string{{"--format", "xml", name}, {"--now", "soon", name}, {"--format", "parquet", name}, {}} {
		if status, _, errs := barograph(t, append([]string{"shef", "decode"}, args...)...); status != 2 {
			t.Errorf("%v: status %d: %s", args, status, errs)
		}
	}
	if status, _, _ := barograph(t, "shef", "decode", filepath.Join(dir, "none")); status != 1 {
		t.Errorf("no file: status %d", status)
	}
}

// TestShefDecodeStops: a signal stops a decoder that waits for its pipe; the file of --out has what arrived.
func TestShefDecodeStops(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := filepath.Join(t.TempDir(), "out")
	go func() {
		fmt.Fprint(w, "\x01\n.A AAA 20261110 /HG 1\n\x03")
		for text := []byte{}; !bytes.Contains(text, []byte("AAA")) && t.Context().Err() == nil; time.Sleep(time.Millisecond) {
			text, _ = os.ReadFile(out)
		}
		stop()
	}()
	var errs bytes.Buffer
	if status := execute(ctx, &env{args: []string{"shef", "decode", "-", "--out", out}, stdin: r, stdout: io.Discard, stderr: &errs, engines: all.Registry()}); status != 130 {
		t.Errorf("status %d: %s", status, &errs)
	}
}

// TestShefDecodeFilter: decode writes a product when it is complete, before the pipe delivers more.
// It writes only the values that match the filters.
func TestShefDecodeFilter(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"SHEFPARM": "$ ours\n*1\nYW 2.0\n*6\nYW YWH\n*7\nB\n**\n 500\n**\n",
		"stations": "lid,name,lat,lon,zone,state\nAAA,\"Ann, Lake\",30.2,-93.2,C,LA\n",
		"bad":      "*1\nYW one\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in, feed := io.Pipe()
	out, lines := io.Pipe()
	done := make(chan string)
	go func() {
		var errs bytes.Buffer
		args := []string{
			"shef", "decode", "--format", "csv", "--now", "2026-11-20", "--shefparm", filepath.Join(dir, "SHEFPARM"), "--stations", filepath.Join(dir, "stations"),
			"--station", "A*,X*,!AAB", "--pe", "HG,Y?", "--ts", "R?", "--since", "2026-11-10", "--until", "2026-11-10T23:00:00Z", "-",
		}
		status := execute(t.Context(), &env{args: args, stdin: in, stdout: lines, stderr: &errs, engines: all.Registry()})
		lines.Close()
		done <- fmt.Sprint(status, " ", errs.String())
	}()
	fmt.Fprint(feed, "\x01\r\r\n123 \r\r\nSRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n.A AAA 1110 Z DH12/HG 1/TA 50/DH24/HG 2\r\r\n.A AAB 1110 /HG 3\r\r\n.A X3080995 1110 DUS/YW 5\r\r\n\x03")
	got := bufio.NewReader(out)
	want := []string{
		"station,time,code,value,quality,duration,probability,created,revised,series,source,comment,product,file,line,center,issued,name,latitude,longitude,zone\n",
		"AAA,2026-11-10T12:00:00Z,HGIRZZZ,1,Z,0,,,false,0,,,RR1LCH,-,5,KLCH,2026-11-10T18:13:00Z,\"Ann, Lake\",30.2,-93.2,C\n",
		"X3080995,2026-11-10T12:00:00Z,YWHRZZZ,10,Z,1001,,,false,0,,,RR1LCH,-,7,KLCH,2026-11-10T18:13:00Z,,30.8,-99.5,\n",
	}
	for _, w := range want {
		if line, err := got.ReadString('\n'); line != w {
			t.Fatalf("%q, want %q: %v", line, w, err)
		}
	}
	feed.Close()
	if s := <-done; !strings.HasPrefix(s, "0 1 product, 3 messages") || !strings.Contains(s, "3 values were excluded by") {
		t.Error(s)
	}
	for _, args := range [][]string{{"--pe", "[H"}, {"--since", "soon"}, {"--shefparm", filepath.Join(dir, "bad")}, {"--stations", filepath.Join(dir, "bad")}} {
		if status, _, errs := barograph(t, append(append([]string{"shef", "decode"}, args...), dir)...); status == 0 || status == 4 {
			t.Errorf("%v: status %d: %s", args, status, errs)
		}
	}
}

// TestShefEncode: encode turns the CSV and Parquet output of decode into messages again.
func TestShefEncode(t *testing.T) {
	dir := t.TempDir()
	name, back := filepath.Join(dir, "RR1LCH"), filepath.Join(dir, "back.txt")
	if err := os.WriteFile(name, []byte(shefSample+".E AAA 20261110 Z DH01/HGIRGZN/DIH1/1/2/M\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const columns = "shefit"
	_, want, _ := barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", columns, name)
	for _, format := range []string{"csv", "parquet"} {
		values := filepath.Join(dir, "v."+format)
		barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", format, "--out", values, name)
		if status, _, errs := barograph(t, "shef", "encode", "--heading", "SRUS54 KLCH 101813", "--awips", "RR1LCH", "--out", back, values); status != 0 {
			t.Fatalf("%s: status %d: %s", format, status, errs)
		}
		if status, got, errs := barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", columns, back); status != 0 || got != want {
			t.Errorf("%s: status %d %s\n%s\nwant\n%s", format, status, errs, got, want)
		}
	}
	few := filepath.Join(dir, "few.csv")
	if err := os.WriteFile(few, []byte("value,code,station,time\n1.5,HG,AAA,2026-11-10T00:00:00Z\n2,QQ,AAA,2026-11-10T00:00:00Z\nx,HG,AAA,2026-11-10T00:00:00Z\n3,HG,A,2026-11-10T00:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := barograph(t, "shef", "encode", few); status != 4 || out != ".A AAA 20261110 Z DH0000/HGIRZZ 1.5\n" || !strings.Contains(errs, "few.csv:3 is not a value") || !strings.Contains(errs, "few.csv:4 is not a value: value \"x\" is not a finite number; repair the line") || !strings.Contains(errs, "few.csv:5: HGIRZZZ of A cannot be encoded") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	} else if !strings.Contains(errs, "\n4 values, 3 left out\n") || !strings.Contains(errs, ": 1 value could not be encoded; 2 rows are not values\n") {
		t.Error(errs)
	}
	for _, bad := range []string{name, filepath.Join(dir, "none")} {
		if status, _, errs := barograph(t, "shef", "encode", bad); status != 1 {
			t.Errorf("status %d: %s", status, errs)
		}
	}
}

// TestOutputsKeepInputs: no output option empties or replaces a file that the command reads, or an archive.
func TestOutputsKeepInputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	values := "station,time,code,value\nLKCL1,2026-11-10T13:00:00Z,HGIRZZZ,0.9\n"
	if err := os.Mkdir(at("feed"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a": shefSample, "feed/b": shefSample, "values.csv": values, "stations.csv": "lid,name\nLKCL1,Lake Charles\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("a"), at("link")); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := barograph(t, "shef", "post", "--engine", "sqlite:"+at("x.db"), "--schema", "barograph", "--make", "--now", "2026-11-20", at("a")); status != 4 {
		t.Fatal(errs)
	}
	database, err := os.ReadFile(at("x.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		message string
		args    []string
	}{
		{"is one of the files to read", []string{"decode", at("a"), "--out", at("a")}},
		{"is one of the files to read", []string{"decode", at("a"), "--out", at("link")}},
		{"is one of the files to read", []string{"decode", at("a"), "--problems", at("a")}},
		{"is one of the files to read", []string{"decode", at("feed"), "--out", at("feed/b")}},
		{"is one of the files to read", []string{"encode", at("values.csv"), "--out", at("values.csv")}},
		{"is one of the files to read", []string{"decode", at("a"), "--stations", at("stations.csv"), "--out", at("stations.csv")}},
		{"names the file of --out", []string{"decode", at("a"), "--out", at("new"), "--problems", at("new")}},
		{"is a folder or an archive", []string{"decode", at("a"), "--out", at("feed")}},
		{"is a folder or an archive", []string{"decode", at("a"), "--problems", at("x.db")}},
		{"is a folder or an archive", []string{"serve", "--spool", at("spool"), "--engine", "sqlite:" + at("x.db"), "--schema", "barograph", "--log-file", at("x.db")}},
		{"is one of the files to read", []string{"serve", "--spool", at("spool"), "--engine", "sqlite:" + at("x.db"), "--schema", "barograph", "--stations", at("stations.csv"), "--log-file", at("stations.csv")}},
	} {
		if status, _, errs := barograph(t, append([]string{"shef"}, c.args...)...); status != 2 || !strings.Contains(errs, c.message) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
	if status, out, errs := barograph(t, "shef", "export", "--engine", "sqlite:"+at("x.db"), "--schema", "barograph", "--to", "csv"); status != 0 || strings.Contains(out, "1970-01-01") {
		t.Errorf("export: status %d: %s%s", status, out, errs)
	}
	if err := os.WriteFile(at("keep.csv"), []byte(values), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := barograph(t, "shef", "export", "--engine", "sqlite:"+at("x.db"), "--schema", "barograph", "--to", "csv", "--since", "2030-01-01", "--out", at("keep.csv")); status != 4 || !strings.Contains(errs, "there is no value to write") {
		t.Errorf("export of nothing: status %d: %s", status, errs)
	}
	if status, _, errs := barograph(t, "shef", "decode", at("a"), "--since", "2030-01-01", "--out", at("keep.csv")); status != 4 || !strings.Contains(errs, "there is no value to write") {
		t.Errorf("decode of nothing: status %d: %s", status, errs)
	}
	if status, _, errs := barograph(t, "shef", "decode", at("values.csv"), "--out", at("keep.csv")); status != 4 || !strings.Contains(errs, "there is no value to write") {
		t.Errorf("decode of no SHEF: status %d: %s", status, errs)
	}
	if got, err := os.ReadFile(at("keep.csv")); err != nil || string(got) != values {
		t.Errorf("an export without values replaces a file: %q, %v", got, err)
	}
	status, out, errs := barograph(t, "ycsb", "load", "--engine", "pebble:"+at("kv"), "-p", "recordcount=10", "-p", "exportfile="+at("x.db"))
	if status != 2 || !strings.Contains(out, "[INSERT], Return=OK, 10") || !strings.Contains(errs, "is a folder or an archive") {
		t.Errorf("ycsb: status %d: %s%s", status, out, errs)
	}
	for name, want := range map[string]string{"a": shefSample, "feed/b": shefSample, "values.csv": values, "x.db": string(database)} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	if _, err := os.Stat(at("new")); err == nil {
		t.Error("a refused command leaves a file")
	}
}

// TestShefHints: a command that can do nothing reports why, and the cure.
func TestShefHints(t *testing.T) {
	dir := t.TempDir()
	hello, values := filepath.Join(dir, "hello"), filepath.Join(dir, "values.csv")
	for name, text := range map[string]string{hello: "hello\n", values: "station,time,code,value\nLKCL1,2026-11-10T13:00:00Z,HGIRZZZ,0.9\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		status  int
		message string
		args    []string
	}{
		{4, "contains no product; check that it is SHEF", []string{"post", "--engine", "sqlite:" + filepath.Join(dir, "x.db"), "--schema", "barograph", "--make", hello}},
		{2, "is not a WMO heading", []string{"encode", values, "--heading", "FOO"}},
		{2, "needs a heading before it", []string{"encode", values, "--awips", "RR1LCH"}},
		{2, `"[A"`, []string{"decode", hello, "--station", "[A"}},
		{2, "is before --since", []string{"decode", hello, "--since", "2026-11-20", "--until", "2026-11-19"}},
		{0, "SRUS54 KLCH 101813", []string{"encode", values, "--heading", "SRUS54 KLCH 101813", "--awips", "RR1LCH"}},
	} {
		if status, out, errs := barograph(t, append([]string{"shef"}, c.args...)...); status != c.status || !strings.Contains(out+errs, c.message) {
			t.Errorf("%v: status %d: %s%s", c.args, status, out, errs)
		}
	}
}
