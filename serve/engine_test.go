package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
	"github.com/barograph/barograph/study/synth"
)

// watched is an engine that counts concurrent queries, and can be slow or fail.
type watched struct {
	asking, most atomic.Int32
	slow         atomic.Bool // it returns only when the query is canceled
	fails        atomic.Pointer[string]
	succeed      atomic.Int32 // number of queries that succeed before it fails
	failNext     atomic.Int32 // number of the next queries that fail
	opening      func()       // called by each Open; nil = nothing
}

func (w *watched) driver() engine.Driver {
	d := pebble.Driver()
	d.Params = append(d.Params, engine.Param{Name: "password", Secret: true})
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		if w.opening != nil {
			w.opening()
		}
		plain := *u
		plain.RawQuery = ""
		e, err := pebble.Driver().Open(ctx, &plain, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(watchedArchives{archive.DatabaseOf(e), w}))
		}
		return e, err
	}
	return d
}

type watchedArchives struct {
	archive.Database
	w *watched
}

func (a watchedArchives) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	opened, err := a.Database.Open(ctx, n)
	return watchedArchive{opened, a.w}, err
}

type watchedArchive struct {
	archive.Archive
	w *watched
}

func (a watchedArchive) Ask(ctx context.Context, q *archive.Query, b *answer.Builder) error {
	a.w.most.Store(max(a.w.most.Load(), a.w.asking.Add(1)))
	defer a.w.asking.Add(-1)
	if text := a.w.fails.Load(); text != nil && a.w.succeed.Add(-1) < 0 {
		return fmt.Errorf("cannot ask %s", *text)
	}
	if a.w.failNext.Add(-1) >= 0 {
		return errors.New("cannot ask now")
	}
	if a.w.slow.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return a.Archive.Ask(ctx, q, b)
}

// TestCanary tests part of statement 14: no response contains the password of an archive's URL.
// This includes errors and the equivalent command.
func TestCanary(t *testing.T) {
	const canary = "cAnArY7q"
	w := &watched{}
	file := loadArchive(t, t.TempDir())
	secret := "pebble:" + file + "?password=" + canary
	p := newPageOf(t, engine.Registry{w.driver()}, secret)
	for _, fails := range []bool{false, true} {
		if fails {
			w.fails.Store(&secret)
		}
		for _, path := range []string{"home", "state", "inventory", "curve", "curve.csv", "asked", "loads", "faster", "question.yaml", "question.xml", "question.sh", "scorecard"} {
			more := map[bool]string{true: "&valid_hour=6", false: ""}[fails] // avoids the cache
			if path == "scorecard" {
				more = "&candidate=ECM&baseline=GFS"
			}
			_, text := p.get("/api/v1/"+path+"?"+where+more, nil)
			if strings.Contains(text, canary) || text == "" {
				t.Errorf("%s: %.300s", path, text)
			}
			if path == "question.sh" && !strings.Contains(text, "password=") {
				t.Errorf("the place of the password is not shown: %s", text)
			}
		}
	}
}

// TestScorecardFails: an engine that fails after the first row of a scorecard ends the stream with an error.
func TestScorecardFails(t *testing.T) {
	w := &watched{}
	p := newPageOf(t, engine.Registry{w.driver()}, loadArchive(t, t.TempDir()))
	text := "the archive"
	w.succeed.Store(1)
	w.fails.Store(&text)
	status, got := p.get("/api/v1/scorecard?archive=two.pebble&line_type=SAL1L2&candidate=ECM&baseline=GFS", nil)
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if status != http.StatusOK || len(lines) < 2 || !strings.Contains(lines[0], `"cells"`) || lines[len(lines)-1] != `{"error":"cannot ask the archive"}` {
		t.Errorf("%d: %d lines, the last one is %.300s", status, len(lines), lines[len(lines)-1])
	}
}

