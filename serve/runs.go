package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"

	"github.com/klauspost/compress/gzhttp"
)

// Run is a run folder in the list.
type Run struct {
	Folder   string          `json:"folder"`
	Name     string          `json:"name"`
	ID       string          `json:"id"`
	Workload string          `json:"workload"`
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended,omitzero"`
	State    run.State       `json:"state"`
	At       string          `json:"at,omitempty"` // where an interrupted run stopped
	Data     run.Data        `json:"data"`
	Machine  measure.Machine `json:"machine"`
	Archives []string        `json:"archives"`
	Equal    int             `json:"equal"`
	Wrong    int             `json:"wrong"`
	Failed   int             `json:"failed"`
	Warnings []string        `json:"warnings,omitempty"`
	Problem  string          `json:"problem,omitempty"` // why it cannot be read
}

func (s *Server) runs(w http.ResponseWriter, _ *http.Request) error {
	all := []Run{}
	for _, f := range s.folders {
		names, err := f.runs()
		for _, name := range names {
			all = append(all, describe(f, name))
		}
		if err != nil {
			all = append(all, Run{Folder: f.name, Name: f.name, Problem: fault.Redact(err.Error())})
		}
	}
	slices.SortStableFunc(all, func(a, b Run) int { return b.Started.Compare(a.Started) })
	return writeJSON(w, all)
}

// describe reads a run folder; for one that cannot be read it returns the reason.
func describe(f folder, name string) Run {
	out := Run{Folder: f.name, Name: name}
	r, events, state, err := readRun(filepath.Join(f.dir, name))
	if err != nil {
		out.Problem = fault.Redact(err.Error())
		return out
	}
	out.ID, out.Workload, out.Started, out.Ended, out.State = r.ID, r.Workload, r.Started, r.Finished, state
	out.Data, out.Machine, out.Warnings = r.Data, r.Machine, r.Warnings
	for _, a := range r.Archives {
		out.Archives = append(out.Archives, a.Engine+" "+a.Design)
	}
	for _, e := range events {
		if e.Sample == nil {
			if e.Kind == run.StepEvent && state == run.Interrupted {
				if out.At = e.Text; e.Total > 0 {
					out.At += fmt.Sprintf(", %d of %d", e.Done, e.Total)
				}
			}
			continue
		}
		if state == run.Interrupted {
			out.At = e.Sample.Cell.String()
		}
		switch e.Sample.Verdict {
		case run.Equal, run.EqualToRounding, run.Undetermined:
			out.Equal++
		case run.Wrong:
			out.Wrong++
		default:
			out.Failed++
		}
	}
	return out
}

// reportPolicy lets a report use its own contents and fetch nothing.
const reportPolicy = "default-src 'none'; form-action 'none'; base-uri 'none'; style-src 'unsafe-inline'; " +
	"script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"

// file sends the report of a run folder, or a file to which the report links: samples and plans. The path is
// /runs/FOLDER/RUN/FILE or, if the served folder is itself a run folder, /runs/FOLDER/FILE.
func (s *Server) file(w http.ResponseWriter, r *http.Request) error {
	runName, name, _ := strings.Cut(r.PathValue("file"), "/")
	dir, err := s.path(r.PathValue("folder"), runName)
	if err != nil {
		var notRun error
		if dir, notRun = s.path(r.PathValue("folder"), "."); notRun != nil {
			return err
		}
		name = r.PathValue("file")
	}
	if name == "report.html" { // rendered again, because serve writes nothing into the folder
		page, err := report.Open(dir)
		if err != nil {
			return err
		}
		return writeReport(w, page)
	}
	if !filepath.IsLocal(name) || !slices.Contains([]string{".txt", ".csv", ".parquet"}, filepath.Ext(name)) {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	text, err := run.ReadFile(dir, filepath.FromSlash(name))
	if err == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if filepath.Ext(name) == ".parquet" {
			w.Header().Set("Content-Type", "application/vnd.apache.parquet")
		}
		_, err = w.Write(text)
	}
	return err
}

