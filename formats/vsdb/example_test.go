package vsdb_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/record"
)

func ExampleReader() {
	text := `V01 GFS 48 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05
V01 GFS 48 2019010100 GFS G2 SL1L2 TSOILT       =   3735.   0.278056467E+03   0.278056467E+03   0.777447717E+05   0.777447717E+05   0.777447717E+05
V01 GFS 2d 2019010100 GFS G2 SL1L2 T P500 =   3735.   0.278056467E+03
`
	r := vsdb.NewReader(strings.NewReader(text), "gfs_20190101.vsdb", vsdb.Options{})
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
			h := b.Header(i)
			fmt.Printf("%d: %s %s %q: init %d, total %g\n", b.Line[i], b.Type.Name, h[record.FcstVar], h[record.FcstLev], b.Init(i), b.Num[0][i])
		}
		for _, bad := range b.Rejects {
			fmt.Printf("%s:%d: %s\n", bad.File, bad.Line, bad.Reason)
		}
	}
	fmt.Println(r.Lines(), "lines")
	// Output:
	// 2: SL1L2 TSOILT "": init 1546128000, total 3735
	// 1: SAL1L2 HGT "P500": init 1546128000, total 3600
	// gfs_20190101.vsdb:3: lead "2d" is not a number of hours (one to four digits)
	// 3 lines
}
