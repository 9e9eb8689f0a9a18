package lab

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Need is what a server, or a tool next to the servers, needs on this machine.
type Need struct {
	Name      string            // as `barograph lab install` takes it
	Packages  []string          // of Debian and Ubuntu
	Artifacts []launch.Artifact // of a language registry
	Find      func() error      // finds the programs; its error names what is missing
}

// Servers returns the needs of the servers and libraries of engines. Most embedded engines have none.
func Servers(drivers ...*engine.Driver) []Need {
	var out []Need
	for _, d := range drivers {
		if s := d.Server; s != nil {
			out = append(out, Need{Name: d.Scheme, Packages: s.Packages, Artifacts: s.Artifacts, Find: s.Find})
		}
		if l := d.Library; l != nil {
			out = append(out, Need{Name: d.Scheme, Artifacts: l.Artifacts, Find: l.Find})
		}
	}
	return out
}

// InstallCommands returns the commands that install missing packages on Debian and Ubuntu; none if no package is
// missing. Install itself fetches the artifacts of language registries.
func InstallCommands(needs []Need) [][]string {
	var packages []string
	add := func(names ...string) {
		for _, n := range names {
			if !slices.Contains(packages, n) {
				packages = append(packages, n)
			}
		}
	}
	addFor := func(program, pkg string) {
		if _, err := exec.LookPath(program); err != nil {
			add(pkg)
		}
	}
	isMaven := func(a launch.Artifact) bool { return a.Maven != "" }
	for _, n := range needs {
		if n.Find() == nil {
			continue
		}
		add(n.Packages...)
		if slices.ContainsFunc(n.Artifacts, isMaven) {
			addFor("java", "default-jre-headless") // runs the artifacts
		}
		toFetch := missing(n)
		if slices.ContainsFunc(toFetch, isMaven) {
			addFor("mvn", "maven")
		}
		if slices.ContainsFunc(toFetch, func(a launch.Artifact) bool { return a.Wheel != "" }) {
			addFor("pip3", "python3-pip")
		}
		if slices.ContainsFunc(toFetch, func(a launch.Artifact) bool { return a.NPM != "" }) {
			addFor("npm", "npm")
		}
	}
	if len(packages) == 0 {
		return nil
	}
	install := []string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"}
	return [][]string{{"apt-get", "update"}, append(install, packages...)}
}

// missing returns the artifacts that Install has to fetch.
func missing(needs ...Need) []launch.Artifact {
	var out []launch.Artifact
	for _, n := range needs {
		for _, a := range n.Artifacts {
			if !a.Installed() {
				out = append(out, a)
			}
		}
	}
	return out
}

// Install runs InstallCommands, fetches artifacts, and checks that nothing is missing. It writes the output of the
// commands to w.
func Install(ctx context.Context, needs []Need, w io.Writer) error {
	commands := InstallCommands(needs)
	if len(commands) > 0 && os.Geteuid() != 0 {
		return &fault.Error{Setting: "lab install", Problem: "needs root", Cure: "run as root: " + shellLine(commands)}
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Run(); err != nil {
			return &fault.Error{
				Setting: strings.Join(args, " "), Err: err,
				Cure: "labs install on Debian and Ubuntu; on another system install the server yourself",
			}
		}
	}
	for _, a := range missing(needs...) {
		fmt.Fprintf(w, "fetching %s\n", a.Name)
		if err := fetch(ctx, a, w); err != nil {
			return err
		}
	}
	for _, n := range needs {
		if err := n.Find(); err != nil {
			return fmt.Errorf("%s is still missing: %w", n.Name, err)
		}
	}
	return nil
}

// InstallLine returns a shell command that installs the missing packages and artifacts; "" if nothing is missing.
func InstallLine(needs []Need) string {
	commands := InstallCommands(needs)
	if len(missing(needs...)) > 0 {
		args := []string{"barograph", "lab", "install", "--yes"}
		for _, n := range needs {
			if len(missing(n)) > 0 {
				args = append(args, n.Name)
			}
		}
		commands = append(commands, args)
	}
	return shellLine(commands)
}

func shellLine(commands [][]string) string {
	lines := make([]string, len(commands))
	for i, args := range commands {
		lines[i] = strings.Join(args, " ")
	}
	return strings.Join(lines, " && ")
}

// TPCGenName is how users name the generator of TPC-DS.
const TPCGenName = "tpcgen"

