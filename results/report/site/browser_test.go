package site_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/report/site"
	"github.com/barograph/barograph/results/run"
)

// browser is a tab of the distribution's Chromium. It records every error message and every request of the page.
type browser struct {
	testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// newBrowser starts a browser. If none is installed, it skips the test, or fails it with BAROGRAPH_REQUIRE=browser.
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
	o := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 900), chromedp.Flag("disable-dev-shm-usage", true))
	all, stop := chromedp.NewExecAllocator(t.Context(), o...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(end)
	b := &browser{TB: t, ctx: ctx}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, failed := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		_, also := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return errors.Join(chromedp.Listen(ctx, b.record), failed, also)
	}))
	return b
}

func (b *browser) record(e any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("%+v %+v", *e.ExceptionDetails, e.ExceptionDetails.Exception))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// text returns the value of an expression.
func (b *browser) text(expression string) string {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`Promise.resolve(`+expression+`).then(String)`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%.200s: %v", expression, err)
	}
	return out
}

// until polls an expression until it is true.
func (b *browser) until(expression string) {
	b.Helper()
	for late := time.Now().Add(time.Minute); b.text("!!("+expression+")") != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			b.Fatalf("%s is not true; the text of the page is: %.600s", expression, b.text("document.body.innerText"))
		}
	}
}

// open opens the page with a fragment, anew.
func (b *browser) open(path, fragment string) {
	b.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+path+"#"+fragment))
	b.until(`document.body.dataset.drawn`)
}

// look sets the theme of the system and the width of the window.
func (b *browser) look(theme string, width int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: theme,
		}}})
		return err
	}))
}

// shot saves a picture of the page in the folder BAROGRAPH_SCREENSHOTS.
func (b *browser) shot(name string) {
	shots := os.Getenv("BAROGRAPH_SCREENSHOTS")
	if shots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err = errors.Join(err, os.WriteFile(filepath.Join(shots, name+".png"), png, 0o600)); err != nil {
		b.Fatal(err)
	}
}

// layoutProblems lists controls that a finger cannot hit, and whether the page is wider than the window.
const layoutProblems = `(() => {
	const controls = [...document.querySelectorAll('button, select, input, summary')].filter(e => e.checkVisibility());
	const out = controls.map(e => [e, (e.closest('label') ?? e).getBoundingClientRect()]).
		filter(([, r]) => r.width < 24 || r.height < 24).
		map(([e, r]) => 'too small: ' + e.outerHTML.slice(0, 90) + ' ' + r.width + ' x ' + r.height);
	const width = document.documentElement.scrollWidth;
	if (width > innerWidth) out.push('the page is ' + width + ' px wide, the window ' + innerWidth);
	return out.slice(0, 8).join('\n');
})()`

// firstPaint returns the time of the first paint in ms.
const firstPaint = `new Promise(r => {
	const report = l => l.getEntriesByName('first-contentful-paint').forEach(e => r(Math.round(e.startTime)));
	new PerformanceObserver(report).observe({ type: 'paint', buffered: true });
	setTimeout(() => r('more than 5000'), 5000);
})`

// violations returns what axe reports about the accessibility of the page.
const violations = `axe.run({ resultTypes: ['violations'] }).then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' +
	v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')).join(' ## '))`

