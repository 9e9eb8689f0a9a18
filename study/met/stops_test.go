package met

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestStopsAreReportedOnce: a machine that pauses again and again gives one warning.
func TestStopsAreReportedOnce(t *testing.T) {
	folder, err := run.Create("", run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	s := runner{folder: folder, options: Options{Log: slog.New(slog.DiscardHandler)}}
	s.warnOfStops()
	s.stops = []time.Duration{time.Second, 3 * time.Second}
	s.warnOfStops()
	want := []string{"the system stopped this process during 2 repetitions (4.00 s in total, 3.00 s at most); they were measured again"}
	if !slices.Equal(folder.Run.Warnings, want) {
		t.Errorf("%q", folder.Run.Warnings)
	}
}
