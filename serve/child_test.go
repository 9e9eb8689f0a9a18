package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
)

// TestMain also runs the child process of some tests, which loads, runs, serves or views.
func TestMain(m *testing.M) {
	role, place, _ := strings.Cut(os.Getenv("SERVE_CHILD"), " ")
	switch role {
	case "load":
		if err := childLoads(place); err != nil {
			panic(err)
		}
	case "run":
		panic(childRuns(place))
	case "serve":
		panic(childServes(place))
	case "view":
		childViews(place)
	default:
		m.Run() // the testing package exits with its result
	}
}

// child starts a child process, and returns when it is at work. Closing its pipe ends it normally.
func child(t testing.TB, role, place string) (*exec.Cmd, io.Closer) {
	t.Helper()
	c, in, _ := childWithOutput(t, role, place)
	return c, in
}

// childWithOutput is child, and also returns the first line of its output.
func childWithOutput(t testing.TB, role, place string) (*exec.Cmd, io.Closer, string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), "SERVE_CHILD="+role+" "+place), os.Stderr
	in, err := c.StdinPipe()
	out, also := c.StdoutPipe()
	if err = errors.Join(err, also); err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(line, err)
	}
	return c, in, strings.TrimSpace(line)
}

// childLoads loads files into an archive, and keeps it open until its pipe is closed.
func childLoads(place string) error {
	words := strings.Fields(place)
	db, err := registry.Open(context.Background(), words[0], engine.Options{})
	if err != nil {
		return err
	}
	a, err := archive.DatabaseOf(db).Open(context.Background(), "keyvalue")
	if err == nil {
		_, err = load.Run(context.Background(), a, "archive", words[1:], load.Options{})
	}
	if err == nil {
		fmt.Fprintln(os.Stdout, "loaded")
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return errors.Join(err, a.Close(), db.Close())
}

// childServes serves a folder or archive.
func childServes(place string) error {
	on, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return err
	}
	s, err := serve.New(serve.Options{Registry: registry, Host: on.Addr().String()}, place)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, s.URL())
	return http.Serve(on, s.Handler()) //nolint:gosec // a test's own
}

// childViews opens a page and reads its stream of events until its pipe is closed.
func childViews(place string) {
	open, stream, _ := strings.Cut(place, " ")
	viewer := &http.Client{Jar: &cookies{}}
	for _, url := range []string{open, stream} {
		r, err := viewer.Get(url) //nolint:noctx,bodyclose // it ends with the process; the goroutine closes the body
		if err != nil {
			panic(err)
		}
		go func() { _, _ = io.Copy(io.Discard, r.Body); _ = r.Body.Close() }()
	}
	fmt.Fprintln(os.Stdout, "viewing")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestServeIsKilled tests the second half of statement 19. Killing a page that watches a run does
// not affect the run. A restarted page finds the run still running.
func TestServeIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	measurer, _ := child(t, "run", filepath.Join(dir, "one"))
	served, _, url := childWithOutput(t, "serve", dir)
	viewer := &http.Client{Jar: &cookies{}}
	get := func(url string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := viewer.Do(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		return resp
	}
	get(url).Body.Close()
	base, _, _ := strings.Cut(url, "/?")
	stream := get(base + "/api/v1/events?folder=runs&name=one")
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: 1") {
		t.Fatal(line, err)
	}
	if err := served.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = served.Wait() // it was killed
	samples := func() (n int) {
		events, err := run.ReadEvents(filepath.Join(dir, "one"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Sample != nil {
				n++
			}
		}
		return n
	}
	before := samples()
	for late := time.Now().Add(time.Minute); samples() < before+10; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d samples, and no more since the page was killed", before)
		}
	}
	if err := measurer.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error(err)
	}
	var found []serve.Run
	p := newPage(t, dir)
	for late := time.Now().Add(time.Minute); len(found) != 1 || found[0].State != run.Running; time.Sleep(20 * time.Millisecond) { // a busy machine may delay the run
		if p.get("/api/v1/runs", &found); time.Now().After(late) {
			t.Fatalf("%+v", found)
		}
	}
	if found[0].Equal < before+10 || found[0].Wrong+found[0].Failed > 0 {
		t.Errorf("%+v", found[0])
	}
}

// childRuns is a run that only a kill ends.
func childRuns(dir string) error {
	f, err := run.Create(dir, run.Run{ID: "killed", Workload: "met", Started: time.Now()})
	for rep := 0; err == nil; rep++ {
		records := record.Digest{Hi: 1, Records: 1}
		p, e := answer.CompareRecords(records, records)
		err = errors.Join(e, f.AddEvent(run.Event{Kind: run.StepEvent, Text: "asking all", Done: int64(rep), Total: 495}))
		if err == nil {
			s := run.Sample{Cell: run.MetCell("pebble", "keyvalue", "test_1", "keys"), Phase: run.Warm, Rep: rep}
			err = f.Add(s.Judge(&run.Measured{Total: time.Millisecond}, p, nil))
		}
		if rep == 3 {
			fmt.Fprintln(os.Stdout, "running")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
