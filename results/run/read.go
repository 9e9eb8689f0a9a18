package run

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// File is the name of the file that makes a folder a run folder.
const File = "run.json"

// Read reads a run folder of any workload, also of a run that is under way or
// was killed: its samples are those that were recorded by then.
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
		err = &fault.Error{File: dir, Problem: "is of a version of Barograph before the first release, or not whole", Err: err, Cure: "make the run again, by the args in its run.json"}
	}
	if err == nil && !r.Ended.IsZero() && (len(events) == 0 || events[len(events)-1].Kind != Ended) {
		r.Warnings = append(r.Warnings, eventsFile+" is not whole, although the run ended: what was measured may be missing here")
	}
	if err == nil && r.Workload == Scanned {
		err = r.checkScan(dir, samples)
	}
	return r, samples, err
}

// Sizes are the folders of a study of several sizes below dir, by their number of
// copies of the data: x1, x2, x4 …
func Sizes(dir string) map[int]string {
	out := map[int]string{}
	paths, _ := filepath.Glob(filepath.Join(dir, "x*", File)) // an error is of a pattern that matches nothing
	for _, p := range paths {
		sub := filepath.Dir(p)
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(sub), "x")); err == nil && n > 0 {
			out[n] = sub
		}
	}
	return out
}

// ReadRun reads run.json of a folder.
func ReadRun(dir string) (*Run, error) {
	var r Run
	err := readJSON(filepath.Join(dir, File), &r)
	if errors.Is(err, os.ErrNotExist) {
		for _, old := range []string{"post.json", "scan.json"} {
			if _, there := os.Stat(filepath.Join(dir, old)); there == nil {
				return nil, &fault.Error{File: filepath.Join(dir, old), Problem: "is of a version of Barograph before the first release", Cure: "make the run again"}
			}
		}
		missing := &fault.Error{File: dir, Problem: "is not a run folder: it has no " + File, Cure: "name a folder that a study wrote, such as runs/20261126-120000-met"}
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

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &fault.Error{File: path, Err: err}
	}
	return nil
}
