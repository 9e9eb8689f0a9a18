package vsdb

import (
	"math"
	"math/rand/v2"

	"github.com/barograph/barograph/record"
)

// generated returns n lines of the four L1L2 types in the manner of a real
// file: headers in a fixed order, repeated lead after lead.
func generated(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	numbers := map[string]int{"SL1L2": 6, "SAL1L2": 6, "VL1L2": 8, "VAL1L2": 8}
	var text []byte
	h := record.DefaultHeader()
	h[record.Version] = "V01"
	for lead := 0; ; lead += 6 {
		for _, model := range [...]string{"GFS", "ECM/3"} {
			for _, typ := range [...]string{"SL1L2", "SAL1L2", "VL1L2", "VAL1L2"} {
				for _, mask := range [...]string{"G2", "G2/NHX", "G2/TRO", "G104/NWC"} {
					for _, level := range [...]string{"P1000", "P500", "SFC", ""} {
						h[record.Model], h[record.ObType], h[record.VxMask] = model, "ADPUPA", mask
						h[record.FcstVar], h[record.FcstLev] = "HGT_WV1/0-3", level
						nums := []float64{float64(rng.IntN(20000))}
						lt, _ := record.TypeByName(typ)
						for i := range numbers[typ] - 1 {
							v := (rng.Float64() - 0.3) * math.Pow(10, float64(rng.IntN(9)-3))
							if !lt.Columns[i+1].Rule.Accepts(v) {
								v = -v
							}
							nums = append(nums, v)
						}
						text = AppendLine(text, &h, lead%384, 1546300800, typ, nums)
						if n--; n == 0 {
							return text
						}
					}
				}
			}
		}
	}
}
