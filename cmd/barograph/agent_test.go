package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
)

// shared is the output of a running command.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until the output matches pattern.
func (s *shared) waitFor(t *testing.T, pattern string) string {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(s.String()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("it did not say %s: %s", pattern, s)
	return ""
}

const testToken = "0123456789abcdef0123456789abcdef"

// agent starts an agent and returns its address. The agent stops at the end of the test, or when
// end is called.
func agent(t *testing.T, args ...string) (at string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var output shared
	var ended sync.WaitGroup
	ended.Go(func() {
		execute(ctx, &env{args: append([]string{"agent", "--listen", "127.0.0.1:0"}, args...), stdin: strings.NewReader(""), stdout: &output, stderr: &output, engines: all.Registry()})
	})
	end = func() {
		cancel()
		ended.Wait()
	}
	t.Cleanup(end)
	return output.waitFor(t, `agent: (\S+)`), end
}

// TestAgentStops: a signal ends an agent with status 0, like every service.
func TestAgentStops(t *testing.T) {
	t.Setenv(envToken, testToken)
	ctx, stop := context.WithCancel(t.Context())
	var output shared
	done := make(chan int, 1)
	go func() {
		args := []string{"agent", "--listen", "127.0.0.1:0"}
		done <- execute(ctx, &env{args: args, stdin: strings.NewReader(""), stdout: &output, stderr: &output, engines: all.Registry()})
	}()
	output.waitFor(t, `agent: (\S+)`)
	stop()
	if status := <-done; status != 0 || strings.Count(output.String(), "\n") != 1 {
		t.Errorf("status %d: %s", status, output.String())
	}
}

// TestAgents: two agents run one workload; the result is one run of all operations.
func TestAgents(t *testing.T) {
	t.Setenv(envToken, testToken)
	a, _ := agent(t)
	b, gone := agent(t)
	out := t.TempDir() + "/run"
	args := []string{"ycsb", "run", "--engine", "dry", "-P", "workloada", "-p", "recordcount=500", "-p", "operationcount=401", "--threads", "2", "--target", "400", "--agents", a + "," + b}
	var samples []run.Sample
	if err := json.Unmarshal([]byte(must(t, append(args, "--json", "--out", out)...)), &samples); err != nil || len(samples) != 1 {
		t.Fatalf("%+v, %v", samples, err)
	}
	s := samples[0]
	m := s.Measured()
	if s.Verdict != run.Equal || m == nil || m.Operations != 401 || m.LoadMachines != 2 || s.Cell.Number("target_ops_s") != 400 {
		t.Fatalf("%+v, %+v", s, m)
	}
	if m.Start < 0 || m.Start > time.Minute || m.Total > 10*time.Minute {
		t.Errorf("it began after %s, for %s", m.Start, m.Total)
	}
	n := int64(0)
	for _, g := range m.Groups {
		n += g.Count
	}
	if n != 401 {
		t.Errorf("%d of 401 operations are in its histograms", n)
	}
	if _, kept, err := run.Read(out); err != nil || len(kept) != 1 || kept[0].Measured().Operations != 401 {
		t.Errorf("the folder has %+v, %v", kept, err)
	}
	for cure, c := range map[string]struct {
		code int
		args []string
	}{
		"omit --agents or --fault":           {fault.Usage, append(args, "--fault", "kill@1s")},
		"name each agent once":               {fault.Usage, append(args[:len(args)-1:len(args)-1], a+","+a)},
		"write like --agents 127.0.0.1:7707": {fault.Usage, append(args[:len(args)-1:len(args)-1], "nowhere")},
		"property hdrhistogram.fileoutput":   {fault.Failed, append(args, "-p", "hdrhistogram.fileoutput=true")},
		"load it first":                      {fault.Failed, []string{"ycsb", "run", "--engine", "sqlite:" + t.TempDir() + "/none.db", "-P", "workloada", "--agents", a}},
	} {
		empty := t.TempDir() + "/empty"
		code, _, stderr := barograph(t, append(slices.Clip(c.args), "--out", empty)...)
		if _, err := os.Stat(empty); code != c.code || !strings.Contains(stderr, cure) || err == nil {
			t.Errorf("%s: status %d, %s; folder: %v", cure, code, stderr, err)
		}
	}
	t.Setenv(envToken, "another token of some length")
	if code, _, stderr := barograph(t, args...); code == 0 || !strings.Contains(stderr, "the token is not this agent's") {
		t.Errorf("another token: status %d, %s", code, stderr)
	}
	t.Setenv(envToken, testToken)
	gone()
	if code, _, stderr := barograph(t, args...); code != fault.Unreachable || !strings.Contains(stderr, "agent "+b+" is not reached") {
		t.Errorf("an agent that is gone: status %d, %s", code, stderr)
	}
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // the other agent was prepared and not started
		code, _, stderr := barograph(t, append(args[:len(args)-1:len(args)-1], a)...)
		if code == 0 {
			break
		}
		if !strings.Contains(stderr, "busy") || time.Now().After(until) {
			t.Fatalf("status %d, %s", code, stderr)
		}
	}
}

