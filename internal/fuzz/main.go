// Command fuzz runs the fuzz targets of the parsers that docs/results/fuzzing.md describes, one after the other
// on one core, each for a given processor time. It prints a table for that page. Start it in the root of the
// repository:
//
//	go run ./internal/fuzz -cpu 90m >> docs/results/fuzzing.md
//	go run ./internal/fuzz -planted >> docs/results/fuzzing.md
//
// With -planted each parser has one deliberate fault (build tag plantedfault). A target that does
// not find its fault within ten minutes of processor time counts as not fuzzed. After an interrupt or
// a failure, the command prints the table of the completed work.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// target is a fuzz target and its results.
type target struct {
	what, pkg, name string

	cpu   time.Duration
	execs int64
	finds []string // the first line of each failure
	died  int      // number of times that it stopped without a failing input
	done  bool     // stop fuzzing it: its planted fault was found, or it has 20 finds
}

func targets() []*target {
	return []*target{
		{what: "VSDB", pkg: "formats/vsdb", name: "FuzzReader"},
		{what: "MET (.stat)", pkg: "formats/metstat", name: "FuzzReader"},
		{what: "MODE, MTD, TC-Pairs", pkg: "formats/metstat", name: "FuzzObjects"},
		{what: "SHEF", pkg: "formats/shef", name: "FuzzDecode"},
		{what: "SHEF, encoded", pkg: "formats/shef", name: "FuzzEncode"},
		{what: "METviewer XML", pkg: "formats/metviewer", name: "FuzzParse"},
		{what: "YAML questions", pkg: "query/question", name: "FuzzParse"},
		{what: "run folders", pkg: "results/run", name: "FuzzRead"},
		{what: "TPC-DS files", pkg: "formats/tpcds", name: "FuzzRead"},
		{what: "YCSB properties", pkg: "study/ycsb", name: "FuzzProperties"},
		{what: "CSV of own tables", pkg: "study/own", name: "FuzzCSV"},
	}
}

// driver is one call of the command.
type driver struct {
	cpu     time.Duration // for each target
	planted bool
	keep    string // folder of inputs that failed
	work    string // folder of programs and of the fuzzer's corpus
	log     io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1) //nolint:forbidigo // this is the end of main
	}
}

func run(ctx context.Context, args []string) (err error) {
	d := driver{log: os.Stderr}
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.DurationVar(&d.cpu, "cpu", 90*time.Minute, "processor time for each target")
	flags.BoolVar(&d.planted, "planted", false, "plant a fault in each parser, and look for ten minutes")
	flags.StringVar(&d.keep, "keep", filepath.Join(os.TempDir(), "barograph-fuzz"), "folder of inputs that failed")
	only := flags.String("only", "", "regular expression of the targets, such as 'VSDB|SHEF'")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; give the processor time as -cpu 90m", flags.Arg(0))
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ts := slices.DeleteFunc(targets(), func(t *target) bool { return !chosen.MatchString(t.what) })
	if len(ts) == 0 {
		return fmt.Errorf("-only %s matches no target; the targets are %s", *only, names(targets()))
	}
	if d.work, err = os.MkdirTemp("", "barograph-fuzz"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.work)) }()
	if d.planted {
		d.cpu = 10 * time.Minute
	}
	commit, err := commit(ctx)
	if err != nil {
		return err
	}
	for _, t := range ts {
		if err := d.build(ctx, t); err != nil {
			return err
		}
	}
	return d.fuzzAndReport(ctx, os.Stdout, ts, commit)
}

// fuzzAndReport fuzzes the targets and prints the table, also after a failure: the table may contain hours of work.
func (d *driver) fuzzAndReport(ctx context.Context, w io.Writer, ts []*target, commit string) error {
	err := d.fuzzAll(ctx, ts)
	d.table(w, ts, commit)
	return err
}

// names lists what the targets read.
func names(ts []*target) string {
	var all []string
	for _, t := range ts {
		all = append(all, t.what)
	}
	return strings.Join(all, "; ")
}

// fuzzAll fuzzes the targets in turns of a few minutes. Thus an interrupted call has fuzzed all of them, not only the
// first ones. After a failure, it stops.
func (d *driver) fuzzAll(ctx context.Context, ts []*target) error {
	for isUnfinished := true; isUnfinished && ctx.Err() == nil; {
		isUnfinished = false
		for _, t := range ts {
			if t.cpu < d.cpu && !t.done && ctx.Err() == nil {
				if err := d.fuzzTurn(ctx, t); err != nil {
					return err
				}
				isUnfinished = true
			}
		}
	}
	return nil
}

