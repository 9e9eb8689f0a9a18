package run

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
)

// Folder is a run folder that is being written. Any goroutine may call Event; only one may call the
// other methods.
type Folder struct {
	Dir string
	Run Run

	samples         []*Sample
	journal         journal
	warningsWritten int                    // number of Run.Warnings that are in the journal
	answers         map[answer.Digest]bool // digests of the stored answers
	quarantineFile  *os.File
	quarantineCSV   *csv.Writer
	created         bool // the folder did not exist before
}

// Create makes dir, which must not contain a run, and starts to write. Without a dir, the run is
// only in memory.
func Create(dir string, r Run) (*Folder, error) {
	f := &Folder{Dir: dir, Run: r, journal: journal{dir: dir}, answers: map[answer.Digest]bool{}}
	if dir != "" {
		if _, err := os.Stat(filepath.Join(dir, DescriptionFile)); err == nil {
			return nil, &fault.Error{File: dir, Problem: "already contains a run", Cure: "name another folder"}
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			f.created = true
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := f.journal.open(); err != nil {
		return nil, err
	}
	return f.start()
}

// start writes the first event. If the folder cannot be written, start closes it.
func (f *Folder) start() (*Folder, error) {
	err := errors.Join(f.journal.add(&Event{Kind: StartEvent, PID: os.Getpid(), Text: f.Run.ID}), f.Save())
	if err != nil {
		return nil, errors.Join(err, f.journal.close())
	}
	return f, nil
}

// Resume creates the run folder of a command, or continues the interrupted run of the same command in it. It keeps the
// samples for which keep returns true, and prints their number. If isPart is true, Resume also continues a finished
// run, because more work can follow it: the run is one part of a study, such as one of several data sizes, or a time
// limit ended it.
func Resume(dir string, fresh Run, isPart bool, keep func(s *Sample) bool, printLine func(string)) (*Folder, error) {
	r, all, err := Read(dir)
	if err != nil || r.Workload != fresh.Workload || !r.Finished.IsZero() && !isPart {
		return Create(dir, fresh) // which refuses the folder of another run
	}
	events, err := ReadEvents(dir)
	switch {
	case err != nil:
		return nil, err
	case StateOf(events, time.Now()) == Running:
		cure := fmt.Sprintf("wait until it has finished (after a kill: %s), or name another folder", interruptedAfter)
		return nil, &fault.Error{File: dir, Problem: "contains a run in progress", Cure: cure}
	case !SameCommand(r.Args, fresh.Args):
		problem := "contains an interrupted run of another command: " + strings.Join(r.Args, " ")
		return nil, &fault.Error{File: dir, Problem: problem, Cure: "resume it with the same command, or name another folder"}
	}
	f := &Folder{Dir: dir, Run: *r, journal: journal{dir: dir, stop: make(chan struct{})}, answers: map[answer.Digest]bool{}}
	f.warningsWritten = len(r.Warnings)
	for i := range events {
		f.journal.events, f.journal.lastSequence = append(f.journal.events, &events[i]), events[i].Sequence
	}
	obsolete := func(e *Event) bool { return e.Kind == HeartbeatEvent || e.Sample != nil && !keep(e.Sample) }
	if err := f.journal.rewrite(true, obsolete); err != nil {
		return nil, err
	}
	for _, e := range f.journal.events {
		if e.Sample != nil {
			f.samples = append(f.samples, e.Sample)
		}
	}
	f.Run.Finished = time.Time{}
	go f.journal.writeHeartbeats()
	printLine(fmt.Sprintf("resuming %s: %d of %d results are kept", fault.Name(dir), len(f.samples), len(all)))
	return f.start()
}

// SameCommand compares the arguments of two runs without --out, because the program may have named the folder of one of
// them, and without --time-limit, because a resumed run may have more time.
func SameCommand(a, b []string) bool {
	ignored := regexp.MustCompile("\x00--(?:out|time-limit)[=\x00][^\x00]*")
	join := func(args []string) string { return ignored.ReplaceAllString("\x00"+strings.Join(args, "\x00"), "") }
	return join(a) == join(b)
}

// Save writes run.json and samples.csv in their present state. It returns only the first error,
// because a full disk would otherwise be reported once for each file.
func (f *Folder) Save() error {
	if f.writeWarnings(); f.Dir == "" {
		return nil
	}
	return cmp.Or(f.journal.err(), writeJSON(f.Dir, DescriptionFile, &f.Run), writeCSV(f.Dir, f.Samples()))
}

// Warn adds a warning, unless the resumed run has it already, and writes it immediately. If writing fails, the next
// sample and Save return the error.
func (f *Folder) Warn(text string) {
	if slices.Contains(f.Run.Warnings, text) {
		return
	}
	f.Run.Warnings = append(f.Run.Warnings, text)
	f.writeWarnings()
}

// DropWarnings removes warnings of an interrupted run that the resumed run gives again if they still apply.
func (f *Folder) DropWarnings(drop func(text string) bool) {
	f.Run.Warnings = slices.DeleteFunc(f.Run.Warnings, drop)
	f.warningsWritten = len(f.Run.Warnings)
}

func (f *Folder) writeWarnings() {
	for ; f.warningsWritten < len(f.Run.Warnings); f.warningsWritten++ {
		_ = f.journal.add(&Event{Kind: WarningEvent, Text: f.Run.Warnings[f.warningsWritten]}) // the journal keeps the error
	}
}

// StepLogger returns a function for messages about progress. It writes each as an event and passes it to printLine.
func (f *Folder) StepLogger(printLine func(string)) func(string) {
	return func(text string) {
		_ = f.AddEvent(Event{Kind: StepEvent, Text: text}) // the journal keeps the error
		printLine(text)
	}
}

// ExitError chooses the error of a run by its verdicts: wrong with the status fault.Differs if an answer is wrong, else
// failed with the status fault.Incomplete if an answer is missing, else nil.
func (f *Folder) ExitError(wrong, failed error) error {
	verdicts := lists.Set(f.samples, func(s *Sample) Verdict { return s.Verdict })
	switch {
	case verdicts[Wrong]:
		return &fault.Status{Code: fault.Differs, Err: wrong}
	case verdicts[Failed]:
		return &fault.Status{Code: fault.Incomplete, Err: failed}
	}
	return nil
}

// AddEvent records an event. Any goroutine may call it. The caller may ignore the error: the next
// sample and Save return it, too.
func (f *Folder) AddEvent(e Event) error { return f.journal.add(&e) }

// Add records a judged repetition. An incorrect one removes the times of all repetitions of its cell, including earlier
// ones, and its rate events. A cold start without an answer removes only the times of cold starts. Rate events that are
// written after the incorrect repetition are removed with the next repetition of the cell.
func (f *Folder) Add(s Sample) error {
	if s.Verdict == "" {
		return errNoProof
	}
	isInvalid := s.measured != nil && !f.mayHaveTimes(&s)
	if isInvalid {
		s.measured = nil
	}
	f.samples = append(f.samples, &s)
	if err := f.journal.add(&Event{Kind: SampleEvent, Sample: &s}); err != nil || s.Verdict.IsCorrect() && !isInvalid {
		return err
	}
	invalidated := lists.Filter(f.samples, func(o *Sample) bool { return o.measured != nil && s.invalidates(o) })
	for _, o := range invalidated {
		o.measured = nil
	}
	isUntimed := !f.mayHaveTimes(&Sample{Cell: s.Cell}) // rate events count as warm
	return f.journal.rewrite(len(invalidated) > 0, func(e *Event) bool { return isUntimed && e.Kind == RateEvent && e.Cell == s.Cell })
}

// mayHaveTimes reports whether a repetition may have times: its cell has no incorrect repetition,
// and its archive is complete. An archive without a design, as in a mix, is not checked, because mixes do not set
// Complete.
func (f *Folder) mayHaveTimes(s *Sample) bool {
	return !slices.ContainsFunc(f.samples, func(o *Sample) bool { return o.invalidates(s) }) &&
		!slices.ContainsFunc(f.Run.Archives, func(a Archive) bool {
			return a.Engine == s.Cell.Engine && a.Design == s.Cell.Value("design") && a.Design != "" && !a.Complete
		})
}

// Samples returns the recorded samples.
func (f *Folder) Samples() []Sample {
	return lists.Map(f.samples, func(s *Sample) Sample { return *s })
}

// Reject writes a quarantined line to quarantine.csv as it is, because its text is data.
func (f *Folder) Reject(file string, line uint32, reason, text string) (err error) {
	if f.Dir == "" {
		return nil
	}
	lines := [][]string{{file, strconv.Itoa(int(line)), reason, text}}
	if f.quarantineCSV == nil {
		if f.quarantineFile, err = os.Create(filepath.Join(f.Dir, "quarantine.csv")); err != nil {
			return err
		}
		f.quarantineCSV = csv.NewWriter(f.quarantineFile)
		lines = slices.Insert(lines, 0, []string{"file", "line", "reason", "text"})
	}
	return f.quarantineCSV.WriteAll(lines)
}

// Close writes samples.parquet, latency.hlog and run.json. If it fails, everything written earlier
// remains readable.
func (f *Folder) Close() error {
	errs := []error{f.Save()}
	if f.quarantineFile != nil {
		errs = append(errs, f.quarantineFile.Close())
	}
	if f.Dir != "" {
		errs = append(errs, writeParquet(filepath.Join(f.Dir, "samples.parquet"), f.Samples()), f.writeHistograms())
	}
	last := FinishEvent
	if f.Run.Finished.IsZero() {
		last = StopEvent
	}
	if err := f.journal.add(&Event{Kind: last}); !errors.Is(errs[0], err) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, f.journal.close())...)
}