// relayTo forwards connections to an address until cut is called.
func relayTo(t *testing.T, to string) (at string, cut func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // does not wait
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []net.Conn
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			into, err := net.Dial("tcp", to) //nolint:noctx // does not wait
			if err != nil {
				from.Close()
				continue
			}
			mu.Lock()
			all = append(all, from, into)
			mu.Unlock()
			go io.Copy(from, into)
			go io.Copy(into, from)
		}
	}()
	cut = func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range all {
			c.Close()
		}
	}
	t.Cleanup(cut)
	return l.Addr().String(), cut
}

// TestAgentIsKilled: the result has the operations of the remaining agent, and names both.
func TestAgentIsKilled(t *testing.T) {
	t.Setenv(envToken, testToken)
	a, _ := agent(t)
	behind, _ := agent(t)
	b, cut := relayTo(t, behind)
	time.AfterFunc(1500*time.Millisecond, cut) // both agents start within a second and run for three seconds
	code, out, stderr := barograph(t, "ycsb", "run", "--engine", "dry", "-P", "workloada", "-p", "recordcount=500", "-p", "operationcount=0", "-p", "maxexecutiontime=3",
		"--threads", "1", "--target", "400", "--agents", a+","+b, "--json")
	var samples []run.Sample
	if err := json.Unmarshal([]byte(out), &samples); err != nil || len(samples) != 1 || samples[0].Measured() == nil {
		t.Fatalf("status %d: %v\n%s\n%s", code, err, out, stderr)
	}
	want := "the operations are those of " + a + "; " + b + " did not reply any more"
	if s := samples[0]; code != fault.Incomplete || !slices.Contains(s.Warnings, want) || s.Measured().Operations < 300 || s.Measured().Operations > 700 || !strings.Contains(stderr, "agent "+b) {
		t.Errorf("status %d, %q, %d operations\n%s", code, s.Warnings, s.Measured().Operations, stderr)
	}
}