// tpcgenVersion is the only release that the lab accepts, because another release may generate other rows.
const tpcgenVersion = "4.0.0"

// TPCGen returns the need for tpcgen-cli (github.com/datafusion-contrib/tpcgen-rs, Apache-2.0), a generator of TPC-DS
// whose rows are those of the TPC's own kit. It is a program in the Python package index that needs no Python. A
// program on the PATH also satisfies the need.
func TPCGen() Need {
	n := Need{Name: TPCGenName, Find: func() error { _, err := TPCGenProgram(); return err }}
	if _, onPath := tpcgenOnPath(); onPath != nil {
		if a, ok := tpcgenWheel(runtime.GOOS, runtime.GOARCH); ok {
			n.Artifacts = []launch.Artifact{a}
		}
	}
	return n
}

// TPCGenProgram returns the path of the installed program, or of the program on the PATH if it has the same version.
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
		return path, a.Check()
	}
	path, err := tpcgenOnPath()
	if err == nil {
		return path, nil
	}
	cure := "`barograph lab install --yes " + TPCGenName + "`"
	if !offered {
		cure = "there is no wheel for " + runtime.GOOS + " on " + runtime.GOARCH +
			": run `cargo install tpcgen-cli --version " + tpcgenVersion + "`, and add its folder to the PATH"
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

// tpcgenWheel returns the artifact for a system and processor; false = there is none. Linux's wheel needs glibc, which
// Barograph itself needs too.
func tpcgenWheel(goos, arch string) (launch.Artifact, bool) {
	type checksums struct{ wheel, file string } // file = the file that is unpacked from the wheel
	sum, ok := map[string]checksums{
		"linux/amd64": {
			"490d693dad29ddc4ad6a41f96932a7ddd7b13b04546a54f8dd9c0468648aa17e",
			"32177a0e541bd33279d6c915dfa0a4b6ced475288b2db1715c6b1efaa0d4bc2b",
		},
		"linux/arm64": {
			"2fb311272eb71f99156870d2177164823a4a39730982be9bc2448af8da84c96e",
			"20b58dddf5562af2790818bfb32f813cf9c75676a415384edb463fe502f89654",
		},
		"darwin/amd64": {
			"e011f8a1ecdaf560901fe2d8a795ca00f9e7d3e7d0187247604e59c1e63e240a",
			"86737f904dc295afe7820ce499104b243db82791f540db37c34ec2351a150b2a",
		},
		"darwin/arm64": {
			"2913936c31b6a28dd171af2e394f73b2c563f75f41154615813ed9b2d3988bf2",
			"e21fdc95fb3c638e9d471b2fac61485d52b3d97090d456d0c7a8d42e07462d0a",
		},
		"windows/amd64": {
			"469d0a5a6797fa6e98d51a12ef7d16afa7b6f9622d3eb4805acc585725fcd25b",
			"e9e4a9eed48bceaec4d8e76792d6701ee0afd5c211b4a8148fa6e195a3621b7d",
		},
	}[goos+"/"+arch]
	return launch.Artifact{
		Name: "tpcgen-cli-" + tpcgenVersion, Wheel: "tpcgen-cli==" + tpcgenVersion, SHA256: sum.wheel, Tree: sum.file,
	}, ok
}

// fetch gets an artifact with Maven, pip, npm or Go, checks it, and moves it into its folder when it is complete. After
// an interruption it starts again.
func fetch(ctx context.Context, a launch.Artifact, w io.Writer) error {
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := removeFetched(filepath.Dir(dir)); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), fetchPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the next fetch removes the files that remain
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	complete := filepath.Join(work, "complete")
	if a.Go != nil {
		if err := build(ctx, a, work, complete, w); err != nil {
			return err
		}
		return os.Rename(complete, dir)
	}
	downloads := filepath.Join(work, "downloads")
	file, err := download(ctx, a, downloads, w)
	if err != nil {
		return err
	}
	if err := a.CheckFetched(file); err != nil {
		return err
	}
	switch {
	case a.Jars || strings.HasSuffix(file, ".jar"):
		complete = downloads
	case strings.HasSuffix(file, ".zip") || strings.HasSuffix(file, ".whl"):
		err = unzip(file, complete)
	default:
		err = untar(ctx, file, complete)
	}
	if err != nil {
		return &fault.Error{File: file, Problem: "cannot be unpacked", Err: err, Cure: "make room on the disk, and try again"}
	}
	return os.Rename(complete, dir)
}

