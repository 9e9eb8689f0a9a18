package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

const (
	shellPath  = "/bin/sh"
	mostOutput = 2000        // bytes of a command's output that are kept: the last ones
	outputWait = time.Second // after the command has ended, for processes that it started and that keep its output open
	// commandLimit kills a command that does not end, for example one that starts a server in the foreground. The user
	// cannot interrupt it during the repair after a run.
	commandLimit = 5 * time.Minute
)

// shell returns the function that injects faults by a command of the user's. The command receives the action, the node
// and, for some actions, the amount, and is killed after limit. shell refuses a command that cannot run, because the run
// would then be useless.
func shell(command string, limit time.Duration) (injectFunc, error) {
	script := command + ` "$@"`
	bad := func(problem string, err error) (injectFunc, error) {
		const cure = "name a command that " + shellPath + " runs, such as './break.sh': it is called as ./break.sh kill 1"
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{
			Setting: "--fault-command", Problem: problem, Err: err, Cure: cure,
		}}
	}
	syntax := exec.Command(shellPath, "-n", "-c", script) //nolint:gosec,noctx // the user's own, and only read
	if output, err := syntax.CombinedOutput(); err != nil {
		return bad("is not understood by "+shellPath+": "+string(bytes.TrimSpace(output)), nil)
	}
	if program := firstWord(command); strings.Contains(program, "/") {
		if _, err := exec.LookPath(program); err != nil {
			return bad("cannot be run", err)
		}
	} else if program != "" {
		lookup := exec.Command(shellPath, "-c", `command -v -- "$1"`, "sh", program) //nolint:gosec,noctx // likewise
		if lookup.Run() != nil {
			return bad(program+" is no command here", nil)
		}
	}
	return func(ctx context.Context, x lab.Fault) (string, error) {
		args := append([]string{"-c", script, "sh", string(x.Action), strconv.Itoa(x.Node)}, x.Amount()...)
		var stdout, stderr bytes.Buffer
		ctx, stop := context.WithTimeout(ctx, limit)
		defer stop()
		c := exec.CommandContext(ctx, shellPath, args...) //nolint:gosec // the user's own
		c.Stdout, c.Stderr, c.WaitDelay = &stdout, &stderr, outputWait
		err := c.Run()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		output := fmt.Sprintf("%v, stdout %q, stderr %q", c.ProcessState, tail(&stdout), tail(&stderr))
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			err = fmt.Errorf("--fault-command: has not ended after %s; start a server in the background (COMMAND &)", limit)
		case err != nil:
			err = fmt.Errorf("--fault-command: %w: %s", err, tail(&stderr))
		}
		return output, err
	}, nil
}

// tail returns the end of an output. It removes secrets before it cuts, because the rest of a cut URL is not recognized
// as one.
func tail(b *bytes.Buffer) string {
	text := fault.Redact(string(bytes.TrimSpace(b.Bytes())))
	return strings.ToValidUTF8(text[max(0, len(text)-mostOutput):], "")
}

// firstWord returns the name of the program that a command starts; "" if only the shell can tell.
func firstWord(command string) string {
	for word := range strings.FieldsSeq(command) {
		switch {
		case strings.ContainsAny(word, "\"'`$\\(){}[]<>|&;*?~#!"):
			return ""
		case !strings.Contains(word, "="): // otherwise the word sets a variable of the program's environment
			return word
		}
	}
	return ""
}
