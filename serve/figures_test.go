package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// BenchmarkPage measures statements 1, 4, 5, 10, 15 and 16: the program itself in Chromium, serving
// each *.duckdb of the folder BAROGRAPH_PAGES. docs/results/serve.md describes how these archives
// were made. Each figure is a 95th percentile in ms; the log gives the number of measurements.
func BenchmarkPage(b *testing.B) {
	dir := os.Getenv("BAROGRAPH_PAGES")
	archives, err := filepath.Glob(filepath.Join(dir, "*.duckdb"))
	if dir == "" || len(archives) == 0 || err != nil {
		b.Skip("BAROGRAPH_PAGES names no folder with archives, *.duckdb")
	}
	program := filepath.Join(b.TempDir(), "barograph")
	if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, "../cmd/barograph").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, text)
	}
	for _, archive := range archives {
		b.Run(strings.TrimSuffix(filepath.Base(archive), ".duckdb"), func(b *testing.B) {
			var starts []float64
			var url string
			for range 5 {
				began := time.Now()
				url = startServer(b, program, archive)
				starts = append(starts, time.Since(began).Seconds()*1e3)
			}
			reportTimes(b, "page", starts)
			p := newBrowser(b)
			p.open(url)
			p.until(`document.querySelector('#plot canvas') && !document.querySelector('main[aria-busy]')`)
			asksMuch(b, p)
			base, _, _ := strings.Cut(url, "/?")
			scoresAndCancels(b, p, base, url)
			p.open(url)
			p.until(`document.querySelector('#plot canvas') && !document.querySelector('main[aria-busy]')`)
			drawsMuch(b, p)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// startServer starts the program and returns its URL when it answers.
func startServer(b *testing.B, program, archive string) string {
	c := exec.CommandContext(b.Context(), program, "serve", archive)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(line, err)
	}
	url := strings.TrimSpace(line)
	if _, _, n := fetch(b.Context(), &http.Client{Jar: &cookies{}}, url); n == 0 {
		b.Fatal("no page")
	}
	return url
}

// reportTimes reports the 95th percentile of times, and logs it with the median.
func reportTimes(b *testing.B, what string, ms []float64) {
	slices.Sort(ms)
	p95 := ms[min(len(ms)*95/100, len(ms)-1)]
	b.Logf("%s: median %.1f ms, 95 %% %.1f ms, of %d", what, ms[len(ms)/2], p95, len(ms))
	b.ReportMetric(p95, "ms/"+what)
}

// reportLists reports each of several lists of times that the page measured.
func reportLists(b *testing.B, lists string, what ...string) {
	var all [][]float64
	if err := json.Unmarshal([]byte(lists), &all); err != nil {
		b.Fatal(lists, err)
	}
	for i, ms := range all {
		reportTimes(b, what[i], ms)
	}
}

// asksMuch measures statements 4 and 5: it changes the lead along the valid times, and the hour
// along the leads. It times the dependent selectors and the new curve.
func asksMuch(b *testing.B, p *browser) {
	for _, of := range [][3]string{{"fcst_valid_beg", "fcst_lead", "6 * i"}, {"fcst_lead", "valid_hour", "['0', '6', '12', '18', '0,6', '0,12', '0,18', '6,12', '6,18', '12,18', '0,6,12', '0,6,18'][i % 12]"}} {
		reportLists(b, p.text(`(async () => {
			const facets = [], curves = [], change = (id, v) => { const e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event('change')); };
			const idle = () => new Promise(done => { const wait = () => document.querySelector('main[aria-busy]') ? setTimeout(wait, 10) : done(); setTimeout(wait, 50); });
			change('fcst_lead', ''); await idle(); change('valid_hour', ''); await idle(); change('axis', '`+of[0]+`'); await idle();
			for (let i = 0; i < 51; i++) {
				await idle();
				const began = performance.now();
				const drawn = new Promise(done => { const o = new MutationObserver(() => { if (document.querySelector('#plot canvas, #none')) { o.disconnect(); requestAnimationFrame(() => done(performance.now() - began)); } }); o.observe(document.getElementById('plot'), { childList: true, subtree: true }); });
				change('`+of[1]+`', String(`+of[2]+`));
				facets.push(performance.now() - began);
				curves.push(await drawn);
			}
			return JSON.stringify([facets.slice(1), curves.slice(1)]);
		})()`), "facets-"+of[1], "curve-"+of[1])
	}
}

// drawsMuch measures statement 15.
func drawsMuch(b *testing.B, p *browser) {
	p.text(hundredThousand)
	reportLists(b, p.text(`(async () => {
		const drawn = [], hover = [], zoom = [], frame = () => new Promise(requestAnimationFrame), plot = document.getElementById('plot');
		for (let i = 0; i < 20; i++) {
			const began = performance.now();
			document.querySelector('.legend input').click(); document.querySelector('.legend input').click();
			await frame();
			drawn.push((performance.now() - began) / 2);
		}
		const over = () => plot.querySelector('.u-over'), box = over().getBoundingClientRect();
		const mouse = (kind, x, on) => (on ?? over()).dispatchEvent(new MouseEvent(kind, { clientX: box.left + x, clientY: box.top + 50, bubbles: true, button: 0, movementX: 1, view: window })); // uPlot leaves out moves of nothing
		mouse('mouseenter', 5);
		for (let i = 0; i < 50; i++) { await frame(); const began = performance.now(); mouse('mousemove', 5 + i * 10); await Promise.resolve(); hover.push(performance.now() - began); }
		for (let i = 0; i < 50; i++) {
			await frame();
			mouse('mousedown', 50 + i); mouse('mousemove', 400 + i);
			const began = performance.now();
			mouse('mouseup', 400 + i, document);
			await Promise.resolve();
			zoom.push(performance.now() - began);
			plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
		}
		return JSON.stringify([drawn, hover, zoom]);
	})()`), "drawn", "hover", "zoom")
}

// fetch reads a URL. It returns the total time, the time to the first line, and the number of
// lines.
func fetch(ctx context.Context, client *http.Client, url string) (took, first time.Duration, lines int) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, 0
	}
	resp, err := client.Do(r)
	if err != nil { // cancelled
		return time.Since(began), 0, 0
	}
	defer resp.Body.Close()
	buf := make([]byte, 1<<16)
	for {
		k, err := resp.Body.Read(buf)
		if lines += strings.Count(string(buf[:k]), "\n"); first == 0 && lines > 0 {
			first = time.Since(began)
		}
		if err != nil {
			return time.Since(began), first, lines
		}
	}
}

