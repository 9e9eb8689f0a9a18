// Command barograph loads forecast-verification statistics into the databases that a team
// compares, proves that all of them return the same results, measures them, and reports.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"

	"golang.org/x/term"
)

func main() {
	// Go does not handle signals in DuckDB's threads: at a limit of file sizes, SIGXFSZ would end the process. If the
	// signal is ignored, the write returns an error.
	signal.Ignore(syscall.SIGXFSZ)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first ^C lets the command finish its cleanup; the second one ends the process
	os.Exit(execute(ctx, &env{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "",
		engines:  all.Registry(),
	}))
}

// env has everything that a command uses besides files. Tests replace it to run complete commands.
type env struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer // stderr removes secrets from what is written to it
	console        *console  // the original stderr, for progress bars
	terminal       bool      // progress bars may be drawn on stderr
	engines        engine.Registry

	errOut               io.Writer // stderr, even with --quiet
	json, quiet, verbose bool      // the flags of all commands
	escapeFormulas       bool      // --spreadsheet
	runDir               string    // run folder of the command; "" = none
}

// log is the logger of a command. On a terminal it writes only with --verbose,
// since the command itself prints what a user must know.
func (e *env) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: e}))
}

// Level is the level of the log. The logger calls Level for each line, because the command makes the logger before it
// parses the flags.
func (e *env) Level() slog.Level {
	switch {
	case e.verbose:
		return slog.LevelDebug
	case e.terminal:
		return slog.LevelError + 1
	}
	return slog.LevelError
}

// info writes a line of progress to stderr.
func (e *env) info(text string) { fmt.Fprintln(e.stderr, text) }

// reportError reports an error that does not end the command.
func (e *env) reportError(err error) {
	if e.json {
		e.jsonError("error", fault.Code(err), err.Error())
		return
	}
	fmt.Fprintln(e.errOut, err)
}

// jsonError writes an error as a line of JSON.
func (e *env) jsonError(kind string, status int, text string) {
	_ = json.NewEncoder(e.errOut).Encode(map[string]any{"message_type": kind, "code": status, "message": text})
}

// execute runs a command line and returns its exit status.
func execute(ctx context.Context, e *env) int {
	out := &output{Writer: e.stdout}
	if f, ok := e.stdout.(*os.File); ok {
		out.terminal = term.IsTerminal(int(f.Fd()))
	}
	e.stdout, e.console = out, &console{Writer: e.stderr}
	e.stderr = fault.Redacting(e.console, e.args...)
	e.errOut = e.stderr
	root := newRoot(e) //nolint:contextcheck // commands take theirs from cobra
	root.SetArgs(e.args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	c, err := root.ExecuteContextC(ctx)
	err = rewriteUsageError(c, err)
	if out.err != nil && !errors.Is(err, out.err) {
		err = errors.Join(err, out.err)
	}
	if err == nil {
		return 0
	}
	status, text := fault.Code(err), fault.Text(err)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		status, text = fault.Interrupted, "interrupted; what was committed and written is complete"
		if _, err := os.Stat(filepath.Join(e.runDir, run.DescriptionFile)); e.runDir != "" && err == nil {
			text += ": barograph report " + fault.Name(e.runDir)
		}
	case out.err != nil:
		status = fault.Failed
	case errors.Is(err, engine.ErrUnreachable) || errors.Is(err, launch.ErrChanged):
		status = fault.Unreachable
	}
	if e.json || slices.Contains(e.args, "--json") { // e.json is not set if the flags could not be parsed
		e.jsonError("exit_error", status, text)
		return status
	}
	fmt.Fprintf(e.errOut, "barograph: %s\n", text)
	return status
}

// output is the standard output. It keeps the first error, because commands do not check every write.
type output struct {
	io.Writer
	terminal bool // Write escapes control characters, which data may contain
	err      error
}

func (o *output) Write(p []byte) (int, error) {
	if o.terminal {
		_, err := io.WriteString(o.Writer, fault.Plain(string(p)))
		o.err = cmp.Or(o.err, err)
		return len(p), err
	}
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}
