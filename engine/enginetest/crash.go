package enginetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/posts"
)

// envChild is the environment variable with the job, as JSON, of a child process of a crash test.
const envChild = "BAROGRAPH_ENGINETEST_CHILD"

// job is the work of a child process. It loads the files without a mark, one per commit, and exits, or it
// opens the database and keeps it open until it is killed.
type job struct {
	URL    string
	Design design.Name
	Hold   bool
	Early  bool // it prints ready before it opens the database
	Fill   bool // load subset after subset until the disk is full

	Keep time.Duration // remove older records; 0 = load instead

	// Post is the method with which a child posts values of SHEF messages into the tables of a design; "" =
	// it posts nothing.
	Post   posts.Method
	Tables posts.Design
}

// ready is the line that a child prints when it has opened the database; see job.Early.
const ready = "enginetest: child is ready"

func childJob(t testing.TB) (job, bool) {
	var j job
	text, ok := os.LookupEnv(envChild)
	if !ok {
		return j, false
	}
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		t.Fatal(err)
	}
	return j, true
}

// crashFiles are the files of children: many small commits.
func crashFiles() []File { return Generate(31, 24, mixedSeries()...) }

func runChild(t *testing.T, cfg Config, j job) {
	if j.Post != "" {
		runPostChild(t, cfg, j)
		return
	}
	s := &suite{Config: cfg, design: j.Design, flavours: archive.Flavours(&cfg.Driver, j.Design)}
	if j.Fill {
		s.fill(t, j.URL)
		return
	}
	if j.Early {
		fmt.Println(ready) //nolint:forbidigo // the parent reads it
	}
	h := s.open(t, j.URL, engine.Options{})
	fmt.Println(ready) //nolint:forbidigo // the parent reads it
	if j.Hold {
		time.Sleep(time.Hour) // until the parent kills this process
	}
	if j.Keep > 0 {
		if _, err := load.Retain(t.Context(), h, "a", load.Retention{MaxAge: j.Keep, Force: true}); err != nil {
			t.Fatal(err)
		}
	} else {
		mustStore(t, h, "a", s.unmarked(t, h, "a", crashFiles()), 1)
	}
	h.close(t)
}

// unmarked returns the files that a resumed load must still load.
func (s *suite) unmarked(t *testing.T, h *opened, subset string, files []File) []File {
	t.Helper()
	marks, err := h.Marks(t.Context(), subset)
	if err != nil {
		t.Fatalf("marks: %v", err)
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return slices.ContainsFunc(marks, func(m archive.Mark) bool { return m.Digest == f.Mark().Digest })
	})
}

// child returns the command that runs this test again in a separate process, with a job.
func (s *suite) child(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	pattern := "^" + strings.ReplaceAll(s.root, "/", "$/^") + "$"
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run="+pattern, "-test.count=1")
	c.Env = append(os.Environ(), envChild+"="+string(text))
	c.Stderr = os.Stderr
	return c
}

// start starts a child and waits until it is ready.
func (s *suite) start(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	c := s.child(t, j)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var output strings.Builder
	for {
		line, err := lines.ReadString('\n')
		output.WriteString(line)
		if strings.HasPrefix(line, ready) {
			break
		}
		if err != nil {
			_ = c.Wait()
			t.Fatalf("the child did not start:\n%s", output.String())
		}
	}
	go io.Copy(io.Discard, lines)
	return c
}

// kill kills a child and reports whether it had finished before.
func kill(t *testing.T, c *exec.Cmd) (finished bool) {
	t.Helper()
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := c.Wait()
	if err == nil {
		return true
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		t.Fatalf("the child failed by itself: %v", err)
	}
	return false
}

// crash tests processes that are killed. METdbLoad marks a file before it stores the file's lines; a kill
// then loses them forever.
func (s *suite) crash(t *testing.T) {
	NotUnderRace(t)
	t.Run("a killed load is resumed", s.killed)
	t.Run("a killed removal is resumed", s.killedTrim)
	if s.Driver.Place == engine.Embedded {
		first := slices.Min(slices.Collect(maps.Keys(archive.OfferOf(&s.Driver).Designs)))
		if Nightly() || s.design == first { // one design is enough by day: all have the same file format
			t.Run("a kill while the database is created", s.killedAtCreation)
			t.Run("a flipped bit", s.flippedBit)
			t.Run("a full disk", func(t *testing.T) { s.fullDisk(t, "3m", "100m") })
			if Nightly() {
				t.Run("a full disk of 30 MB", func(t *testing.T) { s.fullDisk(t, "30m", "1g") })
			}
			t.Run("a replaced archive", s.replaced)
		}
		t.Run("a database that another process has open", s.openElsewhere)
	}
}