// scoresAndCancels measures statements 10 and 16.
func scoresAndCancels(b *testing.B, p *browser, base, served string) {
	client := &http.Client{Jar: &cookies{}}
	fetch(b.Context(), client, served)
	v, err := url.ParseQuery(p.text(`location.search.slice(1)`))
	if err != nil {
		b.Fatal(err)
	}
	asked := func(path, lineType string, more url.Values) string {
		where := url.Values{"archive": v["archive"], "design": v["design"], "subset": v["subset"], "line_type": {lineType}}
		maps.Copy(where, more)
		return base + "/api/v1/" + path + "?" + where.Encode()
	}
	took, first, rows := fetch(b.Context(), client, asked("scorecard", "SL1L2", url.Values{"candidate": {"ECM"}, "baseline": {"GFS"}, "fcst_lev": {"P500", "P850"}, "vx_mask": {"G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA"}}))
	b.Logf("scorecard: %d rows in %.2f s, the first after %.2f s", rows, took.Seconds(), first.Seconds())
	b.ReportMetric(took.Seconds()*1e3, "ms/scorecard")
	light := url.Values{"fcst_var": {"HGT"}, "fcst_lev": {"P500"}, "vx_mask": {"G2/NHX"}}
	var late []float64
	for i := range 5 {
		light.Set("fcst_lead", fmt.Sprint(6+12*i))
		alone, _, _ := fetch(b.Context(), client, asked("curve", "SAL1L2", light))
		ctx, cancel := context.WithCancel(b.Context())
		for k := range 4 {
			go fetch(ctx, client, asked("curve", "SL1L2", url.Values{"valid_hour": {fmt.Sprint(6 * k)}, "seed": {fmt.Sprint(i)}}))
		}
		time.Sleep(300 * time.Millisecond)
		cancel()
		light.Set("fcst_lead", fmt.Sprint(12+12*i))
		after, _, _ := fetch(b.Context(), client, asked("curve", "SAL1L2", light))
		late = append(late, (after-alone).Seconds()*1e3)
	}
	reportTimes(b, "later-after-cancelled", late)
}

