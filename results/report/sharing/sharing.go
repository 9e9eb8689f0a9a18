// Package sharing writes a run folder as one archive without the names of hosts, users and paths, and checks the
// integrity of run folders. The check detects accidental edits. It does not detect a forgery, because a forger can also
// write new digests.
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

// shared matches the files that an archive contains. Answers, quarantined lines and histories contain the user's data,
// and Barograph can derive the other files from the shared ones.
var shared = regexp.MustCompile(
	`^((x\d+|days-\d+|clients)/)?(run\.json|events\.jsonl|cases\.yaml|growth\.json|plans/[^/]+\.(txt|json))$`)

// Result describes the archive that Write wrote.
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
		const problem, cure = "contains a run that has not finished", "finish the run first, with the same command"
		return nil, &fault.Error{File: dir, Problem: problem, Cure: cure}
	}
	out := &Result{File: file, Name: run.FolderName(r.Started, lettersOf(r.Workload))}
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
		if left := s.remaining(files[name]); left != "" {
			problem := fmt.Sprintf("still contains %q after names and paths were removed", left)
			return nil, &fault.Error{File: filepath.Join(dir, name), Problem: problem, Cure: "remove it from the file"}
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
		header := &tar.Header{
			Name: path.Join(out.Name, name), Mode: 0o644, Size: int64(len(files[name])), ModTime: r.Started.UTC(),
			Format: tar.FormatPAX,
		}
		if err = errors.Join(err, t.WriteHeader(header)); err == nil {
			_, err = t.Write(files[name])
		}
	}
	if err = errors.Join(err, t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out, os.WriteFile(file, b.Bytes(), 0o644) //nolint:gosec // the user named the file
}

// sharedFiles reads the files of a run folder that an archive contains. It lists their names in out.Files, and counts
// the other files in out.Omitted.
func sharedFiles(dir string, out *Result) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
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
		files[rel], err = run.ReadFile(dir, rel)
		return err
	})
	slices.Sort(out.Files)
	return files, err
}

// lettersOf returns the lower-case letters of a text, for the name of a folder.
func lettersOf(text string) string { return notLetters.ReplaceAllString(text, "") }

// scrubber replaces names and paths in texts.
type scrubber struct {
	name    string   // of the run in the archive
	secrets []secret // names and paths of this machine and of the run folder, the longest first
}

// secret is a name or a path that the scrubber replaces, unless it is a part of a longer word.
type secret struct {
	text        string // in lower case
	replacement string
	pattern     *regexp.Regexp
}

// Replacements.
const (
	hostMark = "HOST"
	userMark = "USER"
	pathMark = "PATH"
)

