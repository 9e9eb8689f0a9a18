package serve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
)

// timedArchive is an archive in the folder of a study. query is the time of each of its queries.
type timedArchive struct {
	engine, file string
	design       design.Name
	query        time.Duration
}

// finishStudy creates the folder of a finished study of archives.
func finishStudy(t *testing.T, dir string, r engine.Registry, started time.Time, files []string, of ...timedArchive) {
	t.Helper()
	f, err := run.Create(dir, run.Run{ID: filepath.Base(dir), Workload: "met", Started: started, Data: run.Data{Digest: "d", Records: 1}})
	if err != nil {
		t.Fatal(err)
	}
	f.Run.Cases = []run.Case{{Name: "test_1", Rows: 1, Weight: 1}}
	if err := os.MkdirAll(filepath.Join(dir, "archives"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, a := range of {
		url := a.engine + ":" + filepath.Join(dir, "archives", a.file)
		db, err := r.Open(t.Context(), url, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in, err := archive.DatabaseOf(db).Open(t.Context(), a.design)
		if err == nil {
			_, err = load.Run(t.Context(), in, "archive", files, load.Options{})
			err = errors.Join(err, in.Close())
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		f.Run.Archives = append(f.Run.Archives, run.Archive{Engine: a.engine, Design: string(a.design), URL: url, Place: "embedded", Complete: true, Load: time.Second, Bytes: 1})
		for rep := range 8 {
			p, err := answer.CompareRecords(record.Digest{Hi: 1, Records: 1}, record.Digest{Hi: 1, Records: 1})
			if err != nil {
				t.Fatal(err)
			}
			s := run.Sample{Cell: run.MetCell(a.engine, string(a.design), "test_1", "keys"), Phase: run.Warm, Rep: rep}
			s = s.Judge(&run.Measured{Total: a.query + time.Duration(rep)*time.Microsecond}, p, nil)
			s.Proof = answer.EveryValue
			if err := f.Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Run.Finished = started.Add(time.Minute)
	if err := errors.Join(f.AddEvent(run.Event{Kind: run.FinishEvent}), f.Save(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRecommendedFirst: the page opens the archive that the newest finished run recommends. It
// opens neither the first archive by name nor that of an older run.
func TestRecommendedFirst(t *testing.T) {
	r := engine.Registry{pebble.Driver(), sqlite.Driver()}
	dir := t.TempDir()
	runs, files := filepath.Join(dir, "runs"), makeFiles(t, filepath.Join(dir, "data"), 0, 2)
	now := time.Now()
	slow, fast := timedArchive{"pebble", "a.db", "keyvalue", 9 * time.Millisecond}, timedArchive{"sqlite", "b.db", "document", time.Millisecond}
	finishStudy(t, filepath.Join(runs, "1-older"), r, now.Add(-time.Hour), files, timedArchive{"pebble", "a.db", "keyvalue", time.Millisecond})
	finishStudy(t, filepath.Join(runs, "2-newer"), r, now.Add(-time.Minute), files, slow, fast)
	p := newPageOf(t, r, runs)
	var home serve.Home
	if status, text := p.get("/api/v1/home", &home); status != 200 {
		t.Fatal(status, text)
	}
	ranks := map[string]int{}
	for _, h := range home.Archives {
		ranks[h.Archive] = h.Rank
	}
	if len(ranks) != 3 || ranks["1-older/a.db"] != 0 || ranks["2-newer/a.db"] != 2 || ranks["2-newer/b.db"] != 1 {
		t.Errorf("ranks: %v", ranks)
	}
	b := newBrowser(t)
	b.open(p.s.URL())
	b.until(`document.querySelector('#plot canvas')`)
	if at := b.text(`new URLSearchParams(location.search).get('archive')`); at != "2-newer/b.db" {
		t.Error("the page opens on", at)
	}
	if option := b.text(`document.getElementById('archive').selectedOptions[0].textContent`); !strings.HasSuffix(option, "recommended") {
		t.Error(option)
	}
	b.open(p.URL + "/loads?archive=1-older%2Fa.db")
	if option := b.text(`document.getElementById('archive').selectedOptions[0].textContent`); !strings.HasPrefix(option, "1-older/a.db") || strings.HasSuffix(option, "recommended") {
		t.Error("an archive that the URL names is not shown, or is called recommended:", option)
	}
}
