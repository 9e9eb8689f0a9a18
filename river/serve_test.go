package river_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/barograph/barograph/river"
)

// board is a minimal database that records the products it receives.
type board struct {
	sync.Mutex
	posted   []string // ids and values of products
	away     int      // number of transactions that fail, together with Reload
	refuses  string   // id of a product that is always refused
	overflow float64  // value that is always refused; 0 = none
	conflict int      // number of transactions that are refused because of another session
	reloads  int
	called   chan struct{}
	full     int           // number of transactions that fail while Reload succeeds
	began    chan struct{} // Post sends to it twice, and blocks until a test receives both
}

func (b *board) Post(_ context.Context, products []*river.Product) ([]river.Tally, error) {
	if b.began != nil {
		b.began <- struct{}{}
		b.began <- struct{}{}
	}
	b.Lock()
	defer b.Unlock()
	if b.full > 0 {
		b.full--
		return nil, errors.New("connection is there, but no space left on device")
	}
	if b.away > 0 {
		b.away--
		return nil, errors.New("connection refused")
	}
	if b.conflict > 0 {
		b.conflict--
		return nil, errors.New("deadlock detected")
	}
	for _, p := range products {
		for i := range p.Values {
			if p.ID == b.refuses || p.Values[i].Value == b.overflow && b.overflow != 0 {
				return nil, errors.New("numeric field overflow")
			}
		}
	}
	tallies := make([]river.Tally, len(products))
	for i, p := range products {
		b.posted = append(b.posted, fmt.Sprint(p.ID, " ", len(p.Values)))
		tallies[i][river.Inserted] = int64(len(p.Values))
	}
	return tallies, nil
}

func (b *board) Reload(context.Context) error {
	b.Lock()
	defer b.Unlock()
	b.reloads++
	if b.called != nil {
		close(b.called)
		b.called = nil
	}
	if b.away > 0 {
		return errors.New("connection refused")
	}
	return nil
}

func (b *board) IsTemporary(err error) bool { return strings.Contains(err.Error(), "connection") }
func (b *board) Close() error               { return nil }

func (b *board) given() []string {
	b.Lock()
	defer b.Unlock()
	return slices.Clone(b.posted)
}

