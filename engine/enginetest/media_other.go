//go:build !linux

package enginetest

import "testing"

func readOnlyMedia(t *testing.T, _ string) { t.Skip("NOT TESTED: read-only media are made on Linux") }
