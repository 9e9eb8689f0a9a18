package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// small returns a tiny artifact of each kind.
func small() map[string]launch.Artifact {
	return map[string]launch.Artifact{
		"jar": {Name: "junit-bare", Maven: "junit:junit:4.13.2", SHA256: "8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3"},
		"jars": {
			Name: "junit-4.13.2", Maven: "junit:junit:4.13.2", Jars: true,
			SHA256: "dfcbc7c62ad3f4e5a634b063eaef88511d78484ad7664c1e43b32e94e14026ec",
		},
	}
}

// required reports whether BAROGRAPH_REQUIRE lists a requirement of a test.
func required(what string) bool {
	return slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), what)
}

// needsMaven skips a test that fetches from the Maven repository, unless BAROGRAPH_REQUIRE demands
// it.
func needsMaven(t *testing.T) {
	if !required("maven") {
		t.Skip("NOT TESTED: fetching artifacts; set BAROGRAPH_REQUIRE=maven where Maven and its repository is available")
	}
}

func TestInstallArtifacts(t *testing.T) {
	needsMaven(t)
	t.Setenv(launch.EnvArtifacts, t.TempDir())
	for name, a := range small() {
		t.Run(name, func(t *testing.T) {
			d := driver()
			d.Server.Artifacts = []launch.Artifact{a}
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
				t.Errorf("InstallLine still returns %q", line)
			}
		})
	}
}

func TestInstallRefusesAnotherArtifact(t *testing.T) {
	needsMaven(t)
	t.Setenv(launch.EnvArtifacts, t.TempDir())
	a := small()["jars"]
	a.SHA256 = strings.Repeat("0", 64)
	d := driver()
	d.Server.Artifacts = []launch.Artifact{a}
	var out strings.Builder
	err := lab.Install(t.Context(), lab.Servers(d), &out)
	if err == nil || !strings.Contains(err.Error(), "SHA-256") || a.Installed() {
		t.Errorf("the error is %v", err)
	}
	rest, _ := os.ReadDir(os.Getenv(launch.EnvArtifacts))
	if len(rest) != 0 {
		t.Errorf("not removed: %v", rest)
	}
}

// TestInstallCommands: programs that run an artifact, and those that fetch it, are only installed if they are missing
// and needed.
func TestInstallCommands(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	d := driver()
	d.Server.Find = func() error { return errors.New("something is missing") }
	for _, c := range []struct {
		artifact  launch.Artifact
		programs  []string // on the PATH
		installed bool     // the artifact
		want      string
	}{
		{launch.Artifact{Name: "jar", Maven: "g:a:1"}, nil, false, "default-jre-headless maven"},
		{launch.Artifact{Name: "jar", Maven: "g:a:1"}, nil, true, "default-jre-headless"},
		{launch.Artifact{Name: "jar", Maven: "g:a:1"}, []string{"java"}, false, "maven"},
		{launch.Artifact{Name: "jar", Maven: "g:a:1"}, []string{"java", "mvn"}, false, ""},
		{launch.Artifact{Name: "wheel", Wheel: "w==1"}, nil, false, "python3-pip"},
		{launch.Artifact{Name: "wheel", Wheel: "w==1"}, nil, true, ""},
		{launch.Artifact{Name: "package", NPM: "p@1"}, nil, false, "npm"},
		{launch.Artifact{Name: "package", NPM: "p@1"}, nil, true, ""},
	} {
		artifacts := t.TempDir()
		t.Setenv(launch.EnvArtifacts, artifacts)
		d.Server.Artifacts = []launch.Artifact{c.artifact}
		if c.installed {
			if err := os.Mkdir(filepath.Join(artifacts, c.artifact.Name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range c.programs {
			if err := os.WriteFile(filepath.Join(bin, p), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if commands := lab.InstallCommands(lab.Servers(d)); commands != nil {
			_, got, _ = strings.Cut(strings.Join(commands[1], " "), "--no-install-recommends ")
		}
		if got != c.want {
			t.Errorf("%s, installed: %v, with %v: %q, not %q", c.artifact.Name, c.installed, c.programs, got, c.want)
		}
	}
}

// TestChangedJarsAreNotUsed: a server does not start if one of its jars was changed or a jar was
// added.
func TestChangedJarsAreNotUsed(t *testing.T) {
	for name, c := range map[string]struct{ file, text string }{
		"a dependency": {"b-2.jar", "changed"}, "one more": {"c.jar", ""}, "its own": {"a-1.jar", "changed"}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(launch.EnvArtifacts, t.TempDir())
			a := launch.Artifact{Name: "a-1", Maven: "g:a:1", Jars: true, SHA256: "40633aaa03a8a05e6dad1e570cd080121db0641d173f9c4cff67877b64ec3b55"}
			dir, err := a.Dir()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"a-1.jar": "a", "b-2.jar": "b"}
			if c.file != "" {
				files[c.file] = c.text
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			d := driver()
			d.Server.Artifacts = []launch.Artifact{a}
			l, err := lab.Up(t.Context(), d, lab.Options{Dir: filepath.Join(t.TempDir(), "lab")})
			if err == nil {
				err = l.Down()
			}
			if changed := err != nil && strings.Contains(err.Error(), "SHA-256"); changed != (c.file != "") {
				t.Errorf("a jar was changed: %q; the error: %v", c.file, err)
			}
		})
	}
}

// TestTPCGen: TPCGenProgram finds the right version on the PATH and refuses another. If no program
// is available, the error describes the remedy.
func TestTPCGen(t *testing.T) {
	t.Setenv(launch.EnvArtifacts, t.TempDir())
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	n := lab.TPCGen()
	err := n.Find()
	if err == nil || !strings.Contains(err.Error(), "tpcgen") {
		t.Fatalf("without a program: %v", err)
	}
	if len(n.Artifacts) == 0 && !strings.Contains(err.Error(), "cargo install tpcgen-cli") {
		t.Errorf("without a wheel, the error names no other installation: %v", err)
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
			t.Errorf("version %s was accepted: %q, %v", version, got, err)
		}
	}
}
