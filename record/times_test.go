package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// TestTimesProblem: one time out of range is enough to reject a record.
func TestTimesProblem(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	at := func(text string) int64 {
		v, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return v.Unix()
	}
	first, last := at("1678-01-01 00:00:00"), at("2261-12-31 23:59:59")
	for _, c := range []struct {
		change func(b *record.Batch)
		want   string
	}{
		{func(*record.Batch) {}, ""},
		{func(b *record.Batch) { b.Valid[0], b.ValidEnd[0], b.ObsBeg[0], b.ObsEnd[0] = first, last, first, last }, ""},
		{func(b *record.Batch) { b.Valid[0] = last + 1 }, "the valid time is 2262-01-01 00:00:00"},
		{func(b *record.Batch) { b.Valid[0] = first - 1 }, "the valid time is 1677-12-31 23:59:59"},
		{func(b *record.Batch) { b.ValidEnd[0] = last + 1 }, "the end of the valid time"},
		{func(b *record.Batch) { b.Valid[0], b.Lead[0] = first, 1 }, "the initialization time"},
		{func(b *record.Batch) { b.ObsBeg[0] = first - 1 }, "the time of the observation"},
		{func(b *record.Batch) { b.ObsEnd[0] = last + 1 }, "the end of the time of the observation"},
	} {
		var b record.Batch
		b.Reset(sl1l2, "")
		b.AppendTimes(b.AddHeader(record.DefaultHeader()), 0, 0, 1)
		c.change(&b)
		if got := b.TimesProblem(0); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestInitProblem: the initialization time has the limits of all times, and the reason names both.
func TestInitProblem(t *testing.T) {
	const first = -9214560000 // 1678-01-01 00:00:00
	if got := record.InitProblem(first+3600, 3600); got != "" {
		t.Errorf("the first second: %q", got)
	}
	want := "the initialization time (valid time minus lead) is 1677-12-31 23:59:59, outside the years 1678 to 2261"
	if got := record.InitProblem(first+3600, 3601); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if first != time.Date(record.FirstYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix() {
		t.Errorf("the first year is %d", record.FirstYear)
	}
}
