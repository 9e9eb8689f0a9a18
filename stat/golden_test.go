package stat_test

import (
	"bufio"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// realDay unpacks one of the real VSDB files of 2019-01-01 and returns its path. It looks for the archive in
// $BAROGRAPH_DATA, then in shared/data in the folder that contains the repository.
func realDay(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	archive := filepath.Join(root, "met", "vsdb", "vxingest_vsdb_20190101.tar.xz")
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("no real data: %v; set BAROGRAPH_DATA to the folder with met/vsdb", err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "xf", archive, "-C", dir, name).CombinedOutput(); err != nil {
		t.Fatalf("tar xf %s: %v: %s", archive, err, out)
	}
	return filepath.Join(dir, name)
}

// meansOf reads the records of one header from a VSDB file, by forecast hour.
// The line "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 = 3600. …" has
// nine words before the sign of equality.
func meansOf(t *testing.T, path, mask, lineType, variable, level string, columns int) map[int][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[int][]float64{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		left, right, _ := strings.Cut(sc.Text(), "=")
		h := strings.Fields(left)
		if len(h) != 9 || h[5] != mask || h[6] != lineType || h[7] != variable || h[8] != level {
			continue
		}
		lead, err := strconv.Atoi(h[2])
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, columns)
		words := strings.Fields(right)
		for i := range row {
			row[i] = math.NaN()
			if i < len(words) {
				if row[i], err = strconv.ParseFloat(words[i], 64); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows[lead] = row
	}
	return rows
}

// The anomaly correlations of the real GFS forecasts valid at 2019-01-01 00 UTC,
// to the 7 decimals that METviewer prints.
func TestGoldenAnomalyCorrelation(t *testing.T) {
	path := realDay(t, "vsdb_data/anom/00Z/gfs/gfs_20190101.vsdb")
	for _, c := range []struct {
		lineType, variable, statistic string
		want                          map[int]float64 // by forecast hour
	}{
		{"SAL1L2", "HGT", "ANOM_CORR", map[int]float64{
			0: 0.9999782, 24: 0.9978979, 72: 0.9763467, 120: 0.8643765, 144: 0.7841956, 240: 0.4912416, 384: 0.2112939,
		}},
		{"SAL1L2", "HGT", "ANOM_CORR_UNCNTR", map[int]float64{
			0: 0.9999789, 24: 0.9980118, 72: 0.9773669, 120: 0.8714623, 144: 0.7945998, 240: 0.5111469, 384: 0.2431133,
		}},
		{"VAL1L2", "WIND", "VAL1L2_ANOM_CORR", map[int]float64{
			0: 0.9999046, 24: 0.9825258, 120: 0.7148983, 240: 0.3717729,
		}},
	} {
		lt, ok := record.TypeByName(c.lineType)
		if !ok {
			t.Fatal(c.lineType)
		}
		rows := meansOf(t, path, "G2/NHX", c.lineType, c.variable, "P500", lt.NumCols())
		if len(rows) != 53 {
			t.Fatalf("%s %s: %d leads, want 53", c.lineType, c.variable, len(rows))
		}
		for lead, want := range c.want {
			a := stat.NewAggregate(lt)
			a.Add(rows[lead])
			got, ok, err := a.Stat(c.statistic)
			if err != nil || !ok || stat.RoundHalfUp(got, 7) != want {
				t.Errorf("%s %s at %d h = %.9f, %v, %v; want %.7f", c.statistic, c.variable, lead, got, ok, err, want)
			}
		}
	}
}
