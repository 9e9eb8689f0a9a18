package main

import (
	"bytes"
	"context"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// lostDatabase opens archives whose server is lost when subset b is read.
type lostDatabase struct{ archive.Database }

func (d lostDatabase) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	a, err := d.Database.Open(ctx, n)
	return lostArchive{a}, err
}

type lostArchive struct{ archive.Archive }

func (a lostArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	if subset != "b" {
		return a.Archive.Dump(ctx, subset)
	}
	return func(yield func(*record.Batch, error) bool) { yield(nil, engine.ErrUnreachable) }
}

// TestVerifyLosesItsServer: verify prints what it found before the server was lost.
func TestVerifyLosesItsServer(t *testing.T) {
	dir := t.TempDir()
	data, to := filepath.Join(dir, "data"), "pebble:"+filepath.Join(dir, "p")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--until", "2024-01-01", "--models", "gfs", "--stattypes", "pres", "--out", data)
	for _, subset := range []string{"a", "b"} {
		must(t, "load", data, "--engine", to, "--subset", subset)
	}
	d := pebble.Driver()
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := pebble.Driver().Open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(lostDatabase{archive.DatabaseOf(e)}))
		}
		return e, err
	}
	var stdout, stderr bytes.Buffer
	status := execute(t.Context(), &env{
		args: []string{"verify", to}, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, engines: engine.Registry{d},
	})
	if status != fault.Unreachable || !strings.Contains(stdout.String(), "subset a") || !strings.Contains(stdout.String(), "is intact") {
		t.Errorf("status %d: %s%s", status, &stdout, &stderr)
	}
}
