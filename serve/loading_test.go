package serve_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/synth"

	"github.com/chromedp/chromedp"
)

// TestLoadingState: every view shows that it is loading until the server has responded. The test
// logs the delay of that display.
func TestLoadingState(t *testing.T) {
	dir := t.TempDir()
	p := newPage(t, loadArchive(t, dir))
	var gate sync.RWMutex // closed while the test has locked it
	served := p.Config.Handler
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			gate.RLock()
			defer gate.RUnlock()
		}
		served.ServeHTTP(w, r)
	})
	b := newBrowser(t)
	const ready, shown = `!document.getElementById('busy').checkVisibility()`, `document.getElementById('busy')?.checkVisibility({ opacityProperty: true })`
	gate.Lock()
	b.do(chromedp.Navigate(p.s.URL()))
	b.until(shown)
	if got := b.text(`document.getElementById('busy').textContent`); got != "Loading …" {
		t.Error(got)
	}
	gate.Unlock()
	b.until(`document.querySelector('#plot canvas') && ` + ready)
	for _, view := range []string{"loads", "scorecard", "runs", "explore"} {
		gate.Lock()
		b.text(`(() => {
			document.querySelector('nav a[href="/` + view + `"]').click();
			const began = performance.now(), look = () => { if (` + shown + `) window.took = performance.now() - began; else requestAnimationFrame(look); };
			window.took = 0;
			look();
		})()`)
		b.until(`window.took`)
		gate.Unlock()
		t.Logf("%s: visible after %s ms", view, b.text("Math.round(window.took)"))
		b.until(`document.body.dataset.view == '/` + view + `' && ` + ready)
	}
}

// TestLateAnswer: the late answer of a view does not replace the next view or its URL. After an error, nothing of the
// previous answer remains. Explore writes the archive into the URL of a question that names none.
func TestLateAnswer(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	finishRun(t, runs, "done", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	p := newPage(t, loadArchive(t, dir), runs)
	var gate sync.RWMutex // closed while the test has locked it
	served := p.Config.Handler
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/runs") || strings.HasPrefix(r.URL.Path, "/api/v1/loads") {
			gate.RLock()
			defer gate.RUnlock()
		}
		served.ServeHTTP(w, r)
	})
	b := newBrowser(t)
	b.open(p.s.URL())
	b.until(`document.querySelector('#plot canvas')`)
	for _, view := range []string{"runs", "loads", "live"} {
		gate.Lock()
		b.text(`(() => { for (const v of ['` + view + `', 'about']) document.querySelector('nav a[href="/' + v + '"]').click(); })()`)
		b.until(`document.body.dataset.view == '/about' && document.querySelector('main h2')?.textContent == 'About'`)
		gate.Unlock()
		time.Sleep(300 * time.Millisecond) // for an answer that must have no effect
		if got := b.text(`location.pathname + ' ' + document.querySelector('main h2').textContent`); got != "/about About" {
			t.Errorf("after %s the page shows %s", view, got)
		}
	}
	b.open(p.URL + "/explore?case=test_5")
	b.until(`location.search.includes('archive=two.pebble') && location.search.includes('case=test_5')`)
	b.open(p.URL + "/explore?" + explored)
	b.until(`document.querySelector('#plot canvas') && document.querySelectorAll('.legend li').length == 1 && document.querySelector('.tab tbody tr')`)
	b.text(`(() => { const e = document.getElementById('fcst_lead'); e.value = 'soon'; e.dispatchEvent(new Event('change')); })()`)
	b.until(`document.getElementById('none')?.textContent.includes('is not a lead')`)
	if rest := b.text(`document.querySelectorAll('.legend li, .tab tbody tr').length + foot.textContent`); rest != "0" {
		t.Errorf("of the previous answer the page still shows %s", rest)
	}
	p.CloseClientConnections()
	p.Listener.Close()
	b.text(`document.querySelector('nav a[href="/runs"]').click()`)
	b.until(`document.getElementById('none')?.textContent.includes('barograph serve does not answer')`)
}

// TestNothingIsLeft: Live projects the end of a step only while the run is in progress.
func TestNothingIsLeft(t *testing.T) {
	runs := t.TempDir()
	for id, end := range map[string]run.EventKind{"finished": run.FinishEvent, "running": run.HeartbeatEvent} {
		f, err := run.Create(filepath.Join(runs, id), run.Run{ID: id, Workload: "met", Started: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		for done := range int64(3) {
			if err := f.AddEvent(run.Event{Kind: run.StepEvent, Text: "timing", Done: done, Total: 4000}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if end != run.FinishEvent {
			defer f.Close()
			continue
		}
		f.Run.Finished = time.Now()
		if err := errors.Join(f.AddEvent(run.Event{Kind: end}), f.Save(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	p, b := newPage(t, runs), newBrowser(t)
	b.open(p.s.URL())
	for id, want := range map[string]bool{"finished": false, "running": true} {
		b.open(p.URL + "/live?folder=" + filepath.Base(runs) + "&name=" + id)
		b.until(`document.getElementById('standing')?.textContent == '` + map[bool]string{false: "done", true: "running"}[want] + `'`)
		b.until(`document.getElementById('band').textContent.includes('timing: 2 of 4,000')`)
		if band := b.text("band.textContent"); strings.Contains(band, " s left") != want {
			t.Errorf("%s: %s", id, band)
		}
	}
}

// TestCalendar: Loads reports a missing day and a missing month, but no days that do not exist.
func TestCalendar(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: one reader looks at one page")
	}
	dir := t.TempDir()
	file, day := filepath.Join(dir, "months.pebble"), func(month, day int) time.Time { return time.Date(2023, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
	var paths []string
	for i, span := range [][2]time.Time{{day(1, 30), day(2, 26)}, {day(2, 28), day(3, 2)}, {day(5, 1), day(5, 2)}} {
		paths = append(paths, writeFiles(t, filepath.Join(dir, fmt.Sprint(i)), synth.VSDB{Seed: 1, From: span[0], To: span[1], Models: []string{"gfs"}, StatTypes: []string{"anom"}})...)
	}
	fillArchive(t, file, paths)
	p, b := newPage(t, file), newBrowser(t)
	b.open(p.s.URL())
	b.open(p.URL + "/loads")
	b.until(`document.querySelector('.coverage tbody tr')`)
	rows := strings.Split(b.text(`[...document.querySelectorAll('.coverage')[0].querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent).join(',')).join('\n')`), "\n")
	if len(rows) != 5 {
		t.Fatalf("%d months: %q", len(rows), rows)
	}
	for month, missing := range map[string]int{"2023-01": 0, "2023-02": 1, "2023-03": 29, "2023-04": 30, "2023-05": 0} {
		for _, row := range rows {
			cells := strings.Split(row, ",")
			if cells[0] != month {
				continue
			}
			var got []string
			for i, c := range cells[1:] {
				if c == "–" {
					got = append(got, fmt.Sprint(i+1))
				}
			}
			if len(got) != missing || month == "2023-02" && got[0] != "27" {
				t.Errorf("%s lacks the days %q, not %d days", month, got, missing)
			}
		}
	}
}
