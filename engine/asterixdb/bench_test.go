package asterixdb_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// BenchmarkLoad loads records as documents into an empty dataset with its two indexes: once with Barograph, from
// batches and as one atomic commit, and once with AsterixDB's own LOAD DATASET, from a file of the same documents on
// the server's disk. It reports the documents per second of both, and how many times as long Barograph takes.
func BenchmarkLoad(b *testing.B) {
	d := &databases{server: enginetest.Lab(b, asterixdb.Driver(), lab.Options{Memory: 4 << 30})}
	file := bulk(b)
	path, docs := jsonFile(b, file)
	for range 2 { // warm up
		ours(b, d.url(b, ""), file)
		theirs(b, d.url(b, ""), path)
	}
	var a, l time.Duration
	n := 0
	for b.Loop() { // alternately, because the machine's load may change
		a += ours(b, d.url(b, ""), file)
		l += theirs(b, d.url(b, ""), path)
		n += docs
	}
	b.ReportMetric(float64(n)/a.Seconds(), "docs/s")
	b.ReportMetric(float64(n)/l.Seconds(), "LOAD-docs/s")
	b.ReportMetric(a.Seconds()/l.Seconds(), "times-as-long")
}

// bulk returns 20,000 documents of four leads.
func bulk(b *testing.B) enginetest.File {
	b.Helper()
	lt, ok := record.TypeByName("SAL1L2")
	if !ok {
		b.Fatal("no line type SAL1L2")
	}
	s := enginetest.Series{Type: lt, Lead: []int32{0, 21600, 43200, 64800}}
	for i := range int64(1000) {
		s.Valid = append(s.Valid, 1546300800+i*21600)
	}
	var all []enginetest.Series
	for _, mask := range []string{"G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA"} {
		for _, level := range []string{"P1000", "P850", "P700", "P500", "P250"} {
			s.Header = header(mask, level)
			all = append(all, s)
		}
	}
	return enginetest.Generate(1, 1, all...)[0]
}

// jsonFile writes the documents of a file, one per line.
func jsonFile(b *testing.B, f enginetest.File) (path string, docs int) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "docs.json")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(out)
	g := design.NewGrouper(f.Batches[0].Type)
	for _, batch := range f.Batches {
		g.Add(batch)
	}
	for doc := range g.Docs() {
		docs++
		if _, err := w.Write(append(design.AppendJSON(nil, "a", doc.Rows), '\n')); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return path, docs
}

// ours creates the datasets, loads with Barograph and returns the duration of the load.
func ours(b *testing.B, url string, f enginetest.File) time.Duration {
	b.Helper()
	a := empty(b, url)
	began := time.Now()
	enginetest.StoreMarked(b, a, "a", []archive.Mark{f.Mark()}, f.Batches...)
	return time.Since(began)
}

// empty creates the datasets of an archive.
func empty(b *testing.B, url string) archive.Archive {
	b.Helper()
	a := openDesign(b, url, design.Document)
	l, err := a.Loader(b.Context(), "a")
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	return a
}

// theirs creates the datasets, has the server load a file and returns the duration of LOAD DATASET.
func theirs(b *testing.B, at, path string) time.Duration {
	b.Helper()
	empty(b, at)
	u, err := url.Parse(at)
	if err != nil {
		b.Fatal(err)
	}
	form := url.Values{"statement": {
		"LOAD DATASET " + strings.Trim(u.Path, "/") + "_document.documents USING localfs ((\"path\"=\"127.0.0.1://" + path + "\"), (\"format\"=\"json\"))",
	}}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+u.Host+"/query/service", strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var reply struct {
		Status string
		Errors json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil || reply.Status != "success" {
		b.Fatalf("LOAD DATASET: %s, %s, %v", reply.Status, reply.Errors, err)
	}
	return time.Since(began)
}
