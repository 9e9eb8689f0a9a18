package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/launch"
)

// TestChangedArtifactsAreNotUsed changes what an installation put into the folder in every way that a neighbour
// could. Check refuses each change and accepts the folder as it was.
func TestChangedArtifactsAreNotUsed(t *testing.T) {
	tree := launch.Artifact{
		Name: "tree-1", Wheel: "tree==1", SHA256: "of the wheel",
		// printf 'a' > bin/a; printf 'b' > b; then the command in the comment of TreeSum
		Tree: "f3fbedde74b71797298f55f63b4efb33e277aec33041871e87b83a4df064e524",
	}
	for name, c := range map[string]struct {
		artifact launch.Artifact
		change   func(dir string) error
		refused  bool
	}{
		"a tree as it was":  {tree, func(string) error { return nil }, false},
		"a changed byte":    {tree, func(dir string) error { return os.WriteFile(filepath.Join(dir, "bin", "a"), []byte("x"), 0o600) }, true},
		"one more file":     {tree, func(dir string) error { return os.WriteFile(filepath.Join(dir, "c"), nil, 0o600) }, true},
		"a file is missing": {tree, func(dir string) error { return os.Remove(filepath.Join(dir, "b")) }, true},
		"two names swapped": {tree, func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")), os.Rename(filepath.Join(dir, "bin", "a"), filepath.Join(dir, "b")),
				os.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "bin", "a")))
		}, true},
		"no checksum at all": {launch.Artifact{Name: "tree-1", Wheel: "tree==1", SHA256: "of the wheel"}, func(string) error { return nil }, true},
		"built here":         {launch.Artifact{Name: "tree-1", Go: func() (map[string][]byte, error) { return nil, nil }}, func(string) error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(launch.EnvArtifacts, t.TempDir())
			dir, err := c.artifact.Dir()
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(os.MkdirAll(filepath.Join(dir, "bin"), 0o700), os.WriteFile(filepath.Join(dir, "bin", "a"), []byte("a"), 0o600),
				os.WriteFile(filepath.Join(dir, "b"), []byte("b"), 0o600), c.change(dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.artifact.Check(); (err != nil) != c.refused {
				t.Errorf("refused is to be %v: %v", c.refused, err)
			}
		})
	}
}
