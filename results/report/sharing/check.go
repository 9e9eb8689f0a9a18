package sharing

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// Report is the outcome of a check of a run folder.
type Report struct {
	Dir      string   `json:"dir"`
	Digests  int      `json:"digests"` // files that equal their digest; 0 = no digest was kept
	Samples  int      `json:"samples"`
	Cells    int      `json:"cells"`
	Problems []string `json:"problems"`
}

// String returns the outcome in one line; the problems follow it.
func (r *Report) String() string {
	digests := "no digest was kept"
	if r.Digests > 0 {
		digests = run.CountOf(r.Digests, "file") + " compared with the kept digests"
	}
	return fmt.Sprintf("%s, %s of %s checked, %s", digests, run.CountOf(r.Samples, "sample"), run.CountOf(r.Cells, "cell"), run.CountOf(len(r.Problems), "problem"))
}

func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// causes collects problems that many samples share. Each is reported once, with its first place and a count.
type causes struct {
	texts []string
	first map[string]string
	count map[string]int
}

func (c *causes) add(place, problem string) {
	if c.count[problem]++; c.count[problem] == 1 {
		c.texts, c.first[problem] = append(c.texts, problem), place
	}
}

// report reports the collected problems.
func (c *causes) report(r *Report) {
	for _, p := range c.texts {
		text := c.first[p] + ": " + p
		if n := c.count[p] - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		r.problem("%s", text)
	}
}

// rawSample is a sample as the file has it: run.Sample drops the times of an incorrect one while it reads.
type rawSample struct {
	Cell     run.Cell        `json:"cell"`
	Phase    run.Phase       `json:"phase"`
	Rep      int             `json:"rep"`
	Verdict  run.Verdict     `json:"verdict"`
	Proof    answer.Degree   `json:"proof"`
	Rows     int             `json:"rows"`
	Digest   string          `json:"digest"`
	Measured json.RawMessage `json:"measured"`
}

// Check compares the files of a run folder with their digests, if there are any, and run.json with the samples. An
// error means that the folder cannot be read.
func Check(dir string) (*Report, error) {
	r := &Report{Dir: dir}
	if err := r.digests(); err != nil {
		return nil, err
	}
	of, err := run.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	samples, err := r.events(of)
	if err != nil {
		return nil, err
	}
	r.run(of)
	r.samples(of, samples)
	r.answers(samples)
	return r, nil
}

// digests compares the files with the manifest.
func (r *Report) digests() error {
	text, err := os.ReadFile(filepath.Join(r.Dir, Manifest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var m manifest
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return err
	}
	var listed Result
	files, err := sharedFiles(r.Dir, &listed)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		text, exists := files[name]
		switch {
		case !exists:
			r.problem("%s is missing", name)
		case fmt.Sprintf("%x", sha256.Sum256(text)) != m.Files[name]:
			r.problem("%s differs from its digest", name)
		default:
			r.Digests++
		}
	}
	for _, name := range listed.Files {
		if m.Files[name] == "" {
			r.problem("%s has no digest: it was added later", name)
		}
	}
	return nil
}

// events reads the samples, and checks the order of the events.
func (r *Report) events(of *run.Run) (out []rawSample, err error) {
	all, err := run.ReadEvents(r.Dir)
	if err != nil {
		return nil, err
	}
	for i := range all {
		e := &all[i]
		if i > 0 && e.Sequence <= all[i-1].Sequence {
			r.problem("event %d follows event %d", e.Sequence, all[i-1].Sequence)
		}
		if i > 0 && e.Time.Before(all[i-1].Time.Add(-time.Minute)) { // a clock may be set back a little
			r.problem("event %d is earlier than the one before it", e.Sequence)
		}
	}
	if finished := len(all) > 0 && all[len(all)-1].Kind == run.FinishEvent; finished != !of.Finished.IsZero() {
		r.problem("run.json and events.jsonl disagree whether the run finished")
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<30)
	for in.Scan() {
		var e struct {
			Sample *rawSample `json:"sample"`
		}
		if json.Unmarshal(in.Bytes(), &e) == nil && e.Sample != nil { // run.ReadEvents reported a damaged line
			out = append(out, *e.Sample)
		}
	}
	return out, in.Err()
}

// run checks what run.json reports more than once.
func (r *Report) run(of *run.Run) {
	if of.Version == "" {
		r.problem("run.json has no version of Barograph")
	}
	if !of.Finished.IsZero() && of.Finished.Before(of.Started) {
		r.problem("the run finished before it started")
	}
	if len(of.Data.ByType) > 0 {
		if sum := lists.Sum(maps.Values(of.Data.ByType)); sum != of.Data.Records {
			r.problem("the records by line type sum to %d, the data have %d", sum, of.Data.Records)
		}
	}
	versions := map[string]string{}
	for _, a := range of.Archives {
		if v, known := versions[a.Engine]; known && v != a.Version {
			r.problem("%s has the versions %s and %s", a.Engine, v, a.Version)
		}
		versions[a.Engine] = a.Version
		if of.Workload == "met" && a.Complete != (a.Digest == of.Data.Digest) {
			r.problem("the archive %s %s: its digest and its state disagree", a.Engine, a.Design)
		}
	}
	seen := map[string]bool{}
	for _, c := range of.Cases {
		if seen[c.Name] {
			r.problem("the case %s is listed twice", c.Name)
		}
		seen[c.Name] = true
	}
}