// commit returns the commit under test; "-dirty" marks a tree with other changes.
func commit(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return "", fmt.Errorf("git describe: %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

func (d *driver) program(t *target) string {
	return filepath.Join(d.work, strings.ReplaceAll(t.pkg, "/", "_")+"_"+t.name)
}

// build compiles a target's test, with the fuzzer's counters.
func (d *driver) build(ctx context.Context, t *target) error {
	args := []string{"test", "-c", "-o", d.program(t), "-fuzz", t.name, "./" + t.pkg}
	if d.planted {
		args = append(args, "-tags", "plantedfault")
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if out, err := d.call(ctx, t, "-test.run", "^"+t.name+"$"); err != nil {
		return fmt.Errorf("%s fails on its seeds: %w\n%s", t.what, err, out)
	}
	return nil
}

// call runs the program of a target in its package's folder, on one core.
func (d *driver) call(ctx context.Context, t *target, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.program(t), args...)
	cmd.Dir, cmd.Env = t.pkg, append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT=2GiB")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                 // the driver handles ^C
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the program then stops its worker
	cmd.WaitDelay = 20 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if s := cmd.ProcessState; s != nil {
		t.cpu += s.UserTime() + s.SystemTime() // including its workers
	}
	return out.String(), err
}

var (
	executions = regexp.MustCompile(`execs: ([0-9]+)`)
	failing    = regexp.MustCompile(`Failing input written to (\S+)`)
	reason     = regexp.MustCompile(`(?m)^\s+(?:\w+\.go:\d+: .*|fuzzing process .*)$`)
)

// fuzzTurn fuzzes a target for at most two minutes. The fifth time that the target's program stops without a failing
// input, fuzzTurn returns an error.
func (d *driver) fuzzTurn(ctx context.Context, t *target) error {
	out, err := d.call(ctx, t, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$",
		"-test.parallel", "1", "-test.fuzzminimizetime", "500x",
		"-test.fuzzcachedir", filepath.Join(d.work, "corpus", t.pkg),
		"-test.fuzztime", min(d.cpu-t.cpu, 2*time.Minute).String())
	if all := executions.FindAllStringSubmatch(out, -1); len(all) > 0 {
		n, _ := strconv.ParseInt(all[len(all)-1][1], 10, 64) // digits
		t.execs += n
	}
	fmt.Fprintf(d.log, "%s %s: %.0f CPU s, %d executions, %d finds\n",
		time.Now().Format(time.TimeOnly), t.what, t.cpu.Seconds(), t.execs, len(t.finds))
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // an interrupt is not a failure
	}
	fmt.Fprintln(d.log, out)
	m := failing.FindStringSubmatch(out)
	if m == nil { // the fuzzer reports ten seconds without an answer as a hang, which a busy machine may cause
		if t.died++; t.died < 5 {
			return nil
		}
		return fmt.Errorf("%s: %w", t.what, err)
	}
	t.finds = append(t.finds, strings.TrimSpace(reason.FindString(out)))
	t.done = d.planted || len(t.finds) == 20
	return moveFile(filepath.Join(t.pkg, m[1]), filepath.Join(d.keep, filepath.FromSlash(t.pkg)))
}

// moveFile moves a file into a folder, which may be on another disk. If it cannot, the file stays.
func moveFile(name, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), text, 0o644); err != nil {
		return err
	}
	return os.Remove(name)
}

// table prints the results as Markdown.
func (d *driver) table(w io.Writer, ts []*target, commit string) {
	last := "finds"
	if d.planted {
		last = "planted fault"
	}
	fmt.Fprintf(w, "\n%s at %s\n\n", time.Now().UTC().Format(time.DateOnly), commit)
	fmt.Fprintf(w, "| target | commit | CPU seconds | executions | %s |\n|---|---|---|---|---|\n", last)
	for _, t := range ts {
		found := strconv.Itoa(len(t.finds))
		switch {
		case d.planted && len(t.finds) == 0:
			found = "**not found: not fuzzed**"
		case d.planted:
			found = "found: " + strings.ReplaceAll(t.finds[0][:min(len(t.finds[0]), 80)], "|", `\|`)
		}
		fmt.Fprintf(w, "| %s: `%s` %s | %s | %.0f | %d | %s |\n",
			t.what, t.pkg, t.name, commit, t.cpu.Seconds(), t.execs, found)
	}
}
