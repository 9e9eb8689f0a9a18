package river_test

import (
	"bytes"
	"crypto/md5" //nolint:gosec // no secret
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/river"
)

// TestOddFiles: the service reads links, and files with any bytes in their names. It reports other entries and leaves
// them in place. It moves a truncated file to failed/.
func TestOddFiles(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	names := []string{"a b;$(x)\"\n", "-dash", "lat\xff\xfein", strings.Repeat("n", 240)}
	for i, name := range names {
		put(t, dir, name, sample(fmt.Sprint("RR1L", i), 1))
	}
	put(t, other, "x", sample("RR2LCH", 2))
	put(t, dir, "cut.gz", "\x1f\x8b\x08\x00")
	old(t, filepath.Join(dir, "cut.gz"))
	for name, target := range map[string]string{"link": filepath.Join(other, "x"), "dangling": "nowhere", "folder": other} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600), os.Mkdir(filepath.Join(dir, "sub"), 0o700)); err != nil {
		t.Fatal(err)
	}
	var b board
	var log bytes.Buffer
	_, stop := serving(t, dir, &b, &log, nil)
	until(t, "the products", func() bool { return len(b.given()) == 5 })
	until(t, "what is cut", func() bool { _, err := os.Stat(filepath.Join(dir, "failed", "cut.gz.why")); return err == nil })
	time.Sleep(100 * time.Millisecond)
	stop()
	left, err := os.ReadDir(dir)
	var have []string
	for _, e := range left {
		if !strings.HasPrefix(e.Name(), ".") {
			have = append(have, e.Name())
		}
	}
	if want := []string{"dangling", "done", "failed", "fifo", "folder", "sub"}; err != nil || !slices.Equal(have, want) {
		t.Errorf("%q are left, want %q: %v", have, want, err)
	}
	if n := strings.Count(log.String(), "neither a file nor a link"); n != 4 {
		t.Errorf("%d times reported:\n%s", n, &log)
	}
}

