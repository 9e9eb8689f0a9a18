package metstat

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestNamedColumnOrder: a header line that names a type's own columns in another order than MET's decides which value
// belongs to which column. If it does not name all of them, it is that of another line type, and the place decides. For a
// type with repeating columns, the line is rejected.
func TestNamedColumnOrder(t *testing.T) {
	common := make([]string, len(commonColumns))
	for i, c := range commonColumns {
		common[i] = c.name
	}
	header := strings.Join(common, " ")
	const sl1l2 = plain24 + "SL1L2 10 1 2 3 4 5 6\n"
	const station, climatology = " TOTAL INDEX OBS_SID OBS_LAT OBS_LON OBS_LVL OBS_ELV ", " OBS_CLIMO_MEAN OBS_CLIMO_STDEV OBS_CLIMO_CDF FCST_CLIMO_MEAN FCST_CLIMO_STDEV\n"
	const rank = " RANK N_ENS_VLD N_ENS ENS_1 ENS_2 OBS_QC ENS_MEAN OBS_CLIMO_MEAN SPREAD ENS_MEAN_OERR SPREAD_OERR SPREAD_PLUS_OERR OBS_CLIMO_STDEV FCST_CLIMO_MEAN FCST_CLIMO_STDEV\n"
	const orank = plain24 + "ORANK 9 1 SID 34 -118 NA 0 5 0.5 3 2 2 11 12 QC 1 2 3 4 5 6 7 8 9\n"
	for name, c := range map[string]struct {
		text   string
		want   []float64 // of the first numeric columns; nil = the line is rejected
		reason string
	}{
		"MET's order":          {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"two exchanged":        {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 2, 1, 3, 4, 5, 6}, ""},
		"MAE first":            {header + " MAE TOTAL FBAR OBAR FOBAR FFBAR OOBAR\n" + plain24 + "SL1L2 6 10 1 2 3 4 5\n", []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"an unknown name":      {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR ABSERR\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"no names":             {header + "\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"a further column":     {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE X\n" + plain24 + "SL1L2 10 1 2 3 4 5 6 7\n", []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"and a further column": {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR X MAE\n" + plain24 + "SL1L2 10 2 1 3 4 5 7 6\n", []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"one between":          {header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR X MAE\n" + lineOf("V4.1 SL1L2 10 1 2 3 4 5 7 6"), []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"fewer than are named": {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR X MAE\n" + sl1l2, nil, "names 8 columns, those of SL1L2 in another order than MET, but the line has 7"},
		"an older version":     {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR\n" + lineOf("V4.1 SL1L2 10 2 1 3 4 5"), []float64{10, 1, 2, 3, 4, 5, math.NaN()}, ""},
		"INDEX is mp_index":    {header + station + "OBS FCST OBS_QC" + climatology + plain24 + "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA\n", []float64{1, 0, 2, 3, 4, 5, 7, 6}, ""},
		"MPR in MET's order":   {header + station + "FCST OBS OBS_QC" + climatology + plain24 + "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA\n", []float64{1, 0, 2, 3, 4, 5, 6, 7}, ""},
		"MPR of MET 11":        {header + station + "OBS FCST OBS_QC CLIMO_MEAN CLIMO_STDEV CLIMO_CDF\n" + lineOf("V11.0 MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA"), []float64{1, 0, 2, 3, 4, 5, 7, 6}, ""},
		"some repeat":          {header + station + "PIT OBS" + rank + orank, nil, "names the columns of ORANK, some of which repeat, in another order than MET"},
		"RANK is obs_rank":     {header + station + "OBS PIT" + rank + orank, []float64{9, 1, 34, -118, math.NaN(), 0, 5, 0.5, 3}, ""},
		"of a cyclone": {
			strings.TrimSpace(tcHead) + " ALON ALAT BLAT BLON INITIALS TK_ERR X_ERR Y_ERR ADLAND BDLAND RIRW_BEG RIRW_END RIRW_WINDOW AWIND_END BWIND_BEG BWIND_END BDELTA BDELTA_MAX BLEVEL_BEG BLEVEL_END N_THRESH THRESH_1 PROB_1\n" +
				tcLine("060000", "PROBRIRW 1 2 3 4 X 5 6 7 8 9 0 24 24 90 60 95 35 40 TS HU 1 30 10"),
			nil, "names the columns of PROBRIRW, some of which repeat, in another order than MET",
		},
		"of another type": {header + " TOTAL OBAR FBAR\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"one twice":       {header + " TOTAL FBAR FBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2, []float64{10, 1, 2, 3, 4, 5, 6}, ""},
		"a shorter line":  {header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + plain24 + "SL1L2 10 1 2 3 4 5\n", nil, "names 7 columns, those of SL1L2 in another order than MET, but the line has 6"},
		"a second header": {
			header + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR MAE\n" + header + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE\n" + sl1l2,
			[]float64{10, 1, 2, 3, 4, 5, 6},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.text), "x.stat", Options{})
			var b record.Batch
			if err := r.Next(&b); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if c.want == nil {
				if len(b.Rejects) != 1 || !strings.Contains(b.Rejects[0].Reason, c.reason) {
					t.Errorf("%+v, want %q", b.Rejects, c.reason)
				}
				return
			}
			if b.Len() != 1 {
				t.Fatalf("%+v", b.Rejects)
			}
			for k, want := range c.want {
				if got := b.Num[k][0]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("column %d: %v, want %v", k+1, got, want)
				}
			}
		})
	}
}

// TestColumnsBackwards: a header line that names all columns of a type backwards yields the same record, if no columns
// repeat.
func TestColumnsBackwards(t *testing.T) {
	for _, lt := range record.Types() {
		if lt.Name == vsdbOnly {
			continue
		}
		b := random(lt, 1, 6)
		words := strings.Fields(string(AppendLine(nil, b, 0)))
		names := namesOf(b)
		slices.Reverse(names)
		slices.Reverse(words[len(commonColumns):])
		r := readAll(t, strings.TrimSpace(head24)+" "+strings.Join(names, " ")+"\n"+strings.Join(words, " ")+"\n", 0)[0]
		if lt.Group != nil {
			if len(r.Rejects) != 1 {
				t.Errorf("%s: the line is stored", lt.Name)
			}
			continue
		}
		var want, got record.Hasher
		want.SetBatch(b)
		if got.SetBatch(r); r.Len() != 1 || got.Digest(0) != want.Digest(0) {
			t.Errorf("%s: %v, rejects %v", lt.Name, r.Num, r.Rejects)
		}
	}
}

// TestRowsOfABatch: no batch has more lines than Options.Rows, and the batches have all lines of the file.
func TestRowsOfABatch(t *testing.T) {
	text := strings.Repeat(plain24+"SL1L2 10 1 2 3 4 5 6\n", 7)
	for rows, want := range map[int][]int{1: {1, 1, 1, 1, 1, 1, 1}, 3: {3, 3, 1}, 7: {7}, 100: {7}} {
		r := NewReader(strings.NewReader(text), "x.stat", Options{Rows: rows})
		var got []int
		for {
			var b record.Batch
			if err := r.Next(&b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Lines)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: batches of %v lines, want %v", rows, got, want)
		}
	}
}
