// Command barograph loads forecast-verification statistics into the databases
// a team chooses between, proves that every one gives the same answers, then
// measures, and draws the result.
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the first ^C stops gently, the second at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, &env{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "",
		engines:  all.Registry(),
	}))
}

// env is everything a command touches besides files, so that tests can run
// whole commands.
type env struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer // stderr is written without secrets
	console        *console  // stderr as it is; progress bars are drawn on it
	terminal       bool      // progress bars may be drawn on stderr
	engines        engine.Registry

	errors  io.Writer // stderr, also with --quiet
	json    bool      // --json
	quiet   bool      // --quiet
	sheets  bool      // --spreadsheet
	verbose bool      // --verbose

	runDir string // the run folder of the command; "" = it writes none
}

// log is the logger of a command. On a terminal it writes only with --verbose,
// since the command itself prints what a user must know.
func (e *env) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: e}))
}

// Level is that of the log, which is made before flags are known.
func (e *env) Level() slog.Level {
	switch {
	case e.verbose:
		return slog.LevelDebug
	case e.terminal:
		return slog.LevelError + 1
	}
	return slog.LevelError
}

// says writes a line of progress to stderr.
func (e *env) says(text string) { fmt.Fprintln(e.stderr, text) }

// tells writes an error that does not end the command.
func (e *env) tells(err error) {
	if e.json {
		e.problem("error", fault.Code(err), err.Error())
		return
	}
	fmt.Fprintln(e.errors, err)
}

// problem writes an error as a line of JSON.
func (e *env) problem(kind string, status int, text string) {
	_ = json.NewEncoder(e.errors).Encode(map[string]any{"message_type": kind, "code": status, "message": text})
}

// execute runs a command line and returns its exit status.
func execute(ctx context.Context, e *env) int {
	out := &output{Writer: e.stdout}
	if f, ok := e.stdout.(*os.File); ok {
		out.terminal = term.IsTerminal(int(f.Fd()))
	}
	e.stdout, e.console = out, &console{Writer: e.stderr}
	e.stderr = fault.Redacting(e.console, e.args...)
	e.errors = e.stderr
	root := newRoot(e) //nolint:contextcheck // commands take theirs from cobra
	root.SetArgs(e.args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	c, err := root.ExecuteContextC(ctx)
	err = miscalled(c, err)
	if out.err != nil && !errors.Is(err, out.err) { // not every line is looked at as it is printed
		err = errors.Join(err, out.err)
	}
	if err == nil {
		return 0
	}
	status, text := fault.Code(err), fault.Text(err)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		status, text = fault.Interrupted, "interrupted; what was committed and written is complete"
		if _, err := os.Stat(filepath.Join(e.runDir, run.File)); e.runDir != "" && err == nil {
			text += ": barograph report " + fault.Name(e.runDir)
		}
	case out.err != nil:
		status = fault.Failed
	case errors.Is(err, engine.ErrUnreachable) || errors.Is(err, launch.ErrChanged):
		status = fault.Unreachable
	}
	if e.json || slices.Contains(e.args, "--json") { // which is not known where flags are not understood
		e.problem("exit_error", status, text)
		return status
	}
	fmt.Fprintf(e.errors, "barograph: %s\n", text)
	return status
}

// output is where results are printed; it keeps the first error.
type output struct {
	io.Writer
	terminal bool // it shows no control characters: those of data are data in a file only
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
