// Package sharing writes a run folder as one archive without the names of hosts, users and paths, and checks the
// integrity of run folders. The check detects accidental edits. It does not detect a forgery: whoever changes the
// results can write new digests, too.
//
// Test with: go test ./results/report/sharing
package sharing

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// Manifest is the name of the file with the digests of the other files.
const Manifest = "manifest.json"

// manifest is the content of that file.
type manifest struct {
	Files map[string]string `json:"sha256"` // by slash path
}

// shared matches the files that an archive contains. Every other file is left out: answers, quarantined lines and
// histories contain the user's data, and the rest can be made again.
var shared = regexp.MustCompile(`^((x\d+|days-\d+|clients)/)?(run\.json|events\.jsonl|cases\.yaml|growth\.json|plans/[^/]+\.(txt|json))$`)

// Result is what Write did.
type Result struct {
	File    string   `json:"file"`
	Name    string   `json:"name"` // of the folder in the archive
	Files   []string `json:"files"`
	Omitted int      `json:"omitted"` // number of files that the archive does not contain
}

// Write writes the run folder as a .tar.gz file. The times of its entries are the start of the run, so that the same
// folder gives the same archive.
func Write(dir, file string) (*Result, error) {
	r, err := run.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	if r.Finished.IsZero() {
		return nil, &fault.Error{File: dir, Problem: "contains a run that has not finished", Cure: "finish the run first, with the same command"}
	}
	out := &Result{File: file, Name: run.FolderName(r.Started, word(r.Workload))}
	files, err := sharedFiles(dir, out)
	if err != nil {
		return nil, err
	}
	s := newScrubber(dir, files)
	s.name = out.Name
	digests := manifest{map[string]string{}}
	for _, name := range out.Files {
		if files[name], err = s.file(name, files[name]); err != nil {
			return nil, &fault.Error{File: filepath.Join(dir, name), Err: err, Cure: "restore the file"}
		}
		if left := s.remains(files[name]); left != "" {
			return nil, &fault.Error{File: filepath.Join(dir, name), Problem: fmt.Sprintf("still contains %q after names and paths were removed", left), Cure: "remove it from the file"}
		}
		digests.Files[name] = fmt.Sprintf("%x", sha256.Sum256(files[name]))
	}
	if files[Manifest], err = json.MarshalIndent(digests, "", " "); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err = errors.Join(err, t.WriteHeader(&tar.Header{Name: path.Join(out.Name, name), Mode: 0o644, Size: int64(len(files[name])), ModTime: r.Started.UTC(), Format: tar.FormatPAX}))
		if err == nil {
			_, err = t.Write(files[name])
		}
	}
	if err = errors.Join(err, t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out, os.WriteFile(file, b.Bytes(), 0o644) //nolint:gosec // the user named the file
}

// sharedFiles reads the files of a run folder that an archive contains, and counts the others.
func sharedFiles(dir string, out *Result) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case !shared.MatchString(rel) || !d.Type().IsRegular():
			out.Omitted++
			return nil
		}
		out.Files = append(out.Files, rel)
		files[rel], err = os.ReadFile(name) //nolint:gosec // a file of the run folder
		return err
	})
	slices.Sort(out.Files)
	return files, err
}

