package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/serve"
)

// TestCommandOfThePage: the page offers a shell command and a picture for download. The command
// draws exactly this picture.
func TestCommandOfThePage(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, "load", dayOfData(t), "--engine", "sqlite:it's.db", "--design", "document")
	h := httptest.NewUnstartedServer(nil)
	s, err := serve.New(serve.Options{Registry: all.Registry(), Host: h.Listener.Addr().String()}, "it's.db")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h.Config.Handler = s.Handler()
	h.Start()
	defer h.Close()
	jar, _ := cookiejar.New(nil) // it never fails
	get := func(url string) string {
		r, err := (&http.Client{Jar: jar}).Get(url) //nolint:noctx // it is our own
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatal(r.Status, string(text), err)
		}
		return string(text)
	}
	get(s.URL())
	const asked = "archive=it%27s.db&design=document&line_type=SAL1L2&fcst_var=HGT&fcst_lev=P500&axis=fcst_lead&series=vx_mask&seed=7"
	want := get(h.URL + "/api/v1/curve.svg?" + asked)
	head, rest, _ := strings.Cut(get(h.URL+"/api/v1/question.sh?"+asked), "\n")
	yaml, command, _ := strings.Cut(rest, "END\n")
	name := strings.Fields(head)[2]
	if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, word := range strings.Fields(command)[1:] { // a shell's quoting
		args = append(args, strings.ReplaceAll(strings.Trim(strings.ReplaceAll(word, `'\''`, "\x00"), "'"), "\x00", "'"))
	}
	must(t, args...)
	got, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(name, ".yaml")+".svg"))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s%s\ndraws\n%.500s\nthe page\n%.500s", err, yaml, command, got, want)
	}
}
