package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/query/flavour"
)

// TestFaultsLeavesNothing: a run that fails before the first kill leaves no folder.
func TestFaultsLeavesNothing(t *testing.T) {
	data, out := dayOfData(t), filepath.Join(t.TempDir(), "runs", "x")
	absent := engine.Driver{
		Scheme: "absent", Place: engine.Remote, Abilities: []any{archive.Offer{Designs: map[design.Name][]flavour.Name{design.Wide: {flavour.ISORange}}}},
		Server: &launch.Server{Nodes: []int{3}, Profiles: []launch.Profile{{Name: "tuned"}}, Find: func() error { return errors.New("no server is installed") }},
	}
	var errs bytes.Buffer
	status := execute(t.Context(), &env{args: []string{"faults", data, "--out", out}, stdin: strings.NewReader(""), stdout: io.Discard, stderr: &errs, engines: engine.Registry{absent}})
	if _, err := os.Stat(out); status != 5 || err == nil || !strings.Contains(errs.String(), "barograph lab install absent") {
		t.Errorf("status %d, %v\n%s", status, err, &errs)
	}
}
