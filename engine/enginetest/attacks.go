package enginetest

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// EnvAttacks names a file to which every attack of the suite adds a row: engine, design, attack, number of
// attacks, seed, what was counted, and "intact" or "FAILED".
const EnvAttacks = "BAROGRAPH_ATTACKS"

// attack is one kind of attack on one design: kills, a full disk, read-only media, two loads, or questions during a load.
type attack struct {
	seed  uint64
	times int
	note  string // what was counted, such as the kills before the first commit
}

// attacked starts the record of an attack. The end of t adds its row to the file that EnvAttacks names. The seed is
// that of EnvSeed, or else a new one: the moment of a kill is not reproducible, but its random delay is.
func (s *suite) attacked(t *testing.T, name string) *attack {
	t.Helper()
	a := &attack{seed: uint64(time.Now().UnixNano())} //nolint:gosec // any number is a seed
	if os.Getenv(EnvSeed) != "" {
		a.seed = uint64(setting(t, EnvSeed)) //nolint:gosec // it is positive
	}
	t.Logf("%s=%d", EnvSeed, a.seed)
	t.Cleanup(func() {
		file, result := os.Getenv(EnvAttacks), "intact"
		if file == "" || t.Skipped() {
			return
		}
		if t.Failed() {
			result = "FAILED"
		}
		row := fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s\n", s.Driver.Scheme, s.design, name, a.times, a.seed, a.note, result)
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // a table for everyone
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(row); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}
