package river

import (
	"testing"

	"github.com/barograph/barograph/record"
)

// TestTableAndUnit compares the table and the units of a value with the sources that the comment of IHFS names.
func TestTableAndUnit(t *testing.T) {
	tokens := DefaultTokens()
	for _, c := range []struct {
		code, table string
		given, want float64
		ref         int32
	}{
		{"HGIRGZZ", "height", 12.5, 12.5, 0},
		{"HZIRGZZ", "height", 1.5, 1500, 0},
		{"QRIRGZZ", "discharge", 1.5, 1500, 0},
		{"QRIRGZZ", "discharge", record.NoValue, record.NoValue, 0},
		{"QBDRZZZ", "discharge", 1.5, 1.5, 0},
		{"QRIFFZZ", "fcstdischarge", 2, 2000, 0},
		{"HGIFFZZ", "fcstheight", 2, 2, 0},
		{"PPQFFZZ", "fcstprecip", .25, .25, 0},
		{"TAIFFZZ", "fcsttemperature", 60, 60, 0},
		{"SWIFFZZ", "fcstother", 3, 3, 0},
		{"PPDRGZZ", "rawpp", .5, .5, 0},
		{"PCIRGZZ", "rawpc", .5, .5, 0},
		{"PRIRGZZ", "rawpother", .5, .5, 0},
		{"PLIRGZZ", "pressure", 29.9, 29.9, 0},
		{"QRIP1ZZ", "procvalue", 2, 2000, 0},
		{"HGI1AZZ", "procvalue", 2, 2, 0},
		{"HGICAZZ", "contingencyvalue", 2, 2, 0},
		{"TBIRGZZ", "pairedvalue", 6.065, 65, 6},
		{"TBIPAZZ", "pairedvalue", -21.0058, -5.8, 21},
		{"VBIRGZZ", "power", 12, 12, 0},
		{"CXIRGZZ", "yunique", 1, 1, 0},
	} {
		var code record.Parameter
		copy(code[:], c.code)
		if got := tokens.table(&code, tokens.category(&code)); got != c.table {
			t.Errorf("%s goes into %s, want %s", c.code, got, c.table)
		}
		ref, value := 0, toIHFS(&code, c.given)
		if record.HasPairedValues(code.PE()) {
			ref, value = record.SplitPair(value)
		}
		if value != c.want || int32(ref) != c.ref {
			t.Errorf("%s %v: %v at %d, want %v at %d", c.code, c.given, value, ref, c.want, c.ref)
		}
		if back := fromIHFS(&code, toIHFS(&code, c.given)); back != c.given {
			t.Errorf("%s %v comes back as %v", c.code, c.given, back)
		}
	}
}