// hundredThousand replaces the next response by 100,000 points of a million.
const hundredThousand = `(async () => {
	const real = window.fetch, n = 100000;
	window.fetch = async (path, o) => {
		if (!String(path).includes('/curve?')) return real(path, o);
		const d = await (await real(path, o)).json(), x = Array.from({ length: n }, (_, i) => 1.7e9 + 60 * i), y = x.map((_, i) => Math.sin(i / 900) + Math.sin(i * 7.1));
		d.curves = { case: '', title: 'many points', stat: 'ME', unit: '1', axis: 'fcst_valid_beg', note: '', series: [{ name: 'many', x, y, n: x.map(() => 1), low: x.map(() => null), high: x.map(() => null) }] }; d.absent = '';
		d.shown = n; d.points = 10 * n;
		return new Response(JSON.stringify(d), { headers: { 'Content-Type': 'application/json' } });
	};
	(document.getElementById('one-vx_mask') ?? document.querySelector('fieldset input:not(:disabled)')).click();
	await new Promise(done => { const wait = () => document.querySelector('main[aria-busy]') || !document.getElementById('foot').textContent.includes('shown 100,000') ? setTimeout(wait, 20) : done(); wait(); });
	window.fetch = real;
})()`

// TestViewers measures the second half of statement 18, and logs it: the time of the same questions
// of a run without viewers and with three. It runs if BAROGRAPH_PAGES is set.
func TestViewers(t *testing.T) {
	if os.Getenv("BAROGRAPH_PAGES") == "" {
		t.Skip("BAROGRAPH_PAGES asks for no figures")
	}
	dir := t.TempDir()
	file, runs := loadArchive(t, dir), filepath.Join(dir, "runs")
	f := startRun(t, runs)
	defer f.Close()
	_, _, served := childWithOutput(t, "serve", runs) // a separate process, like the viewers
	base, _, _ := strings.Cut(served, "/?")
	v, err := url.ParseQuery(strings.Replace(where, "archive=two.pebble&design=keyvalue&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	q, err := question.FromURLQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	q.Subset = "archive"
	records := record.Digest{Hi: 1, Records: 1}
	proof, err := answer.CompareRecords(records, records)
	if err != nil {
		t.Fatal(err)
	}
	var times [2][]float64 // without viewers, and with three
	open(t, "pebble:"+file, engine.Options{ReadOnly: true}, func(a archive.Archive) {
		for block := range 100 {
			var viewers []io.Closer
			for range 3 * (block % 2) {
				_, in := child(t, "view", served+" "+base+"/api/v1/events?folder=runs&name=first")
				viewers = append(viewers, in)
			}
			time.Sleep(500 * time.Millisecond) // until the viewers have read the existing events
			for rep := range 40 {
				began := time.Now()
				query, err := a.Phrase(t.Context(), q, "keys-native")
				var b answer.Builder
				if err == nil {
					err = a.Ask(t.Context(), query, &b)
				}
				took := time.Since(began)
				s := run.Sample{Cell: run.MetCell("pebble", "keyvalue", "one", "keys-native"), Phase: run.Warm, Rep: rep}
				if err := errors.Join(err, f.Add(s.Judge(&run.Measured{Total: took}, proof, nil))); err != nil {
					t.Fatal(err)
				}
				times[block%2] = append(times[block%2], took.Seconds()*1e3)
			}
			for _, v := range viewers {
				_ = v.Close() // ends the viewer
			}
		}
	})
	c := measure.Compare(times[1], times[0], 1)
	t.Logf("a question takes %.3f ms alone and %.3f ms with three viewers: %.4f of it; rank test p %.2g, of %d and %d", measure.Median(times[0]), measure.Median(times[1]), c.Ratio, c.P, len(times[0]), len(times[1]))
}
