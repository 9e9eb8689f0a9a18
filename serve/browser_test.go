package serve_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is a tab of the distribution's Chromium, driven by chromedp. It records all complaints
// and requests of the page.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// newBrowser starts a browser. If none is installed, it skips the test, or fails it with
// BAROGRAPH_REQUIRE=browser.
func newBrowser(t testing.TB) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		text := "NOT TESTED: the page in a browser; install one: apt-get install -y --no-install-recommends chromium"
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "browser") {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	o := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-dev-shm-usage", true))
	all, stop := chromedp.NewExecAllocator(t.Context(), o...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, failed := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		_, also := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return errors.Join(chromedp.Listen(ctx, b.hear), failed, also)
	}))
	return b
}

func (b *browser) hear(e any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case *log.EventEntryAdded:
		if !strings.Contains(e.Entry.Text, "status of 4") && !strings.Contains(e.Entry.Text, "status of 503") { // refused on purpose
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("%+v %+v", *e.ExceptionDetails, e.ExceptionDetails.Exception))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatal(err, b.complaints)
	}
}

// open opens a URL and waits until its view is complete.
func (b *browser) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.until(`document.body.dataset.view && !document.querySelector('main[aria-busy]')`)
}

// until polls an expression until it is true, because the page's policy allows no other method.
func (b *browser) until(expression string) {
	b.t.Helper()
	for late := time.Now().Add(time.Minute); b.text("!!("+expression+")") != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			b.t.Fatalf("%s: not so; the page says: %.600s; %v", expression, b.text("document.body.innerText"), b.complaints)
		}
	}
}

// look sets the theme and the width of the window.
func (b *browser) look(theme string, width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		return err
	}))
}

// text returns the value of an expression.
func (b *browser) text(expression string) string {
	b.t.Helper()
	evaluate := func() (string, error) {
		return chromedp.Run(b.ctx, chromedp.Evaluate[string](`Promise.resolve(`+expression+`).then(String)`, chromedp.EvalAwaitPromise))
	}
	out, err := evaluate()
	for late := time.Now().Add(time.Minute); err != nil && strings.Contains(err.Error(), "navigated") && time.Now().Before(late); {
		out, err = evaluate() // a redirect arrived meanwhile: the next page decides
	}
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return out
}

