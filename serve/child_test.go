package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
)

// TestMain is also the other process of some tests: one that loads, one that runs.
func TestMain(m *testing.M) {
	role, place, _ := strings.Cut(os.Getenv("SERVE_CHILD"), " ")
	err := error(nil)
	switch role {
	case "load":
		err = childLoads(place)
	case "run":
		err = childRuns(place)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child starts the other process, and returns when it is at its work. Its pipe
// ends it gently.
func child(t *testing.T, role, place string) (*exec.Cmd, io.Closer) {
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
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	return c, in
}

// childLoads loads files into an archive, and holds it until its pipe is closed.
func childLoads(place string) error {
	words := strings.Fields(place)
	db, err := registry.Open(context.Background(), words[0], engine.Options{})
	if err != nil {
		return err
	}
	a, err := db.Archives.Open(context.Background(), "keyvalue")
	if err == nil {
		_, err = load.Run(context.Background(), a, "archive", words[1:], load.Options{})
	}
	if err == nil {
		fmt.Println("loaded")
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return errors.Join(err, a.Close(), db.Close())
}

// childRuns is a run that nothing but a kill ends.
func childRuns(dir string) error {
	f, err := run.Create(dir, run.Run{ID: "killed", Workload: "met", Started: time.Now()})
	for rep := 0; err == nil; rep++ {
		records := record.Digest{Hi: 1, Records: 1}
		p, e := answer.CompareRecords(records, records)
		err = errors.Join(e, f.Event(run.Event{Kind: run.Step, Text: "asking all", Done: int64(rep), Of: 495}))
		if err == nil {
			s := run.Sample{Cell: run.AnswerCell("pebble", "keyvalue", "test_1", "keys"), Phase: run.Warm, Rep: rep}
			err = f.Add(s.Judge(&run.Measured{Total: time.Millisecond}, p, nil))
		}
		if rep == 3 {
			fmt.Println("running")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
