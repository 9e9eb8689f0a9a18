package barograph_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// outside is a program of another module that uses what Barograph promises as a
// library and no command of its own uses: deadcode.allow names it.
const outside = `package main

import (
	"fmt"
	"os"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

func main() {
	err := shef.ReadAll(os.Stdin, "stdin", shef.Options{}, func(*shef.Result) error { return nil })
	t, _ := record.TypeByName("SL1L2")
	a, b := stat.NewAggregate(t), stat.NewAggregate(t)
	a.Add([]float64{1, 2, 1, 0, 0, 0, 1})
	a.Merge(b)
	me, ok, _ := a.Stat("ME")
	mean, has := a.Column("fbar")
	fmt.Println(err, me, ok, mean, has, len(shef.Elements()) > 0, len(shef.Codes()) > 0)
}
`

// TestAnotherModuleUsesTheLibrary builds and runs it in a workspace with this one,
// which is made by the line that README names: go work init . ../barograph.
func TestAnotherModuleUsesTheLibrary(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.work": "go 1.26.0\n\nuse (\n\t.\n\t" + root + "\n)\n",
		"go.mod":  "module example.org/outside\n\ngo 1.26.0\n",
		"main.go": outside,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "<nil> 1 true 2 true true true\n" {
		t.Errorf("%v: %s", err, out)
	}
}
