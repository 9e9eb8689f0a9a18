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
		Scheme: "absent", Place: engine.Remote, Offers: []any{archive.Offer{Designs: map[design.Name][]flavour.Name{design.Wide: {flavour.ISORange}}}},
		Server: &launch.Server{Nodes: []int{3}, Profiles: []launch.Profile{{Name: "tuned"}}, Find: func() error { return errors.New("no server is installed") }},
	}
	var errs bytes.Buffer
	status := execute(t.Context(), &env{args: []string{"faults", data, "--out", out}, stdin: strings.NewReader(""), stdout: io.Discard, stderr: &errs, engines: engine.Registry{absent}})
	if _, err := os.Stat(out); status != 5 || err == nil || !strings.Contains(errs.String(), "barograph lab install absent") {
		t.Errorf("status %d, %v\n%s", status, err, &errs)
	}
}

// TestFaultsDesign: a design that no chosen engine offers is a usage error. Without it the study would start a cluster, do
// nothing, and succeed.
func TestFaultsDesign(t *testing.T) {
	data := dayOfData(t)
	driver := func(scheme string, name design.Name) engine.Driver {
		return engine.Driver{
			Scheme: scheme, Place: engine.Remote, Offers: []any{archive.Offer{Designs: map[design.Name][]flavour.Name{name: {flavour.ISORange}}}},
			Server: &launch.Server{Nodes: []int{3}, Profiles: []launch.Profile{{Name: "tuned"}}, Find: func() error { return errors.New("no server is installed") }},
		}
	}
	engines := engine.Registry{driver("one", design.Wide), driver("two", design.Document)}
	for args, problem := range map[string]string{
		"--design nosuch":                "--design nosuch is not offered by an engine with a cluster of 3 nodes",
		"--design document":              "barograph lab install two",
		"--engine one --design doc":      "--design doc is not offered by an engine",
		"--engine one --design document": "--design document is not offered by one; choose one of wide",
	} {
		var errs bytes.Buffer
		words := append([]string{"faults", data, "--out", filepath.Join(t.TempDir(), "x")}, strings.Fields(args)...)
		e := &env{args: words, stdin: strings.NewReader(""), stdout: io.Discard, stderr: &errs, engines: engines}
		status := execute(t.Context(), e)
		if status == 0 || !strings.Contains(errs.String(), problem) || strings.Contains(problem, "offered") != (status == 2) {
			t.Errorf("%s: status %d\n%s", args, status, &errs)
		}
	}
}

// TestFaultsProfile: an engine without the profile is not in the default set, where its study would fail.
func TestFaultsProfile(t *testing.T) {
	data := dayOfData(t)
	driver := func(scheme, profile string) engine.Driver {
		return engine.Driver{
			Scheme: scheme, Place: engine.Remote, Offers: []any{archive.Offer{Designs: map[design.Name][]flavour.Name{design.Wide: {flavour.ISORange}}}},
			Server: &launch.Server{Nodes: []int{1}, Profiles: []launch.Profile{{Name: profile}}, Find: func() error { return errors.New("no server is installed") }},
		}
	}
	engines := engine.Registry{driver("one", "default"), driver("two", "tuned")}
	for _, c := range []struct{ args, want string }{
		{"", "barograph lab install two"},
		{"--profile default", "barograph lab install one"},
		{"--engine one", "--profile tuned is not offered by one; choose one of default"},
		{"--profile fast", "--profile fast is not offered by an engine with a cluster of 1 nodes"},
	} {
		var errs bytes.Buffer
		words := append([]string{"faults", data, "--nodes", "1", "--out", filepath.Join(t.TempDir(), "x")}, strings.Fields(c.args)...)
		status := execute(t.Context(), &env{args: words, stdin: strings.NewReader(""), stdout: io.Discard, stderr: &errs, engines: engines})
		if status == 0 || !strings.Contains(errs.String(), c.want) || strings.Contains(c.want, "offered") != (status == 2) {
			t.Errorf("%s: status %d\n%s", c.args, status, &errs)
		}
	}
}
