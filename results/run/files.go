package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
)

// maxNameBytes leaves room for a suffix within the 255 bytes that file systems allow.
const maxNameBytes = 200

// FileName makes a file name, without suffix, from arbitrary names of questions, engines, designs or subsets. Two lists
// of equally many parts that differ give different file names, and no name leads out of its folder. Periods separate
// the parts. FileName escapes, as in URLs (/ becomes %2F), every character other than letters, digits, spaces and
// _ - + = , . ~ @. It also escapes the periods of all parts but the first, and all periods of a part that begins with
// one. It writes an empty part as %, so no name begins with a period.
func FileName(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		e := strings.ReplaceAll(url.QueryEscape(p), "+", " ")
		for _, c := range "+=,@" {
			e = strings.ReplaceAll(e, url.QueryEscape(string(c)), string(c))
		}
		if i > 0 || strings.HasPrefix(e, ".") { // a period separates the parts, and a leading period would hide the file
			e = strings.ReplaceAll(e, ".", "%2E")
		}
		escaped[i] = cmp.Or(e, "%")
	}
	name := strings.Join(escaped, ".")
	if len(name) > maxNameBytes {
		digest := fnv.New128a()
		digest.Write([]byte(name))
		name = fmt.Sprintf("%s~%x", name[:maxNameBytes-33], digest.Sum(nil))
	}
	return name
}

// WriteFile writes a file of a run folder atomically, and never outside of the folder. It writes nothing if dir is "",
// because the run is then only in memory.
func WriteFile(dir, name string, text []byte) (err error) {
	if dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	_ = root.Remove(name + ".new") // a FIFO would wait for a reader; usually there is no such file
	if err := root.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return root.Rename(name+".new", name)
}

// writeJSON writes a JSON document without secrets.
func writeJSON(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return WriteFile(dir, name, append(jsonString.ReplaceAllFunc(text, redact), '\n'))
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redact removes secrets from a JSON string.
func redact(quoted []byte) []byte {
	var s string
	if json.Unmarshal(quoted, &s) == nil && fault.Redact(s) != s {
		if text, err := json.Marshal(fault.Redact(s)); err == nil {
			return text
		}
	}
	return quoted
}

// A folder stores all rows of an answer if there are at most smallAnswer, otherwise the first firstRows rows.
const (
	smallAnswer = 1000
	firstRows   = 10
)

// storedAnswer is a file of answers/.
type storedAnswer struct {
	Digest  string     `json:"digest"`
	Proof   string     `json:"proof"`
	Rows    int        `json:"rows"`
	Columns []string   `json:"columns"`
	Values  [][]string `json:"values"` // all rows, or the first ones, in canonical text
}

// CasesFile is the name of the file in a run folder that contains the questions.
const CasesFile = "cases.yaml"

// StoreCases stores the questions as YAML, unchanged, so that another run can read them.
func (f *Folder) StoreCases(yaml []byte) error {
	return WriteFile(f.Dir, CasesFile, yaml)
}

// StoreAnswer stores a proven answer as answers/DIGEST.json, once for all cells that returned it. The
// samples refer to it by the digest.
func (f *Folder) StoreAnswer(a *answer.Answer, p answer.Proof) error {
	if f.Dir == "" || !p.Valid() || f.answers[p.Digest()] {
		return nil
	}
	f.answers[p.Digest()] = true
	k := storedAnswer{Digest: answer.FormatDigest(p.Digest()), Proof: string(p.Degree()), Rows: a.Rows}
	for _, c := range a.Columns {
		k.Columns = append(k.Columns, c.Name)
	}
	n := a.Rows
	if n > smallAnswer {
		n = firstRows
	}
	for i := range n {
		k.Values = append(k.Values, lists.Map(lists.Indices(len(a.Columns)), func(c int) string { return string(a.AppendValue(nil, c, i)) }))
	}
	return writeJSON(f.Dir, filepath.Join("answers", k.Digest+".json"), k)
}

// writeHistograms writes latency.hlog, with one interval for each phase of a cell. For a mix it writes two intervals of
// each operation and outcome in a phase: the service times and the response times.
func (f *Folder) writeHistograms() error {
	byTag := map[string]*measure.Interval{}
	for _, s := range f.samples {
		m := s.measured
		if m == nil || m.Total <= 0 {
			continue
		}
		at := f.Run.Started.Add(m.Start)
		tag, end := path.Join(string(s.Phase), s.Cell.String()), at.Add(m.Total)
		if m.Mix == nil {
			intervalOf(byTag, tag, at, end).Record(m.Total)
			continue
		}
		for _, g := range m.Groups {
			for what, packed := range map[string]measure.EncodedHistogram{"service": g.ServiceTimes, "response": g.ResponseTimes} {
				h, err := packed.Histogram()
				if err != nil {
					return err
				}
				if err := intervalOf(byTag, tag+"/"+url.QueryEscape(g.Operation)+"/"+g.Outcome+"/"+what, at, end).Merge(h); err != nil {
					return err
				}
			}
		}
	}
	file, err := os.Create(filepath.Join(f.Dir, "latency.hlog"))
	if err != nil {
		return err
	}
	w, err := measure.NewLogWriter(file, f.Run.Started, "barograph "+f.Run.Workload+", run "+f.Run.ID)
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		if err == nil {
			err = w.Write(*byTag[tag])
		}
	}
	return errors.Join(err, file.Close())
}

// intervalOf returns the histogram of a tag. It creates the interval if there is none, and moves its end to end.
func intervalOf(byTag map[string]*measure.Interval, tag string, start, end time.Time) *measure.Histogram {
	iv := byTag[tag]
	if iv == nil {
		iv = &measure.Interval{Tag: tag, Start: start, Histogram: measure.NewHistogram()}
		byTag[tag] = iv
	}
	iv.End = end
	return iv.Histogram
}
