//go:build unix

package measure

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestStandstillIsNoticed: the meter of a process reports a stop as soon as the process is resumed, and nothing before.
func TestStandstillIsNoticed(t *testing.T) {
	if os.Getenv("BAROGRAPH_STOPPED") != "" {
		stoppedChild()
		return
	}
	t.Parallel() // it waits
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStandstillIsNoticed$")
	child.Env = append(os.Environ(), "BAROGRAPH_STOPPED=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	before := lines.Text()
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := child.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGSTOP {
			time.Sleep(minStandstill + 3*checkEvery)
		}
	}
	if err := in.Close(); err != nil { // the child checks once more
		t.Fatal(err)
	}
	lines.Scan()
	if before != "false" || lines.Text() != "true" {
		t.Errorf("the child reports a standstill before the stop: %s; after it: %s", before, lines.Text())
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

func stoppedChild() {
	s := StartStandstillMeter()
	defer s.Stop()
	fmt.Fprintln(os.Stdout, s.Total() > 0)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until its end
	fmt.Fprintln(os.Stdout, s.Total() > 0)
}

// A gap is counted once.
func TestStandstillIsCountedOnce(t *testing.T) {
	s := &StandstillMeter{last: time.Now().Add(-7 * time.Second)}
	if got := s.Total().Round(time.Second); got != 7*time.Second || s.Total().Round(time.Second) != got {
		t.Errorf("seven seconds are %s", got)
	}
}