// fetchPrefix begins the name of a folder in which a process fetches an artifact. The id of the process follows.
const fetchPrefix = ".fetch-"

// removeFetched removes the folders that interrupted fetches left behind: their processes have ended.
func removeFetched(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), fetchPrefix)
		pid, _, _ := strings.Cut(name, "-")
		if id, numeric := strconv.Atoi(pid); ok && (numeric != nil || !isRunning(id)) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// isRunning reports whether a process of this machine runs.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}

// download makes Maven, pip or npm download an artifact into a folder, and returns the path of the artifact's own file.
func download(ctx context.Context, a launch.Artifact, dir string, w io.Writer) (string, error) {
	switch {
	case a.Wheel != "":
		return downloadPackage(ctx, a.Wheel, dir, "*.whl", w,
			"pip3", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", dir, a.Wheel)
	case a.NPM != "":
		return downloadPackage(ctx, a.NPM, dir, "*.tgz", w,
			"npm", "pack", "--silent", "--pack-destination", dir, a.NPM)
	}
	coordinates, err := parseMaven(a.Maven)
	if err != nil {
		return "", err
	}
	if err := coordinates.fetch(ctx, dir, a.Jars, w); err != nil {
		return "", &fault.Error{
			Setting: "artifact " + a.Maven, Problem: "cannot be fetched", Err: err,
			Cure: "fix what Maven's output reports; behind a proxy, give Maven its settings.xml",
		}
	}
	return filepath.Join(dir, coordinates.file()), nil
}

// downloadPackage makes pip or npm download the one file of a package into a folder, and returns its path.
func downloadPackage(
	ctx context.Context, name, dir, pattern string, w io.Writer, tool string, args ...string,
) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return "", &fault.Error{
			Setting: "artifact " + name, Problem: "cannot be fetched", Err: err,
			Cure: "fix what the output of " + tool + " reports; there may be no package for this kind of machine",
		}
	}
	files := lists.Files(dir, pattern)
	if len(files) != 1 {
		return "", fmt.Errorf("%s downloaded %d files for %s", tool, len(files), name)
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

// file returns the file name that Maven gives the artifact.
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

// fetch makes Maven copy the artifact into dir, with all its run-time dependencies if jars is set.
func (m maven) fetch(ctx context.Context, dir string, jars bool, w io.Writer) error {
	d := dependency{
		Group: m.group, Artifact: m.artifact, Version: m.version, Type: m.packaging, Classifier: m.classifier,
	}
	if !jars {
		d.Exclusions = []exclusion{{Group: "*", Artifact: "*"}}
	}
	p := project{Model: "4.0.0", Group: "barograph", Artifact: "lab", Version: "1", Dependency: d}
	pom, err := xml.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(filepath.Dir(dir), "pom.xml")
	if err := os.WriteFile(name, pom, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "-Dstyle.color=never", "-f", name,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	cmd.Stdout, cmd.Stderr = w, w
	return cmd.Run()
}

// unzip unpacks a zip file into a new folder. If a name leads out of the folder, the file is unpacked inside:
// archive/zip removes each leading "/" and "../".
func unzip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // read only
	return os.CopyFS(dir, z)
}

// untar unpacks a tar.gz file into a new folder. The program tar refuses names that lead out of the folder.
func untar(ctx context.Context, file, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "tar", "--extract", "--gzip", "--no-same-owner", "--file", file, "--directory", dir)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}

// build builds the program of a Go module in the folder out. The go.sum of the artifact has the checksums of all
// modules, so the program has no other code.
func build(ctx context.Context, a launch.Artifact, work, out string, w io.Writer) error {
	files, err := a.Go()
	if err != nil {
		return err
	}
	source := filepath.Join(work, "source")
	for _, dir := range []string{source, out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(source, name), text, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath",
		"-o", filepath.Join(out, a.Program()), cmp.Or(a.Package, "main.go"))
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		cure := "fix what Go's output reports; behind a proxy, set GOPROXY"
		if errors.Is(err, exec.ErrNotFound) {
			cure = "install Go, see https://go.dev/dl"
		}
		return &fault.Error{Setting: "artifact " + a.Name, Problem: "cannot be built", Err: err, Cure: cure}
	}
	return nil
}
