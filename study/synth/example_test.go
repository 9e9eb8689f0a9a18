package synth_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/barograph/barograph/study/synth"
)

// The first line of a file of anomaly statistics.
func ExampleVSDB() {
	day := time.Date(2019, time.January, 1, 0, 0, 0, 0, time.UTC)
	files, err := synth.VSDB{Seed: 1, From: day, Models: []string{"gfs"}, StatTypes: []string{synth.Anom}}.Files()
	if err != nil {
		fmt.Println(err)
		return
	}
	line, _, _ := bytes.Cut(files[0].Append(nil), []byte(" ="))
	fmt.Println(files[0].Path)
	fmt.Println(string(line))
	// Output:
	// vsdb_data/anom/00Z/gfs/gfs_20190101.vsdb
	// V01 GFS 00 2019010100 GFS G2 SAL1L2 HGT P1000
}
