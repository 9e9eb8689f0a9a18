package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// EnvAttacks names a file to which every attack of the suite adds a row: engine, design, attack, number of
// attacks, seed, what was counted, and "intact" or "FAILED".
const EnvAttacks = "BAROGRAPH_ATTACKS"

// Attack is one kind of attack on one design: kills, a full disk, read-only media, two loads, or questions during a load.
type Attack struct {
	Seed  uint64
	Times int
	Note  string // what was counted, such as the kills before the first commit

	outcomes map[string]int
}

// Count counts an attack with its outcome.
func (a *Attack) Count(outcome string) {
	if a.outcomes == nil {
		a.outcomes = map[string]int{}
	}
	a.Times++
	a.outcomes[outcome]++
	var all []string
	for _, o := range slices.Sorted(maps.Keys(a.outcomes)) {
		all = append(all, fmt.Sprintf("%d %s", a.outcomes[o], o))
	}
	a.Note = strings.Join(all, "; ")
}

// Refusal describes an error as an outcome: the exit status that it gives a command, and its text without the path
// of the test's folder. The commands add the cure to the error of a server that is not reached.
func Refusal(t *testing.T, err error, path string) string {
	t.Helper()
	status := fault.Code(err)
	if errors.Is(err, engine.ErrUnreachable) {
		status = fault.Unreachable
	} else if !hasCure(err) {
		t.Errorf("the error has no cure: %v", err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), path, "PATH")), " ")
	return fmt.Sprintf("refused with status %d (%s)", status, text)
}

// attacked starts the record of an attack on the suite's design.
func (s *suite) attacked(t *testing.T, name string) *Attack {
	t.Helper()
	return Attacked(t, s.Driver.Scheme, string(s.design), name)
}

// Attacked starts the record of an attack. The end of t adds its row to the file that EnvAttacks names. The seed is
// that of EnvSeed, or else a new one: the moment of a kill is not reproducible, but its random delay is.
func Attacked(t *testing.T, scheme, design, name string) *Attack {
	t.Helper()
	a := &Attack{Seed: uint64(time.Now().UnixNano())} //nolint:gosec // any number is a seed
	if os.Getenv(EnvSeed) != "" {
		a.Seed = uint64(setting(t, EnvSeed)) //nolint:gosec // it is positive
	}
	t.Logf("%s=%d", EnvSeed, a.Seed)
	t.Cleanup(func() {
		file, result := os.Getenv(EnvAttacks), "intact"
		if file == "" || t.Skipped() {
			return
		}
		if t.Failed() {
			result = "FAILED"
		}
		row := fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s\n", scheme, design, name, a.Times, a.Seed, a.Note, result)
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
