package sqlengine

import (
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// TestIHFSTables: the table, the units and the code of a value, as the sources
// that postlayout.go names have them.
func TestIHFSTables(t *testing.T) {
	l, err := newPostLayout(engine.PostTables{Design: engine.IHFSDesign})
	if err != nil {
		t.Fatal(err)
	}
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
		g := record.Gauge{Value: c.given, Created: record.NoTime}
		copy(g.Code[:], c.code)
		s := engine.Series{Code: g.Code}
		id := l.identify(&s)
		if got := l.tables[id.table].Name; got != c.table {
			t.Errorf("%s goes into %s, want %s", c.code, got, c.table)
		}
		p, value := l.place(&g, home{table: id.table})
		if value != c.want || p.ref != c.ref || p.basis != 0 {
			t.Errorf("%s %v: %v at %d, basis %d, want %v at %d, basis 0", c.code, c.given, value, p.ref, p.basis, c.want, c.ref)
		}
		g.Created = 1141862400
		p, _ = l.place(&g, home{table: id.table})
		if keeps := l.tables[id.table].find[fromBasis] > 0; keeps != (p.basis == g.Created) {
			t.Errorf("%s: basis %d, created %d", c.code, p.basis, g.Created)
		}
	}
}

func TestQualityCode(t *testing.T) {
	for _, c := range []struct {
		qualifiers string
		missing    bool
		want       int64
	}{
		{"ZGMSVWPNEDLT", false, 1879048191},
		{"QF", false, 1341128703},
		{"RB", false, 796917759},
		{"B", true, 1879048191},
	} {
		for _, q := range []byte(c.qualifiers) {
			if got := qualityCode(q, c.missing); got != c.want {
				t.Errorf("%c: %d, want %d", q, got, c.want)
			}
		}
	}
}
