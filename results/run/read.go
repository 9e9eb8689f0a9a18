package run

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/jsonkeys"
	"github.com/barograph/barograph/internal/lists"
)

// DescriptionFile is the name of the file that describes a run. A folder with it is a run folder.
const DescriptionFile = "run.json"

// Read reads a run folder of any workload. If the run is still running or was killed, the samples
// are those recorded until now.
func Read(dir string) (*Run, []Sample, error) {
	r, err := ReadRun(dir)
	if err != nil {
		return nil, nil, err
	}
	events, err := ReadEvents(dir)
	var samples []Sample
	for _, e := range events {
		if e.Sample != nil {
			samples = append(samples, *e.Sample)
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		problem := "is incomplete, or from a version of Barograph before the first release"
		err = &fault.Error{File: dir, Problem: problem, Err: err, Cure: "repeat the run with the args in its run.json"}
	}
	if err == nil && !r.Finished.IsZero() && (len(events) == 0 || events[len(events)-1].Kind != FinishEvent) {
		r.Warnings = append(r.Warnings, eventsFile+" is incomplete, although the run finished: measurements may be missing")
	}
	if err == nil && r.Workload == ScanWorkload {
		err = r.checkScan(dir, samples)
	}
	return r, samples, err
}

// SizeFolders finds the run folders of a study with several data sizes: dir contains them as x1, x2, x4 …. The key is
// the number of copies of the data. It omits symbolic links, which may lead out of dir.
func SizeFolders(dir string) map[int]string {
	out := map[int]string{}
	for _, p := range lists.Files(dir, "x*/"+DescriptionFile) {
		sub := filepath.Dir(p)
		info, err := os.Lstat(sub)
		if n, notNumber := strconv.Atoi(filepath.Base(sub)[1:]); cmp.Or(err, notNumber) == nil && n > 0 && info.IsDir() {
			out[n] = sub
		}
	}
	return out
}

// ReadRun reads the run.json of a folder.
func ReadRun(dir string) (*Run, error) {
	var r Run
	err := readJSON(dir, DescriptionFile, &r)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		missing := &fault.Error{File: dir, Problem: "is not a run folder: it has no " + DescriptionFile}
		missing.Cure = "name a folder that a study wrote, such as runs/20261126-120000-met"
		if _, err := os.Stat(dir); err != nil {
			missing.Problem, missing.Err = "", fs.ErrNotExist
		}
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	if fault.Planted && r.Reps > 9 {
		panic("planted: a run of more than nine repetitions")
	}
	return &r, nil
}

// readJSON reads a file of a run folder into v.
func readJSON(dir, name string, v any) error {
	text, err := ReadFile(dir, name)
	if err != nil {
		return err
	}
	if err := jsonkeys.Unmarshal(text, v); err != nil {
		return &fault.Error{File: filepath.Join(dir, name), Err: err}
	}
	return nil
}

// Open opens a file of a run folder. Somebody else may have made the folder. Therefore Open refuses a symbolic link out
// of the folder, because it may lead to a private file. It also refuses everything but a regular file: a reader of a
// FIFO may wait forever, and a device may have no end.
func Open(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, name)
	root, err := os.OpenRoot(filepath.Join(dir, ".") + string(filepath.Separator)) // the separator refuses a FIFO
	if err != nil {
		return nil, err
	}
	defer root.Close()                                                  //nolint:errcheck // nothing was written
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it does not wait for the writer of a FIFO
	if reason, ok := errors.AsType[syscall.Errno](err); ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: reason}
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() { // Stat of a nil file returns an error
		return file, nil
	}
	_ = file.Close() // nothing was written
	return nil, &fault.Error{File: path, Problem: "is not a regular file in the run folder", Cure: "replace it by one"}
}

// ReadFile reads a file of a run folder, as Open does.
func ReadFile(dir, name string) ([]byte, error) {
	file, err := Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(file)
}
