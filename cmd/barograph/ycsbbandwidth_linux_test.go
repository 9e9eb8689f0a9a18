package main

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
)

// TestYCSBBandwidth runs a real server in its own network, with less bandwidth than the due
// operations need. If this kernel has no delays, a delay is refused before the run.
func TestYCSBBandwidth(t *testing.T) {
	t.Parallel() // it mostly waits
	if err := tryNetworks(); err != nil {
		t.Skipf("NOT TESTED: network namespaces: %v", err)
	}
	labs, url := faultyLab(t, "postgres", lab.Options{Isolate: &lab.Isolate{}})
	must(t, "ycsb", "load", "--engine", url, "-P", "workloadc", "-p", "recordcount=200")
	code, output, s := runWithFaults(t, labs, url, "bandwidth:200kbit@1s,full-bandwidth@3s", "5", "--history", "0", "-P", "workloadc")
	if code != 0 && code != fault.Incomplete || s.Verdict != run.Equal || len(s.Fault.Moments) != 2 || s.Fault.Moments[0].Command != "bandwidth node1 200kbit" {
		t.Fatalf("status %d, %s, %+v\n%s", code, s.Verdict, s.Fault, output)
	}
	if late := s.Measured().Response.Max; late < 500*time.Millisecond { // 100/s of 1.1 kB each are due; 23/s fit
		t.Errorf("the slowest answer took %s", late)
	}
	t.Log(output)
	code, _, output = barograph(t, "ycsb", "run", "--engine", url, "--lab-dir", labs, "-P", "workloadc", "-p", "recordcount=200", "--target", "100", "-p", "maxexecutiontime=3", "--fault", "delay:5ms@1s,no-delay@2s")
	if code != 0 && (code != fault.Usage || !strings.Contains(output, "--fault delay:node1:5ms@1s: this kernel does not support this fault of packets") || !strings.Contains(output, "modprobe sch_netem")) {
		t.Errorf("a delay: status %d\n%s", code, output)
	}
	t.Logf("a delay: status %d: %s", code, output)
}

// tryNetworks creates a network namespace, on a thread that ends with it.
func tryNetworks() error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread()
		tried <- syscall.Unshare(syscall.CLONE_NEWNET)
	}()
	return <-tried
}