// TestAgentsSweepAndLoad: each of two agents loads half of a server's keys; then both run a sweep.
// A ramp uses the agents' reports that more operations are due than done.
func TestAgentsSweepAndLoad(t *testing.T) {
	t.Setenv(envToken, testToken)
	a, _ := agent(t)
	b, _ := agent(t)
	labs, url := faultyLab(t, "valkey", lab.Options{})
	few := []string{"--lab-dir", labs, "-p", "recordcount=501", "--agents", a + "," + b, "--json"}
	asked := func(args ...string) (all []run.Sample) {
		t.Helper()
		if err := json.Unmarshal([]byte(must(t, slices.Concat([]string{"ycsb"}, args, few)...)), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	loaded := asked("load", "--engine", url, "-P", "workloada", "--threads", "2")
	if len(loaded) != 1 || loaded[0].Verdict != run.Equal || loaded[0].Measured().Operations != 501 || loaded[0].Measured().LoadMachines != 2 {
		t.Fatalf("%+v", loaded)
	}
	must(t, "ycsb", "run", "--engine", url, "-P", "workloadc", "-p", "recordcount=501", "-p", "operationcount=2000", "-p", "requestdistribution=sequential") // every record exists
	if code, _, stderr := barograph(t, slices.Concat([]string{"ycsb", "load", "--engine", url, "-P", "workloada"}, few)...); code != fault.Incomplete || !strings.Contains(stderr, "records existed already, 0 are new") {
		t.Errorf("a second load: status %d, %s", code, stderr)
	}
	asked("load", "--engine", url, "-P", "workloada", "--resume")
	swept, threads := asked("sweep", "--engine", url, "--workloads", "workloada,workloadc", "--threads", "1,2", "--reps", "2", "-p", "operationcount=401"), map[string]int{}
	for _, s := range swept {
		if threads[s.Cell.Value("mix")+s.Cell.Value("threads")]++; s.Verdict != run.Equal || s.Measured().Operations != 401 || s.Measured().LoadMachines != 2 || s.Cell.Value("shard") != "" {
			t.Errorf("%+v", s)
		}
	}
	if fmt.Sprint(threads) != "map[workloada1:2 workloada2:2 workloadc1:2 workloadc2:2]" {
		t.Errorf("%v", threads)
	}
	ramp := slices.Concat([]string{"ycsb", "sweep", "--engine", url, "-P", "workloadc", "--threads", "2", "--ramp", "10000000", "-p", "maxexecutiontime=1"}, few)
	if code, out, stderr := barograph(t, ramp...); code != 0 || !strings.Contains(stderr, "with 2 threads: does not sustain even the first rate, 10000000/s") || !strings.Contains(out, "ramp=yes") {
		t.Errorf("a ramp: status %d, %s, %s", code, out, stderr)
	}
	for cure, args := range map[string][]string{
		"load the table again before each `barograph ycsb run --agents`": {"-P", "workloadd"},
		"omit --agents or --fault":                                       {"-P", "workloada", "--target", "100", "--fault", "kill@1s"},
	} {
		if code, _, stderr := barograph(t, slices.Concat([]string{"ycsb", "sweep", "--engine", url}, few, args)...); code != fault.Usage || !strings.Contains(stderr, cure) {
			t.Errorf("%v: status %d, %s", args, code, stderr)
		}
	}
}

// TestAgentsInTheClear: without TLS neither the token nor a URL leaves this machine.
func TestAgentsInTheClear(t *testing.T) {
	t.Setenv(envToken, testToken)
	for cure, args := range map[string][]string{
		"give the agent a certificate": {"ycsb", "run", "--engine", "dry", "-P", "workloada", "--agents", "192.0.2.1:7707"},
		"add --tls-cert and":           {"agent", "--listen", "0.0.0.0:0"},
	} {
		if code, _, stderr := barograph(t, args...); code != fault.Usage || !strings.Contains(stderr, cure) {
			t.Errorf("%v: status %d, %s", args, code, stderr)
		}
	}
	t.Setenv(envToken, "")
	for _, args := range [][]string{{"agent"}, {"ycsb", "run", "--engine", "dry", "-P", "workloada", "--agents", "127.0.0.1:7707"}} {
		if code, _, stderr := barograph(t, args...); code != fault.Usage || !strings.Contains(stderr, envToken) {
			t.Errorf("%v: status %d, %s", args, code, stderr)
		}
	}
}

// TestAgentsOverTLS: agents run if their certificate is signed by the CA of --agents-ca; other
// agents receive nothing.
func TestAgentsOverTLS(t *testing.T) {
	t.Setenv(envToken, testToken)
	dir, until := t.TempDir(), time.Now().Add(time.Hour)
	enginetest.NewCA(t, dir+"/ca", until).Issue("an agent", dir+"/agent", until)
	enginetest.NewCA(t, dir+"/other", until)
	a, _ := agent(t, "--tls-cert", dir+"/agent.pem", "--tls-key", dir+"/agent.key")
	args := []string{"ycsb", "run", "--engine", "dry", "-P", "workloada", "-p", "recordcount=500", "-p", "operationcount=100", "--agents", a}
	for ca, want := range map[string]string{"ca": "", "other": "certificate signed by unknown authority", "": "the authority that signed it: --agents-ca FILE"} {
		more := []string{"--agents-ca", dir + "/" + ca + ".pem"}
		if ca == "" {
			more = nil
		}
		if code, _, stderr := barograph(t, append(args, more...)...); (code == 0) != (want == "") || !strings.Contains(stderr, want) || strings.Count(stderr, a+":") > 1 {
			t.Errorf("CA %q: status %d, %s", ca, code, stderr)
		}
	}
}
