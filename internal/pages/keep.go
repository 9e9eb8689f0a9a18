package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/jsonkeys"
	"github.com/barograph/barograph/results/run"
)

// A kept folder is a run folder without what no page needs. It has the folder's run.json, its
// samples as samples.jsonl with one line per cell, and its plans as plans.json.
const (
	keptSamples = "samples.jsonl"
	keptPlans   = "plans.json"
	keptIndex   = "kept.json"
	stepsFile   = "steps.facts" // of run.sh: the seconds of each step

	maxKept = 600_000 // bytes of all kept folders of a page
)

// keptFolder describes a complete run folder, before keep reduced it.
type keptFolder struct {
	Digest string `json:"digest"` // of the complete folder
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
}

// omitted matches the names of large parts of a sample that no page shows: histograms, whose percentiles are kept, and
// the times of single operations.
var omitted = regexp.MustCompile(`^(start_ns|service_times|response_times|times)$`)

// perQuery are parts of the measurement of a single query that only the page about scans shows.
var perQuery = []string{ //nolint:gochecknoglobals // a constant
	"first_row_ns", "client_cpu_ns", "client", "machine", "memory_available_bytes", "devices", "server",
}

// essential are the members of a sample that -drop never omits: without them the sample is another one, or unproven.
var essential = []string{ //nolint:gochecknoglobals // a constant
	"cell", "phase", "rep", "verdict", "problem", "proof", "rows",
}

// scanPlans matches the text of a plan in the description of a scan, which no page shows. The plans of one run of
// AsterixDB are 150 kB.
var scanPlans = regexp.MustCompile(`("plan": )"(?:[^"\\]|\\.)*"`)

// keep copies the kept parts of all run folders below from to the folder to. It replaces the run
// folders of the same names and leaves the others, because the steps of a page may be measured on
// several days. If a run folder cannot be read or reduced, the kept folders stay as they were. If they have become too
// large, keep replaces them and returns an error.
func keep(from, to string, which keepOptions) (err error) {
	work, err := os.MkdirTemp("", "barograph-keep-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.CopyFS(work, os.DirFS(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n, err := keepIn(from, work, which)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(work))); err != nil {
		return err
	}
	size, err := sizeOf(to)
	fmt.Fprintf(os.Stdout, "%d run folders, %d bytes in %s\n", n, size, to)
	if err == nil && size > maxKept {
		err = fmt.Errorf("%s has more than %d bytes: ask fewer questions or repetitions", to, maxKept)
	}
	return err
}

// keepIn is keep in a folder that may remain incomplete. It returns the number of kept run folders.
func keepIn(from, to string, which keepOptions) (n int, err error) {
	index := map[string]keptFolder{}
	if _, err := os.Stat(filepath.Join(to, keptIndex)); err == nil {
		if err := readJSON(filepath.Join(to, keptIndex), &index); err != nil {
			return 0, err
		}
	}
	replaced := map[string]bool{}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, filepath.Dir(path))
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		isRun := d.Name() == run.DescriptionFile
		if !isRun && d.Name() != "growth.json" && !strings.HasSuffix(d.Name(), ".facts") {
			return nil
		}
		if top, _, _ := strings.Cut(name, "/"); top != "." && !replaced[top] {
			replaced[top] = true
			maps.DeleteFunc(index, func(n string, _ keptFolder) bool { return n == top || strings.HasPrefix(n, top+"/") })
			if err := os.RemoveAll(filepath.Join(to, top)); err != nil {
				return err
			}
		}
		switch {
		case isRun:
			if index[name], err = describe(filepath.Dir(path)); err != nil {
				return err
			}
			return keepRun(filepath.Dir(path), filepath.Join(to, name), which)
		case d.Name() == stepsFile:
			return keepSteps(path, filepath.Join(to, name, stepsFile))
		}
		return copyFile(path, filepath.Join(to, name, d.Name()))
	})
	if err != nil {
		return 0, err
	}
	return len(index), writeJSON(filepath.Join(to, keptIndex), index)
}

