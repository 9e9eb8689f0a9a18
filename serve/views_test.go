package serve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"

	page_ "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// takesAway tests statements 12 and 14: the question in three forms, how it was asked, and where
// the time was spent.
func takesAway(b *browser, p *page) {
	b.open(p.URL + "/explore?" + explored + "&tab=download")
	b.until(`document.querySelectorAll('.tab a').length == 9`)
	if got := b.text(`Promise.all([...document.querySelectorAll('.tab a')].map(a => fetch(a.href).then(r => r.status)))`); got != strings.TrimSuffix(strings.Repeat("200,", 9), ",") {
		b.t.Error(got)
	}
	b.click("#tab-asked")
	b.until(`document.getElementById('command')?.textContent.includes('barograph ask sal1l2_gfs_hgt_p500_g2_nhx.yaml')`)
	if said := b.text(`document.querySelector('.tab').textContent + foot.textContent`); !strings.Contains(said, "rows examined") || !strings.Contains(said, "seed 1") || !strings.Contains(said, "queried in ") || !strings.Contains(said, "curve ") {
		b.t.Error(said)
	}
	b.click("#tab-faster")
	b.until(`document.querySelector('.tab').textContent.includes('epoch-range')`)
}

// draws tests the pictures of all records: selected, drawn by the server, shown as a table, and
// downloaded.
func draws(b *browser, p *page) {
	b.open(p.URL + "/explore?" + pictured)
	b.until(`document.querySelector('#plot canvas')`)
	for _, picture := range []string{"reliability", "roc"} {
		b.text(`(() => { const e = document.getElementById('picture'); e.value = '` + picture + `'; e.dispatchEvent(new Event('change')); })()`)
		b.until(`document.querySelector('#plot img[src*="picture=` + picture + `"]')?.naturalWidth && document.querySelectorAll('.tab tbody tr').length > 7`)
	}
	b.text(`(() => { const e = document.getElementById('line_type'); e.value = 'RHIST'; e.dispatchEvent(new Event('change')); })()`)
	b.until(`document.querySelector('#plot img[src*="picture=rank_histogram"]')?.naturalWidth && document.querySelector('.tab').textContent.includes('rank')`)
	if url := b.text("location.search"); !strings.Contains(url, "picture=rank_histogram") {
		b.t.Error(url)
	}
	b.click("#tab-download")
	b.until(`document.querySelectorAll('.tab a').length == 9`)
	if got := b.text(`fetch(document.querySelector('.tab a[href*="question.yaml"]').href).then(r => r.text())`); !strings.Contains(got, "picture: rank_histogram") {
		b.t.Error(got)
	}
}

// ranks tests statement 22: switched-off cells do not count. Wrong cells are shown and counted,
// excluded from the mean, and ranked below all correct ones.
func ranks(b *browser, p *page) {
	b.open(p.URL + "/runs?run=runs%2Fmeasured")
	ways := `[...document.querySelectorAll('#ranking tbody tr')].map(r => [...r.cells].slice(0, 4).map(c => c.textContent).join('|')).join(' / ')`
	b.until(`document.querySelectorAll('#ranking tbody tr').length == 3`)
	if got, want := b.text(ways), "sqlite · wide · sql|1.41|2|none / duckdb · wide · sql|2.00|2|none / pebble · wide · sql|1.00|1|1 WRONG"; got != want {
		b.t.Errorf("%s\nwant %s", got, want)
	}
	took := b.text(`(() => { const t = performance.now(); document.getElementById('on-case-test_2').click(); return performance.now() - t; })()`)
	if got, want := b.text(ways), "pebble · wide · sql|1.00|1|none / sqlite · wide · sql|2.00|1|none / duckdb · wide · sql|3.99|1|none"; got != want {
		b.t.Errorf("%s\nwant %s", got, want)
	}
	b.t.Logf("ranked again in %.4s ms", took)
	b.open(b.text("location.href")) // the URL contains the switched-off cells
	b.until(`document.querySelector('#ranking tbody tr').textContent.startsWith('pebble')`)
}