// TestBrowser reads the page over more than thirty run folders as a reader would.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: the page has no Go of its own")
	}
	b := newBrowser(t)
	both, second := create(t, "both", metRun("two/493520")), create(t, "second", metRun("two/493520"))
	for _, f := range []*run.Folder{both, second} {
		add(t, f, run.MetCell("duckdb", "wide", "test_2", "sql"), 1, 1, nil)
	}
	add(t, both, run.MetCell("duckdb", "wide", "test_1", "sql"), 1, 1, nil)
	dirs := append(keptFolders(t), metFolder(t), hostileFolder(t), postFolder(t), ownFolder(t), scanFolder(t),
		closeFolder(t, both), closeFolder(t, second))
	s, err := site.Read(dirs)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) < 30 {
		t.Errorf("%d run folders, want 30", len(s.Runs))
	}
	path, err := s.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile("../../../serve/testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	madeKey, dayKey, hostileKey := groupOf(t, s, "made"), groupOf(t, s, "day"), groupOf(t, s, "hostile")
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			b.look(theme, width)
			for _, g := range s.Groups {
				// The test reads two groups in every width and theme, and of the others one of each study once.
				isFirst := width == 1280 && theme == "light"
				isExample := (g.Key == dayKey || g.Study != "met") && !strings.HasSuffix(g.Key, "/cold") &&
					(g.Study != "ycsb" || strings.Contains(g.Name, "30,000"))
				if isRead := g.Key == madeKey || g.Key == hostileKey || isFirst && isExample; !isRead {
					continue
				}
				b.open(path, "workload="+url.QueryEscape(g.Study)+"&data="+url.QueryEscape(g.Key))
				b.text(`document.querySelectorAll('.open').length && document.querySelector('.open').click()`)
				if theme == "light" && width == 1280 {
					t.Logf("%s, %s: first paint after %s ms", g.Study, g.Name, b.text(firstPaint))
				}
				b.do(chromedp.Evaluate[chromedp.Void](string(axe) + ";0"))
				if v := b.text(violations); v != "" {
					t.Errorf("%s, %s %d px: axe: %s", g.Name, theme, width, v)
				}
				if v := b.text(layoutProblems); v != "" {
					t.Errorf("%s, %s %d px: %s", g.Name, theme, width, v)
				}
				b.shot(fmt.Sprintf("%s-%s-%d-%s", strings.NewReplacer(" ", "-", ",", "").Replace(g.Study),
					strings.ReplaceAll(g.Key, "/", "_"), width, theme))
			}
		}
	}
	b.look("light", 1280)

	t.Run("a wrong, failed, incomplete or excluded result is shown and not ranked", func(t *testing.T) {
		b.TB = t
		b.open(path, "workload=met&data="+url.QueryEscape(madeKey))
		for row, want := range map[string]string{
			"sqlite · normalized · sql": "test_2 is wrong", "mongodb · document · keys": "test_1 is incomplete",
			"dry · memory · recall": "client overhead", "valkey · document · keys": "a stand-in",
		} {
			got := b.text(fmt.Sprintf(
				`[...document.querySelectorAll('#ratios tbody tr')].filter(r => r.dataset.key.endsWith(%q)).
					map(r => r.dataset.ranked + ' ' + r.innerText)[0]`,
				row))
			if !strings.HasPrefix(got, "false") || !strings.Contains(got, want) {
				t.Errorf("%s is %q, want: not ranked, %s", row, got, want)
			}
		}
		if bad := b.text(`[...document.querySelectorAll('#ratios td.bad')].map(e => e.innerText).join()`); !strings.Contains(bad, "wrong") ||
			!strings.Contains(bad, "failed") {
			t.Errorf("the wrong and failed cells are %q", bad)
		}
		if dots := b.text(`[...document.querySelectorAll('circle')].map(e => e.dataset.key).join()`); strings.Contains(dots, "sqlite") ||
			strings.Contains(dots, "dry") || !strings.Contains(dots, "duckdb") {
			t.Errorf("the picture has the dots %q", dots)
		}
		last := b.text(`[...document.querySelectorAll('#ratios tbody tr')].map(r => r.dataset.ranked).join()`)
		if strings.Contains(last, "false,true") {
			t.Errorf("an unranked row is before a ranked one: %s", last)
		}
	})
	t.Run("columns that count for the mean come first", func(t *testing.T) {
		b.TB = t
		b.open(path, "workload=met&data="+url.QueryEscape(groupOf(t, s, "both")))
		heads := b.text(`[...document.querySelectorAll('#ratios thead th')].slice(2).
			map(e => e.innerText.replace(/\s+/g, ' ')).join('; ')`)
		isOrdered := strings.HasPrefix(heads, "test_2") && strings.Contains(heads, "; test_1")
		if !isOrdered || !strings.Contains(heads, "does not count: 1 run") {
			t.Errorf("the columns are %s", heads)
		}
	})
	t.Run("the dots are those of the report's first picture", func(t *testing.T) {
		b.TB = t
		dir := "../../advise/testdata/day"
		study, err := advise.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		choices := study.Advise(advise.Defaults()).Choices
		b.open(path, "workload=met&data="+url.QueryEscape(dayKey)+"&run=day")
		var dots []struct{ Key, Query, Load, Bytes string }
		if err := json.Unmarshal(
			[]byte(b.text(`JSON.stringify([...document.querySelectorAll('circle')].map(e => ({...e.dataset})))`)), &dots); err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			if c.Excluded != "" {
				continue
			}
			i := slices.IndexFunc(dots, func(d struct{ Key, Query, Load, Bytes string }) bool {
				return d.Key == fmt.Sprintf("day: %s · %s · %s", c.Engine, c.Design, c.Flavour)
			})
			if i < 0 {
				t.Errorf("%s %s %s has no dot in %v", c.Engine, c.Design, c.Flavour, dots)
				continue
			}
			for _, x := range []struct {
				name, got string
				want      float64
			}{
				{"query", dots[i].Query, c.Figures[advise.QueryTime].Value * 1e3},
				{"load", dots[i].Load, c.Figures[advise.FullLoad].Value},
				{"bytes", dots[i].Bytes, c.Figures[advise.Disk].Value},
			} {
				var got float64
				if _, err := fmt.Sscan(x.got, &got); err != nil || math.Abs(got/x.want-1) > 0.001 {
					t.Errorf("%s: the %s of the dot is %s, of the report %g", dots[i].Key, x.name, x.got, x.want)
				}
			}
		}
	})
	t.Run("the address restores the state", func(t *testing.T) {
		b.TB = t
		b.open(path, "workload=met&data="+url.QueryEscape(madeKey))
		for _, click := range []string{
			`[data-focus="enginesqlite"]`, `[data-focus="engineduckdb"]`, `[data-focus="qtest_2"]`, `[data-focus="sorttest_1"]`,
			`[data-focus="sorttest_1"]`, `.open`,
		} {
			b.text(`document.querySelector(` + fmt.Sprintf("%q", click) + `).click()`)
		}
		b.text(`(byId('theme').value = 'dark', byId('theme').dispatchEvent(new Event('change')))`)
		state := `[document.documentElement.dataset.theme, document.querySelector('#ratios').innerText,
			document.querySelector('#facets').innerText, [...document.querySelectorAll('input')].map(e => e.checked)].join()`
		before, address := b.text(state), b.text(`location.hash.slice(1)`)
		if !strings.HasPrefix(before, "dark") || strings.Contains(before, "test_2") ||
			strings.Contains(before, "mongodb · ") || !strings.Contains(before, "Run folder") {
			t.Errorf("the clicks lead to %s", before)
		}
		b.open(path, address)
		if after := b.text(state); after != before {
			t.Errorf("%s restores\n%s\nnot\n%s", address, after, before)
		}
	})
	t.Run("a query, its plan and the settings open, and nothing in them is markup", func(t *testing.T) {
		b.TB = t
		b.open(path, "workload=met&data="+url.QueryEscape(hostileKey))
		b.text(`document.querySelectorAll('.open').forEach((_, i) => document.querySelectorAll('.open')[i].click())`)
		b.text(`document.querySelectorAll('.about details').forEach(d => d.open = true)`)
		b.until(`(t => t.includes('SELECT 1 -- </script>') && t.includes('-- plan') && t.includes('cache = '))(
			[...document.querySelectorAll('.about')].map(e => e.innerText).join())`)
		if got := b.text(`document.querySelectorAll('img, b script, main script').length + ' ' + (window.pwned ?? 'safe')`); got != "0 safe" {
			t.Errorf("markup of a run folder became part of the page: %s", got)
		}
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://"+path) && !strings.HasPrefix(r, "about:") && r != "data:," {
			t.Errorf("the page requested %s", r)
		}
	}
	if len(b.complaints) > 0 {
		t.Errorf("the browser complains: %v", b.complaints)
	}
}