// keepSteps adds the steps of the file from to the file to, and replaces those of the same names. A line has the name
// of a step and its seconds.
func keepSteps(from, to string) error {
	steps := map[string]string{}
	for _, file := range []string{to, from} {
		text, err := os.ReadFile(file)
		if err != nil && (file == from || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		for line := range strings.Lines(string(text)) {
			name, _, _ := strings.Cut(line, " ")
			steps[name] = line
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		text.WriteString(steps[name])
	}
	return writeFile(to, []byte(text.String()))
}

func keepRun(from, to string, which keepOptions) error {
	var buf bytes.Buffer
	text, err := os.ReadFile(filepath.Join(from, run.DescriptionFile))
	if err == nil {
		err = json.Indent(&buf, text, "", "")
	}
	if err != nil {
		return err
	}
	description := scanPlans.ReplaceAll(buf.Bytes(), []byte(`${1}""`))
	if err := writeFile(filepath.Join(to, run.DescriptionFile), description); err != nil {
		return err
	}
	events, err := run.ReadEvents(from)
	if err != nil {
		return err
	}
	lines, err := pack(events, which.drop)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(to, keptSamples), lines); err != nil {
		return err
	}
	plans, err := run.ReadPlans(from)
	if err != nil || len(plans) == 0 {
		return err
	}
	out := map[string]keptPlan{}
	for _, p := range plans {
		if !which.access.MatchString(p.Name) {
			continue
		}
		k := keptPlan{Cell: p.Cell, Access: p.Access}
		if which.text.MatchString(p.Name) {
			k.Text = p.Text
		}
		out[p.Name] = k
	}
	if len(out) == 0 {
		return nil
	}
	return writeJSON(filepath.Join(to, keptPlans), out)
}

// keepOptions has the expressions of the flags of keep.
type keepOptions struct {
	access, text *regexp.Regexp // names of plans, which are TEST.ENGINE.DESIGN.FLAVOUR
	drop         *regexp.Regexp // names of the parts of samples and measurements, and of counters, that the page does not need
}

type keptPlan struct {
	Cell   run.Cell     `json:"cell"`
	Access []run.Access `json:"access,omitempty"`
	Text   string       `json:"text,omitempty"`
}

// group is the samples of one cell and phase. Values that are the same in all samples are stored once.
type group struct {
	N    int                          `json:"n"`
	All  map[string]json.RawMessage   `json:"all"`
	Each map[string][]json.RawMessage `json:"each,omitempty"`
}

// pack writes the samples of a run's events, a line for each cell and phase.
func pack(events []run.Event, dropped *regexp.Regexp) ([]byte, error) {
	var order []string
	samples := map[string][]map[string]json.RawMessage{}
	finished := false
	for _, e := range events {
		finished = e.Kind == run.FinishEvent
		if e.Sample == nil {
			continue
		}
		flat, err := flatten(e.Sample, dropped)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(flat, func(name string, _ json.RawMessage) bool {
			part, isMeasured := strings.CutPrefix(name, "measured.")
			return dropped.MatchString(part) && (isMeasured || !slices.Contains(essential, name))
		})
		key := e.Sample.Cell.String() + string(e.Sample.Phase)
		if _, ok := samples[key]; !ok {
			order = append(order, key)
		}
		samples[key] = append(samples[key], flat)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"finished\":%v}\n", finished)
	encode := json.NewEncoder(&out)
	encode.SetEscapeHTML(false)
	for _, key := range order {
		if err := encode.Encode(groupOf(samples[key])); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func groupOf(samples []map[string]json.RawMessage) group {
	g := group{N: len(samples), All: map[string]json.RawMessage{}, Each: map[string][]json.RawMessage{}}
	names := map[string]bool{}
	for _, s := range samples {
		for name := range s {
			names[name] = true
		}
	}
	for name := range names {
		all := true
		values := make([]json.RawMessage, len(samples))
		for i, s := range samples {
			values[i] = s[name]
			all = all && bytes.Equal(values[i], values[0])
		}
		if all {
			g.All[name] = values[0]
		} else {
			g.Each[name] = values
		}
	}
	return g
}

// flatten returns the members of a sample, those of its measurement with the prefix "measured.", without counters
// whose names match dropped.
func flatten(s *run.Sample, dropped *regexp.Regexp) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	drop(v, dropped)
	if m, ok := v["measured"].(map[string]any); ok {
		_, mix := m["throughput_ops_s"]
		_, posting := m["post"]
		scan := strings.HasPrefix(s.Cell.String(), run.ScanWorkload+"/")
		for name, member := range m {
			if mix || posting || scan || !slices.Contains(perQuery, name) {
				v["measured."+name] = member
			}
		}
		delete(v, "measured")
	}
	out := map[string]json.RawMessage{}
	for name, member := range v {
		if out[name], err = marshal(member); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// drop removes the parts that omitted matches, and counters whose names match dropped, at any depth.
func drop(v any, dropped *regexp.Regexp) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if omitted.MatchString(name) {
				delete(v, name)
			} else if list, ok := member.([]any); ok {
				list = slices.DeleteFunc(list, func(x any) bool {
					c, _ := x.(map[string]any)
					counter, ok := c["name"].(string)
					return ok && dropped.MatchString(counter)
				})
				v[name] = list
				drop(list, dropped)
			} else {
				drop(member, dropped)
			}
		}
	case []any:
		for _, member := range v {
			drop(member, dropped)
		}
	}
}

// expand writes a kept folder as a run folder that the packages of Barograph read.
func expand(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir := filepath.Join(to, name)
		switch d.Name() {
		case keptSamples:
			return unpack(path, filepath.Join(dir, "events.jsonl"))
		case keptPlans:
			return expandPlans(path, filepath.Join(dir, "plans"))
		}
		return copyFile(path, filepath.Join(dir, d.Name()))
	})
}

