package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// foreignFolder creates a run folder with a plan and a verification plot.
func foreignFolder(t *testing.T) string {
	t.Helper()
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{ID: "r", Workload: "met"})
	if err != nil {
		t.Fatal(err)
	}
	c := run.MetCell("duckdb", "wide", "a", "sql")
	err = errors.Join(f.StorePlan(c, "SELECT 1", "SCAN", access()), f.StoreVerificationPlot(&run.VerificationPlot{Case: "a"}), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	return f.Dir
}

// readAll reads all files of a run folder. It returns an error if a reader waits.
func readAll(dir string) error {
	done := make(chan error, 1)
	go func() {
		_, _, e1 := run.Read(dir)
		_, e2 := run.ReadPlans(dir)
		_, e3 := run.ReadVerificationPlots(dir)
		done <- errors.Join(e1, e2, e3)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		return errors.New("a reader waits")
	}
}

// TestForeignFolder: a run folder of somebody else may contain links, FIFOs and devices. No reader follows a link out of
// the folder or waits for a FIFO.
func TestForeignFolder(t *testing.T) {
	const refused = "is not a regular file in the run folder"
	for _, name := range []string{"run.json", "events.jsonl", "plans/a.duckdb.wide.sql.txt", "plans/a.duckdb.wide.sql.json", "plots/a.json"} {
		for what, replace := range map[string]func(path, copied string) error{
			"absolute link": func(path, copied string) error { return os.Symlink(copied, path) },
			"relative link": func(path, copied string) error {
				to, err := filepath.Rel(filepath.Dir(path), copied)
				return errors.Join(err, os.Symlink(to, path))
			},
			"device": func(path, _ string) error { return os.Symlink("/dev/zero", path) },
			"FIFO":   func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
			"folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
		} {
			dir, copied := foreignFolder(t), filepath.Join(t.TempDir(), "copy")
			path := filepath.Join(dir, name)
			if err := readAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Rename(path, copied), replace(path, copied)); err != nil {
				t.Fatal(err)
			}
			if err := readAll(dir); err == nil || !strings.Contains(err.Error(), refused) || !strings.Contains(err.Error(), filepath.Base(name)) {
				t.Errorf("%s is a %s: %v", name, what, err)
			}
		}
	}
}

// TestLinksInside: a link inside the run folder is followed, and so is a link to the folder itself.
func TestLinksInside(t *testing.T) {
	dir := foreignFolder(t)
	journal, link := filepath.Join(dir, "events.jsonl"), dir+"-link"
	if err := errors.Join(os.Rename(journal, journal+".old"), os.Symlink("events.jsonl.old", journal), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(link); err != nil {
		t.Error(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, journal} {
		if _, err := run.ReadRun(file); err == nil || !strings.Contains(err.Error(), "is not a run folder") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestLinkedFolders: ReadPlans refuses a folder of plans that is a link out of the run folder. A size that is a link is no
// size of the study.
func TestLinkedFolders(t *testing.T) {
	dir, elsewhere := foreignFolder(t), foreignFolder(t)
	err := errors.Join(os.RemoveAll(filepath.Join(dir, "plans")), os.Symlink(filepath.Join(elsewhere, "plans"), filepath.Join(dir, "plans")),
		os.Symlink(elsewhere, filepath.Join(dir, "x2")), os.CopyFS(filepath.Join(dir, "x1"), os.DirFS(elsewhere)))
	if err != nil {
		t.Fatal(err)
	}
	if plans, err := run.ReadPlans(dir); err == nil || len(plans) > 0 {
		t.Errorf("%+v, %v", plans, err)
	}
	if sizes := run.SizeFolders(dir); len(sizes) != 1 || sizes[1] == "" {
		t.Errorf("%v", sizes)
	}
}

// TestWriteFileInForeignFolder: a link or a FIFO with the name of the temporary file is replaced.
func TestWriteFileInForeignFolder(t *testing.T) {
	private := filepath.Join(t.TempDir(), "private")
	for what, place := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(private, path) },
		"FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(private, []byte("mine"), 0o600), place(filepath.Join(dir, "a.new"))); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- run.WriteFile(dir, "a", []byte("text")) }()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the writer waits", what)
		}
		written, e1 := run.ReadFile(dir, "a")
		kept, e2 := os.ReadFile(private)
		if err := errors.Join(e1, e2); err != nil || string(written) != "text" || string(kept) != "mine" {
			t.Errorf("%s: %q, %q, %v", what, written, kept, err)
		}
	}
}