func (s *suite) killed(t *testing.T) {
	files := crashFiles()
	undisturbed := s.start(t, job{URL: s.URL(t), Design: s.design})
	duration := awaitCPU(t, undisturbed, time.Hour)
	if !kill(t, undisturbed) {
		t.Fatal("the undisturbed load was killed")
	}
	attack, kills := s.attacked(t, "client killed during a load"), s.repetitions(t, 4, 2)
	url, rng, before := s.URL(t), newRand(attack.Seed), 0
	for done := range kills {
		c := s.start(t, job{URL: url, Design: s.design})
		awaitCPU(t, c, time.Duration(rng.Int64N(int64(duration)/2+1)))
		finished := kill(t, c)
		s.undamaged(t, url)
		h := s.open(t, url, engine.Options{})
		rest := s.checkWholeFiles(t, h, "a", files)
		h.close(t)
		t.Logf("kill %d: %d of %d files are loaded", done+1, len(files)-len(rest), len(files))
		if attack.Times++; !finished {
			before++
		}
		attack.Note = fmt.Sprintf("%d before the end of the load", before)
		if finished || len(rest) == 0 {
			url = s.URL(t)
		}
	}
	h := s.open(t, url, engine.Options{})
	mustStore(t, h, "a", s.unmarked(t, h, "a", files), 1)
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("PCT")))
}

// undamaged verifies, without writing, the remains of a load that ended early. They must not count as
// damage. The archive may not exist yet.
func (s *suite) undamaged(t *testing.T, url string) {
	t.Helper()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{ReadOnly: true})
	for start := time.Now(); err != nil && strings.Contains(err.Error(), "is open in") && time.Since(start) < time.Minute; {
		time.Sleep(50 * time.Millisecond) // the process of ClickHouse's library ends a moment after its client
		e, err = engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{ReadOnly: true})
	}
	if err != nil {
		t.Logf("nothing to verify: %v", err)
		return
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), s.design)
	if err != nil {
		t.Logf("nothing to verify: %v", err)
		return
	}
	defer a.Close()
	names, err := a.Subsets(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		v, err := load.Verify(t.Context(), a, name)
		if errors.Is(err, engine.ErrReadOnly) && hasCure(err) {
			t.Log(err)
		} else if err != nil || len(v.Problems) > 0 {
			t.Errorf("the remains of a load in %s are reported as damage: %+v, %v", name, v, err)
		}
	}
}

// killedAtCreation kills loads while they create their database. Afterwards a load into the remains must work.
func (s *suite) killedAtCreation(t *testing.T) {
	files := crashFiles()
	began := time.Now()
	s.openNew(t)
	attack, duration := s.attacked(t, "client killed while it creates the database"), time.Since(began)
	rng := newRand(attack.Seed)
	for range s.repetitions(t, 3, 1) {
		attack.Times++
		url := s.URL(t)
		c := s.start(t, job{URL: url, Design: s.design, Early: true})
		time.Sleep(time.Duration(rng.Int64N(int64(duration) + 1)))
		kill(t, c)
		h := s.open(t, url, engine.Options{})
		s.checkWholeFiles(t, h, "a", files)
		mustStore(t, h, "a", s.unmarked(t, h, "a", files[:1]), 1)
		h.close(t)
	}
}

// timeLoad measures the duration of an undisturbed load. The tests kill at a random moment within that duration.
func (s *suite) timeLoad(t *testing.T, files []File) time.Duration {
	h := s.openNew(t)
	began := time.Now()
	mustStore(t, h, "a", files, 1)
	duration := time.Since(began)
	h.close(t)
	return duration
}

// openElsewhere opens a database that another process has open. The open must succeed, or return an error that wraps
// ErrUnreachable and has a cure.
func (s *suite) openElsewhere(t *testing.T) {
	s.attacked(t, "opened while another process has it open").Times = 1
	url := s.URL(t)
	c := s.start(t, job{URL: url, Design: s.design, Hold: true})
	defer func() {
		if kill(t, c) {
			t.Error("the child that should keep the database open has exited")
		}
		h := s.open(t, url, engine.Options{}) // the lock ended with its process
		h.close(t)
	}()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		if !errors.Is(err, engine.ErrUnreachable) || !hasCure(err) {
			t.Errorf("the error is %v; want one that wraps ErrUnreachable and has a cure", err)
		}
		return
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), s.design)
	if err != nil {
		t.Error(err)
	} else if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
