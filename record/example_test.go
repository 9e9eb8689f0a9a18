package record_test

import (
	"fmt"

	"github.com/barograph/barograph/record"
)

// A batch is filled series by series: a header once, then times and numbers.
func ExampleBatch() {
	sl1l2, _ := record.TypeByName("SL1L2")
	var b record.Batch
	b.Reset(sl1l2, "gfs.stat")
	h := record.DefaultHeader()
	h[record.Model], h[record.FcstVar], h[record.FcstLev] = "GFS", "TMP", "P500"
	head := b.AddHeader(h)
	for i, lead := range []int32{0, 6 * 3600} {
		b.AppendTimes(head, lead, 1546300800, uint32(i+2)) // valid on 2019-01-01, from lines 2 and 3
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(100*i+k))
		}
	}
	for i := range b.Len() {
		fmt.Println(b.Type.Name, b.Header(i)[record.FcstVar], b.Lead[i], b.Init(i), b.Type.Columns[1].Name, b.Num[1][i])
	}
	// Output:
	// SL1L2 TMP 0 1546300800 fbar 1
	// SL1L2 TMP 21600 1546279200 fbar 101
}
