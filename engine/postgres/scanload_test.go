package postgres

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/formats/tpcds"
)

// TestAppendStar reads back, with pgx, what COPY is sent.
func TestAppendStar(t *testing.T) {
	m := pgtype.NewMap()
	one := func(kind tpcds.Kind, whole int64, text string) []byte {
		v := tpcds.Vector{Column: tpcds.Column{Kind: kind}, Null: []bool{false}, Int: []int64{whole}, Text: [][]byte{[]byte(text)}}
		return appendStar(nil, &v, 0)[4:]
	}
	for _, cents := range []int64{0, 1, -1, 99, 100, -100, 101, 9999, 10000, 999999, 1000000, 1000001, 9999999, -9999999, 123456789012345, math.MaxInt64, math.MinInt64} {
		var n pgtype.Numeric
		if err := m.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, one(tpcds.Decimal, cents, ""), &n); err != nil {
			t.Fatalf("%d: %v", cents, err)
		}
		got := n.Int
		for e := n.Exp; e > -2; e-- {
			got.Mul(got, big.NewInt(10))
		}
		if n.Exp < -2 || got.Cmp(big.NewInt(cents)) != 0 {
			t.Errorf("%d came back as %v e%d", cents, n.Int, n.Exp)
		}
	}
	var day time.Time
	if err := m.Scan(pgtype.DateOID, pgtype.BinaryFormatCode, one(tpcds.Date, -25567, ""), &day); err != nil || day.Format(time.DateOnly) != "1900-01-01" {
		t.Errorf("1900-01-01 came back as %v, %v", day, err)
	}
	var long int64
	if err := m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, one(tpcds.Big, 1<<40, ""), &long); err != nil || long != 1<<40 {
		t.Errorf("2^40 came back as %d, %v", long, err)
	}
	var small int32
	if err := m.Scan(pgtype.Int4OID, pgtype.BinaryFormatCode, one(tpcds.Whole, -7, ""), &small); err != nil || small != -7 {
		t.Errorf("-7 came back as %d, %v", small, err)
	}
	if got := string(one(tpcds.Char, 0, "importoexporti #2")); got != "importoexporti #2" {
		t.Error(got)
	}
	null := tpcds.Vector{Null: []bool{true}}
	if got := string(appendStar(nil, &null, 0)); got != "\xff\xff\xff\xff" {
		t.Errorf("NULL is %q", got)
	}
}