// serving starts a service on a folder; stop stops it as SIGTERM does.
func serving(t *testing.T, dir string, b *board, log *bytes.Buffer, reread <-chan func() error) (m *river.Metrics, stop func()) {
	t.Helper()
	spool, err := river.OpenSpool(dir, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	m = river.NewMetrics(prometheus.NewRegistry())
	s := &river.Service{Spool: spool, Poster: b, Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: m, Reread: reread}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	return m, func() {
		cancel()
		if err := errors.Join(<-done, spool.Close()); err != nil {
			t.Error(err)
		}
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	aside := filepath.Join(dir, "."+name)
	if err := errors.Join(os.WriteFile(aside, []byte(text), 0o600), os.Rename(aside, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

func sample(id string, values int) string {
	return "\x01\r\r\n123 \r\r\nSRUS54 KLCH 101813\r\r\n" + id + "\r\r\n.A AAA 1110 /HG 1" + strings.Repeat("/QR 2", values-1) + "\r\r\n\x03"
}

// until waits up to a minute for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 { // 60 s
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain: " + what)
}

func TestService(t *testing.T) {
	dir := t.TempDir()
	b := &board{away: 2, refuses: "KLCHBADONE"}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	put(t, dir, "2", sample("BADONE", 2)+sample("RR2LCH", 3))
	put(t, dir, "x.tmp", sample("RR9LCH", 9))
	now := time.Now()
	for i, name := range []string{"1", "2"} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(time.Duration(i-3)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	m, stop := serving(t, dir, b, &log, nil)
	until(t, "2 products", func() bool { return len(b.given()) == 2 })
	sameProduct := strings.ReplaceAll(strings.TrimPrefix(sample("RR1LCH", 1), "\x01\r\r\n123 "), "\r\r\n", "\n")
	put(t, dir, "3", "\r\n\r\n"+sameProduct) // in another envelope
	put(t, dir, "4", sample("RR3LCH", 4))
	put(t, dir, "5", "prose\n")
	put(t, dir, "6", "")
	if err := os.Chtimes(filepath.Join(dir, "6"), now, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	until(t, "an empty folder", func() bool {
		left, _ := filepath.Glob(filepath.Join(dir, "[1-9]"))
		return len(left) == 0
	})
	stop()
	if got := b.given(); !slices.Equal(got, []string{"KLCHRR1LCH 1", "KLCHRR2LCH 3", "KLCHRR3LCH 4"}) {
		t.Errorf("%q", got)
	}
	failed, _ := filepath.Glob(filepath.Join(dir, "failed", "*"))
	why, _ := os.ReadFile(filepath.Join(dir, "failed", "2.why"))
	if len(failed) != 6 || !strings.Contains(string(why), "KLCHBADONE") || !strings.Contains(string(why), "overflow") {
		t.Errorf("%q: %s", failed, why)
	}
	if done, _ := filepath.Glob(filepath.Join(dir, "done", "*", "*")); len(done) != 3 {
		t.Errorf("%q", done)
	}
	if d, f, r := testutil.ToFloat64(m.Doubled), testutil.ToFloat64(m.Failed), testutil.ToFloat64(m.Retries); d != 1 || f != 3 || r != 4 {
		t.Errorf("%v doubled, %v failed, %v retries\n%s", d, f, r, &log)
	}
	if n := strings.Count(log.String(), `"msg":"product"`); n != 5 {
		t.Errorf("%d lines of products:\n%s", n, &log)
	}
	// After a restart the service still knows the posted products.
	put(t, dir, "7", sample("RR3LCH", 4))
	_, stop = serving(t, dir, b, &log, nil)
	until(t, "an empty folder", func() bool { _, err := os.Stat(filepath.Join(dir, "7")); return err != nil })
	stop()
	if got := b.given(); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// TestRefusedValue: if the database refuses one value of a product, the service posts the rest of the product and the
// other products of its transaction. The reason names the value.
func TestRefusedValue(t *testing.T) {
	dir := t.TempDir()
	b := &board{overflow: 2}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 2)+strings.Replace(sample("RR2LCH", 4), "/QR 2", "/QR 3", 2))
	_, stop := serving(t, dir, b, &log, nil)
	until(t, "the reason", func() bool { _, err := os.Stat(filepath.Join(dir, "failed", "1")); return err == nil })
	stop()
	total := 0
	for _, one := range b.given() {
		var id string
		var n int
		if _, err := fmt.Sscan(one, &id, &n); err != nil {
			t.Fatal(err)
		}
		total += n
	}
	why, err := os.ReadFile(filepath.Join(dir, "failed", "1.why"))
	reason := string(why)
	if err != nil || total != 4 || strings.Count(reason, "1 of ") != 2 || strings.Count(reason, "AAA QRIRZZZ") != 2 ||
		!strings.Contains(reason, "= 2: numeric field overflow") {
		t.Errorf("%d values posted of 6: %v\n%s", total, err, why)
	}
}

// TestRefusedOnce: a value that is refused once, after the connection has failed, is posted at the next attempt.
func TestRefusedOnce(t *testing.T) {
	dir := t.TempDir()
	b := &board{away: 1, conflict: 1}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	_, stop := serving(t, dir, b, &log, nil)
	until(t, "an end of the file", func() bool {
		ended, _ := filepath.Glob(filepath.Join(dir, "*", "1"))
		done, _ := filepath.Glob(filepath.Join(dir, "done", "*", "1"))
		return len(ended)+len(done) > 0
	})
	stop()
	if got := b.given(); !slices.Equal(got, []string{"KLCHRR1LCH 1"}) {
		t.Errorf("posted %q\n%s", got, log.String())
	}
}

// TestRetry puts a failed file back. The service posts it when the database accepts it.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	b := &board{overflow: 2}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 2))
	_, stop := serving(t, dir, b, &log, nil)
	failed := filepath.Join(dir, "failed", "1")
	until(t, "the failure", func() bool { _, err := os.Stat(failed); return err == nil })
	b.Lock()
	b.overflow = 0
	b.Unlock()
	s := &river.Spool{Dir: dir}
	if _, err := s.Retry([]string{"../x"}); err == nil {
		t.Error("a file elsewhere is taken")
	}
	if back, err := s.Retry(nil); err != nil || len(back) != 1 {
		t.Errorf("%q: %v", back, err)
	}
	until(t, "the product", func() bool { done, _ := filepath.Glob(filepath.Join(dir, "done", "*", "1")); return len(done) == 1 })
	stop()
	if left, _ := filepath.Glob(filepath.Join(dir, "failed", "*")); len(left) > 0 {
		t.Errorf("%q", left)
	}
}

// TestLogFile: no line is lost or split, and the log keeps the configured number of files.
func TestLogFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	var all string
	for i := range 3 { // opened three times
		l := &river.LogFile{Name: name, Most: 100, Keep: 2}
		for k := range 10 {
			line := fmt.Sprintf("line %d of round %d, and what is in it\n", k, i)
			all += line
			if n, err := l.Write([]byte(line)); err != nil || n != len(line) {
				t.Fatal(n, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, end := range []string{".2", ".1", ""} {
		text, err := os.ReadFile(name + end)
		if err != nil || len(text) > 100 {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		got += string(text)
	}
	if !strings.HasSuffix(all, got) || !strings.HasPrefix(got, "line ") || len(got) < 200 {
		t.Errorf("%q", got)
	}
	if more, _ := filepath.Glob(name + "*"); len(more) != 3 {
		t.Errorf("%q", more)
	}
}

// TestServiceAway: products wait while the database is unreachable, and if the service stops then, they stay in the
// folder. Later the service rereads its tables on request.
func TestServiceAway(t *testing.T) {
	dir := t.TempDir()
	b := &board{away: 1 << 30, called: make(chan struct{})}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	called := b.called
	_, stop := serving(t, dir, b, &log, nil)
	<-called
	stop()
	if _, err := os.Stat(filepath.Join(dir, "1")); err != nil {
		t.Error(err)
	}
	b.Lock()
	b.away = 0
	b.Unlock()
	reread := make(chan func() error)
	_, stop = serving(t, dir, b, &log, reread)
	until(t, "the product", func() bool { return len(b.given()) == 1 })
	asked := false
	reread <- func() error { asked = true; return nil }
	reread <- func() error { return errors.New("bad file") }
	reread <- func() error { return nil }
	stop()
	if b.reloads < 3 || !asked || !strings.Contains(log.String(), "bad file") {
		t.Errorf("%d reloads: %s", b.reloads, &log)
	}
}

// gauge reads a gauge; -1 if no gauge has the name.
func gauge(t *testing.T, r prometheus.Gatherer, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

// TestReloadMetric: the metrics report that the service continues with old tables.
func TestReloadMetric(t *testing.T) {
	spool, err := river.OpenSpool(t.TempDir(), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	reread := make(chan func() error)
	s := &river.Service{
		Spool: spool, Poster: &board{}, Reread: reread,
		Log: slog.New(slog.DiscardHandler), Metrics: river.NewMetrics(registry),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	is := func(want float64) func() bool {
		return func() bool { return gauge(t, registry, "barograph_shef_last_reload_successful") == want }
	}
	until(t, "the start", is(1))
	reread <- func() error { return errors.New("bad file") }
	until(t, "the failed reload", is(0))
	reread <- func() error { return nil }
	until(t, "the next reload", is(1))
	cancel()
	if err := errors.Join(<-done, spool.Close()); err != nil {
		t.Error(err)
	}
}

// TestBacklogMetrics: the metrics count waiting files during a long transaction.
func TestBacklogMetrics(t *testing.T) {
	dir := t.TempDir()
	b := &board{began: make(chan struct{})} // the first transaction blocks
	var log bytes.Buffer
	put(t, dir, "first", sample("RR1LCH", 1))
	spool, err := river.OpenSpool(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	m := river.NewMetrics(registry)
	river.RegisterBacklog(registry, spool)
	ctx, cancel := context.WithCancel(t.Context())
	s := &river.Service{Spool: spool, Poster: b, Log: slog.New(slog.NewJSONHandler(&log, nil)), Metrics: m}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	<-b.began
	for i := range 200 {
		put(t, dir, fmt.Sprint("more", i), sample(fmt.Sprint("RR", i), 1))
	}
	put(t, dir, "x.tmp", "half")
	value := func(name string) float64 { return gauge(t, registry, "barograph_shef_"+name) }
	if n := value("spool_files"); n != 201 {
		t.Errorf("%v files in the metric, want 201", n)
	}
	if at := value("spool_oldest_timestamp_seconds"); time.Since(time.Unix(int64(at), 0)) > time.Hour || value("spool_bytes") == 0 {
		t.Errorf("the oldest is of %v", at)
	}
	cancel()
	<-b.began // releases the transaction
	go func() {
		for range b.began { // releases all further transactions
		}
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(b.began)
	if err := spool.Close(); err != nil {
		t.Error(err)
	}
}

// TestOnePoster: of several services on one folder only one posts. When it stops, the next one starts to post. A
// service whose input has ended and whose spool is empty does not wait for the others.
func TestOnePoster(t *testing.T) {
	dir := t.TempDir()
	var first, second, third board
	var log1, log2 bytes.Buffer
	_, stop1 := serving(t, dir, &first, &log1, nil)
	put(t, dir, "0", sample("RR0LCH", 1))
	until(t, "the first product", func() bool { return len(first.given()) == 1 })
	_, stop2 := serving(t, dir, &second, &log2, nil)
	for i := range 30 {
		put(t, dir, fmt.Sprint("a", i), sample(fmt.Sprint("RR1L", i), 1))
		time.Sleep(10 * time.Millisecond)
	}
	until(t, "all by the first", func() bool { return len(first.given()) == 31 })
	until(t, "an empty folder", func() bool {
		left, _ := filepath.Glob(filepath.Join(dir, "a*"))
		return len(left) == 0
	})
	spool, err := river.OpenSpool(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	s := &river.Service{
		Spool: spool, Poster: &third, Ended: ended,
		Log: slog.New(slog.DiscardHandler), Metrics: river.NewMetrics(prometheus.NewRegistry()),
	}
	if err := errors.Join(s.Run(t.Context()), spool.Close()); err != nil {
		t.Error(err)
	}
	stop1()
	put(t, dir, "b", sample("RR2LCH", 2))
	put(t, dir, "c", sample("RR0LCH", 1)) // the first service has posted this product
	until(t, "the second's turn", func() bool { return len(second.given()) == 1 })
	stop2()
	got := second.given()
	if !slices.Equal(got, []string{"KLCHRR2LCH 2"}) || len(third.given()) > 0 || !strings.Contains(log2.String(), "another process") {
		t.Errorf("%q, %q: %s", got, third.given(), &log2)
	}
}

// TestTake: Take stores each product of a stream as a file.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	s, err := river.OpenSpool(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Take(strings.NewReader(sample("RR1LCH", 1)+"\r\r\n"+sample("RR2LCH", 2)+"\r\r\n"), time.Now()); err != nil {
		t.Fatal(err)
	}
	ready, files, err := s.Ready()
	if err != nil || files != 2 || len(ready) != 2 {
		t.Fatalf("%d files: %v", files, err)
	}
	for i, id := range []string{"RR1LCH", "RR2LCH"} {
		if text, err := os.ReadFile(ready[i].Path); err != nil || !strings.Contains(string(text), id) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
