package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
)

func TestResolveURL(t *testing.T) {
	labs := t.TempDir()
	t.Setenv(engine.EnvLab, labs)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(labs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const want = "postgres://me:secret@host/db"
	file := write("postgres/url", want+"\n")
	if err := os.MkdirAll(filepath.Join(labs, "linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(labs, "linked", "url")); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"lab:postgres", "@" + file, want} {
		if got, err := engine.ResolveURL(raw); err != nil || got != want {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	withParameters := write("trino/url", "trino://host?tls_ca=a")
	for raw, want := range map[string]string{"lab:postgres?pipeline=2": want + "?pipeline=2", "lab:trino?b=1&c=2": "trino://host?tls_ca=a&b=1&c=2", "@" + withParameters: "trino://host?tls_ca=a"} {
		if got, err := engine.ResolveURL(raw); err != nil || got != want {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	for raw, cure := range map[string]string{
		"lab:valkey": "lab up valkey", "lab:../postgres/..": "lab up", "lab:linked": "lab up", "@" + labs + "/nowhere": "one URL",
		"@" + write("two", want+"\n"+want+"\n"): "one URL", "@" + write("again", "@"+file): "one URL", "@" + write("empty", "\n"): "one URL",
	} {
		if got, err := engine.ResolveURL(raw); err == nil || !strings.Contains(err.Error(), cure) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), engine.ErrUnreachable.Error()) {
			t.Errorf("%s: %q, %v; want %q", raw, got, err, cure)
		}
	}
}
