package stat

import (
	"strings"
	"testing"
)

// TestLineTypeWithoutStatistics: the error names the statistic that was requested from a line type of which nothing is
// computed.
func TestLineTypeWithoutStatistics(t *testing.T) {
	if _, err := ByName("rhist", "total"); err == nil || !strings.HasPrefix(err.Error(), "statistic TOTAL cannot be computed from lines of RHIST") {
		t.Error(err)
	}
}