// reportsNews tests statement 17: while another process loads, the page replaces the curve by the PID
// of that process and the time of the next try. Then it shows the new answer and marks it as new.
func reportsNews(more []string) func(b *browser, p *page) {
	return func(b *browser, p *page) {
		b.open(p.URL + "/explore?" + explored)
		b.until(`document.querySelector('#plot canvas')`)
		before := b.text("foot.textContent")
		if err := p.s.Close(); err != nil { // as the server does by itself after some seconds
			b.t.Fatal(err)
		}
		c, in := child(b.t, "load", "pebble:"+p.file+" "+strings.Join(more, " "))
		b.until(fmt.Sprintf(`document.getElementById('none')?.textContent.includes('in use by process %d') && said.textContent.includes('next try in')`, c.Process.Pid))
		if b.text(`!document.querySelector('#plot canvas')`) != "true" {
			b.t.Error("the page shows an outdated curve")
		}
		if err := in.Close(); err != nil {
			b.t.Fatal(err)
		}
		b.until(`document.querySelector('#plot canvas') && said.textContent.startsWith('New data')`)
		b.until(fmt.Sprintf(`foot.textContent.replace(/.*data /, '') != %q.replace(/.*data /, '')`, before))
	}
}

// reportsKills tests statement 19: the page shows where a run was killed, and all samples written
// before the kill are readable.
func reportsKills(killed time.Time) func(b *browser, p *page) {
	return func(b *browser, p *page) {
		b.open(p.URL + "/live?folder=runs&name=killed")
		b.until(`document.getElementById('standing')?.textContent == 'interrupted at pebble test_1 keyvalue keys'`)
		b.t.Logf("said %.1f s after the kill", time.Since(killed).Seconds())
		if n, err := strconv.Atoi(b.text(`band.textContent.match(/(\d+) samples/)[1]`)); err != nil || n < 4 {
			b.t.Error(n, "samples", err)
		}
		b.open(p.URL + "/runs")
		b.until(`document.body.innerText.includes('interrupted at pebble test_1 keyvalue keys')`)
	}
}

// drawsLive tests part of statement 18: throughput, percentiles and server counters share one time
// axis, and a table lists their numbers.
func drawsLive(b *browser, p *page) {
	b.look("light", 1280)
	b.open(p.URL + "/live?folder=runs&name=measured")
	b.text(`(() => { window.said = []; const look = () => { said.push(document.getElementById('standing')?.textContent); requestAnimationFrame(look); }; look(); })()`)
	b.until(`document.getElementById('standing')?.textContent == 'done'`)
	if said := b.text(`said.filter(s => s?.startsWith('interrupted')).join()`); said != "" {
		b.t.Error("before all events of a run that ended were read: ", said)
	}
	b.until(`document.querySelectorAll('.plot.small canvas').length == 4`)
	heads := b.text(`[...document.querySelectorAll('#numbers th')].map(h => h.textContent).join()`)
	if heads != "time (UTC),completed,failed,p50,p95,p99,xact_commit,wal_bytes" {
		b.t.Error(heads)
	}
	if rows := b.text(`document.querySelector('#numbers table').textContent`); !strings.Contains(rows, "259") {
		b.t.Error(rows)
	}
	b.look("light", 400)
	b.until(`[...document.querySelectorAll('.plot.small canvas')].every(c => c.clientWidth < 400)`)
	b.look("light", 1280)
}

// leadsOn: a URL of something that does not exist reports this, and offers a choice.
func leadsOn(b *browser, p *page) {
	for url, says := range map[string]string{
		"/explore?archive=gone": "gone is not served here", "/scorecard?archive=gone": "gone is not served here", "/loads?archive=gone": "gone is not served here",
		"/live?folder=nix": "No run nix is served here",
	} {
		b.open(p.URL + url)
		b.until(`document.getElementById('none')?.textContent.includes('` + says + `') && document.querySelectorAll('main select option').length > 1`)
	}
	b.open(p.URL + "/explore?archive=gone&line_type=NONE")
	b.text(`(() => { const e = document.getElementById('archive'); e.selectedIndex = 1; e.dispatchEvent(new Event('change')); })()`)
	b.until(`document.querySelector('#plot canvas') && !location.search.includes('gone')`)
}

