package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestDiffStory loads the same files twice and then one more file, from the command line.
func TestDiffStory(t *testing.T) {
	url := sharedPlace(t, "mariadb")
	data, more := dayOfData(t), filepath.Join(t.TempDir(), "more")
	must(t, "synth", "vsdb", "--since", "2019-01-02", "--models", "gfs", "--stattypes", "anom", "--out", more)
	for subset, files := range map[string][]string{"mv_a": {data}, "mv_b": {data}, "mv_c": {data, more}} {
		must(t, append(append([]string{"load"}, files...), "--engine", url, "--design", "normalized", "--subset", subset)...)
	}
	if out := must(t, "load", data, "--engine", url+"mv_gfs", "--design", "normalized"); !strings.Contains(out, "mv_gfsarchive") {
		t.Errorf("the database of a load without --subset is not named: %s", out)
	}
	if out := must(t, "diff", url+"mv_a", url+"mv_b"); !strings.Contains(out, "0 differ") || !strings.Contains(out, "stat_header") {
		t.Errorf("two loads of the same files: %s", out)
	}
	if status, out, _ := barograph(t, "diff", url+"mv_a", url+"mv_c", "--known", "metdbload"); status != fault.Differs || !strings.Contains(out, "only in the second") {
		t.Errorf("one file more: status %d, %s", status, out)
	}
	for _, tc := range []struct {
		args   []string
		status int
	}{
		{[]string{"diff", url + "mv_a"}, fault.Usage},
		{[]string{"diff", url + "mv_a", url + "mv_b", "--known", "other"}, fault.Usage},
		{[]string{"diff", url + "mv_a", "mariadb://root@127.0.0.1:1/mv_b"}, fault.Unreachable},
		{[]string{"diff", url + "mv_a", strings.TrimSuffix(sharedServer(t, "mariadb"), "/") + "/mysql"}, fault.Failed},
	} {
		if status, _, stderr := barograph(t, tc.args...); status != tc.status {
			t.Errorf("%v: status %d, want %d: %s", tc.args, status, tc.status, stderr)
		}
	}
}
