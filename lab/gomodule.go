package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// build makes the program of a Go module in work/whole. Its go.sum holds the
// checksums of everything that is fetched.
func build(ctx context.Context, a engine.Artifact, work string, w io.Writer) error {
	files, err := a.Go()
	if err != nil {
		return err
	}
	source, whole := filepath.Join(work, "source"), filepath.Join(work, "whole")
	for _, dir := range []string{source, whole} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(source, name), text, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath", "-o", filepath.Join(whole, a.Program()), "main.go")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		cure := "look at what Go printed above; behind a proxy, set GOPROXY"
		if errors.Is(err, exec.ErrNotFound) {
			cure = "install Go, see https://go.dev/dl"
		}
		return &fault.Error{Setting: "artifact " + a.Name, Problem: "cannot be built", Err: err, Cure: cure}
	}
	return nil
}
