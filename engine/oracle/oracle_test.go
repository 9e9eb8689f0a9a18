package oracle

import (
	"path/filepath"
	"testing"

	"barograph/engine/enginetest"
)

// TestStandin is the conformance suite over the stand-in: what it proves is the
// engine's own work, not Oracle's.
func TestStandin(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     over(nil),
		URL:        func(t *testing.T) string { return "oracle:" + filepath.Join(t.TempDir(), "standin.db") },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "oracle:/nowhere/at/all.db"
		},
	})
}
