package record

import (
	"slices"
	"strings"
	"testing"
)

// fixed is the number of columns of each type in MET's table of version 12.0,
// group columns not counted.
var fixed = map[string]int{
	"SL1L2": 7, "SAL1L2": 7, "VL1L2": 14, "VAL1L2": 14, "FHO": 4, "CTC": 6, "CTS": 97, "MCTC": 3, "MCTS": 20, "CNT": 100,
	"VCNT": 76, "NBRCTC": 5, "NBRCTS": 93, "NBRCNT": 19, "GRAD": 10, "DMAP": 24, "MPR": 15, "SEEPS": 16, "SEEPS_MPR": 13,
	"ISC": 12, "SSIDX": 6, "GENMPR": 18, "PCT": 2, "PSTD": 17, "PJC": 2, "PRC": 2, "ECLV": 4, "ECNT": 27, "RPS": 9,
	"RHIST": 2, "PHIST": 3, "RELP": 2, "ORANK": 22, "SSVAR": 35, "ENSCNT": 6,
}

func TestTypesAreWellFormed(t *testing.T) {
	if len(Types()) != len(fixed) {
		t.Errorf("%d line types, want %d", len(Types()), len(fixed))
	}
	for _, lt := range Types() {
		if got := len(lt.Columns); got != fixed[lt.Name] {
			t.Errorf("%s: %d fixed columns, want %d", lt.Name, got, fixed[lt.Name])
		}
		if lt.Summary == "" || strings.Contains(lt.Summary, "\n") || lt.Name != strings.ToUpper(lt.Name) {
			t.Errorf("%s: name in upper case and a one-line summary are needed, have %q", lt.Name, lt.Summary)
		}
		if got, ok := TypeByName(strings.ToLower(lt.Name)); !ok || got != lt {
			t.Errorf("%s: not found by its name in lower case", lt.Name)
		}
		checkColumns(t, lt)
		checkGroup(t, lt)
	}
}

func checkColumns(t *testing.T, lt *LineType) {
	t.Helper()
	nums, texts := 0, 0
	for i := range lt.Columns {
		c := &lt.Columns[i]
		if got, ok := lt.Column(c.Name); !ok || got != c {
			t.Errorf("%s: column name %q is not unique", lt.Name, c.Name)
		}
		if strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("%s: column name %q is not a plain SQL name", lt.Name, c.Name)
		}
		want := &nums
		if c.Kind == Text {
			want = &texts
		}
		if c.Slot != *want {
			t.Errorf("%s.%s: slot %d, want %d", lt.Name, c.Name, c.Slot, *want)
		}
		*want++
	}
	if lt.NumCols() != nums || lt.TextCols() != texts {
		t.Errorf("%s: %d numbers and %d texts, want %d and %d", lt.Name, lt.NumCols(), lt.TextCols(), nums, texts)
	}
}

func checkGroup(t *testing.T, lt *LineType) {
	t.Helper()
	if lt.Group == nil {
		if lt.Lead != len(lt.Columns) {
			t.Errorf("%s: Lead %d without a group, want %d", lt.Name, lt.Lead, len(lt.Columns))
		}
		return
	}
	at := slices.IndexFunc(lt.Columns, func(c Column) bool { return c.Name == lt.Group.Count })
	if at < 0 || at >= lt.Lead || lt.Columns[at].Kind != Count {
		t.Errorf("%s: the group's count %q must be a Count before the group", lt.Name, lt.Group.Count)
	}
	if lt.Group.Len(0) != 0 || lt.Group.Len(2) < 1 {
		t.Errorf("%s: Len(0) = %d, Len(2) = %d", lt.Name, lt.Group.Len(0), lt.Group.Len(2))
	}
}

// The lengths are those of real lines: PCT, PJC, PRC with 11 thresholds have
// 57, 97 and 57 tokens of which 24 are the header and 2 fixed columns.
func TestGroupLengths(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, want int
	}{
		{"PCT", 11, 31}, {"PJC", 11, 71}, {"PRC", 11, 31}, {"PSTD", 11, 11}, {"MCTC", 4, 16},
		{"ECLV", 19, 38}, {"RHIST", 7, 7}, {"PHIST", 20, 20}, {"RELP", 6, 6}, {"ORANK", 24, 24}, {"PCT", 1, 1},
	} {
		lt, ok := TypeByName(c.name)
		if !ok {
			t.Fatalf("no line type %s", c.name)
		}
		if got := lt.Group.Len(c.n); got != c.want {
			t.Errorf("%s: %d numbers for a count of %d, want %d", c.name, got, c.n, c.want)
		}
	}
}
