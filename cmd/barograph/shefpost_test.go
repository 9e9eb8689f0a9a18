package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
)

// TestShefPost: products are posted to existing tables. Posting them again changes nothing.
func TestShefPost(t *testing.T) {
	dir := t.TempDir()
	name, db := filepath.Join(dir, "RR1LCH"), "sqlite:"+filepath.Join(dir, "river.db")
	if err := os.WriteFile(name, []byte(shefSample), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"shef", "post", "--engine", db, "--schema", "barograph", "--now", "2026-11-20", name}
	if status, _, errs := barograph(t, args...); status != 5 || !strings.Contains(errs, "shef post --make` creates a database") {
		t.Errorf("no tables: status %d: %s", status, errs)
	}
	for _, more := range []string{"--make", "--verbose"} {
		if status, out, errs := barograph(t, append(args, more)...); status != 4 || out != "1 product: 4 values, 1 lost in decoding\n         4 posted\n" {
			t.Errorf("status %d: %s%s", status, out, errs)
		}
	}
	if status, out, errs := barograph(t, append(args, "--station", "LKCL1", "--json")...); status != 4 || !strings.Contains(out, `"left_out": 2`) {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("shef_procobs : YES\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]string{
		{"--engine", db, name}, {"--engine", db, "--schema", "other", name}, {"--engine", db, "--policy", "other", name}, {"--engine", "pebble:x", "--schema", "barograph", name},
	} {
		if status, _, errs := barograph(t, append([]string{"shef", "post"}, bad...)...); status != 2 {
			t.Errorf("%v: status %d: %s", bad, status, errs)
		}
	}
	if status, _, errs := barograph(t, "shef", "post", "--engine", "postgres://nobody@127.0.0.1:1/x", "--apps-defaults", tokens, name); status != 1 || !strings.Contains(errs, "tokens:1") {
		t.Errorf("status %d: %s", status, errs)
	}
	if status, _, errs := barograph(t, "shef", "post", "--engine", "postgres://nobody@127.0.0.1:1/x", name); status != 5 {
		t.Errorf("no server: status %d: %s", status, errs)
	}
	if err := os.WriteFile(tokens, []byte("postgres://nobody:secret@127.0.0.1:1/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := barograph(t, "shef", "post", "--engine", "@"+tokens, name); status != 5 || strings.Contains(errs, "secret") {
		t.Errorf("a URL in a file: status %d: %s", status, errs)
	}
}

// safe is a buffer for one writing and one reading goroutine.
type safe struct {
	sync.Mutex
	b bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.Lock()
	defer s.Unlock()
	return s.b.String()
}

// TestShefServe: products from a pipe and from a folder are posted and reported as they arrive. A
// signal stops the service.
func TestShefServe(t *testing.T) {
	dir := t.TempDir()
	spool := filepath.Join(dir, "spool")
	in, feed := io.Pipe()
	var out, errs safe
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	var lc net.ListenConfig
	systemd, err := lc.ListenPacket(t.Context(), "unixgram", filepath.Join(dir, "notify"))
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		args := []string{"shef", "serve", "--spool", spool, "--engine", "sqlite:" + filepath.Join(dir, "river.db"), "--schema", "barograph", "--make", "--settle", "20ms", "--metrics", "127.0.0.1:0", "--log-file", filepath.Join(dir, "log"), "-"}
		done <- execute(ctx, &env{args: args, stdin: in, stdout: &out, stderr: &errs, engines: all.Registry()})
	}()
	ready := make([]byte, 100)
	if n, _, err := systemd.ReadFrom(ready); err != nil || !strings.HasPrefix(string(ready[:n]), "READY=1") {
		t.Errorf("systemd receives %q, %v", ready[:n], err)
	}
	fmt.Fprint(feed, "\x01\r\r\n123 \r\r\nSRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n.A AAA 1110 /HG 1\r\r\n\x03")
	until(t, "the pipe's product", func() bool { return strings.Contains(out.String(), "KLCHRR1LCH") })
	if err := os.WriteFile(filepath.Join(spool, "file"), []byte(strings.ReplaceAll(shefSample, "RR1LCH", "RR2LCH")), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the file's product", func() bool { return strings.Contains(out.String(), "KLCHRR2LCH") })
	url := regexp.MustCompile(`http://\S+`).FindString(errs.String())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || !strings.Contains(string(text), `barograph_shef_values_total{fate="posted"} 5`) || !strings.Contains(string(text), "barograph_shef_values_lost_total 1") {
		t.Errorf("%v\n%s", err, text)
	}
	stop()
	if status := <-done; status != 0 {
		t.Errorf("status %d: %s", status, errs.String())
	}
	feed.Close()
	if text, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(text) != out.String() {
		t.Errorf("%v: the log file has\n%s\nwant\n%s", err, text, out.String())
	}
	failed := filepath.Join(spool, "failed", "x")
	if err := errors.Join(os.WriteFile(failed, nil, 0o600), os.WriteFile(failed+".why", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 4} { // the second time the queue has no failed file
		if status, out, errs := barograph(t, "shef", "retry", "--spool", spool); status != want || want == 0 && !strings.Contains(out, "1 file in the queue again") {
			t.Errorf("retry: status %d: %s%s", status, out, errs)
		}
	}
	for _, args := range [][]string{{"filtered", "sqlite:x", spool}, {"filtered", "postgres://x"}, {"retry"}} {
		if status, _, errs := barograph(t, append([]string{"shef"}, args...)...); status != 2 {
			t.Errorf("%v: status %d: %s", args, status, errs)
		}
	}
	if status, _, errs := barograph(t, "shef", "serve", "--spool", spool, "--engine", "sqlite:x", "file"); status != 2 {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestShefServeAway: while the database is unreachable, also at the start of the service, products
// from a pipe remain in the spool. SIGTERM ends the service with status 0. The next service posts them.
func TestShefServeAway(t *testing.T) {
	dir := t.TempDir()
	serve := []string{"shef", "serve", "--spool", filepath.Join(dir, "spool"), "--schema", "barograph", "--make", "--settle", "20ms", "--engine"}
	var out, errs safe
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		args := append(serve, "postgres://nobody@127.0.0.1:1/river", "-")
		done <- execute(ctx, &env{args: args, stdin: strings.NewReader(shefSample), stdout: &out, stderr: &errs, engines: all.Registry()})
	}()
	until(t, "a file", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "spool", "2*"))
		return len(files) == 1 && strings.Contains(out.String(), "the database is unreachable")
	})
	stop()
	if status := <-done; status != 0 || errs.String() != "" {
		t.Errorf("status %d: %s", status, errs.String())
	}
	if status, out, errs := barograph(t, append(serve, "sqlite:"+filepath.Join(dir, "river.db"), "-")...); status != 0 || !strings.Contains(out, "KLCHRR1LCH") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// TestShefPostAway: an unreachable server is reported in one line with the remedy.
func TestShefPostAway(t *testing.T) {
	file := put(t, t.TempDir(), "a.shef", ".A AAA 20261110 Z DH12/HG 1\n")
	for _, schema := range []string{"ihfs", "barograph"} {
		db := "postgres://awips@localhost:1/hd"
		status, _, errs := barograph(t, "shef", "post", "--engine", db, "--schema", schema, file)
		if status != 5 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, db) || !strings.Contains(errs, "; start the server") {
			t.Errorf("%s: status %d: %s", schema, status, errs)
		}
	}
}

// TestShefServeWaits: a service without a pipe also waits for its database. From the first second
// its metrics report that the database is unreachable and how many products wait. SIGTERM ends it with status 0.
func TestShefServeWaits(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one"), []byte(shefSample), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := []string{"shef", "serve", "--spool", dir, "--metrics", "127.0.0.1:0", "--engine", "postgres://nobody@127.0.0.1:1/river"}
	if status, _, errs := barograph(t, append(serve, "--wait-for-database=false")...); status != 5 {
		t.Errorf("status %d: %s", status, errs)
	}
	var out, errs safe
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		done <- execute(ctx, &env{args: serve, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, engines: all.Registry()})
	}()
	until(t, "a metric of what waits", func() bool {
		url := regexp.MustCompile(`http://\S+`).FindString(errs.String())
		if url == "" {
			return false
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		return strings.Contains(string(text), "barograph_shef_database_up 0") && strings.Contains(string(text), "barograph_shef_spool_files 1") && strings.Contains(out.String(), "the database is unreachable")
	})
	stop()
	if status := <-done; status != 0 || strings.Contains(errs.String(), "interrupted") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// TestUnit checks the unit of docs/how-to/post-shef.md with systemd's own check.
func TestUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("NOT TESTED: there is no systemd-analyze (package systemd)")
	}
	text, err := os.ReadFile("../../docs/how-to/post-shef.md")
	if err != nil {
		t.Fatal(err)
	}
	_, unit, _ := strings.Cut(string(text), "/etc/systemd/system/barograph-shef.service\n")
	unit, _, _ = strings.Cut(unit, "```")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "barograph-shef.service")
	// the program and an account that exist on this machine
	unit = strings.NewReplacer("/usr/bin/barograph", self, "User=ldm", "User=root").Replace(unit)
	if err := os.WriteFile(name, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", name).CombinedOutput(); err != nil || len(out) > 0 || !strings.Contains(unit, self) {
		t.Errorf("%v: %s\n%s", err, out, unit)
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 { // one minute
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain for " + what)
}
