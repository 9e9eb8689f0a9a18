package tpcds

import "testing"

// A scale factor above 1024 would have more files than the limit; without a number of files it has as many as the limit.
func TestNumberOfFiles(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  int
	}{{1, 4}, {2.5e2, 1000}, {1024, 4096}, {2000, 4096}, {100_000, 4096}} {
		o := Options{Scale: c.scale, Program: "tpcgen-cli"}
		if err := o.check(); err != nil || o.Files != c.want {
			t.Errorf("scale factor %g: %d files, %v; want %d", c.scale, o.Files, err, c.want)
		}
	}
	o := Options{Scale: 0.01}
	if err := o.check(); err != nil || o.Files != 1 {
		t.Errorf("%d files, %v", o.Files, err)
	}
}