func expandPlans(path, dir string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var plans map[string]keptPlan
	if err := jsonkeys.Unmarshal(text, &plans); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, p := range plans {
		if err := writeFile(filepath.Join(dir, name+".txt"), []byte(p.Text)); err != nil {
			return err
		}
		p.Text = ""
		if err := writeJSON(filepath.Join(dir, name+".json"), p); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the events of a kept folder's samples.
func unpack(from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	var out bytes.Buffer
	in := bufio.NewReader(file)
	head := struct {
		Finished bool `json:"finished"`
	}{}
	decode := json.NewDecoder(in)
	if err := decode.Decode(&head); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	sequence := 0
	event := func(kind run.EventKind, sample any) error {
		sequence++
		text, err := marshal(map[string]any{
			"seq": sequence, "time": "2026-01-01T00:00:00Z", "kind": kind, "sample": sample,
		})
		out.Write(append(text, '\n'))
		return err
	}
	if err := event(run.StartEvent, nil); err != nil {
		return err
	}
	for {
		var g group
		err := decode.Decode(&g)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		for i := range g.N {
			if err := event(run.SampleEvent, g.sample(i)); err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
		}
	}
	if head.Finished {
		if err := event(run.FinishEvent, nil); err != nil {
			return err
		}
	}
	return writeFile(to, out.Bytes())
}

// sample is the i-th sample of a group.
func (g *group) sample(i int) map[string]any {
	out, measured := map[string]any{}, map[string]json.RawMessage{}
	add := func(name string, value json.RawMessage) {
		if value == nil || string(value) == "null" {
			return
		}
		if member, ok := strings.CutPrefix(name, "measured."); ok {
			measured[member] = value
		} else {
			out[name] = value
		}
	}
	for name, value := range g.All {
		add(name, value)
	}
	for name, values := range g.Each {
		if i < len(values) {
			add(name, values[i])
		}
	}
	if len(measured) > 0 {
		out["measured"] = measured
	}
	return out
}

// describe computes the digest of a complete folder from the names and contents of its files.
func describe(dir string) (k keptFolder, err error) {
	sums := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			if err == nil && d.IsDir() && d.Name() == "archives" {
				return filepath.SkipDir // the databases themselves
			}
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // nothing was written
		h := sha256.New()
		n, err := io.Copy(h, file)
		k.Bytes += n
		k.Files++
		name, _ := filepath.Rel(dir, path)
		sums[filepath.ToSlash(name)] = hex.EncodeToString(h.Sum(nil))
		return err
	})
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(all, "%s\x00%s\n", name, sums[name])
	}
	k.Digest = hex.EncodeToString(all.Sum(nil))[:16]
	return k, err
}

// sizeOf sums the sizes of the files of a folder.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, text)
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}

// marshal writes JSON with & and < as they are, because cells contain &.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	encode.SetEscapeHTML(false)
	err := encode.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}
