package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
)

// TestFigures measures statements 4, 5, 10, 15 and 16 against a page that runs,
// and prints what it finds: BAROGRAPH_SERVED is the URL that barograph serve printed.
// Statement 10 wants an archive of two models.
func TestFigures(t *testing.T) {
	served := os.Getenv("BAROGRAPH_SERVED")
	if served == "" {
		t.Skip("BAROGRAPH_SERVED names no page")
	}
	b := newBrowser(t)
	b.open(served)
	b.until(`document.querySelector('#plot canvas') && !document.querySelector('main[aria-busy]')`)
	base, _, _ := strings.Cut(served, "/?")
	t.Run("4 and 5", func(t *testing.T) {
		b.t = t
		figures(t, "facets after a choice, and curve after it", b.text(`(async () => {
			const facets = [], curves = [], boxes = () => [...document.querySelectorAll('fieldset input[id^=vx_mask-]')].filter(i => !i.disabled);
			document.getElementById('one-vx_mask')?.click();
			for (let i = 0; i < 51; i++) {
				await new Promise(done => { const wait = () => document.querySelector('main[aria-busy]') ? setTimeout(wait, 10) : done(); setTimeout(wait, 50); });
				const all = boxes(), began = performance.now();
				const drawn = new Promise(done => { const o = new MutationObserver(() => { if (document.querySelector('#plot canvas, #none')) { o.disconnect(); requestAnimationFrame(() => done(performance.now() - began)); } }); o.observe(document.getElementById('plot'), { childList: true, subtree: true }); });
				all[i % all.length].click();
				facets.push(performance.now() - began);
				curves.push(await drawn);
			}
			return JSON.stringify([facets.slice(1), curves.slice(1)]);
		})()`))
	})
	t.Run("15", func(t *testing.T) {
		b.t = t
		b.text(hundredThousand)
		figures(t, "100,000 points drawn, a hover, a zoom", b.text(`(async () => {
			const drawn = [], hover = [], zoom = [], frame = () => new Promise(requestAnimationFrame), plot = document.getElementById('plot');
			for (let i = 0; i < 5; i++) {
				const began = performance.now();
				document.querySelector('.legend input').click(); document.querySelector('.legend input').click();
				await frame();
				drawn.push((performance.now() - began) / 2);
			}
			const over = plot.querySelector('.u-over'), box = over.getBoundingClientRect();
			const mouse = (kind, x) => over.dispatchEvent(new MouseEvent(kind, { clientX: box.left + x, clientY: box.top + 50, bubbles: true, button: 0, view: window }));
			mouse('mouseenter', 5);
			for (let i = 0; i < 50; i++) { await frame(); const began = performance.now(); mouse('mousemove', 5 + i * 10); await Promise.resolve(); hover.push(performance.now() - began); }
			return JSON.stringify([drawn, hover]);
		})()`))
	})
	t.Run("10 and 16", func(t *testing.T) {
		client := &http.Client{Jar: &cookies{}}
		ask := func(ctx context.Context, path string) (took time.Duration, first time.Duration, n int) {
			began := time.Now()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
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
				if n += strings.Count(string(buf[:k]), "\n"); first == 0 && n > 0 {
					first = time.Since(began)
				}
				if err != nil {
					return time.Since(began), first, n
				}
			}
		}
		ask(t.Context(), "/?"+strings.SplitN(served, "?", 2)[1])
		v, err := url.ParseQuery(b.text(`location.search.slice(1)`))
		if err != nil {
			t.Fatal(err)
		}
		where := url.Values{"archive": v["archive"], "design": v["design"], "subset": v["subset"], "line_type": {"SL1L2"}, "candidate": {"ECM"}, "baseline": {"GFS"}, "fcst_lev": {"P500", "P850"}, "vx_mask": {"G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA"}}
		took, first, rows := ask(t.Context(), "/api/v1/scorecard?"+where.Encode())
		t.Logf("scorecard: %d rows in %.2f s, the first after %.2f s", rows, took.Seconds(), first.Seconds())
		heavy := url.Values{"archive": v["archive"], "design": v["design"], "subset": v["subset"], "line_type": {"SL1L2"}}
		light := url.Values{"archive": v["archive"], "design": v["design"], "subset": v["subset"], "line_type": {"SAL1L2"}, "fcst_var": {"HGT"}, "fcst_lev": {"P500"}, "vx_mask": {"G2/NHX"}}
		alone, _, _ := ask(t.Context(), "/api/v1/curve?"+light.Encode())
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 4 {
			go ask(ctx, fmt.Sprintf("/api/v1/curve?%s&valid_hour=%d", heavy.Encode(), 6*i))
		}
		time.Sleep(300 * time.Millisecond)
		cancel()
		light.Set("valid_hour", "0")
		after, _, _ := ask(t.Context(), "/api/v1/curve?"+light.Encode())
		t.Logf("a light question: %d ms alone, %d ms right after four heavy ones were cancelled, which held all places", alone.Milliseconds(), after.Milliseconds())
	})
}

