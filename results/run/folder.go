package run

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
)

// Folder is a run that is being written. All but Event is used by one goroutine.
type Folder struct {
	Dir string
	Run Run

	samples    []*Sample
	journal    journal
	journaled  int                    // warnings that are in the journal
	answers    map[answer.Digest]bool // that are kept
	quarantine *os.File
	rejects    *csv.Writer
	created    bool // the folder did not exist before
}

// Create makes dir, which must not hold a run yet, and begins to write. Without
// a dir the run is kept in memory alone.
func Create(dir string, r Run) (*Folder, error) {
	f := &Folder{Dir: dir, Run: r, journal: journal{dir: dir}, answers: map[answer.Digest]bool{}}
	if dir != "" {
		if _, err := os.Stat(filepath.Join(dir, File)); err == nil {
			return nil, &fault.Error{File: dir, Problem: "holds a run already", Cure: "name another folder"}
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

// started writes the first event; a folder that cannot be written is closed again.
func (f *Folder) start() (*Folder, error) {
	err := errors.Join(f.journal.add(&Event{Kind: Began, PID: os.Getpid(), Text: f.Run.ID}), f.Save())
	if err != nil {
		return nil, errors.Join(err, f.journal.close())
	}
	return f, nil
}

// Resume opens the folder of a run that was interrupted, to go on with it; those
// of its samples stay that keep says.
func Resume(dir string, keep func(s *Sample) bool) (*Folder, error) {
	r, _, err := Read(dir)
	if err != nil {
		return nil, err
	}
	events, err := ReadEvents(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Run: *r, journal: journal{dir: dir, stop: make(chan struct{})}, journaled: len(r.Warnings), answers: map[answer.Digest]bool{}}
	for i := range events {
		f.journal.events, f.journal.next = append(f.journal.events, &events[i]), events[i].Sequence
	}
	if err := f.journal.rewrite(func(e *Event) bool { return e.Kind == Beat || e.Sample != nil && !keep(e.Sample) }); err != nil {
		return nil, err
	}
	for _, e := range f.journal.events {
		if e.Sample != nil {
			f.samples = append(f.samples, e.Sample)
		}
	}
	go f.journal.beat()
	return f.start()
}

// Save writes run.json and samples.csv as they stand. Of several errors it returns
// the first: a full disk is one fault, not one for each file.
func (f *Folder) Save() error {
	if f.warn(); f.Dir == "" {
		return nil
	}
	for _, err := range []error{f.journal.err(), writeJSON(f.Dir, File, &f.Run), writeCSV(f.Dir, f.Samples())} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Warn adds a warning, and writes it at once. Where that fails the next sample
// fails, and so does Save.
func (f *Folder) Warn(text string) {
	f.Run.Warnings = append(f.Run.Warnings, text)
	f.warn()
}

func (f *Folder) warn() {
	for ; f.journaled < len(f.Run.Warnings); f.journaled++ {
		_ = f.journal.add(&Event{Kind: Warned, Text: f.Run.Warnings[f.journaled]}) // the journal keeps the error
	}
}

// Tells has what is said of a run's steps stand in the folder, too.
func (f *Folder) Tells(says func(string)) func(string) {
	return func(text string) {
		_ = f.Event(Event{Kind: Step, Text: text}) // the journal keeps the error
		says(text)
	}
}

// Verdict is the error of samples that are not right, with its status: wrong of
// those that differ, else failed of those that did not come.
func (f *Folder) Verdict(wrong, failed error) error {
	for _, v := range []struct {
		verdict Verdict
		status  fault.Status
	}{{Wrong, fault.Status{Code: fault.Differs, Err: wrong}}, {Failed, fault.Status{Code: fault.Incomplete, Err: failed}}} {
		if slices.ContainsFunc(f.samples, func(s *Sample) bool { return s.Verdict == v.verdict }) {
			return &v.status
		}
	}
	return nil
}

// Event records what happened; any goroutine may. An error that the caller drops
// is returned by the next sample and by Save.
func (f *Folder) Event(e Event) error { return f.journal.add(&e) }

// Add records a repetition that was judged. One that is not right takes the times
// of all others of its cell, also of those that were recorded before; a cold
// start without an answer takes those of the cold ones.
func (f *Folder) Add(s Sample) error {
	if s.Verdict == "" {
		return errNoProof
	}
	if s.measured != nil && !f.fit(&s) {
		s.measured = nil
	}
	f.samples = append(f.samples, &s)
	if err := f.journal.add(&Event{Kind: Sampled, Sample: &s}); err != nil || s.Verdict.Right() {
		return err
	}
	for _, o := range f.samples {
		if s.spoils(o) {
			o.measured = nil
		}
	}
	return f.journal.rewrite(func(e *Event) bool { return e.Kind == Rate && e.Cell == s.Cell })
}

// fit reports whether a repetition may have times: none of its cell was not
// right, and its archive holds the whole data.
func (f *Folder) fit(s *Sample) bool {
	return !slices.ContainsFunc(f.samples, func(o *Sample) bool { return o.spoils(s) }) &&
		!slices.ContainsFunc(f.Run.Archives, func(a Archive) bool {
			return a.Engine == s.Cell.Engine && a.Design == s.Cell.At("design") && a.Design != "" && !a.Whole
		})
}

// Samples are those that were recorded.
func (f *Folder) Samples() []Sample {
	out := make([]Sample, len(f.samples))
	for i, s := range f.samples {
		out[i] = *s
	}
	return out
}

// Reject keeps a quarantined line.
func (f *Folder) Reject(file string, line uint32, reason, text string) error {
	if f.rejects == nil {
		var err error
		if f.quarantine, err = os.Create(filepath.Join(f.Dir, "quarantine.csv")); err != nil {
			return err
		}
		f.rejects = csv.NewWriter(f.quarantine)
		if err := f.rejects.Write([]string{"file", "line", "reason", "text"}); err != nil {
			return err
		}
	}
	if err := f.rejects.Write([]string{file, strconv.Itoa(int(line)), reason, text}); err != nil {
		return err
	}
	f.rejects.Flush()
	return f.rejects.Error()
}

// Close writes samples.parquet, latency.hlog and run.json. What was written
// before stays readable if it fails.
func (f *Folder) Close() error {
	errs := []error{f.Save()}
	if f.quarantine != nil {
		errs = append(errs, f.quarantine.Close())
	}
	if f.Dir != "" {
		errs = append(errs, writeParquet(filepath.Join(f.Dir, "samples.parquet"), f.Samples()), f.histograms())
	}
	last := Ended
	if f.Run.Ended.IsZero() {
		last = Stopped
	}
	if err := f.journal.add(&Event{Kind: last}); !errors.Is(errs[0], err) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, f.journal.close())...)
}

// Discard closes the folder of a run that failed before it measured anything, and removes
// it if Create made it.
func (f *Folder) Discard() error {
	err := f.journal.close()
	if f.created {
		err = errors.Join(err, os.RemoveAll(f.Dir))
	}
	return err
}

// ID makes the name of a run's folder from its start and workload.
func ID(started time.Time, workload string) string {
	return started.UTC().Format("20060102-150405") + "-" + workload
}

// grid is samples as a table: a row each, what names it first, then each number
// that was measured, under its name in events.jsonl. A value is a string, an
// int64 or a float64; a column that a sample does not have is empty there.
type grid struct {
	columns []string
	rows    []map[string]any
}

func gridOf(samples []Sample) *grid {
	g := &grid{}
	for i := range samples {
		s := &samples[i]
		row := map[string]any{}
		put := func(name string, v any) {
			if row[name] = v; !slices.Contains(g.columns, name) {
				g.columns = append(g.columns, name)
			}
		}
		put("workload", s.Cell.Workload)
		put("engine", s.Cell.Engine)
		names, values := s.Cell.Axes()
		for k := range names {
			put(names[k], values[k])
		}
		for _, x := range []struct{ name, v string }{{"phase", string(s.Phase)}, {"verdict", string(s.Verdict)}, {"proof", string(s.Proof)}, {"problem", s.Problem}, {"digest", s.Digest}} {
			put(x.name, x.v)
		}
		put("rep", int64(s.Rep))
		put("rows", int64(s.Rows))
		numbers("", reflect.ValueOf(s.measured), put)
		g.rows = append(g.rows, row)
	}
	return g
}

// numbers walks over what was measured. A structure's fields have its name
// before theirs, an element of a list the texts in it.
func numbers(prefix string, v reflect.Value, put func(name string, v any)) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		numbers(prefix, v.Elem(), put)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				numbers(prefix, v.Field(i), put)
			case name != "-" && f.Tag.Get("table") != "-" && (options == "" || !v.Field(i).IsZero()):
				numbers(strings.TrimPrefix(prefix+"_"+name, "_"), v.Field(i), put)
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
			numbers(strings.Join(named, "_"), x, put)
		}
	case v.CanInt():
		put(prefix, v.Int())
	case v.CanUint():
		put(prefix, int64(v.Uint())) //nolint:gosec // bytes and counts
	case v.CanFloat():
		put(prefix, v.Float())
	}
}

// WriteCSV writes samples as CSV: times are in nanoseconds, sizes in bytes; what
// is not proven has none.
func WriteCSV(w io.Writer, samples []Sample) error {
	g := gridOf(samples)
	out := csv.NewWriter(w)
	if err := out.Write(g.columns); err != nil {
		return err
	}
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
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeCSV(dir string, samples []Sample) error {
	var b bytes.Buffer
	if err := WriteCSV(&b, samples); err != nil {
		return err
	}
	return write(dir, "samples.csv", b.Bytes())
}

// writeParquet writes the table of WriteCSV; its columns are in the order of
// their names.
func writeParquet(path string, samples []Sample) error {
	g := gridOf(samples)
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
