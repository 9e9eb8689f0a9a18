package metstat_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/record"
)

func ExampleReader() {
	file := "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n" +
		"V12.0.0 GFS NA 1080000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000 TMP K Z2 TMP K Z2 ANLYS FULL NEAREST 1 NA NA NA NA SL1L2 1038240 278.2 278.5 77460.1 77401.3 77570.9 0.9\n" +
		"V12.0.0 GFS NA 1080000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000 RH\n"
	r := metstat.NewReader(strings.NewReader(file), "grid_stat.stat", metstat.Options{})
	var b record.Batch
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range b.Len() {
			fmt.Println(b.Type.Name, b.Header(i)[record.FcstVar], "lead", b.Lead[i]/3600, "h, total", b.Num[0][i])
		}
		for _, q := range b.Rejects {
			fmt.Printf("%s:%d: %s\n", q.File, q.Line, q.Reason)
		}
	}
	// Output:
	// SL1L2 TMP lead 108 h, total 1.03824e+06
	// grid_stat.stat:3: the line is truncated: it has 10 of the 24 header columns and ends in "RH"
}