// shares tests statement 20: of ten tabs three are live, and one stream feeds them. This remains
// true after the tab that reads it is closed.
func shares(b *browser, p *page) {
	b.open(p.URL + "/about")
	p.ended()
	f, err := run.Create(filepath.Join(filepath.Dir(p.file), "runs", "shared"), run.Run{ID: "shared", Workload: "met", Started: time.Now()})
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	var tabs []*browser
	var ends []func()
	for i := range 9 {
		tab := &browser{t: b.t}
		var end context.CancelFunc
		tab.ctx, end = chromedp.NewContext(b.ctx)
		ends, tabs = append(ends, end), append(tabs, tab)
		defer end()
		if i < 3 {
			tab.open(p.URL + "/live?folder=runs&name=shared")
		} else {
			tab.do(chromedp.Navigate(p.URL + "/about"))
		}
	}
	for step, first := range []int{0, 1} {
		if err := f.AddEvent(run.Event{Kind: run.StepEvent, Text: "asking", Done: int64(step) + 7, Total: 9}); err != nil {
			b.t.Fatal(err)
		}
		for _, tab := range tabs[first:3] {
			tab.until(fmt.Sprintf(`document.getElementById('band').textContent.includes('%d of 9')`, step+7))
		}
		if n := p.live.Load(); n != 1 {
			b.t.Errorf("%d streams", n)
		}
		ends[0]()
	}
	for _, end := range ends[1:3] {
		end()
	}
	p.ended()
}

// ended waits until all streams have ended, because the server notices a closed tab a little later.
func (p *page) ended() {
	for tries := 0; p.live.Load() > 0; tries++ {
		if tries == 2000 {
			p.t.Fatalf("%d streams after the last tab", p.live.Load())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// prints tests part of statement 24: one A4 page, black on white in any theme, with the legend, the
// question and the description of the data.
func prints(b *browser, p *page) {
	b.look("dark", 1280)
	b.open(p.URL + "/explore?" + explored + "&model=ECM")
	b.until(`document.querySelector('#plot canvas')`)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(func(o *page_.PrintToPDFParams) { o.PaperWidth, o.PaperHeight = 8.27, 11.69 }))
	if err != nil {
		b.t.Fatal(err)
	}
	if shots := os.Getenv("BAROGRAPH_SCREENSHOTS"); shots != "" {
		err = os.WriteFile(filepath.Join(shots, "explore.pdf"), pdf, 0o600)
	}
	if pages := strings.Count(string(pdf), "/Type /Page\n"); pages != 1 || err != nil {
		b.t.Errorf("%d pages, %v", pages, err)
	}
	b.text(`dispatchEvent(new Event('beforeprint'))`)
	if got := b.text(`getComputedStyle(document.body).color + (document.querySelector('#plot canvas').clientWidth < 720)`); got != "rgb(0, 0, 0)true" {
		b.t.Error(got)
	}
	b.text(`dispatchEvent(new Event('afterprint'))`)
	b.until(`document.querySelector('#plot canvas').clientWidth > 720`)
	b.look("light", 1280)
}

// reports tests the pages of a run and of a comparison: they are accessible. A comparison of things
// that are not comparable reports this.
func reports(b *browser, p *page) {
	for path, says := range map[string]string{"/runs/runs/measured/report.html": "WRONG", "/compare.html?run=runs%2Fmeasured&run=runs%2Fother": "VOID"} {
		b.look("light", 1280)
		b.do(chromedp.Navigate(p.URL+path), chromedp.Evaluate[chromedp.Void](axe+";0"))
		if text := b.text(`document.body.innerText`); !strings.Contains(text, says) {
			b.t.Errorf("%s does not say %s: %.500s", path, says, text)
		}
		for theme, width := range map[string]int64{"light": 1280, "dark": 400} {
			b.look(theme, width)
			if found := b.violations() + b.text(crowded); found != "" {
				b.t.Errorf("%s, %s, %d px:\n%s", path, theme, width, found)
			}
			if wide := b.text("document.documentElement.scrollWidth"); wide != fmt.Sprint(width) {
				b.t.Errorf("%s, %s: %s px wide", path, theme, wide)
			}
			b.shot(fmt.Sprintf("%s-%s-%d", strings.Trim(strings.ReplaceAll(path[:12], "/", ""), "."), theme, width))
		}
	}
	b.look("light", 1280)
}

// killRun starts a run in a folder and kills it with SIGKILL.
func killRun(t *testing.T, dir string) time.Time {
	c, _ := child(t, "run", dir)
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return time.Now()
}
