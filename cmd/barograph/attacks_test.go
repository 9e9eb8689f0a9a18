package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/serve"
)

// attackedEngines are the engines of the attacks on commands. The enginetest suite attacks the other ones, too.
func attackedEngines() []string {
	return []string{"duckdb", "sqlite", "pebble", "clickhouse", "postgres", "mariadb", "valkey"}
}

// attackDesigns runs an attack on every design of the engines. If enginetest.EnvSoak is not set, it uses only the first
// design of each, and skips ClickHouse, whose library starts for each command. Each attack adds its outcome to the file
// that enginetest.EnvAttacks names.
func attackDesigns(t *testing.T, name string, engines []string, run func(t *testing.T, v *attackedArchive)) {
	t.Helper()
	plainRunOnly(t)
	data, long := fewRecords(t), anomalyFile(t)
	for _, scheme := range engines {
		d, _ := all.Registry().Find(scheme)
		for i, design := range slices.Sorted(maps.Keys(archive.OfferOf(d).Designs)) {
			t.Run(scheme+" "+string(design), func(t *testing.T) {
				if (i > 0 || scheme == "clickhouse") && !enginetest.Nightly() {
					t.Skip("NOT TESTED by day, but at night (" + enginetest.EnvSoak + "=1)")
				}
				if scheme == "clickhouse" {
					enginetest.Installed(t, *d)
				}
				dir := t.TempDir()
				v := &attackedArchive{design: string(design)}
				v.victim = victim{engine: scheme, dir: dir, path: filepath.Join(dir, "a.db"), data: data, long: long}
				v.url = scheme + ":" + v.path
				if d.Place != engine.Embedded {
					v.url, v.path = sharedPlace(t, scheme), ""
				}
				v.Attack = enginetest.Attacked(t, scheme, string(design), name)
				v.random = rand.New(rand.NewPCG(v.Seed, 0)) //nolint:gosec // a test's
				run(t, v)
			})
		}
	}
}

// attackedArchive is the archive of an attack, and its record.
type attackedArchive struct {
	victim
	*enginetest.Attack
	design string
	random *rand.Rand
}

// pause waits for a random part of d.
func (v *attackedArchive) pause(d time.Duration) {
	time.Sleep(time.Duration(v.random.Int64N(int64(d))))
}

// startLoad starts a load in a process of its own.
func (v *attackedArchive) startLoad(t *testing.T, args ...string) *shellProcess {
	t.Helper()
	return startShell(t, plainCommand, append([]string{"load", "--engine", v.url, "--design", v.design}, args...)...)
}

// times and paths differ between two runs of a command.
var variable = regexp.MustCompile(`/\S*/|\d+(\.\d+)?m?s|process \d+|pid \d+|[0-9a-f]{16}`)

// outcome describes the end of a command: complete, or its status and its last line without names of this run.
func (v *attackedArchive) outcome(o ending) string {
	if o.status == 0 {
		return "complete"
	}
	text := strings.TrimSpace(o.text)
	return fmt.Sprintf("refused with status %d (%s)", o.status, variable.ReplaceAllString(text[strings.LastIndexByte(text, '\n')+1:], "…"))
}

// served is a page over archives. It serves in this process.
func served(t *testing.T, places ...string) (get func(path string) ending, end func()) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s, err := serve.New(serve.Options{Registry: all.Registry(), Host: h.Listener.Addr().String()}, places...)
	check(t, err)
	h.Config.Handler = s.Handler()
	h.Start()
	jar, _ := cookiejar.New(nil) // it never fails
	client := &http.Client{Jar: jar}
	fetch := func(url string) ending {
		reply, err := client.Get(url) //nolint:noctx // it is our own
		if err != nil {
			return ending{-1, err.Error()}
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			return ending{-1, err.Error()}
		}
		return ending{reply.StatusCode, string(text)}
	}
	fetch(s.URL())
	return func(path string) ending { return fetch(h.URL + path) }, func() { h.Close(); s.Close() }
}

// curveURL is a question to the page; the text of its result has only the values.
func curveURL(name, design string) string {
	return "/api/v1/curve.csv?archive=" + name + "&design=" + design + "&subset=archive&line_type=SAL1L2&axis=fcst_lead&fcst_var=HGT"
}

