package measure_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/barograph/barograph/results/measure"
)

// TestProcessMeter: the meter counts the use of a process and of its children within the interval only.
func TestProcessMeter(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", `read x; sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read x'; true`)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	m := measure.StartProcesses(t.Context(), []int32{int32(c.Process.Pid)}) //nolint:gosec // pids are small
	send := func(s string) {
		if _, err := in.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	send("go\n")
	if _, err := out.Read(make([]byte, 8)); err != nil { // the child has finished its work
		t.Fatal(err)
	}
	m.Sample(t.Context())
	child := childOf(t, c.Process.Pid)
	both := measure.StartProcesses(t.Context(), []int32{child, int32(c.Process.Pid)}).Stop(t.Context()) //nolint:gosec // pids are small
	if both.Processes != 2 {
		t.Errorf("a process and its child are %d processes", both.Processes)
	}
	used := m.Stop(t.Context())
	if used.Processes != 2 || used.CPU <= 0 || used.PeakRSS == 0 {
		t.Errorf("%+v", used)
	}
	idle := measure.StartProcesses(t.Context(), []int32{int32(c.Process.Pid)}).Stop(t.Context()) //nolint:gosec // pids are small
	if idle.CPU != 0 {
		t.Errorf("a process that waits used %s", idle.CPU)
	}
	send("end\n")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if gone := measure.StartProcesses(t.Context(), []int32{int32(c.Process.Pid)}).Stop(t.Context()); gone.Processes != 0 { //nolint:gosec // pids are small
		t.Errorf("%+v", gone)
	}
}

// childOf returns the pid of the only child of a process.
func childOf(t *testing.T, pid int) int32 {
	t.Helper()
	p, err := process.NewProcess(int32(pid)) //nolint:gosec // pids are small
	if err != nil {
		t.Fatal(err)
	}
	children, err := p.Children()
	if err != nil || len(children) != 1 {
		t.Fatal(children, err)
	}
	return children[0].Pid
}

// TestProcessMeterOfChildrenThatEnd: a child counts although no sample sees it. A child that started before the
// interval counts only with its use within the interval.
func TestProcessMeterOfChildrenThatEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not report the use of ended children")
	}
	work := `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`
	c := exec.CommandContext(t.Context(), "sh", "-c", `read x; sh -c '`+work+`; echo done; read x'; echo ended; read x; sh -c '`+work+`'; echo done; read x`)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	lines := bufio.NewScanner(out)
	step := func() measure.ProcessLoad { // until the shell's next line
		m := measure.StartProcesses(t.Context(), []int32{int32(c.Process.Pid)}) //nolint:gosec // pids are small
		if _, err := io.WriteString(in, "go\n"); err != nil || !lines.Scan() {
			t.Fatal(err, lines.Err())
		}
		return m.Stop(t.Context())
	}
	worked, ended, unseen := step(), step(), step()
	if worked.CPU <= 0 || unseen.CPU < worked.CPU/4 {
		t.Errorf("a child worked for %s, one that no sample saw for %s", worked.CPU, unseen.CPU)
	}
	if ended.CPU > worked.CPU/2 {
		t.Errorf("a child that had worked for %s ended: counted as %s", worked.CPU, ended.CPU)
	}
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestProcessMeterOfGrandchildrenThatEnd: a process that ended together with its parent counts once, in the use of the
// ancestor that still runs. An earlier version counted it twice.
func TestProcessMeterOfGrandchildrenThatEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not report the use of ended children")
	}
	// the shell $0 starts itself once, and this child starts itself once more
	const script = `case $1 in
		root) sh "$0" child; echo; read x;;
		child) sh "$0" grandchild; :;;
		grandchild) i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; echo; read x;;
	esac`
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", path, "root")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	m := measure.StartProcesses(t.Context(), []int32{int32(c.Process.Pid)}) //nolint:gosec // pids are small
	lines := bufio.NewScanner(out)
	next := func() {
		if !lines.Scan() {
			t.Fatal("the shell ended", lines.Err())
		}
	}
	next() // the grandchild has worked
	m.Sample(t.Context())
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	next() // the grandchild and the child have ended
	used := m.Stop(t.Context()).CPU
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	all := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if used > all*5/4 {
		t.Errorf("processes that used %s count as %s", all, used)
	}
}

// TestMachineMeter: the meter counts the work of this process. The system counts in steps of 10 ms, so the work is many
// of them.
func TestMachineMeter(t *testing.T) {
	m, err := measure.StartMachine(t.Context())
	if err != nil || measure.CPUTime() == 0 {
		t.Skipf("the system does not report its load: %v", err)
	}
	for began, n := measure.CPUTime(), 0; measure.CPUTime()-began < 300*time.Millisecond; n++ {
		if n < 0 {
			t.Log(n)
		}
	}
	l, err := m.Stop(t.Context())
	if err != nil || l.Cores < 1 || l.Busy <= 0 || l.Busy > 1 || l.Disk < 0 || l.Disk > 1 || l.Stolen < 0 || l.Stolen > 1 {
		t.Errorf("%+v, %v", l, err)
	}
}
