package shef_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/shef"
)

func ExampleReadAll() {
	const text = `SRUS54 KLCH 101813
RR1LCH
.B LCH 1110 C DH07/HG/PP
LKCL1 0.9 / .04 : LAKE CHARLES
KDRL1 M // , OTBL1 5.3E/T
XXXX1 ?/1.0
.END
`
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	err := shef.ReadAll(strings.NewReader(text), "RR1LCH", shef.Options{Now: now}, func(r *shef.Result) error {
		for i := range r.Values {
			g := &r.Values[i]
			fmt.Println(g.Station, time.Unix(g.Time, 0).UTC().Format("2006-01-02 15:04"), g.Code, g.Value, string(g.Quality))
		}
		for _, p := range r.Problems {
			fmt.Println(p.Error())
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Output:
	// LKCL1 2026-11-10 13:00 HGIRZZZ 0.9 Z
	// LKCL1 2026-11-10 13:00 PPDRZZZ 0.04 Z
	// KDRL1 2026-11-10 13:00 HGIRZZZ -9999 Z
	// OTBL1 2026-11-10 13:00 HGIRZZZ 5.3 E
	// OTBL1 2026-11-10 13:00 PPDRZZZ 0.001 Z
	// XXXX1 2026-11-10 13:00 PPDRZZZ 1 Z
	// error 053 at line 6: '?' not accepted for missing, use 'M' or '+' "?"
}