// runDirs returns the run folders that a URL names.
func (s *Server) runDirs(r *http.Request) (dirs []string, err error) {
	for _, run := range r.URL.Query()["run"] {
		place, name, _ := strings.Cut(run, "/")
		dir, err := s.path(place, name)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// cells sends the results of each run that a URL names.
func (s *Server) cells(w http.ResponseWriter, r *http.Request) error {
	dirs, err := s.runDirs(r)
	if err != nil {
		return err
	}
	runs, err := compare.Read(dirs...)
	if err != nil {
		return err
	}
	out := make([][]compare.Cell, len(runs))
	for i, one := range runs {
		out[i] = compare.Cells(one)
	}
	return writeJSON(w, out)
}

// comparison renders a comparison, as barograph compare does.
func (s *Server) comparison(w http.ResponseWriter, r *http.Request) error {
	dirs, err := s.runDirs(r)
	if err != nil {
		return err
	}
	if len(dirs) < 2 {
		return fault.Misuse("compare", "needs two runs", "select two or more runs of the page Runs")
	}
	runs, err := compare.Read(dirs...)
	if err != nil {
		return err
	}
	return writeReport(w, report.OfComparison(compare.Runs(runs[0], runs[1:], 1)))
}

func writeReport(w http.ResponseWriter, page *report.Report) error {
	text, err := page.Page()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write(text)
	return err
}

const (
	pollInterval      = 250 * time.Millisecond // between two looks at the journal of a run
	keepAliveInterval = 10 * time.Second       // after this time without an event, the stream sends a comment
)

// events sends the journal of a run as server-sent events: first the existing events, then each new one. A
// browser that reconnects names the last event that it received.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.path(r.URL.Query().Get("folder"), r.URL.Query().Get("name"))
	if err != nil {
		return err
	}
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // 0 by default
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(gzhttp.HeaderNoCompression, "1")
	if r.Method == http.MethodHead {
		return nil // a stream would not end
	}
	t := tail{dir: dir, after: after}
	defer t.close()
	out := http.NewResponseController(w)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for sent := time.Now(); ; {
		lines, err := t.more()
		if err != nil {
			return err
		}
		for _, l := range lines {
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", l.seq, l.text)
		}
		silent := len(lines) == 0 && time.Since(sent) > keepAliveInterval
		if silent {
			fmt.Fprint(w, ": alive\n\n")
		}
		if len(lines) > 0 || silent {
			sent = time.Now()
			if err := out.Flush(); err != nil {
				return err
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}

// tail reads the lines that are appended to a journal. When a cell turns out to be wrong, the run replaces its
// journal by a new file. tail then reads the new file from its beginning, and skips events that it has already
// returned.
type tail struct {
	dir        string // the run folder
	after      int    // sequence number of the last event that more returned
	file       *os.File
	in         *bufio.Reader
	incomplete []byte // beginning of a line whose end is not written yet
}

type entry struct {
	seq  int
	text []byte
}

// more returns the events that were written since the last call.
func (t *tail) more() (out []entry, err error) {
	now, err := run.Open(t.dir, "events.jsonl")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the run has not started, or an earlier version wrote it
	}
	if err != nil {
		return nil, err
	}
	if t.file != nil && isSameFile(t.file, now) {
		_ = now.Close() // only read
	} else {
		t.close()
		t.file, t.in, t.incomplete = now, bufio.NewReader(now), nil
	}
	for {
		text, err := t.in.ReadBytes('\n')
		t.incomplete = append(t.incomplete, text...)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		var e struct {
			Seq int `json:"seq"`
		}
		line := t.incomplete[:len(t.incomplete)-1]
		if t.incomplete = nil; json.Unmarshal(line, &e) == nil && e.Seq > t.after {
			out, t.after = append(out, entry{e.Seq, line}), e.Seq
		}
	}
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // only read
		t.file = nil
	}
}

func isSameFile(a, b *os.File) bool {
	one, errA := a.Stat()
	other, errB := b.Stat()
	return errors.Join(errA, errB) == nil && os.SameFile(one, other)
}
