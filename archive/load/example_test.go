package load_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
)

// Every line that Run reads is stored, a duplicate, a conflict or in quarantine.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "gfs_20190101.vsdb")
	text := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 3600. 270. 271. 72900. 73170. 73441.\n" +
		"V01 GFS 2d 2019010100 GFS G2 SL1L2 T P500 = 3600. 270. 271. 72900. 73170. 73441.\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	e, err := engine.Registry{dry.Driver()}.Open(ctx, "dry:", engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(ctx, design.Memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	for range 2 {
		sum, err := load.Run(ctx, a, "mv_gfs", []string{file}, load.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sum.Read, "read,", sum.Stored, "stored,", sum.Quarantined, "in quarantine,", len(sum.Skipped), "skipped")
	}
	// Output:
	// 2 read, 1 stored, 1 in quarantine, 0 skipped
	// 0 read, 0 stored, 0 in quarantine, 1 skipped
}
