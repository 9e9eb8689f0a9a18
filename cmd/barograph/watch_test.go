package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/river"
)

// commandOutput is the output of a running command.
type commandOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *commandOutput) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

// wait waits until the output contains a text the given number of times.
func (h *commandOutput) wait(t *testing.T, text string, times int) {
	t.Helper()
	for range 1000 {
		h.mu.Lock()
		n := strings.Count(h.text.String(), text)
		h.mu.Unlock()
		if n >= times {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q was not written %d times:\n%s", text, times, h.text.String())
}

// TestWatch: watch loads files as they arrive, also in new folders. It loads each file once, and
// not while it is written. A signal stops it; then it prints the totals.
func TestWatch(t *testing.T) {
	data, dir, url := dayOfData(t), t.TempDir(), "sqlite:"+filepath.Join(t.TempDir(), "a.db")
	files, err := filepath.Glob(filepath.Join(data, "*", "*", "*", "*", "*.vsdb"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	put := func(name string, from, to string) {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644) //nolint:gosec // no secret
		}
		if err == nil && to != "" {
			err = os.Rename(filepath.Join(dir, name), filepath.Join(dir, to))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	watch := func(do func(message *commandOutput)) (out string, message string) {
		ctx, stop := context.WithCancel(t.Context())
		var stdout, stderr commandOutput
		ended := make(chan int)
		go func() {
			ended <- execute(ctx, &env{args: []string{"load", "--watch", dir, "--engine", url, "--settle", "100ms", "--retain", "400d"}, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, engines: all.Registry()})
		}()
		do(&stderr)
		stop()
		if status := <-ended; status != 0 {
			t.Errorf("status %d\n%s", status, stderr.text.String())
		}
		return stdout.text.String(), stderr.text.String()
	}
	out, _ := watch(func(message *commandOutput) {
		message.wait(t, "watching", 1)
		put("one.vsdb", files[0], "")
		put("two.tmp", files[1], "")
		message.wait(t, "1 file loaded", 1)
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o750); err != nil {
			t.Fatal(err)
		}
		put("sub/three.part", files[2], "sub/three.vsdb")
		message.wait(t, "1 file loaded", 2)
	})
	if !strings.Contains(out, "2 loads, 2 files loaded, 0 skipped, 0 failed") {
		t.Error(out)
	}
	out, _ = watch(func(message *commandOutput) { message.wait(t, "0 files loaded, 2 skipped", 1) })
	if !strings.Contains(out, "1 load, 0 files loaded, 2 skipped") {
		t.Error(out)
	}
	if out := must(t, "verify", url); !strings.Contains(out, "is intact") {
		t.Error(out)
	}
	if status, _, message := barograph(t, "load", "--watch", filepath.Join(dir, "none"), "--engine", url); status != 1 || !strings.Contains(message, "cannot be watched") {
		t.Errorf("status %d: %s", status, message)
	}
}

// TestWatchLacks: loading a file again with all its lines clears the error of its earlier state,
// and of no other file.
func TestWatchLacks(t *testing.T) {
	var lacking []string
	cut := &fault.Status{Code: fault.Incomplete, Err: errors.New("1 line is in quarantine")}
	w := &watcher{loaded: map[string]fs.FileInfo{}, incomplete: map[string]error{}, reportError: func(error) {}}
	w.load = func([]string) ([]string, error) {
		if len(lacking) > 0 {
			return lacking, cut
		}
		return nil, nil
	}
	take := func(lacks []string, files ...string) {
		t.Helper()
		var ready []*river.Waiting
		for _, f := range files {
			ready = append(ready, &river.Waiting{Path: f})
		}
		lacking = lacks
		if err := w.loadReady(ready, nil); err != nil {
			t.Fatal(err)
		}
	}
	take([]string{"a", "b"}, "a", "b", "c")
	take(nil, "a", "c")
	if len(w.incomplete) != 1 || w.incomplete["b"] == nil {
		t.Errorf("%v; want only b", w.incomplete)
	}
	if take(nil, "b"); len(w.incomplete) != 0 {
		t.Errorf("%v; want nothing", w.incomplete)
	}
}

// TestRetain: load removes and counts old records. The remaining archive is intact, also compared
// with the files. Loading the files again restores no record.
func TestRetain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--until", "2019-01-03", "--models", "gfs", "--stattypes", "anom", "--out", dir)
	for _, url := range []string{"duckdb:" + filepath.Join(t.TempDir(), "a.db"), "pebble:" + filepath.Join(t.TempDir(), "a.pebble")} {
		must(t, "load", dir, "--engine", url)
		retain := []string{"load", dir, "--engine", url, "--retain", "1d"}
		status, out, message := barograph(t, retain...)
		if status != 4 || !strings.Contains(out, "not removed") || !strings.Contains(message, "--retain 1d: nothing was removed") ||
			!strings.Contains(message, "--dry-run; then add --force") {
			t.Errorf("status %d: %s%s", status, out, message)
		}
		status, out, message = barograph(t, append(retain, "--dry-run")...)
		if status != 4 || !strings.Contains(out, "would remove") || !strings.Contains(message, "would be refused") ||
			strings.Contains(message, "--dry-run") {
			t.Errorf("status %d: %s%s", status, out, message)
		}
		out = must(t, append(retain, "--force")...)
		if !strings.Contains(out, "fcst_valid_beg before") || !strings.Contains(out, "12 skipped") {
			t.Error(out)
		}
		if out := must(t, "load", dir, "--engine", url, "--retain", "24h"); !strings.Contains(out, "removed        0 records") {
			t.Error(out)
		}
		if out := must(t, "verify", url, dir); !strings.Contains(out, "is intact") {
			t.Error(out)
		}
	}
	if status, _, message := barograph(t, "load", dir, "--engine", "dry:", "--retain", "400d"); status != fault.Usage || !strings.Contains(message, "dry cannot remove records") {
		t.Errorf("an engine that cannot remove records: status %d, %s", status, message)
	}
	for _, days := range []string{"213600d", "-213400d", "100001d", "0d", "9223372036854775808d"} { // 213600 days exceed a Duration
		if d, err := retention(days); err == nil {
			t.Errorf("--retain %s keeps %s", days, d)
		}
	}
	if status, _, message := barograph(t, "load", dir, "--engine", "dry:", "--retain", "many"); status != 2 || !strings.Contains(message, "400d") {
		t.Errorf("status %d: %s", status, message)
	}
}

// TestRehash: load takes a file with the same size and modification time for the loaded one, unless
// --rehash reads its bytes.
func TestRehash(t *testing.T) {
	dir, url := t.TempDir(), "sqlite:"+filepath.Join(t.TempDir(), "a.db")
	file := filepath.Join(dir, "a.vsdb")
	old := time.Now().Add(-time.Hour)
	put := func(value string) {
		t.Helper()
		text := "V01 GFS 24 2019010100 ANL G2/NHX SL1L2 T P500 = 1 " + value + " 2 3 4 5\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // no secret
			t.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	put("1.5")
	must(t, "load", dir, "--engine", url)
	put("2.5")
	if out := must(t, "load", dir, "--engine", url); !strings.Contains(out, "0 loaded, 1 skipped") {
		t.Error(out)
	}
	if status, out, _ := barograph(t, "load", dir, "--engine", url, "--rehash"); status != 4 || !strings.Contains(out, "1 loaded, 0 skipped") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestHolder: a second load, and every command that cannot open the archive, name the running load.
// The remains of a dead load block nothing.
func TestHolder(t *testing.T) {
	data, url := dayOfData(t), "pebble:"+filepath.Join(t.TempDir(), "a.pebble")
	file := strings.TrimPrefix(url, "pebble:") + ".loading"
	note := func(l *design.Loading) {
		t.Helper()
		text, err := json.Marshal(l)
		if err == nil {
			err = os.WriteFile(file, text, 0o644) //nolint:gosec // no secret
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mine := (&env{args: []string{"load", "x"}}).loadingProcess()
	note(mine)
	status, _, message := barograph(t, "load", data, "--engine", url, "--wait", "0s")
	if status != 5 || !strings.Contains(message, fmt.Sprintf("is being loaded by process %d of host %s since ", mine.PID, mine.Host)) || !strings.Contains(message, "barograph load x") {
		t.Errorf("status %d: %s", status, message)
	}
	go func() { // the other load finishes a little later
		time.Sleep(300 * time.Millisecond)
		os.Remove(file)
	}()
	status, _, message = barograph(t, "load", data, "--engine", url, "--wait", "1m")
	if status != 0 || strings.Count(message, "load waits for up to 1m0s (--wait)") != 1 || !strings.Contains(message, "is being loaded by process") {
		t.Errorf("a load that waits: status %d: %s", status, message)
	}
	mine.Since = mine.Since.Add(-24 * time.Hour) // a former process with this number, which has ended
	note(mine)
	must(t, "load", data, "--engine", url)
	if _, err := os.Stat(file); err == nil {
		t.Error("the note stays")
	}
}

// TestSecondLoadKeepsTheArchive: a load starts before another one creates the archive, and has
// nothing to add. It does not mistake the archive for its own empty file.
func TestSecondLoadKeepsTheArchive(t *testing.T) {
	dir, data := t.TempDir(), fewRecords(t)
	path, other := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	must(t, "load", data, "--engine", "sqlite:"+other)
	free, err := (&env{args: []string{"load", "x"}}).lockForLoad(path + ".loading")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // the other load creates the archive while this one waits
		time.Sleep(300 * time.Millisecond)
		if err := os.Rename(other, path); err != nil {
			t.Error(err)
		}
		free()
	}()
	if status, out, message := barograph(t, "load", data, "--engine", "sqlite:"+path); status != 0 || !strings.Contains(out, "0 loaded, 3 skipped") {
		t.Errorf("status %d: %s%s", status, out, message)
	}
	must(t, "verify", "sqlite:"+path)
}

// TestInterruptedLoad: show and verify name an interrupted load and its command. Its commits
// are complete.
func TestInterruptedLoad(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	must(t, "load", fewRecords(t), "--engine", url)
	by := (&env{args: []string{"load", "x", "--engine", url}}).loadingProcess()
	by.Since = by.Since.Add(-24 * time.Hour) // a former process with this number, which has ended
	e, err := all.Registry().Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Loader(t.Context(), "archive")
	if err != nil {
		t.Fatal(err)
	}
	c := design.NewCatalog("archive")
	c.Loading = by
	_, err = l.Commit(t.Context(), archive.Commit{Catalog: c})
	if err = errors.Join(err, l.Close(), a.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	message := "is incomplete, because its load was interrupted"
	if status, out, stderr := barograph(t, "verify", url); status != fault.Incomplete || !strings.Contains(out, "is intact") || !strings.Contains(out, message) || !strings.Contains(out, "run the same command again: barograph load x") || !strings.Contains(stderr, "has not finished") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if out := must(t, "show", url); !strings.Contains(out, message) {
		t.Error(out)
	}
}

// TestWatchTotals: the totals of the first load are its result, and a second one adds to each count and replaces what
// describes the archive. A new field of a result must be in add.
func TestWatchTotals(t *testing.T) {
	one := load.Result{}
	fields := reflect.ValueOf(&one).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Interface().(type) {
		case string:
			f.SetString("text")
		case int, int64:
			f.SetInt(3)
		case float64:
			f.SetFloat(3)
		case []string:
			f.Set(reflect.ValueOf([]string{"file"}))
		case map[string]int64:
			f.Set(reflect.ValueOf(map[string]int64{"name": 3}))
		case []archive.Mark:
			f.Set(reflect.ValueOf([]archive.Mark{{Path: "file"}}))
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(3, 0)))
		case *load.Removal:
			f.Set(reflect.ValueOf(&load.Removal{Records: 3}))
		default:
			t.Fatalf("the test does not know the type of %s", fields.Type().Field(i).Name)
		}
	}
	var total watchTotals
	total.add(&one)
	if !reflect.DeepEqual(total.Result, one) || total.Loads != 1 {
		t.Errorf("the first load: %+v", total)
	}
	total.add(&one)
	state := []string{"Objects", "BytesOnDisk", "Records"} // of the archive
	for i := range fields.NumField() {
		name, sum := fields.Type().Field(i).Name, fmt.Sprint(reflect.ValueOf(total.Result).Field(i).Interface())
		var want string
		switch f := fields.Field(i); f.Interface().(type) {
		case int, int64, float64:
			want = "6"
		case []string:
			want = "[file file]"
		case map[string]int64:
			want = "map[name:6]"
		case []archive.Mark:
			want = fmt.Sprint([]archive.Mark{{Path: "file"}, {Path: "file"}})
		}
		if want == "" || slices.Contains(state, name) {
			want = fmt.Sprint(fields.Field(i).Interface())
		}
		if sum != want {
			t.Errorf("%s: %s, want %s", name, sum, want)
		}
	}
}

// TestWatchInterrupted: a signal during a load is no error of a file.
func TestWatchInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.stat"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs []string
	w := &watcher{dir: dir, settling: river.Settling{}, loaded: map[string]fs.FileInfo{}, incomplete: map[string]error{}}
	w.reportError = func(err error) { errs = append(errs, err.Error()) }
	w.load = func([]string) ([]string, error) {
		stop()
		return nil, fmt.Errorf("a.stat: %w", ctx.Err())
	}
	err := w.run(ctx)
	if err != nil || len(errs) != 1 || errs[0] != "stopped during a load; the same command loads the rest of its files" {
		t.Errorf("%v, %q", err, errs)
	}
}
