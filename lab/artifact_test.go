package lab_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"barograph/engine"
	"barograph/lab"
)

// small are tiny artifacts that stand for every kind.
func small() map[string]engine.Artifact {
	return map[string]engine.Artifact{
		"jar":  {Name: "junit-bare", Maven: "junit:junit:4.13.2", SHA256: "8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3"},
		"jars": {Name: "junit-4.13.2", Maven: "junit:junit:4.13.2", SHA256: "8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3", Jars: true},
	}
}

// required reports whether BAROGRAPH_REQUIRE names what a test needs.
func required(what string) bool {
	return slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), what)
}

// needsMaven skips a test that fetches from the Maven repository, unless the
// environment demands it.
func needsMaven(t *testing.T) {
	if !required("maven") {
		t.Skip("NOT TESTED: fetching artifacts; set BAROGRAPH_REQUIRE=maven where Maven and its repository can be had")
	}
}

func TestInstallArtifacts(t *testing.T) {
	needsMaven(t)
	t.Setenv(engine.EnvArtifacts, t.TempDir())
	for name, a := range small() {
		t.Run(name, func(t *testing.T) {
			d := driver()
			d.Server.Artifacts = []engine.Artifact{a}
			if line := lab.InstallLine(lab.Servers(d)); line != "barograph lab install --yes stub" {
				t.Errorf("the line to install it is %q", line)
			}
			var out strings.Builder
			if err := lab.Install(t.Context(), lab.Servers(d), &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			dir, err := a.Dir()
			if err != nil {
				t.Fatal(err)
			}
			jars, _ := filepath.Glob(filepath.Join(dir, "*.jar"))
			if want := map[bool]int{false: 1, true: 2}[a.Jars]; len(jars) != want || !a.Installed() {
				t.Errorf("%d jars in the folder, want %d: %v", len(jars), want, jars)
			}
			if line := lab.InstallLine(lab.Servers(d)); line != "" {
				t.Errorf("there is still something to install: %q", line)
			}
		})
	}
}

func TestInstallRefusesAnotherArtifact(t *testing.T) {
	needsMaven(t)
	t.Setenv(engine.EnvArtifacts, t.TempDir())
	a := small()["jar"]
	a.SHA256 = strings.Repeat("0", 64)
	d := driver()
	d.Server.Artifacts = []engine.Artifact{a}
	var out strings.Builder
	err := lab.Install(t.Context(), lab.Servers(d), &out)
	if err == nil || !strings.Contains(err.Error(), "SHA-256") || a.Installed() {
		t.Errorf("the error is %v", err)
	}
	rest, _ := os.ReadDir(os.Getenv(engine.EnvArtifacts))
	if len(rest) != 0 {
		t.Errorf("left behind: %v", rest)
	}
}

// TestTPCGen: the right version on the PATH is found, another is refused; where
// nothing is there the error says what to do.
func TestTPCGen(t *testing.T) {
	t.Setenv(engine.EnvArtifacts, t.TempDir())
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	n := lab.TPCGen()
	err := n.Find()
	if err == nil || !strings.Contains(err.Error(), "tpcgen") {
		t.Fatalf("nothing is there: %v", err)
	}
	if len(n.Artifacts) == 0 && !strings.Contains(err.Error(), "cargo install tpcgen-cli") {
		t.Errorf("no wheel, and no other way named: %v", err)
	}
	program := filepath.Join(bin, "tpcgen-cli")
	for version, fits := range map[string]bool{"4.0.0": true, "3.0.0": false} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho tpcgen-cli "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := lab.TPCGenProgram()
		if fits && (err != nil || got != program || len(lab.TPCGen().Artifacts) != 0) {
			t.Errorf("on the PATH: %q, %v", got, err)
		}
		if !fits && (err == nil || !strings.Contains(err.Error(), version)) {
			t.Errorf("version %s was taken: %q, %v", version, got, err)
		}
	}
}