// Discard closes the folder of a run that failed before it measured anything. It removes what Create wrote, because the
// next run in the folder would be refused, and the folder itself if Create made it.
func (f *Folder) Discard() error {
	err := f.journal.close()
	switch {
	case f.created:
		err = errors.Join(err, os.RemoveAll(f.Dir))
	case f.Dir != "":
		for _, name := range []string{eventsFile, samplesFile, DescriptionFile} {
			err = errors.Join(err, os.Remove(filepath.Join(f.Dir, name)))
		}
	}
	return err
}

// FolderName is the default name of a run's folder: its start and workload. It is also the run's ID.
func FolderName(started time.Time, workload string) string {
	return started.UTC().Format("20060102-150405") + "-" + workload
}

// sampleTable has one row for each sample: first the columns that identify the sample, then each measured number under
// its name in events.jsonl. A value is a string, an int64 or a float64. A column that a sample does not have is empty.
type sampleTable struct {
	columns []string
	rows    []map[string]any
}

func newSampleTable(samples []Sample) *sampleTable {
	t := &sampleTable{}
	for i := range samples {
		s := &samples[i]
		row := map[string]any{}
		put := func(name string, v any) {
			if row[name] = v; !slices.Contains(t.columns, name) {
				t.columns = append(t.columns, name)
			}
		}
		put("workload", s.Cell.Workload)
		put("engine", s.Cell.Engine)
		names, values := s.Cell.Axes()
		for k := range names {
			put(names[k], values[k])
		}
		put("phase", string(s.Phase))
		put("verdict", string(s.Verdict))
		put("proof", string(s.Proof))
		put("problem", s.Problem)
		put("digest", s.Digest)
		put("rep", int64(s.Rep))
		put("rows", int64(s.Rows))
		eachNumber("", reflect.ValueOf(s.measured), put)
		t.rows = append(t.rows, row)
	}
	return t
}

