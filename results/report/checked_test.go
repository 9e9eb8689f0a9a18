package report

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestChecked: each sentence follows from its counter. None claims that everything was checked if only a sample was,
// and each names what was not checked.
func TestChecked(t *testing.T) {
	for _, x := range []struct {
		a            run.Answers
		want, absent []string
	}{
		{run.Answers{}, []string{"does not record"}, nil},
		{
			run.Answers{Found: 1000, Stamped: 130, Versions: 40, Updates: 990, KeysUpdated: 300, Reread: 3},
			[]string{
				"1,000 reads and scans were compared", "values of 130 records", "those of 40 also with the last acknowledged write",
				"990 updates were acknowledged; after the end the last values of 300 updated keys were read back",
				"read again 3 times",
			},
			[]string{"No value", "--verify", "insert", "delete"},
		},
		{
			run.Answers{Found: 1000, Values: 1000, Derived: true, Updates: 990, Deletes: 5, KeysDeleted: 1},
			[]string{
				"values of 1,000 records were compared byte by byte", "990 updates were acknowledged; their effect was not checked",
				"5 deletes were acknowledged; after the end 1 of the records was searched for and not found",
			},
			[]string{"No value", "stamp"},
		},
		{
			run.Answers{Found: 1002, ReadBack: 1002, Inserts: 20_000, Counted: 20_000},
			[]string{"20,000 inserts were acknowledged; after the end 1,002 of the records were read back, " +
				"and the engine counted 20,000 in the table"},
			[]string{"No value", "update"},
		},
		{
			run.Answers{Found: 9, Unmarked: 90, Updates: 1},
			[]string{
				"90 values were written by another program or with --verify; such values have no stamp and were not compared",
				"No value was compared", "1 update was acknowledged; none of their values was compared after the end",
			},
			nil,
		},
		{
			run.Answers{Found: 9, Short: 1, Stale: 2},
			[]string{"1 value has fewer than 8 bytes", "2 reads returned an older value, which the settings of the engine allow"},
			nil,
		},
		{run.Answers{Found: 9, Written: 7}, []string{"7 writes were acknowledged; this run folder does not record"}, nil},
	} {
		got := Checked(x.a)
		for _, want := range x.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v:\n%s\nlacks %q", x.a, got, want)
			}
		}
		for _, absent := range append(x.absent, " all ", "each of") {
			if strings.Contains(got, absent) {
				t.Errorf("%+v:\n%s\nhas %q", x.a, got, absent)
			}
		}
	}
}
