package question

import "testing"

// TestSpans: a step of minutes is written completely (an earlier version wrote 10m as 1), and URLs have ranges of leads.
func TestSpans(t *testing.T) {
	for seconds, want := range map[int64]string{600: "10m", 1800: "30m", 21600: "6h", 72000: "20h", 5400: "1h30m", 30: "30s", 86400: "24h"} {
		if got := formatDuration(seconds); got != want {
			t.Errorf("%d s is written %s, not %s", seconds, got, want)
		}
	}
	q, err := Find("test_3")
	if err != nil {
		t.Fatal(err)
	}
	v := URLQuery(q)
	if v.Get("fcst_lead") != "0-240/6,252-384/12" || v.Get("fcst_valid_beg") != "2019-01-01T00:00:00Z..2019-03-10T00:00:00Z/6h" {
		t.Error(v)
	}
}
