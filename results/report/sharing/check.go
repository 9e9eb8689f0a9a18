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
	Digests  int      `json:"digests"` // files that have a digest in manifest.json; 0 = there is no such file
	Samples  int      `json:"samples"`
	Cells    int      `json:"cells"`
	Problems []string `json:"problems"`
}

// String returns the outcome in one line, without the problems themselves.
func (r *Report) String() string {
	digests := "no manifest.json with digests"
	if r.Digests > 0 {
		digests = run.CountOf(r.Digests, "file") + " compared with the digests in manifest.json"
	}
	return fmt.Sprintf("%s, %s of %s checked, %s", digests, run.CountOf(r.Samples, "sample"),
		run.CountOf(r.Cells, "cell"), run.CountOf(len(r.Problems), "problem"))
}

// addProblem adds a problem.
func (r *Report) addProblem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// sampleProblems collects problems that many samples share. The report has each of them once, with its first place and
// a count.
type sampleProblems struct {
	problems []string
	first    map[string]string // place, by problem
	count    map[string]int
}

// add adds a problem at a place: a cell or a repetition.
func (c *sampleProblems) add(place, problem string) {
	if c.count[problem]++; c.count[problem] == 1 {
		c.problems, c.first[problem] = append(c.problems, problem), place
	}
}

// addTo adds the collected problems to a report.
func (c *sampleProblems) addTo(r *Report) {
	for _, p := range c.problems {
		text := c.first[p] + ": " + p
		if n := c.count[p] - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		r.addProblem("%s", text)
	}
}

// rawSample is a sample with everything that the file contains. run.Sample drops the times of an incorrect one while it
// reads.
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
	if err := r.checkDigests(); err != nil {
		return nil, err
	}
	of, err := run.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	samples, err := r.readSamples(of)
	if err != nil {
		return nil, err
	}
	r.checkRun(of)
	r.checkSamples(of, samples)
	return r, r.checkAnswers(samples)
}

// checkDigests compares the files with the manifest.
func (r *Report) checkDigests() error {
	text, err := run.ReadFile(r.Dir, Manifest)
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
		r.Digests++
		text, exists := files[name]
		switch {
		case !exists:
			r.addProblem("%s is missing", name)
		case fmt.Sprintf("%x", sha256.Sum256(text)) != m.Files[name]:
			r.addProblem("%s differs from its digest", name)
		}
	}
	for _, name := range listed.Files {
		if m.Files[name] == "" {
			r.addProblem("%s has no digest: it was added later", name)
		}
	}
	return nil
}

