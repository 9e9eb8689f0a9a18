// Command mutate plants small faults into the core, one at a time, and runs the tests of the
// package that contains the fault. A fault that they do not detect survives.
//
//	go run ./internal/mutate -n 200 -seed 1
//
// The seed draws the faults from all possible ones in the files of the core that this system builds. The
// working tree does not change: each fault is an overlay of the build. The command fails if the tests detect fewer
// than 85 %. It prints survivors as lines of survivors.txt. That file lists the survivors that were
// examined, with the reason why no test can or need detect them.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/internal/core"
)

// atLeast is the fraction of the faults that the tests must detect.
const atLeast = 0.85

// reasons has one line for each survivor that was examined: file, function, the line of source, the
// change, the reason, separated by tabs.
//
//go:embed survivors.txt
var reasons string

// outcome is the result of the tests of a package with a fault.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "SURVIVED"
	unbuilt  outcome = "does not compile"
)

// session is the state of one run of mutate.
type session struct {
	work  string // folder of overlays
	short bool
	limit map[string]time.Duration // by package: the time limit of its tests with a fault
	out   io.Writer
}

func main() {
	n := flag.Int("n", 200, "faults to plant")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	only := flag.String("only", "", "only files whose path starts with this")
	short := flag.Bool("short", false, "run the tests with -short")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := try(ctx, *n, *seed, *only, *short, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is the end of main
	}
}

// try plants up to n faults that compile. It prints the survivors, and how many faults the tests detected.
func try(ctx context.Context, n int, seed uint64, only string, short bool, out io.Writer) (err error) {
	all, err := candidates(only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "barograph-mutate-")
	if err != nil {
		return err
	}
	defer func() {
		endProcesses(work)
		err = errors.Join(err, os.RemoveAll(work))
	}()
	if err := os.Chmod(work, 0o711); err != nil { //nolint:gosec // a test's server runs as another user, who must search it
		return err
	}
	s := &session{work: work, short: short, limit: map[string]time.Duration{}, out: out}
	order, count := rand.New(rand.NewPCG(seed, 0)).Perm(len(all)), map[outcome]int{}
	for _, i := range order {
		if count[killed]+count[survived] == n {
			break
		}
		m := all[i]
		result, err := s.plant(ctx, m)
		if err != nil {
			if ctx.Err() != nil {
				fmt.Fprintf(out, "interrupted after %d of %d faults: %d detected, %d not\n", count[killed]+count[survived], n, count[killed], count[survived])
			}
			return err
		}
		if count[result]++; result == survived {
			fmt.Fprintf(out, "%s  %s:%d\n", result, m.file, m.line)
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", m.file, m.function, m.source, m.change, reason(m))
		}
	}
	planted := count[killed] + count[survived]
	fmt.Fprintf(out, "%d faults of seed %d: %d detected, %d not; %d of the draw do not compile\n", planted, seed, count[killed], count[survived], count[unbuilt])
	if float64(count[killed]) < atLeast*float64(planted) {
		return fmt.Errorf("the tests detected %d of %d faults; at least %.0f %% are demanded", count[killed], planted, 100*atLeast)
	}
	return nil
}

// endProcesses ends the servers that a killed test left: those with the folder of work in their command line. It finds
// them on Linux only.
func endProcesses(work string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(work+"/")) { // the process may have ended
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

// candidates returns all possible faults in the files of the core, in the order of paths. It omits files that are not
// built on this system, because no test can detect a fault in them.
func candidates(only string) (all []mutant, err error) {
	err = filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		slash := filepath.ToSlash(name)
		if !strings.HasSuffix(slash, ".go") || strings.HasSuffix(slash, "_test.go") || !strings.Contains(slash, "/") ||
			core.Satellite(slash) || !strings.HasPrefix(slash, only) {
			return nil
		}
		if built, err := build.Default.MatchFile(filepath.Dir(name), d.Name()); err != nil || !built {
			return err
		}
		found, err := mutants(slash)
		all = append(all, found...)
		return err
	})
	switch {
	case err != nil || len(all) > 0:
	case only != "":
		err = fmt.Errorf("no fault is possible in files of the core whose path starts with %q: "+
			"name a path from the root of the module, such as stat/, and run this in the root", only)
	default:
		err = errors.New("no file of the core is here: run this in the root of the module")
	}
	return all, err
}

// plant plants a fault and runs the tests of its package.
func (s *session) plant(ctx context.Context, m mutant) (outcome, error) {
	pkg := "./" + path.Dir(m.file)
	if _, ok := s.limit[pkg]; !ok {
		start := time.Now()
		if text, err := s.test(ctx, pkg, "", 30*time.Minute); err != nil {
			return "", fmt.Errorf("the tests of %s fail without a fault: %w\n%s", pkg, err, text)
		}
		s.limit[pkg] = 3*time.Since(start) + time.Minute
	}
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	faulty, overlay := filepath.Join(s.work, "faulty.go"), filepath.Join(s.work, "overlay.json")
	if err := os.WriteFile(faulty, slices.Concat(text[:m.start], []byte(m.text), text[m.end:]), 0o600); err != nil {
		return "", err
	}
	at, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{at: faulty}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return "", err
	}
	output, err := s.test(ctx, pkg, overlay, s.limit[pkg])
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return survived, nil
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return unbuilt, nil
	}
	return killed, nil
}

// test runs the tests of a package and returns what they printed.
func (s *session) test(ctx context.Context, pkg, overlay string, limit time.Duration) ([]byte, error) {
	args := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout", limit.String()}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if s.short {
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+s.work)
	return cmd.CombinedOutput()
}

// reason returns why a survivor needs no test; "" = nobody has examined it.
func reason(m mutant) string {
	for line := range strings.Lines(reasons) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 5 && f[0] == m.file && f[1] == m.function && f[2] == m.source && f[3] == m.change {
			return f[4]
		}
	}
	return ""
}
