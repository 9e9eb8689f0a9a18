//go:build unix

package ycsb

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/results/run"
)

// TestRunOfAStoppedProcess: a run in which the process was stopped (^Z, a laptop that sleeps) is repeated, and the
// sample reports it.
func TestRunOfAStoppedProcess(t *testing.T) {
	if os.Getenv("BAROGRAPH_STOPPED") != "" {
		stoppedRun(t)
		return
	}
	t.Parallel() // it waits
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunOfAStoppedProcess$")
	child.Env = append(os.Environ(), "BAROGRAPH_STOPPED=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // the run has started
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := child.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGSTOP {
			time.Sleep(1300 * time.Millisecond)
		}
	}
	lines.Scan()
	if got := lines.Text(); !strings.HasPrefix(got, "equal true [the system stopped this process for 1.") || !strings.HasSuffix(got, "the run was repeated]") {
		t.Errorf("%q", got)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

// stoppedRun deletes records, and every insert of the first take fails, as those of a client do whose requests time out
// while it is stopped. The second take must neither look for these records nor request them.
func stoppedRun(t *testing.T) {
	t.Helper()
	c := config(t, "operationcount=300", "target=1000", "readproportion=0.2", "updateproportion=0.4",
		"insertproportion=0.2", "deleteproportion=0.2")
	var started sync.Once
	var connections atomic.Int64
	change := conns(func(c *kv.Conn) {
		update, insert := c.Update, c.Insert
		firstTake := connections.Add(1) <= 4
		c.Update = func(ctx context.Context, key []byte, r *kv.Row) error { // probes do not update
			started.Do(func() { fmt.Fprintln(os.Stdout, "started") })
			return update(ctx, key, r)
		}
		c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
			if firstTake {
				return context.DeadlineExceeded
			}
			return insert(ctx, key, r)
		}
	})
	target := &Target{Scheme: "dry", KV: wrapped{loaded(t, c), change}}
	p, _, err := target.Measure(t.Context(), c, target.Options(), "core", 1)
	fmt.Fprintln(os.Stdout, p.Verdict, p.Measured() != nil && err == nil, p.Warnings)
	if p.Verdict != run.Equal {
		t.Error(p.Problem)
	}
}
