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
	shellPath = "/bin/sh"
	mostSaid  = 2000        // bytes that are kept of a command's output: the last ones
	lingers   = time.Second // for a server that the command started and that keeps the command's output open
)

// shell inflicts faults by a command of the user's, which gets action, node and how
// much. One that cannot run is refused now: the run would be in vain.
func shell(command string) (inflict, error) {
	whole := command + ` "$@"`
	bad := func(problem string, err error) (inflict, error) {
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{Setting: "--fault-command", Problem: problem, Err: err, Cure: "name a command that " + shellPath + " runs, such as './break.sh': it is called as ./break.sh kill 1"}}
	}
	if said, err := exec.Command(shellPath, "-n", "-c", whole).CombinedOutput(); err != nil { //nolint:gosec,noctx // the user's own, and only read
		return bad("is not understood by "+shellPath+": "+string(bytes.TrimSpace(said)), nil)
	}
	if program := firstWord(command); strings.Contains(program, "/") {
		if _, err := exec.LookPath(program); err != nil {
			return bad("cannot be run", err)
		}
	} else if program != "" && exec.Command(shellPath, "-c", `command -v -- "$1"`, "sh", program).Run() != nil { //nolint:gosec,noctx // likewise
		return bad(program+" is no command here", nil)
	}
	return func(ctx context.Context, x lab.Fault) (string, error) {
		args := append([]string{"-c", whole, "sh", string(x.Action), strconv.Itoa(x.Node)}, x.Amount()...)
		var out, problems bytes.Buffer
		c := exec.CommandContext(ctx, shellPath, args...) //nolint:gosec // the user's own
		c.Stdout, c.Stderr, c.WaitDelay = &out, &problems, lingers
		err := c.Run()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		said := fmt.Sprintf("%v, stdout %q, stderr %q", c.ProcessState, tail(&out), tail(&problems))
		if err != nil {
			err = fmt.Errorf("--fault-command: %w: %s", err, tail(&problems))
		}
		return said, err
	}, nil
}

// tail returns the end of the output.
func tail(b *bytes.Buffer) string {
	text := bytes.TrimSpace(b.Bytes())
	return fault.Redact(string(text[max(0, len(text)-mostSaid):]))
}

// firstWord returns the program that a command starts; "" if only the shell can find it.
func firstWord(command string) string {
	for word := range strings.FieldsSeq(command) {
		switch {
		case strings.ContainsAny(word, "\"'`$\\(){}[]<>|&;*?~#!"):
			return ""
		case !strings.Contains(word, "="): // else it is a variable that the command is given
			return word
		}
	}
	return ""
}