// Patterns of names and paths, and of texts that only look like them.
var (
	notLetters    = regexp.MustCompile(`[^a-z]+`)
	urls          = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*)://[^\s"'<>\\]*`)
	schemaKey     = regexp.MustCompile(`^[a-z0-9_]+$`)
	emails        = regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)*\b`)
	atMoment      = regexp.MustCompile(`@[\d.]+(ms|s|m|h)[\d.smh]*$`)
	ipv4          = regexp.MustCompile(`\b(\d{1,3}\.){3}\d{1,3}\b`)
	ipv6          = regexp.MustCompile(`(^|[^\w:])([0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:]*)`)
	homePaths     = regexp.MustCompile(`~\w*/[^\s"'` + "`" + `,;)\]]*`)
	absolutePaths = regexp.MustCompile(`(^|[\s"'` + "`" + `=:,;(\[<>|])((?:/|[A-Za-z]:\\|\\\\)[\w.@~+%$#-][^\s"'` + "`" + `,;:)\]<>|]*)`)
	hostOf        = regexp.MustCompile(`^(?:([^:@/]*)(?::[^@]*)?@)?([^/?]*)`)
	loopback      = regexp.MustCompile(`^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1?\]?)$`)
	filePath      = regexp.MustCompile(`^(?:[a-z]+:)?((?:\.{0,2}/)?[^\s:?=&]*[/.][^\s:?=&]*)`)
)

// sharedNames are names that many machines and engines share. The scrubber keeps them, because texts about results
// contain them, too.
var sharedNames = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"root": true, "admin": true, "administrator": true, "user": true, "default": true, "guest": true, "nobody": true,
	"runner": true, "test": true, "localhost": true, "main": true, "data": true, "debian": true, "ubuntu": true,
	"barograph": true, "postgres": true, "mysql": true, "mariadb": true, "duckdb": true, "sqlite": true, "pebble": true,
	"clickhouse": true, "cassandra": true, "asterixdb": true, "valkey": true, "redis": true, "mongodb": true,
	"couchbase": true, "trino": true,
}

// newScrubber collects the names of this machine, and the hosts, users and paths in those fields of the run folder that
// contain nothing else.
func newScrubber(dir string, files map[string][]byte) *scrubber {
	found := map[string]bool{}
	add := func(texts ...string) {
		for _, t := range texts {
			if t = strings.TrimSpace(t); len(t) > 2 && !sharedNames[strings.ToLower(t)] && !loopback.MatchString(t) {
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
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	for _, text := range slices.SortedFunc(maps.Keys(found), byLength) {
		mark := userMark
		switch {
		case strings.ContainsAny(text, `/\`):
			mark = pathMark
		case strings.Contains(text, "."):
			mark = hostMark
		}
		pattern := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(text) + `($|[^\pL\pN])`)
		s.secrets = append(s.secrets, secret{strings.ToLower(text), "${1}" + mark + "${2}", pattern})
	}
	return s
}

// addRun adds the hosts, users and paths of a run.
func addRun(r *run.Run, add func(...string)) {
	// A word with a name is a URL, a path, or an option with one of these as its value.
	addWord := func(text string) {
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if scheme, rest, ok := strings.Cut(text, "://"); ok && scheme != "" {
			for part := range strings.SplitSeq(rest, ",") {
				m := hostOf.FindStringSubmatch(part)
				host, _, _ := strings.Cut(m[2], ":")
				short, _, _ := strings.Cut(host, ".")
				add(m[1], host)
				if !ipv4.MatchString(host) {
					add(short)
				}
			}
			return
		}
		if m := filePath.FindStringSubmatch(text); m != nil && strings.Contains(m[1], "/") {
			add(m[1])
		}
	}
	addWords := func(text string) {
		for word := range strings.FieldsSeq(text) {
			addWord(word)
		}
	}
	for _, a := range r.Args {
		addWords(a)
	}
	for _, p := range r.Data.Paths {
		add(p)
		addWords(p)
	}
	addWords(r.Data.Source)
	for _, a := range r.Archives {
		addWords(a.URL)
		if a.Table != nil {
			addWords(a.Table.DDLFile)
		}
	}
	if r.Own != nil {
		for _, t := range r.Own.Tables {
			for _, f := range t.Files {
				addWords(f)
			}
		}
		for _, q := range r.Own.Questions {
			addWords(q.File)
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
	t = urls.ReplaceAllString(t, "${1}://"+hostMark)
	t = homePaths.ReplaceAllString(t, pathMark)
	t = s.names(t)
	t = emails.ReplaceAllStringFunc(t, func(m string) string {
		if atMoment.MatchString(m) { // kill:node2@10s
			return m
		}
		return userMark + "@" + hostMark
	})
	t = absolutePaths.ReplaceAllString(t, "${1}"+pathMark)
	t = ipv6.ReplaceAllStringFunc(t, func(m string) string {
		g := ipv6.FindStringSubmatch(m)
		a, err := netip.ParseAddr(g[2])
		if err != nil || a.IsLoopback() || !strings.ContainsAny(m, "0123456789") { // 12:00:00, a cast a::text
			return m
		}
		return g[1] + hostMark
	})
	return ipv4.ReplaceAllStringFunc(t, func(q string) string {
		if loopback.MatchString(q) {
			return q
		}
		return hostMark
	})
}

// names replaces the collected names. A match includes the character after the name, which may be the first character
// of the next match, so names repeats the replacement until nothing changes.
func (s *scrubber) names(t string) string {
	for _, l := range s.secrets {
		for strings.Contains(strings.ToLower(t), l.text) {
			next := l.pattern.ReplaceAllString(t, l.replacement)
			if next == t {
				break
			}
			t = next
		}
	}
	return t
}

// remaining returns a collected name that a file still contains, or "".
func (s *scrubber) remaining(text []byte) string {
	for _, l := range s.secrets {
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

// json removes names and paths from each string of a JSON value.
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
		case "url": // the engine remains
			scheme, _, _ := strings.Cut(x, ":")
			return lettersOf(scheme) + ":"
		case "mount":
			return ""
		case "id":
			return s.name
		case "version", "barograph_version", "started", "finished", "ended", "time":
			return s.names(x) // four numbers with periods are not an address in these fields
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
		for _, k := range slices.Sorted(maps.Keys(x)) { // the same folder gives the same names
			name := k
			if !schemaKey.MatchString(k) { // a key that comes from the data, such as a query or an error message
				name = s.text(k)
			}
			for out[name] != nil { // keys that differ only in a path
				name += " "
			}
			out[name] = s.value(k, x[k])
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