// samples checks each sample against run.json and against the other samples of its cell.
func (r *Report) samples(of *run.Run, all []rawSample) {
	type repetition struct {
		run.Cell
		run.Phase
		rep int
	}
	r.Samples = len(all)
	wrong, cells, reps := map[run.Cell]bool{}, map[run.Cell]bool{}, map[repetition]bool{}
	warm, found := map[run.Cell]int{}, &causes{first: map[string]string{}, count: map[string]int{}}
	defer found.report(r)
	for i := range all {
		s := &all[i]
		cells[s.Cell] = true
		wrong[s.Cell] = wrong[s.Cell] || s.Verdict == run.Wrong
		if k := (repetition{s.Cell, s.Phase, s.Rep}); of.Workload == "met" {
			if reps[k] {
				found.add(fmt.Sprintf("%s, %s repetition %d", s.Cell, s.Phase, s.Rep), "is listed twice")
			}
			if reps[k] = true; s.Phase == run.Warm {
				warm[s.Cell]++
			}
		}
	}
	r.Cells = len(cells)
	for i := range all {
		s := &all[i]
		for _, p := range append(s.verdict(wrong[s.Cell]), s.origin(of)...) {
			found.add(fmt.Sprintf("%s, repetition %d", s.Cell, s.Rep), p)
		}
	}
	if of.Workload == "met" && !of.Finished.IsZero() && of.Reps > 0 {
		for _, c := range slices.SortedFunc(maps.Keys(warm), func(a, b run.Cell) int { return cmp.Compare(a.String(), b.String()) }) {
			if warm[c] != of.Reps {
				found.add(c.String(), fmt.Sprintf("has %d warm repetitions, run.json reports %d", warm[c], of.Reps))
			}
		}
	}
}

// verdict checks that a sample has a proof and times if, and only if, it is correct.
func (s *rawSample) verdict(cellIsWrong bool) (out []string) {
	degrees := map[run.Verdict][]answer.Degree{
		run.Equal: {answer.EveryValue, answer.KeysAndCounts, answer.DigestOnly, answer.Agreed}, run.EqualToRounding: {answer.Rounded}, run.Undetermined: {answer.Undetermined},
	}
	timed := len(s.Measured) > 0 && string(s.Measured) != "null"
	known, correct := degrees[s.Verdict]
	switch {
	case correct && s.Proof == "":
		out = append(out, "is "+string(s.Verdict)+" without a proof")
	case correct && !slices.Contains(known, s.Proof):
		out = append(out, "is "+string(s.Verdict)+" with the proof "+string(s.Proof))
	case !correct && s.Verdict != run.Wrong && s.Verdict != run.Failed:
		out = append(out, "has the unknown verdict "+string(s.Verdict))
	case !correct && s.Proof != "":
		out = append(out, "is "+string(s.Verdict)+" and has a proof")
	}
	if timed && !correct {
		out = append(out, "is "+string(s.Verdict)+" and has times")
	}
	if timed && correct && cellIsWrong {
		out = append(out, "has times, although another repetition is wrong")
	}
	return out
}

// origin checks that run.json lists the engine, design and question of a sample, and that a proven result is the
// reference.
func (s *rawSample) origin(of *run.Run) (out []string) {
	design := s.Cell.Value("design")
	if !slices.ContainsFunc(of.Archives, func(a run.Archive) bool {
		return a.Engine == s.Cell.Engine && (a.Design == design || of.Workload != "met" && (a.Design == "" || design == "" || of.Workload != "faults"))
	}) {
		out = append(out, "run.json has no archive "+strings.TrimSpace(s.Cell.Engine+" "+design))
	}
	switch {
	case s.Cell.Workload == "met":
		i := slices.IndexFunc(of.Cases, func(c run.Case) bool { return c.Name == s.Cell.Value("case") })
		switch {
		case i < 0:
			return append(out, "run.json has no case "+s.Cell.Value("case"))
		case s.Verdict == run.Equal && s.Proof == answer.EveryValue && s.Digest != of.Cases[i].Digest:
			out = append(out, "is equal, and its digest is not that of the reference")
		case s.Verdict == run.Equal && s.Rows != of.Cases[i].Rows:
			out = append(out, fmt.Sprintf("is equal with %d rows, the reference has %d", s.Rows, of.Cases[i].Rows))
		}
	case s.Cell.Workload == run.OwnWorkload && of.Own != nil:
		if !slices.ContainsFunc(of.Own.Questions, func(q run.OwnQuestion) bool { return q.Name == s.Cell.Value("query") }) {
			out = append(out, "run.json has no question "+s.Cell.Value("query"))
		}
	case s.Cell.Workload == run.ScanWorkload && of.Scan != nil && len(of.Archives) > 0:
		if of.ConfigIndex(s.Cell) < 0 {
			out = append(out, "run.json has no such configuration")
		}
	}
	return out
}

// answers checks that a stored answer has the digest that is its name.
func (r *Report) answers(samples []rawSample) {
	paths, err := filepath.Glob(filepath.Join(r.Dir, "answers", "*.json"))
	if err != nil {
		return // the pattern is constant but for the folder's name
	}
	known := lists.Set(samples, func(s rawSample) string { return s.Digest })
	for _, p := range paths {
		var a struct {
			Digest string `json:"digest"`
		}
		text, err := os.ReadFile(p) //nolint:gosec // a file of the run folder
		name := strings.TrimSuffix(filepath.Base(p), ".json")
		if err != nil || json.Unmarshal(text, &a) != nil || a.Digest != name || !known[name] {
			r.problem("answers/%s.json is not an answer of this run", name)
		}
	}
}