// old sets a file's time so far back that the service no longer waits for the rest of the file.
func old(t *testing.T, path string) {
	t.Helper()
	at := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestHalfGzip: an incomplete gzip file stays in the folder, and the service posts its products when it is complete. If
// the rest never arrives, the file fails. The service does not read the line in which the file ends, because its number
// may be truncated.
func TestHalfGzip(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("SRUS54 KLCH 101813\nRR1LCH\n")
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		fmt.Fprintf(&text, ".A AA%d 1110 /HG %d.%d\n", i, random.Uint32(), random.Uint32())
	}
	var all bytes.Buffer
	z := gzip.NewWriter(&all)
	if _, err := z.Write([]byte(text.String())); errors.Join(err, z.Close()) != nil {
		t.Fatal(err)
	}
	var b board
	var log bytes.Buffer
	half, never := filepath.Join(dir, "half.gz"), filepath.Join(dir, "never.gz")
	if err := os.WriteFile(half, all.Bytes()[:all.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, stop := serving(t, dir, &b, &log, nil)
	put(t, dir, "other", sample("RR2LCH", 1))
	until(t, "the file next to it", func() bool { return len(b.given()) == 1 })
	time.Sleep(200 * time.Millisecond)
	if _, err := os.Stat(half); err != nil || len(b.given()) != 1 {
		t.Fatalf("half a file is posted or put away: %q, %v", b.given(), err)
	}
	if err := os.WriteFile(half, all.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the whole file", func() bool { return len(b.given()) == 2 })
	stop()

	// Find a truncation within a number.
	for cut := all.Len() / 3; ; cut++ {
		r, err := gzip.NewReader(bytes.NewReader(all.Bytes()[:cut]))
		if err != nil {
			t.Fatal(err)
		}
		read, _ := io.ReadAll(r)
		line := string(read[bytes.LastIndexByte(read, '\n')+1:])
		if _, number, ok := strings.Cut(line, "/HG "); !ok || number == "" {
			continue
		}
		put(t, dir, "never.gz", string(all.Bytes()[:cut]))
		old(t, never)
		want := fmt.Sprint("KLCHRR1LCH ", bytes.Count(read, []byte{'\n'})-2)
		var c board
		_, stop := serving(t, dir, &c, &log, nil)
		until(t, "the failure", func() bool { _, err := os.Stat(filepath.Join(dir, "failed", "never.gz.why")); return err == nil })
		stop()
		if got := c.given(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q: the file ends in %q", got, want, line)
		}
		break
	}
}

// TestGrows: the service also posts text that another program appends to a file while the service posts the file's
// first product. Only then does it move the file to done/.
func TestGrows(t *testing.T) {
	dir := t.TempDir()
	b := &board{began: make(chan struct{})}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	_, stop := serving(t, dir, b, &log, nil)
	<-b.began
	f, err := os.OpenFile(filepath.Join(dir, "1"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(sample("RR2LCH", 2)); err != nil {
		t.Fatal(err)
	}
	<-b.began
	for range 2 {
		<-b.began
	}
	until(t, "the second product", func() bool { return len(b.given()) == 2 })
	stop()
	text, err := os.ReadFile(filepath.Join(dir, "done", time.Now().UTC().Format("20060102"), "1"))
	got, want := b.given(), []string{"KLCHRR1LCH 1", "KLCHRR2LCH 2"}
	if err != nil || !slices.Equal(got, want) || !strings.Contains(string(text), "RR2LCH") || f.Close() != nil {
		t.Errorf("%q, %q: %v", got, text, err)
	}
}

// TestFullServer: products that a server with a full disk refuses wait until the disk has space, and none fails. The
// service handles SIGHUP while it waits, and also if there is always a file to post.
func TestFullServer(t *testing.T) {
	dir := t.TempDir()
	b := &board{full: 6}
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	reread := make(chan func() error)
	m, stop := serving(t, dir, b, &log, reread)
	until(t, "a refusal", func() bool { b.Lock(); defer b.Unlock(); return b.full < 6 })
	heard := make(chan bool, 2)
	reread <- func() error { heard <- true; return nil }
	<-heard
	until(t, "the product", func() bool { return len(b.given()) == 1 })
	stop()
	if failed, _ := filepath.Glob(filepath.Join(dir, "failed", "*")); len(failed) > 0 || m == nil {
		t.Errorf("%q", failed)
	}

	b = &board{began: make(chan struct{})}
	put(t, dir, "busy0", sample("RR3L0", 1))
	_, stop = serving(t, dir, b, &log, reread)
	for i := 1; ; i++ { // the next file arrives before the previous transaction ends
		<-b.began
		put(t, dir, fmt.Sprint("busy", i), sample(fmt.Sprint("RR3L", i), 1))
		time.Sleep(30 * time.Millisecond)
		<-b.began
		if i == 100 {
			t.Error("it is never heard")
		}
		select {
		case reread <- func() error { heard <- true; return nil }:
		case <-time.After(time.Millisecond):
			if i < 100 {
				continue
			}
		}
		break
	}
	go func() {
		for t.Context().Err() == nil {
			select {
			case <-b.began:
			case <-t.Context().Done():
			}
		}
	}()
	stop()
}

// TestRemembered: the service posts a product again if it posted the product more than 4 hours ago, or at a time in the
// future because the clock was wrong. It removes expired days of done/.
func TestRemembered(t *testing.T) {
	dir := t.TempDir()
	var first board
	var log bytes.Buffer
	put(t, dir, "1", sample("RR1LCH", 1))
	_, stop := serving(t, dir, &first, &log, nil)
	until(t, "the product", func() bool { return len(first.given()) == 1 })
	stop()
	list := filepath.Join(dir, ".posted")
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	sum, _, _ := strings.Cut(string(text), " ")
	for name, c := range map[string]struct {
		shift time.Duration
		again int
	}{"old": {-5 * time.Hour, 1}, "new": {-3 * time.Hour, 0}, "clock": {48 * time.Hour, 1}} {
		if err := os.WriteFile(list, fmt.Appendf(nil, "%s %d\nrubbish\n", sum, time.Now().Add(c.shift).Unix()), 0o600); err != nil {
			t.Fatal(err)
		}
		var b board
		put(t, dir, name, sample("RR1LCH", 1))
		_, stop := serving(t, dir, &b, &log, nil)
		until(t, "an empty folder", func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err != nil })
		stop()
		if n := len(b.given()); n != c.again {
			t.Errorf("%s: posted %d times, want %d", name, n, c.again)
		}
	}
	for _, day := range []string{"20010203", "mine"} {
		if err := os.MkdirAll(filepath.Join(dir, "done", day, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan struct{})
	close(ended)
	spool := &river.Spool{Dir: dir, Keep: 24 * time.Hour}
	s := &river.Service{
		Spool: spool, Poster: &first, Ended: ended,
		Log: slog.New(slog.DiscardHandler), Metrics: river.NewMetrics(prometheus.NewRegistry()),
	}
	if err := errors.Join(spool.Open(), s.Run(t.Context()), spool.Close()); err != nil {
		t.Fatal(err)
	}
	if days, err := os.ReadDir(filepath.Join(dir, "done")); err != nil || len(days) != 2 || days[1].Name() != "mine" {
		t.Errorf("%v: %v", days, err)
	}
}

// TestSpoolGone: the error of a spool that cannot be written contains a remedy.
func TestSpoolGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := river.OpenSpool(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Take(strings.NewReader(sample("RR1LCH", 1)), time.Now()); err == nil || !strings.Contains(err.Error(), "make room") {
		t.Error(err)
	}
}

// TestProductsMemory: products of any size keep their values while the service reads other products.
func TestProductsMemory(t *testing.T) {
	var text strings.Builder
	sizes := []int{1, 100, 8192, 8193, 3, 40_000, 7000, 5000, 1}
	for i, n := range sizes {
		fmt.Fprintf(&text, "\x01\r\r\n123 \r\r\nSRUS54 KLCH 101813\r\r\nRR%dLCH\r\r\n", i)
		for k := range n {
			fmt.Fprintf(&text, ".A STA%d 20261110 Z DH12/HG %d\n", i, k)
		}
		text.WriteString("\x03")
	}
	var in river.Input
	var all []*river.Product
	if err := in.Read(strings.NewReader(text.String()), "x", time.Now(), func(p *river.Product) error {
		all = append(all, p)
		return nil
	}); err != nil || len(all) != len(sizes) {
		t.Fatalf("%d products: %v", len(all), err)
	}
	for i, p := range all {
		if len(p.Values) != sizes[i] {
			t.Fatalf("product %d has %d values, want %d", i, len(p.Values), sizes[i])
		}
		for k := range p.Values {
			if g := &p.Values[k]; g.Station.String() != fmt.Sprint("STA", i) || g.Value != float64(k) {
				t.Fatalf("value %d of product %d is %v of %s", k, i, g.Value, g.Station)
			}
		}
	}
}

// TestDoubledProducts: two transmissions of a product are one product. A correction that only ends a line or adds a
// blank is a different product; an earlier version skipped it as a duplicate.
func TestDoubledProducts(t *testing.T) {
	t.Parallel()
	const heading = "SRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n"
	sum := func(text string) [md5.Size]byte {
		var in river.Input
		var out [md5.Size]byte
		if err := in.Read(strings.NewReader(text), "x", time.Now(), func(p *river.Product) error { out = p.Sum; return nil }); err != nil {
			t.Fatal(err)
		}
		if again, err := in.TextSum([]byte(text)); err != nil || again != out {
			t.Errorf("TextSum differs from Product.Sum: %v\n%q", err, text)
		}
		return out
	}
	first := sum("\x01\r\r\n123 \r\r\n" + heading + ".A A 20261110 Z DH12/HG 1 .A B 20261110 Z DH12/HG 2\r\r\n\x03")
	for name, c := range map[string]struct {
		text  string
		alike bool
	}{
		"other line ends":    {strings.ReplaceAll(heading, "\r\r", "") + ".A A 20261110 Z DH12/HG 1 .A B 20261110 Z DH12/HG 2", true},
		"blanks at the ends": {heading + "\n \n.A A 20261110 Z DH12/HG 1 .A B 20261110 Z DH12/HG 2  \r\n \n", true},
		"a line is ended":    {heading + ".A A 20261110 Z DH12/HG 1\n.A B 20261110 Z DH12/HG 2\r\r\n", false},
		"a blank is set":     {heading + ".A A 20261110 Z DH12/HG 1 .A B 20261110 Z DH12 /HG 2\r\r\n", false},
		"another letter":     {heading + ":\xe4\n.A A 20261110 Z DH12/HG 1 .A B 20261110 Z DH12/HG 2\r\r\n", false},
	} {
		if alike := sum(c.text) == first; alike != c.alike {
			t.Errorf("%s: alike is %t", name, alike)
		}
	}
}