// hundredThousand makes the next answer one of 100,000 points of a million.
const hundredThousand = `(async () => {
	const real = window.fetch, n = 100000;
	window.fetch = async (path, o) => {
		if (!String(path).includes('/curve?')) return real(path, o);
		const d = await (await real(path, o)).json(), x = Array.from({ length: n }, (_, i) => 1.7e9 + 60 * i), y = x.map((_, i) => Math.sin(i / 900) + Math.sin(i * 7.1));
		d.curves.axis = 'fcst_valid_beg'; d.curves.series = [{ name: 'many', x, y, n: x.map(() => 1), low: x.map(() => null), high: x.map(() => null) }];
		d.shown = n; d.points = 10 * n;
		return new Response(JSON.stringify(d), { headers: { 'Content-Type': 'application/json' } });
	};
	(document.getElementById('one-vx_mask') ?? document.querySelector('fieldset input:not(:disabled)')).click();
	await new Promise(done => { const wait = () => document.querySelector('main[aria-busy]') || !document.getElementById('foot').textContent.includes('shown 100,000') ? setTimeout(wait, 20) : done(); wait(); });
	window.fetch = real;
})()`

// figures prints the median and the 95th percentile of lists of ms.
func figures(t *testing.T, what, lists string) {
	t.Helper()
	var all [][]float64
	if err := json.Unmarshal([]byte(lists), &all); err != nil {
		t.Fatal(lists, err)
	}
	for _, ms := range all {
		slices.Sort(ms)
		t.Logf("%s: median %.1f ms, 95 %% %.1f ms, of %d", what, ms[len(ms)/2], ms[len(ms)*95/100], len(ms))
	}
}

// TestViewers measures the second half of statement 18, and prints it: how long
// the same questions of a run take while nobody looks, and while three do.
// BAROGRAPH_SERVED of any value asks for it.
func TestViewers(t *testing.T) {
	if os.Getenv("BAROGRAPH_SERVED") == "" {
		t.Skip("BAROGRAPH_SERVED asks for no figures")
	}
	dir := t.TempDir()
	file, runs := loaded(t, dir), filepath.Join(dir, "runs")
	f := recorded(t, runs)
	defer f.Close()
	p := newPage(t, runs)
	v, err := url.ParseQuery(strings.Replace(where, "archive=two.pebble&design=keyvalue&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	q, err := question.FromQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	q.Subset = "archive"
	records := record.Digest{Hi: 1, Records: 1}
	proof, err := answer.CompareRecords(records, records)
	if err != nil {
		t.Fatal(err)
	}
	var times [2][]float64 // alone, and with three viewers
	open(t, "pebble:"+file, engine.Options{ReadOnly: true}, func(a engine.Archive) {
		for block := range 100 {
			look, stop := context.WithCancel(t.Context())
			for range 3 * (block % 2) {
				r := p.begin(p.client, http.MethodGet, "/api/v1/events?folder=runs&name=first", func(r *http.Request) { *r = *r.WithContext(look) })
				go func() { _, _ = io.Copy(io.Discard, r.Body); _ = r.Body.Close() }()
			}
			for rep := range 40 {
				began := time.Now()
				query, err := a.Phrase(t.Context(), q, "keys-native")
				var b answer.Builder
				if err == nil {
					err = a.Ask(t.Context(), query, &b)
				}
				took := time.Since(began)
				s := run.Sample{Cell: run.AnswerCell("pebble", "keyvalue", "one", "keys-native"), Phase: run.Warm, Rep: rep}
				if err := errors.Join(err, f.Add(s.Judge(&run.Measured{Total: took}, proof, nil))); err != nil {
					t.Fatal(err)
				}
				times[block%2] = append(times[block%2], took.Seconds()*1e3)
			}
			stop()
		}
	})
	c := measure.Compare(times[1], times[0], 1)
	t.Logf("a question takes %.3f ms alone and %.3f ms with three viewers: %.4f of it; rank test p %.2g, of %d and %d", measure.Median(times[0]), measure.Median(times[1]), c.Ratio, c.P, len(times[0]), len(times[1]))
}
