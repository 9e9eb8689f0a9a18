package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/export"

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

// TestShefDecode: every format of the same product, its account and its status.
func TestShefDecode(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "RR1LCH")
	if err := os.WriteFile(name, []byte(shefSample), 0o644); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"table":  "LKCL1     2026-11-10 13:00:00  HGIRZZZ  0.9           Z        0000      2026-11-10 19:00:00  yes  0       LCH",
		"csv":    `KDRL1,2026-11-10T13:00:00Z,HGIRZZZ,,Z,0,,2026-11-10T19:00:00Z,true,0,LCH,,"RR1LCH"`,
		"json":   `{"station":"KDRL1","time":"2026-11-10T13:00:00Z","code":"HGIRZZZ","value":null,"quality":"Z"`,
		"shefit": `XXXX1     2026-11-10 12:00:00  0000-00-00 00:00:00  HGIRZZ          2.5000 Z   -1.000  0000 0 0            " "`,
	} {
		status, out, errs := barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", format, name)
		if status != 4 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d\n%s%s\nwant %s", format, status, out, errs, want)
		}
		if !strings.Contains(errs, "1 products, 2 messages, 7 lines: 4 values, 1 lost, 1 left empty; 1 errors") {
			t.Errorf("%s: %s", format, errs)
		}
	}
	file, problems := filepath.Join(dir, "v.parquet"), filepath.Join(dir, "problems")
	if status, _, errs := barograph(t, "shef", "decode", "--now", "2026-11-20", "--format", "parquet", "--out", file, "--problems", problems, dir+"/RR1LCH"); status != 4 {
		t.Fatal(errs)
	}
	rows, err := parquet.ReadFile[export.Gauge](file)
	if err != nil || len(rows) != 4 || rows[2].Station != "KDRL1" || rows[2].Value != nil || *rows[0].Value != .9 || rows[3].Created != nil {
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

// TestShefDecodeStops: a signal ends a decoder whose pipe says nothing more.
func TestShefDecodeStops(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		fmt.Fprintln(w, ".A AAA 20261110 /HG 1")
		stop()
	}()
	var errs bytes.Buffer
	if status := execute(ctx, &env{args: []string{"shef", "decode", "-"}, stdin: r, stdout: io.Discard, stderr: &errs, engines: all.Registry()}); status != 130 {
		t.Errorf("status %d: %s", status, &errs)
	}
}