// TestTwoLoads: two processes load the same files into a new archive, in another order and at random moments. Each
// stores its files, or is refused by name. The next load completes the archive.
func TestTwoLoads(t *testing.T) {
	attackDesigns(t, "two loads of the same files", attackedEngines(), func(t *testing.T, v *attackedArchive) {
		first := v.startLoad(t, "--window", "20", v.data, v.long) // many commits
		v.pause(100 * time.Millisecond)
		second := v.startLoad(t, "--window", "20", v.long, v.data)
		for _, s := range []*shellProcess{first, second} {
			o := s.wait(t)
			if v.Count(v.outcome(o)); o.status != 0 {
				refused(t, o, "", 1, 5)
			}
		}
		must(t, "load", v.data, v.long, "--engine", v.url, "--design", v.design)
		v.intact(t, v.data, v.long)
	})
}

// TestLoadWhileServing: a page answers a question again and again while another process loads a second subset. Every
// reply has the rows from before the load, or reports why there are none. The load completes.
func TestLoadWhileServing(t *testing.T) {
	attackDesigns(t, "load while serving", attackedEngines(), func(t *testing.T, v *attackedArchive) {
		must(t, "load", v.data, "--engine", v.url, "--design", v.design)
		get, end := served(t, "a="+v.url)
		defer end()
		want := get(curveURL("a", v.design))
		if want.status != http.StatusOK || strings.Count(want.text, "\n") < 2 {
			t.Fatalf("before the load: %d: %s", want.status, want.text)
		}
		s := v.startLoad(t, v.long, "--subset", "other", "--window", "500")
		for loading := true; loading; {
			v.pause(50 * time.Millisecond)
			select {
			case <-s.done:
				loading = false
			default:
			}
			switch got := get(curveURL("a", v.design)); {
			case got == want:
				v.Count("the same rows")
			case got.status != http.StatusOK && strings.Contains(got.text, "loaded"):
				v.Count(v.outcome(got))
			default:
				t.Errorf("during the load: %d: %s", got.status, firstLines(got.text))
			}
		}
		if o := s.wait(t); o.status != 0 {
			t.Errorf("the load: status %d\n%s", o.status, o.text)
		}
		if got := get(curveURL("a", v.design)); got != want {
			t.Errorf("after the load: %d: %s", got.status, firstLines(got.text))
		}
		end()
		v.intact(t)
		must(t, "verify", v.url, "--subset", "other", v.long)
	})
}

// TestReplacedWhileServed: another archive takes the place of one that a page has open. The page answers with the rows
// of one of the two archives, or reports that the archive was replaced, and soon with those of the new one. Neither
// question nor end of the page changes a byte of the two archives.
func TestReplacedWhileServed(t *testing.T) {
	attackDesigns(t, "archive replaced while it is served", strings.Fields(embedded), func(t *testing.T, v *attackedArchive) {
		must(t, "load", v.data, "--engine", v.url, "--design", v.design)
		other, was := filepath.Join(v.dir, "other.db"), filepath.Join(v.dir, "was.db")
		must(t, "load", v.long, "--engine", v.engine+":"+other, "--design", v.design)
		get, end := served(t, "other="+v.engine+":"+other)
		want := get(curveURL("other", v.design))
		end()
		get, end = served(t, "a="+v.url)
		defer end()
		old := get(curveURL("a", v.design))
		if old.status != http.StatusOK || want.status != http.StatusOK || old == want {
			t.Fatalf("before: %d: %s\n%d: %s", old.status, old.text, want.status, want.text)
		}
		before := [2]string{treeOf(t, v.path), treeOf(t, other)}
		v.pause(300 * time.Millisecond)
		check(t, os.Rename(v.path, was), os.Rename(other, v.path))
		for until := time.Now().Add(20 * time.Second); ; v.pause(100 * time.Millisecond) {
			got := get(curveURL("a", v.design))
			switch {
			case got == want:
				v.Count("the rows of the other archive")
			case got == old:
				v.Count("the rows of the archive that was open")
			case got.status != http.StatusOK && strings.Contains(got.text, "was replaced by another one while it was open"):
				v.Count(v.outcome(got))
			default:
				t.Errorf("after the archive was replaced: %d: %s", got.status, firstLines(got.text))
			}
			if got == want {
				break
			}
			if time.Now().After(until) {
				t.Fatal("the page never answers with the rows of the other archive")
			}
		}
		end()
		if after := [2]string{treeOf(t, was), treeOf(t, v.path)}; after != before {
			t.Errorf("the page changed an archive: from\n%s\nto\n%s", before, after)
		}
		v.intact(t, v.long)
		must(t, "verify", v.engine+":"+was, v.data)
	})
}

// treeOf lists the files of an archive with digests of their contents.
func treeOf(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	check(t, filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		fmt.Fprintf(&out, "%s %x\n", strings.TrimPrefix(name, path), sha256.Sum256(text))
		return err
	}))
	return out.String()
}