// TestFasterWithoutReference: if the archive of the page has no result, the results of other archives are compared with
// nothing, and none is shown as proven.
func TestFasterWithoutReference(t *testing.T) {
	dir := t.TempDir()
	one := loadArchive(t, dir)
	two := filepath.Join(dir, "other.pebble")
	if err := os.CopyFS(two, os.DirFS(one)); err != nil {
		t.Fatal(err)
	}
	w := &watched{}
	p := newPageOf(t, engine.Registry{w.driver()}, one, two)
	for failures, want := range map[int32]int{2: http.StatusInternalServerError, 1: http.StatusOK} { // it has two flavours
		w.failNext.Store(failures)
		status, text := p.get("/api/v1/faster?"+where, nil)
		if status != want || !strings.Contains(text, "cannot ask now") {
			t.Errorf("after %d failures: %d %.300s", failures, status, text)
		}
	}
}

// TestArchivesAreReadInParallel: a server that answers late delays the list of archives only once.
func TestArchivesAreReadInParallel(t *testing.T) {
	dir := t.TempDir()
	one := loadArchive(t, dir)
	two := filepath.Join(dir, "other.pebble")
	if err := os.CopyFS(two, os.DirFS(one)); err != nil {
		t.Fatal(err)
	}
	w := &watched{}
	var waiting sync.WaitGroup
	waiting.Add(2)
	w.opening = func() { // each archive waits until the other one is being opened, too
		waiting.Done()
		both := make(chan struct{})
		go func() { waiting.Wait(); close(both) }()
		select {
		case <-both:
		case <-time.After(time.Minute):
			t.Error("the page opens one archive after the other")
		}
	}
	p := newPageOf(t, engine.Registry{w.driver()}, one, two)
	var home serve.Home
	if status, text := p.get("/api/v1/home", &home); status != http.StatusOK || len(home.Archives) != 2 || home.Archives[0].Archive != "two.pebble" {
		t.Error(status, text)
	}
}

// TestCancel tests statement 16: the engine does not work for a client that has left, and of many
// clicks one query remains.
func TestCancel(t *testing.T) {
	w := &watched{}
	p := newPageOf(t, engine.Registry{w.driver()}, loadArchive(t, t.TempDir()))
	w.slow.Store(true)
	ends := make(chan error, 20)
	stop := func() {}
	for click := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		stop() // as the page does
		stop = cancel
		go func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/curve?%s&valid_hour=%d", p.URL, where, click), nil)
			if err == nil {
				_, err = p.client.Do(r) //nolint:bodyclose // the request is canceled
			}
			ends <- err
		}()
		time.Sleep(5 * time.Millisecond)
	}
	for range 19 {
		<-ends
	}
	began := time.Now()
	wait := func(most int32) {
		for late := began.Add(10 * time.Second); w.asking.Load() > most; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%d questions are still being asked", w.asking.Load())
			}
		}
	}
	wait(1)
	stop()
	wait(0)
	t.Logf("the engine was left alone %v after the last click; at most %d questions at once", time.Since(began), w.most.Load())
}

// TestSevenCases tests statement 7: the page's curve of each case equals that of ask, bit for bit.
func TestSevenCases(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two.pebble")
	for _, year := range []int{2018, 2019} { // the years of the cases
		day := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		fillArchive(t, file, writeFiles(t, filepath.Join(dir, strconv.Itoa(year)), synth.VSDB{Seed: 1, From: day, Models: []string{"gfs"}, StatTypes: []string{"anom"}}))
	}
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]*run.VerificationPlot{}
	open(t, "pebble:"+file, engine.Options{ReadOnly: true}, func(a archive.Archive) {
		for _, q := range cases {
			q.Subset = "archive"
			wants[q.Name] = drawQuestion(t, a, q)
		}
	})
	p := newPage(t, file)
	for name, want := range wants {
		var got serve.CurveReply
		if status, text := p.get("/api/v1/curve?archive=two.pebble&intervals=1&case="+name, &got); status != http.StatusOK {
			t.Fatal(name, status, text)
		}
		if g, w := fmt.Sprint(got.Curves), fmt.Sprint(want); g != w || got.Rows == 0 {
			t.Errorf("%s, %d rows: the page has\n%.300s\nask has\n%.300s", name, got.Rows, g, w)
		}
	}
	if len(wants) != 7 {
		t.Error(len(wants), "cases")
	}
}
