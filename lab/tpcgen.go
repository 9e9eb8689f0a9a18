package lab

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// TPCGenName is how users name the generator of TPC-DS.
const TPCGenName = "tpcgen"

// tpcgenVersion is the one release that is taken: another may make other rows.
const tpcgenVersion = "4.0.0"

// TPCGen is the generator of TPC-DS whose rows are those of the TPC's own kit,
// tpcgen-cli (github.com/datafusion-contrib/tpcgen-rs, Apache-2.0). It comes
// from the Python package index as a program that needs no Python, or is found
// on the PATH.
func TPCGen() Need {
	n := Need{Name: TPCGenName, Find: func() error { _, err := TPCGenProgram(); return err }}
	if _, onPath := tpcgenOnPath(); onPath != nil {
		if a, ok := tpcgenWheel(runtime.GOOS, runtime.GOARCH); ok {
			n.Artifacts = []engine.Artifact{a}
		}
	}
	return n
}

// TPCGenProgram is the program's path: that which was installed, or else the
// same version on the PATH.
func TPCGenProgram() (string, error) {
	a, offered := tpcgenWheel(runtime.GOOS, runtime.GOARCH)
	if offered && a.Installed() {
		dir, err := a.Dir()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, "tpcgen_cli-"+tpcgenVersion+".data", "scripts", "tpcgen-cli")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		_, err = os.Stat(path)
		return path, err
	}
	path, err := tpcgenOnPath()
	if err == nil {
		return path, nil
	}
	cure := "`barograph lab install --yes " + TPCGenName + "`"
	if !offered {
		cure = "there is no wheel for " + runtime.GOOS + " on " + runtime.GOARCH + ": `cargo install tpcgen-cli --version " + tpcgenVersion + "`, and have it on the PATH"
	}
	return "", &fault.Error{Setting: "tpcgen-cli " + tpcgenVersion, Problem: "is not installed", Err: err, Cure: cure}
}

// tpcgenOnPath looks for the right version on the PATH.
func tpcgenOnPath() (string, error) {
	path, err := exec.LookPath("tpcgen-cli")
	if err != nil {
		return "", err
	}
	text, err := exec.Command(path, "--version").Output() //nolint:noctx // answers at once
	if err != nil {
		return "", err
	}
	if got := string(bytes.TrimSpace(text)); got != "tpcgen-cli "+tpcgenVersion {
		return "", errors.New(path + " is " + strings.TrimPrefix(got, "tpcgen-cli "))
	}
	return path, nil
}

// tpcgenWheel is the artifact for a kind of machine. Linux's is the one for
// glibc, which Barograph needs itself.
func tpcgenWheel(goos, arch string) (engine.Artifact, bool) {
	sums := map[string]string{
		"linux/amd64":   "490d693dad29ddc4ad6a41f96932a7ddd7b13b04546a54f8dd9c0468648aa17e",
		"linux/arm64":   "2fb311272eb71f99156870d2177164823a4a39730982be9bc2448af8da84c96e",
		"darwin/amd64":  "e011f8a1ecdaf560901fe2d8a795ca00f9e7d3e7d0187247604e59c1e63e240a",
		"darwin/arm64":  "2913936c31b6a28dd171af2e394f73b2c563f75f41154615813ed9b2d3988bf2",
		"windows/amd64": "469d0a5a6797fa6e98d51a12ef7d16afa7b6f9622d3eb4805acc585725fcd25b",
	}
	sum, ok := sums[goos+"/"+arch]
	return engine.Artifact{Name: "tpcgen-cli-" + tpcgenVersion, Wheel: "tpcgen-cli==" + tpcgenVersion, SHA256: sum}, ok
}