// eachNumber calls put for each measured number. The names of nested fields are joined by "_". For
// an element of a list, its string fields become part of the name: groups_READ_OK_count. Fields with the tag
// table:"-" have no column.
func eachNumber(prefix string, v reflect.Value, put func(name string, v any)) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		eachNumber(prefix, v.Elem(), put)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				eachNumber(prefix, v.Field(i), put)
			case name != "-" && f.Tag.Get("table") != "-" && (options == "" || !v.Field(i).IsZero()):
				eachNumber(strings.TrimPrefix(prefix+"_"+name, "_"), v.Field(i), put)
			}
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			named, x := []string{prefix}, v.Index(i)
			for k := range x.NumField() {
				if x.Field(k).Kind() == reflect.String && x.Type().Field(k).Tag.Get("table") != "-" {
					named = append(named, x.Field(k).String())
				}
			}
			eachNumber(strings.Join(named, "_"), x, put)
		}
	case v.CanInt():
		put(prefix, v.Int())
	case v.CanUint():
		put(prefix, int64(v.Uint())) //nolint:gosec // bytes and counts
	case v.CanFloat():
		put(prefix, v.Float())
	}
}

// WriteCSV writes samples as CSV, with times in nanoseconds and sizes in bytes. Samples without
// proof have no times.
func WriteCSV(w io.Writer, samples []Sample) error {
	g := newSampleTable(samples)
	lines := [][]string{g.columns}
	for _, row := range g.rows {
		line := make([]string, len(g.columns))
		for i, c := range g.columns {
			switch v := row[c].(type) {
			case string:
				line[i] = v
			case int64:
				line[i] = strconv.FormatInt(v, 10)
			case float64:
				line[i] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

const samplesFile = "samples.csv"

func writeCSV(dir string, samples []Sample) error {
	var b bytes.Buffer
	if err := WriteCSV(&b, samples); err != nil {
		return err
	}
	return WriteFile(dir, samplesFile, b.Bytes())
}

// writeParquet writes the table of WriteCSV, with columns in alphabetical order.
func writeParquet(path string, samples []Sample) error {
	g := newSampleTable(samples)
	group := parquet.Group{}
	for _, c := range g.columns {
		for _, row := range g.rows {
			switch row[c].(type) {
			case string:
				group[c] = parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
			case int64:
				group[c] = parquet.Optional(parquet.Int(64))
			case float64:
				group[c] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
			}
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	schema := parquet.NewSchema("sample", group)
	w := parquet.NewGenericWriter[any](file, schema)
	for _, row := range g.rows {
		line := make(parquet.Row, len(schema.Columns()))
		for i, c := range schema.Columns() {
			line[i] = parquet.NullValue().Level(0, 0, i)
			if v, ok := row[c[0]]; ok {
				line[i] = parquet.ValueOf(v).Level(0, 1, i)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(w.Close(), file.Close())
}
