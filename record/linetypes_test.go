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
	// those of objects and cyclones with the columns of their own headers
	"MODE_CTS": 5 + 26, "MODE_OBJ_SINGLE": 5 + 25, "MODE_OBJ_PAIR": 5 + 18, "MTD_2D_OBJ": 8 + 16, "MTD_3D_OBJ_SINGLE": 8 + 21,
	"MTD_3D_OBJ_PAIR": 8 + 13, "TCMPR": 5 + 71, "TCDIAG": 5 + 7, "PROBRIRW": 5 + 21,
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
		if lt.ColumnsBeforeGroup != len(lt.Columns) {
			t.Errorf("%s: ColumnsBeforeGroup %d without a group, want %d", lt.Name, lt.ColumnsBeforeGroup, len(lt.Columns))
		}
		return
	}
	after := map[string]int{"MCTC": 1, "ORANK": 10} // in MET's table the groups of all other types are last
	if want := fixed[lt.Name] - after[lt.Name]; lt.ColumnsBeforeGroup != want {
		t.Errorf("%s: %d columns before the group, want %d", lt.Name, lt.ColumnsBeforeGroup, want)
	}
	at := slices.IndexFunc(lt.Columns, func(c Column) bool { return c.Name == lt.Group.Count })
	if at < 0 || at >= lt.ColumnsBeforeGroup || lt.Columns[at].Kind != Count {
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
		{"PCT", 11, 31},
		{"PJC", 11, 71},
		{"PRC", 11, 31},
		{"PSTD", 11, 11},
		{"MCTC", 4, 16},
		{"ECLV", 19, 38},
		{"RHIST", 7, 7},
		{"PHIST", 20, 20},
		{"RELP", 6, 6},
		{"ORANK", 24, 24},
		{"PCT", 1, 1},
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

// The identity of every line type. MET writes several lines of one header, lead
// and time only where its write functions loop: over pairs (MPR, ORANK,
// SEEPS_MPR), tiles and scales (ISC), bins of variance (SSVAR), sizes of the
// gradient (GRAD: dx and dy are lists), models (SSIDX), storms and lead times of
// their probability (GENMPR). METdbLoad does not identify lines.
var identities = map[string]string{
	"SL1L2": "", "SAL1L2": "", "VL1L2": "", "VAL1L2": "", "FHO": "", "CTC": "", "CTS": "", "MCTC": "", "MCTS": "", "CNT": "", "VCNT": "",
	"NBRCTC": "", "NBRCTS": "", "NBRCNT": "", "DMAP": "", "SEEPS": "", "PCT": "", "PSTD": "", "PJC": "", "PRC": "", "ECLV": "", "ECNT": "",
	"RPS": "", "RHIST": "", "PHIST": "", "RELP": "", "ENSCNT": "",
	"GRAD":      "dx dy",
	"MPR":       "mp_index obs_sid obs_lat obs_lon obs_lvl obs_elv",
	"ORANK":     "orank_index obs_sid obs_lat obs_lon obs_lvl obs_elv",
	"SEEPS_MPR": "obs_sid obs_lat obs_lon",
	"ISC":       "tile_dim tile_xll tile_yll iscale",
	"SSVAR":     "bin_i",
	"SSIDX":     "fcst_model ref_model",
	"GENMPR":    "gen_index storm_id prob_lead",

	"MODE_CTS": "fcst_accum obs_accum obs_rad field", "MODE_OBJ_SINGLE": "fcst_accum obs_accum obs_rad object_id",
	"MODE_OBJ_PAIR": "fcst_accum obs_accum obs_rad object_id", "MTD_2D_OBJ": "obs_rad object_id time_index",
	"MTD_3D_OBJ_SINGLE": "obs_rad object_id", "MTD_3D_OBJ_PAIR": "obs_rad object_id",
	"TCMPR": "storm_id init_mask valid_mask index_pair", "TCDIAG": "storm_id init_mask valid_mask index_pair diag_source",
	"PROBRIRW": "storm_id init_mask valid_mask rirw_beg rirw_end rirw_window",
}

func TestIdentity(t *testing.T) {
	var h Hasher
	for _, lt := range Types() {
		want, ok := identities[lt.Name]
		if !ok {
			t.Errorf("%s: its identity has not been looked at", lt.Name)
		}
		b := &Batch{}
		b.Reset(lt, "")
		b.AddHeader(DefaultHeader())
		b.AppendTimes(0, 0, 0, 1)
		for k := range b.Num {
			b.Num[k] = []float64{Missing()}
		}
		for k := range b.Text {
			b.Text[k] = []string{NA}
		}
		if lt.Group != nil {
			b.GroupEnd = []uint32{0}
		}
		h.SetBatch(b)
		same, got := h.Key(0), []string(nil)
		for _, c := range lt.Columns {
			other := b.Clone()
			if c.Kind == Text {
				other.Text[c.Slot][0] = "other"
			} else {
				other.Num[c.Slot][0] = 7
			}
			if h.SetBatch(other); h.Key(0) != same {
				got = append(got, c.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: records are distinguished by %q, want %q", lt.Name, got, want)
		}
	}
}