// readSamples reads the samples, and checks the order of the events.
func (r *Report) readSamples(of *run.Run) (out []rawSample, err error) {
	all, err := run.ReadEvents(r.Dir)
	if err != nil {
		return nil, err
	}
	for i := range all {
		e := &all[i]
		if i > 0 && e.Sequence <= all[i-1].Sequence {
			r.addProblem("event %d follows event %d", e.Sequence, all[i-1].Sequence)
		}
		if i > 0 && e.Time.Before(all[i-1].Time.Add(-time.Minute)) { // a clock may be set back a little
			r.addProblem("event %d is earlier than the one before it", e.Sequence)
		}
	}
	if finished := len(all) > 0 && all[len(all)-1].Kind == run.FinishEvent; finished != !of.Finished.IsZero() {
		r.addProblem("run.json and events.jsonl disagree whether the run finished")
	}
	text, err := run.ReadFile(r.Dir, "events.jsonl")
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

// checkRun checks that run.json does not contradict itself.
func (r *Report) checkRun(of *run.Run) {
	if of.Version == "" {
		r.addProblem("run.json has no version of Barograph")
	}
	if !of.Finished.IsZero() && of.Finished.Before(of.Started) {
		r.addProblem("the run finished before it started")
	}
	if len(of.Data.ByType) > 0 {
		if sum := lists.Sum(maps.Values(of.Data.ByType)); sum != of.Data.Records {
			r.addProblem("the records by line type sum to %d, the data have %d", sum, of.Data.Records)
		}
	}
	versions := map[string]string{}
	for _, a := range of.Archives {
		if v, known := versions[a.Engine]; known && v != a.Version {
			r.addProblem("%s has the versions %s and %s", a.Engine, v, a.Version)
		}
		versions[a.Engine] = a.Version
		if of.Workload == "met" && a.Complete != (a.Digest == of.Data.Digest) {
			r.addProblem("the archive %s %s: its digest and its state disagree", a.Engine, a.Design)
		}
	}
	seen := map[string]bool{}
	for _, c := range of.Cases {
		if seen[c.Name] {
			r.addProblem("the case %s is listed twice", c.Name)
		}
		seen[c.Name] = true
	}
}

// checkSamples checks each sample against run.json and against the other samples of its cell.
func (r *Report) checkSamples(of *run.Run, all []rawSample) {
	type repetition struct {
		run.Cell
		run.Phase
		rep int
	}
	r.Samples = len(all)
	wrong, cells, reps := map[run.Cell]bool{}, map[run.Cell]bool{}, map[repetition]bool{}
	warm, found := map[run.Cell]int{}, &sampleProblems{first: map[string]string{}, count: map[string]int{}}
	defer found.addTo(r)
	for i := range all {
		s := &all[i]
		cells[s.Cell] = true
		wrong[s.Cell] = wrong[s.Cell] || s.Verdict == run.Wrong
		if k := (repetition{s.Cell, s.Phase, s.Rep}); of.Workload == "met" {
			if reps[k] {
				found.add(fmt.Sprintf("%s, %s repetition %d", s.Cell, s.Phase, s.Rep), "is listed twice")
			}
			if reps[k] = true; s.Phase == run.Warm && s.Rep >= 0 { // -1 = the sample only proves a result that is not timed
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
		byName := func(a, b run.Cell) int { return cmp.Compare(a.String(), b.String()) }
		for _, c := range slices.SortedFunc(maps.Keys(warm), byName) {
			if warm[c] != of.Reps {
				found.add(c.String(), fmt.Sprintf("has %d warm repetitions, run.json reports %d", warm[c], of.Reps))
			}
		}
	}
}

// verdict checks that a sample has a proof if, and only if, it is correct. It also checks that a sample has no times if
// it is not correct, or if another repetition of its cell is wrong.
func (s *rawSample) verdict(cellIsWrong bool) (out []string) {
	degrees := map[run.Verdict][]answer.Degree{
		run.Equal:           {answer.EveryValue, answer.KeysAndCounts, answer.DigestOnly, answer.Agreed},
		run.EqualToRounding: {answer.Rounded},
		run.Undetermined:    {answer.Undetermined},
	}
	timed := len(s.Measured) > 0 && string(s.Measured) != "null"
	allowed, correct := degrees[s.Verdict]
	switch {
	case correct && s.Proof == "":
		out = append(out, "is "+string(s.Verdict)+" without a proof")
	case correct && !slices.Contains(allowed, s.Proof):
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
	isArchive := func(a run.Archive) bool {
		switch of.Workload { // only met and faults have an archive for each design
		case "met":
			return a.Engine == s.Cell.Engine && a.Design == design
		case "faults":
			return a.Engine == s.Cell.Engine && (a.Design == design || a.Design == "" || design == "")
		}
		return a.Engine == s.Cell.Engine
	}
	if !slices.ContainsFunc(of.Archives, isArchive) {
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
			out = append(out, fmt.Sprintf("is equal with %s, the reference has %s", run.CountOf(s.Rows, "row"), run.FormatCount(of.Cases[i].Rows)))
		}
	case s.Cell.Workload == run.OwnWorkload && of.Own != nil:
		isQuestion := func(q run.OwnQuestion) bool { return q.Name == s.Cell.Value("query") }
		if !slices.ContainsFunc(of.Own.Questions, isQuestion) {
			out = append(out, "run.json has no question "+s.Cell.Value("query"))
		}
	case s.Cell.Workload == run.ScanWorkload && of.Scan != nil && len(of.Archives) > 0:
		if of.ConfigIndex(s.Cell) < 0 {
			out = append(out, "run.json has no such configuration")
		}
	}
	return out
}

// checkAnswers checks that a stored answer has the digest that is its name. It does not search by a pattern, because
// the name of the folder may contain the characters of one.
func (r *Report) checkAnswers(samples []rawSample) error {
	entries, err := os.ReadDir(filepath.Join(r.Dir, "answers"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := lists.Set(samples, func(s rawSample) string { return s.Digest })
	for _, e := range entries {
		name, isAnswer := strings.CutSuffix(e.Name(), ".json")
		if !isAnswer {
			continue
		}
		var a struct {
			Digest string `json:"digest"`
		}
		text, err := run.ReadFile(r.Dir, filepath.Join("answers", e.Name()))
		if err != nil || json.Unmarshal(text, &a) != nil || a.Digest != name || !known[name] {
			r.addProblem("answers/%s.json is not an answer of this run", name)
		}
	}
	return nil
}