// shot saves a picture of the page in the folder BAROGRAPH_SCREENSHOTS.
func (b *browser) shot(name string) {
	shots := os.Getenv("BAROGRAPH_SCREENSHOTS")
	if shots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(shots, name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

//go:embed testdata/axe.min.js
var axe string

// violations returns the violations that axe finds in the current page.
func (b *browser) violations() string {
	b.t.Helper()
	return b.text("axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')).join(' ## '))")
}

// crowded lists texts that overlap or are cut off, and controls smaller than 24 px, which a finger
// cannot hit. A text may be hidden if its box scrolls.
const crowded = `(() => {
	const boxes = [], out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || e.closest('noscript, option, .skip, .said') || !e.checkVisibility()) continue;
		const range = document.createRange();
		range.selectNodeContents(n);
		for (const r of range.getClientRects()) {
			let box = { l: r.left, t: r.top, r: r.right, b: r.bottom, text: n.data.trim().slice(0, 40) };
			for (let a = e; a; a = a.parentElement) {
				const style = getComputedStyle(a), of = a.getBoundingClientRect();
				if (style.overflowX === 'visible' || a === document.body || a === document.documentElement) continue;
				if (style.overflowX === 'hidden' && (box.r > of.right + 1 || box.l < of.left - 1)) out.push('cut off: ' + box.text);
				box = { ...box, l: Math.max(box.l, of.left), t: Math.max(box.t, of.top), r: Math.min(box.r, of.right), b: Math.min(box.b, of.bottom) };
			}
			if (box.r - box.l > 2 && box.b - box.t > 2) boxes.push(box);
		}
	}
	boxes.sort((a, b) => a.t - b.t);
	boxes.forEach((a, i) => {
		for (let k = i + 1; k < boxes.length && boxes[k].t < a.b - 4; k++) {
			const b = boxes[k];
			if (Math.min(a.r, b.r) - Math.max(a.l, b.l) > 2 && Math.min(a.b, b.b) - b.t > 4) out.push('on one another: ' + a.text + ' | ' + b.text);
		}
	});
	for (const e of document.querySelectorAll('button, select, input, summary, nav a, .card a')) {
		const r = (e.closest('label') ?? e).getBoundingClientRect();
		if (e.checkVisibility() && (r.width < 24 || r.height < 24)) out.push('too small: ' + e.outerHTML.slice(0, 80) + ' ' + r.width + ' x ' + r.height);
	}
	return out.slice(0, 8).join('\n');
})()`

const scored = "line_type=SAL1L2&candidate=ECM&baseline=GFS&fcst_var=HGT&fcst_lev=P500"

const explored = where + "&model=GFS&axis=fcst_lead&series=model"

// holm returns the number of cells of a scorecard that are significant at 5 % by Holm's correction.
func holm(t *testing.T, p *page, path string) (n int) {
	t.Helper()
	_, text := p.get(path, nil)
	var all []float64
	for line := range strings.Lines(text) {
		var row serve.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		for _, c := range row.Cells {
			if c.P != nil {
				all = append(all, *c.P)
			}
		}
	}
	slices.Sort(all)
	for n < len(all) && all[n] < 0.05/float64(len(all)-n) {
		n++
	}
	return n
}

// TestBrowser walks through the page as a user would, in one browser.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: the other tests ask the same answers of the page, many at once")
	}
	b := newBrowser(t)
	dir := t.TempDir()
	file := loadArchive(t, dir)
	runs := filepath.Join(dir, "runs")
	f := startRun(t, runs)
	finishRun(t, runs, "measured", "d1", map[string]map[string]float64{"pebble": {"test_1": 1, "test_2": 0}, "sqlite": {"test_1": 2, "test_2": 5}, "duckdb": {"test_1": 4, "test_2": 5}})
	finishRun(t, runs, "other", "d2", map[string]map[string]float64{"pebble": {"test_1": 1, "test_2": 3}})
	dead := killRun(t, filepath.Join(runs, "killed"))
	ranked := loadEnsembles(t, dir)
	more := makeFiles(t, filepath.Join(dir, "more"), 5, 5)
	p := newPage(t, file, runs, ranked)
	before := contents(t, ranked, filepath.Join(runs, "measured"), filepath.Join(runs, "other"))
	opened := filepath.Join(t.TempDir(), "open.html") // redirects to the page as --open does
	if err := os.WriteFile(opened, []byte(`<meta http-equiv="refresh" content="0; url=`+p.s.URL()+"&"+serve.Opened+`">`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + opened))
	b.until(`location.protocol === 'http:' && document.body?.dataset.view && !document.querySelector('main[aria-busy]')`)
	b.mu.Lock()
	b.requests = nil // from here on, only the page sends requests
	b.mu.Unlock()

	t.Run("the first visit draws a curve", func(t *testing.T) {
		b.t = t
		b.until(`document.querySelector('#plot canvas')`)
		if url := b.text("location.href"); strings.Contains(url, "token") || !strings.Contains(url, "line_type=") {
			t.Error(url)
		}
		if foot := b.text("foot.textContent"); !strings.Contains(foot, "rows") || !strings.Contains(foot, "data ") {
			t.Error(foot)
		}
	})
	t.Run("arrows read the points", func(t *testing.T) {
		b.t = t
		b.do(chromedp.Focus(chromedp.CSS("#plot")), chromedp.KeyEvent(kb.ArrowRight))
		b.until(`document.getElementById('read').textContent.includes(' n ')`)
	})
	t.Run("the URL restores the state", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + explored + "&model=ECM&hide=GFS&from=24&to=96&tab=asked")
		b.until(`document.querySelector('.tab pre')`)
		got := b.text(`[location.search.includes('hide=GFS'), document.querySelectorAll('.legend input')[0].checked, document.querySelectorAll('.legend input')[1].checked, document.getElementById('tab-asked').getAttribute('aria-pressed'), document.getElementById('model-ECM').checked].join()`)
		if !slices.Contains([]string{"true,false,true,true,true", "true,true,false,true,true"}, got) {
			t.Error(got)
		}
		if url := b.text("location.href"); len(url) > 600 || !strings.Contains(url, "from=24&to=96") {
			t.Error(url)
		}
	})
	t.Run("a case is written out", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?archive=two.pebble&design=keyvalue&subset=archive&case=test_5")
		b.until(`document.getElementById('vx_mask-G2/SHX')?.checked && document.getElementById('none').textContent.includes('No record')`)
		b.click("#all-vx_mask")
		b.until(`new URLSearchParams(location.search).get('fcst_lead') == '144' && !document.querySelector('main[aria-busy]')`)
	})
	t.Run("the axis of a profile is vertical", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + strings.Replace(explored, "axis=fcst_lead", "axis=fcst_lev&fcst_lead=120&fcst_lev=P250&fcst_lev=P1000", 1))
		b.until(`document.querySelector('#plot canvas') && document.querySelector('.tab').textContent.includes('1000')`)
	})
	t.Run("a choice keeps what is there, back and forward", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + explored + "&fcst_lead=0-48%2F6")
		before := b.text("location.search")
		b.click("#model-ECM")
		b.until(`document.querySelectorAll('.legend li').length == 2`)
		if after := b.text("location.search"); !strings.Contains(after, "model=ECM") || !strings.Contains(after, "fcst_lead=0-48") {
			t.Error(after)
		}
		b.do(chromedp.NavigateBack())
		b.until(`document.querySelectorAll('.legend li').length == 1`)
		if after := b.text("location.search"); after != before {
			t.Errorf("%s, was %s", after, before)
		}
	})
	t.Run("what cannot be asked together is shut", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + strings.Replace(explored, "HGT", "PMSL", 1))
		b.until(`document.querySelector('.shut')`)
		if why := b.text(`document.querySelector('.shut').title`); !strings.HasPrefix(why, "no") {
			t.Error(why)
		}
		b.until(`document.getElementById('none').textContent.includes('No record')`)
	})
	t.Run("a question that is refused says so", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + explored + "&fcst_lead=soon")
		b.until(`document.getElementById('none').textContent.includes('is not a lead')`)
	})
	t.Run("many clicks leave one answer", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/explore?" + explored)
		b.text(`Array.from({length: 20}, (_, i) => document.getElementById('vx_mask-' + (i % 2 ? 'G2/NHX' : 'G2/SHX')).click())`)
		b.until(`!document.querySelector('main[aria-busy]') && document.querySelector('#plot canvas')`)
		asks := b.text(`document.querySelector('.asks').textContent`)
		for mask := range strings.SplitSeq(b.text(`new URLSearchParams(location.search).getAll('vx_mask').join(' ')`), " ") {
			if !strings.Contains(asks, mask) && !strings.Contains(asks, " 2 regions") {
				t.Errorf("the address has the region %s, the page says: %s", mask, asks)
			}
		}
	})
	t.Run("the scorecard fills", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/scorecard?" + scored)
		b.until(`document.querySelectorAll('.card a').length > 10`)
		if note := b.text("note.textContent"); !strings.Contains(note, "Holm") {
			t.Error(note)
		}
		asked := b.text(`performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('/scorecard?')).pop()`)
		if n := holm(t, p, asked[strings.Index(asked, "/api/"):]); n == 0 || !strings.Contains(b.text("note.textContent"), fmt.Sprintf("; %d are significant", n)) {
			t.Errorf("Holm's correction accepts %d cells; the page says: %s", n, b.text("note.textContent"))
		}
		regions := `[...document.querySelectorAll('.card .group button')].map(e => e.textContent.slice(2)).join()`
		if got := b.text(regions); !strings.Contains(got, "G2/NHX") || !strings.Contains(got, "G2/SHX") {
			t.Error("groups of regions:", got)
		}
		rows := b.text(`document.querySelectorAll('.card tbody tr').length`)
		b.click(".card .group button")
		b.until(`document.querySelector('.card .group button').getAttribute('aria-expanded') == 'false' && document.querySelectorAll('.card tbody tr').length < ` + rows)
		b.text(`(() => { const e = document.getElementById('group'); e.value = 'level'; e.dispatchEvent(new Event('change')); })()`)
		b.until(regions + ` == 'P500'`)
		if stat := b.text(`document.getElementById('stat').value`); !strings.Contains(b.text(`document.querySelector('.card .group').textContent`), stat) {
			t.Error("the statistic that is chosen is not that of the rows:", stat)
		}
	})
	t.Run("the run goes on", func(t *testing.T) {
		b.t = t
		b.open(p.URL + "/live?folder=runs&name=first")
		b.until(`document.getElementById('standing')?.textContent == 'running'`)
		if err := f.AddEvent(run.Event{Kind: run.StepEvent, Text: "asking all", Done: 143, Total: 495}); err != nil {
			t.Fatal(err)
		}
		b.until(`document.getElementById('band').textContent.includes('143 of 495')`)
		killed := time.Now()
		if err := f.AddEvent(run.Event{Kind: run.KillEvent, Text: "node 1"}); err != nil {
			t.Fatal(err)
		}
		b.until(`document.body.innerText.includes('node 1')`)
		t.Logf("a kill stood on the page %v after it happened", time.Since(killed).Round(time.Millisecond))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		b.until(`document.getElementById('standing').textContent.startsWith('interrupted at pebble test_1')`)
	})
	for name, by := range map[string]func(b *browser, p *page){
		"what a run measures is drawn": drawsLive, "nothing is a dead end": leadsOn,
		"the question is taken away": takesAway, "what is wrong is never ranked as fast": ranks, "it prints": prints, "tabs share a stream": shares, "everybody can read reports": reports, "new data are reported": reportsNews(more), "a kill is reported": reportsKills(dead), "a picture is the server's own": draws,
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			by(b, p)
		})
	}
	shots := os.Getenv("BAROGRAPH_SCREENSHOTS")
	t.Run("choices are a sheet on a phone", func(t *testing.T) {
		b.t = t
		b.look("light", 400)
		b.open(p.URL + "/explore?" + explored)
		if b.text(`document.getElementById('line_type').checkVisibility()`) != "false" {
			t.Error("the sheet is open")
		}
		b.click("summary")
		b.until(`document.getElementById('line_type').checkVisibility()`)
	})
	for _, view := range []string{"explore?" + explored, "explore?" + pictured + "&picture=reliability&series=model", "scorecard?" + scored, "runs?run=runs%2Fmeasured", "live?folder=runs&name=measured", "loads", "about"} {
		name, asks, _ := strings.Cut(view, "?")
		if strings.Contains(asks, "picture") {
			name += " a picture"
		}
		t.Run("everybody can use "+name, func(t *testing.T) {
			b.t = t
			for _, theme := range []string{"light", "dark"} {
				for _, width := range []int64{1280, 400} {
					b.look(theme, width)
					if shots != "" || width == 1280 && theme == "light" {
						b.open(p.URL + "/" + view)
						b.do(chromedp.Evaluate[chromedp.Void](axe + ";0"))
					}
					if found := b.violations(); found != "" {
						t.Errorf("%s, %d px:\n%s", theme, width, found)
					}
					if found := b.text(crowded); found != "" {
						t.Errorf("%s, %d px:\n%s", theme, width, found)
					}
					if wide := b.text("document.documentElement.scrollWidth"); wide != fmt.Sprint(width) {
						t.Errorf("%s, %d px: the page is %s px wide", theme, width, wide)
					}
					b.shot(fmt.Sprintf("%s-%s-%d", strings.ReplaceAll(name, " ", "-"), theme, width))
				}
			}
		})
	}
	if after := contents(t, ranked, filepath.Join(runs, "measured"), filepath.Join(runs, "other")); fmt.Sprint(after) != fmt.Sprint(before) || len(before) < 10 {
		t.Errorf("of %d files some changed", len(before))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Error("the browser complains:", c)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, p.URL) && !strings.HasPrefix(url, "data:") {
			t.Error("asked for elsewhere:", url)
		}
	}
	if len(b.requests) < 20 {
		t.Error("few requests were seen:", len(b.requests))
	}
}
