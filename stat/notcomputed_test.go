package stat

import (
	"strings"
	"testing"
)

// TestStatisticOfATypeWithout: the error names the statistic that the line type does not have.
func TestStatisticOfATypeWithout(t *testing.T) {
	if _, err := ByName("rhist", "total"); err == nil || !strings.HasPrefix(err.Error(), "statistic TOTAL cannot be computed from lines of RHIST") {
		t.Error(err)
	}
}