// word returns the letters of a text: a study's name becomes the name of a folder.
func word(text string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z]+`).ReplaceAllString(text, ""), "-")
}

// scrubber replaces names and paths in texts.
type scrubber struct {
	name    string    // of the run in the archive
	literal []literal // names of this machine, and those in the run folder; the longest first
}

// literal is a name or a path that is replaced wherever it is not a part of a longer word.
type literal struct {
	text, with string
	pattern    *regexp.Regexp
}

// Replacements.
const (
	aHost = "HOST"
	aUser = "USER"
	aPath = "PATH"
)

var (
	urls     = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*)://[^\s"'<>\\]*`)
	schema   = regexp.MustCompile(`^[a-z0-9_]+$`)
	emails   = regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)*\b`)
	moments  = regexp.MustCompile(`@[\d.]+(ms|s|m|h)[\d.smh]*$`)
	quads    = regexp.MustCompile(`\b(\d{1,3}\.){3}\d{1,3}\b`)
	sixes    = regexp.MustCompile(`(^|[^\w:])([0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:]*)`)
	homes    = regexp.MustCompile(`~\w*/[^\s"'` + "`" + `,;)\]]*`)
	absolute = regexp.MustCompile(`(^|[\s"'` + "`" + `=:,;(\[<>|])((?:/|[A-Za-z]:\\|\\\\)[\w.@~+%$#-][^\s"'` + "`" + `,;:)\]<>|]*)`)
	hostOf   = regexp.MustCompile(`^(?:([^:@/]*)(?::[^@]*)?@)?([^/?]*)`)
	loopback = regexp.MustCompile(`^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1?\]?)$`)
	filePath = regexp.MustCompile(`^(?:[a-z]+:)?((?:\.{0,2}/)?[^\s:?=&]*[/.][^\s:?=&]*)`)
)

// impartial are names that many machines and engines share: to replace them would change the results.
var impartial = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"root": true, "admin": true, "administrator": true, "user": true, "default": true, "guest": true, "nobody": true, "runner": true, "test": true, "postgres": true, "mysql": true, "mariadb": true,
	"duckdb": true, "sqlite": true, "pebble": true, "clickhouse": true, "cassandra": true, "asterixdb": true, "valkey": true, "redis": true, "mongodb": true, "couchbase": true, "trino": true, "barograph": true, "debian": true, "ubuntu": true, "localhost": true, "main": true, "data": true,
}

// newScrubber collects the names of this machine, and the hosts, users and paths in structured places of the run
// folder.
func newScrubber(dir string, files map[string][]byte) *scrubber {
	found := map[string]bool{}
	add := func(texts ...string) {
		for _, t := range texts {
			if t = strings.TrimSpace(t); len(t) > 2 && !impartial[strings.ToLower(t)] && !loopback.MatchString(t) {
				found[t] = true
			}
		}
	}
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		add(host, short)
	}
	if u, err := user.Current(); err == nil {
		add(u.Username, u.Name, u.HomeDir)
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home, filepath.Base(home))
	}
	add(os.Getenv("USER"), os.Getenv("LOGNAME"))
	for _, p := range []string{dir, "."} {
		if full, err := filepath.Abs(p); err == nil {
			add(full)
		}
	}
	if strings.ContainsRune(dir, filepath.Separator) {
		add(dir)
	}
	for name, text := range files {
		if path.Base(name) == run.DescriptionFile {
			var r run.Run
			if json.Unmarshal(text, &r) == nil { // otherwise file reports the damage
				addRun(&r, add)
			}
		}
	}
	s := &scrubber{}
	for _, l := range slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }) {
		with := aUser
		switch {
		case strings.ContainsAny(l, `/\`):
			with = aPath
		case strings.Contains(l, "."):
			with = aHost
		}
		s.literal = append(s.literal, literal{strings.ToLower(l), "${1}" + with + "${2}", regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(l) + `($|[^\pL\pN])`)})
	}
	return s
}

// addRun adds the hosts, users and paths of a run.
func addRun(r *run.Run, add func(...string)) {
	one := func(text string) {
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if scheme, rest, ok := strings.Cut(text, "://"); ok && scheme != "" {
			for part := range strings.SplitSeq(rest, ",") {
				m := hostOf.FindStringSubmatch(part)
				host, _, _ := strings.Cut(m[2], ":")
				short, _, _ := strings.Cut(host, ".")
				add(m[1], host)
				if !quads.MatchString(host) {
					add(short)
				}
			}
			return
		}
		if m := filePath.FindStringSubmatch(text); m != nil && strings.Contains(m[1], "/") {
			add(m[1])
		}
	}
	of := func(text string) {
		for t := range strings.FieldsSeq(text) {
			one(t)
		}
	}
	for _, a := range r.Args {
		of(a)
	}
	for _, p := range r.Data.Paths {
		add(p)
		of(p)
	}
	of(r.Data.Source)
	for _, a := range r.Archives {
		of(a.URL)
		if a.Table != nil {
			of(a.Table.DDLFile)
		}
	}
	if r.Own != nil {
		for _, t := range r.Own.Tables {
			for _, f := range t.Files {
				of(f)
			}
		}
		for _, q := range r.Own.Questions {
			of(q.File)
		}
	}
	if r.Scan != nil {
		for _, d := range r.Scan.Disks {
			add(d.Path)
		}
	}
}

// text removes names and paths from a text.
func (s *scrubber) text(t string) string {
	t = fault.Redact(t)
	t = urls.ReplaceAllString(t, "${1}://"+aHost)
	t = homes.ReplaceAllString(t, aPath)
	t = s.names(t)
	t = emails.ReplaceAllStringFunc(t, func(m string) string {
		if moments.MatchString(m) { // kill:node2@10s
			return m
		}
		return aUser + "@" + aHost
	})
	t = absolute.ReplaceAllString(t, "${1}"+aPath)
	t = sixes.ReplaceAllStringFunc(t, func(m string) string {
		g := sixes.FindStringSubmatch(m)
		if a, err := netip.ParseAddr(g[2]); err != nil || a.IsLoopback() || !strings.ContainsAny(m, "0123456789") { // 12:00:00, a cast a::text
			return m
		}
		return g[1] + aHost
	})
	return quads.ReplaceAllStringFunc(t, func(q string) string {
		if loopback.MatchString(q) {
			return q
		}
		return aHost
	})
}

// names replaces the collected names. A match includes the character after it, which may begin the next match, so it is
// repeated.
func (s *scrubber) names(t string) string {
	for _, l := range s.literal {
		for strings.Contains(strings.ToLower(t), l.text) {
			next := l.pattern.ReplaceAllString(t, l.with)
			if next == t {
				break
			}
			t = next
		}
	}
	return t
}

// remains returns a collected name that a file still contains, or "".
func (s *scrubber) remains(text []byte) string {
	for _, l := range s.literal {
		if l.pattern.Match(text) {
			return l.text
		}
	}
	return ""
}

// file removes names and paths from a file: from each string of JSON, or from the text.
func (s *scrubber) file(name string, text []byte) ([]byte, error) {
	switch path.Ext(name) {
	case ".json":
		return s.json(text, " ")
	case ".jsonl":
		var out []byte
		for line := range bytes.Lines(text) {
			clean, err := s.json(line, "")
			if err != nil {
				return nil, err
			}
			out = append(out, clean...)
		}
		return out, nil
	}
	return []byte(s.text(string(text))), nil
}

func (s *scrubber) json(text []byte, indent string) ([]byte, error) {
	var v any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber() // nanoseconds do not fit into a float64
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", indent)
	err := out.Encode(s.value("", v))
	return b.Bytes(), err
}

// value removes names and paths from a JSON value; key is its name in the object that contains it.
func (s *scrubber) value(key string, v any) any {
	switch x := v.(type) {
	case string:
		switch key {
		case "url": // the engine is enough
			scheme, _, _ := strings.Cut(x, ":")
			return word(scheme) + ":"
		case "mount":
			return ""
		case "id":
			return s.name
		case "version", "barograph_version", "started", "finished", "ended", "time": // four numbers with periods are a version here
			return s.names(x)
		case "cell":
			return s.cell(x)
		}
		return s.text(x)
	case []any:
		for i := range x {
			x[i] = s.value("", x[i])
		}
	case map[string]any:
		if x["kind"] == string(run.StartEvent) {
			x["text"] = s.name
		}
		out := map[string]any{}
		for k, e := range x {
			name := k
			if !schema.MatchString(k) {
				name = s.text(k)
			}
			for out[name] != nil { // two messages that differ only in a path
				name += " "
			}
			out[name] = s.value(k, e)
		}
		return out
	}
	return v
}

// cell removes names and paths from the values of a cell's axes.
func (s *scrubber) cell(text string) string {
	var c run.Cell
	if c.UnmarshalText([]byte(text)) != nil {
		return s.text(text)
	}
	names, values := c.Axes()
	var axes []any
	for i := range names {
		axes = append(axes, names[i], s.text(values[i]))
	}
	return run.NewCell(c.Workload, s.text(c.Engine), axes...).String()
}
