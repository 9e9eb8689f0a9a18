package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Registry is a list of drivers. engine/all holds the one that the program uses.
type Registry []Driver

// Find returns the driver of a scheme.
func (r Registry) Find(scheme string) (*Driver, bool) {
	i := slices.IndexFunc(r, func(d Driver) bool { return d.Scheme == scheme })
	if i < 0 {
		return nil, false
	}
	return &r[i], true
}

// Parse finds the driver of a URL such as duckdb:archive.db or postgres://user@host/db and
// checks the URL's parameters: it refuses those that the driver would ignore. It also accepts a bare scheme
// ("dry") and the path of an archive that an embedded engine wrote. It resolves @FILE and lab:ENGINE with ResolveURL.
func (r Registry) Parse(raw string) (*Driver, *url.URL, error) {
	raw, err := ResolveURL(raw)
	if err != nil {
		return nil, nil, err
	}
	if scheme, err := r.recognize(raw); !slices.Contains(r.schemes(), raw) && (scheme != "" || err != nil) { // the path of an archive, without the engine
		d, _ := r.Find(scheme)
		return d, &url.URL{Scheme: scheme, Opaque: (&url.URL{Path: raw}).EscapedPath()}, err
	}
	scheme, rest, isURL := strings.Cut(raw, ":")
	d, known := r.Find(strings.ToLower(scheme))
	if known && d.Place == Embedded {
		rest = strings.ReplaceAll(rest, "#", "%23") // part of the path; a fragment would end it and name another file
	}
	u, err := fault.ParseURL(scheme + ":" + rest)
	if err != nil && (known || isURL) {
		return nil, nil, err
	} else if !known {
		return nil, nil, r.unknown(scheme, strings.TrimSuffix(raw, ":"))
	}
	if d.Place == Embedded && u.Host != "" && u.Host != "localhost" || d.Place == Remote && u.Opaque != "" {
		problems := map[Place]string{Embedded: "names a host", Remote: "has no // before its host"}
		return nil, nil, fault.Misuse(d.Scheme+" URL", problems[d.Place], "write it as in "+d.Example)
	}
	for name, values := range u.Query() {
		if !slices.Contains(d.params(), name) {
			unknown := fault.Unknown(d.Scheme+" URL, parameter", name, d.params())
			unknown.Cure += "; see `barograph list engines`"
			return nil, nil, unknown
		} else if len(values) > 1 || values[0] == "" { // the driver would use the first value, or its default
			return nil, nil, fault.Misuse(d.Scheme+" URL, parameter "+name, "needs exactly one value", "write "+name+"=VALUE once")
		}
	}
	return d, u, nil
}

// Recognize returns the scheme of the embedded engine that wrote a file or folder, or ""
// if no engine wrote it or it cannot be read.
func (r Registry) Recognize(path string) string {
	scheme, _ := r.recognize(path)
	return scheme
}

// recognize is Recognize with the error of a file or folder that cannot be read.
func (r Registry) recognize(path string) (scheme string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() { // do not open a pipe
		return "", nil //nolint:nilerr // such a path is no archive, and the URL may name a new one
	}
	f, err := os.Open(path)
	if err != nil {
		return "", FileError(path, "cannot be read", err, "change its permissions, or name another file")
	}
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head) // an error: the file is shorter, or is a folder
	_ = f.Close()                // nothing was written
	for i := range r {
		if r[i].Recognizes != nil && r[i].Recognizes(path, head[:n]) {
			return r[i].Scheme, nil
		}
	}
	return "", nil
}

// unknown is the error of a URL without a known engine. If the URL is the path of an
// existing file, the cure is to write the engine before the path.
func (r Registry) unknown(scheme, raw string) error {
	unknown := fault.Unknown("engine", scheme, r.schemes())
	if _, err := os.Stat(raw); err == nil {
		engines := r.SchemesWhere(func(d *Driver) bool { return d.Recognizes != nil })
		unknown.Setting, unknown.Problem = raw, "is not an archive of an engine that Barograph knows"
		unknown.Cure = "name the engine before the path: " + strings.Join(engines, ":"+raw+", ") + ":" + raw
	} else if strings.ContainsAny(raw, "./") && !strings.Contains(raw, ":") {
		unknown.Setting, unknown.Problem, unknown.Cure = raw, "names no engine", "name the engine before the path: duckdb:"+raw
	}
	return unknown
}

func (r Registry) schemes() []string { return r.SchemesWhere(func(*Driver) bool { return true }) }

// SchemesWhere returns the schemes of the drivers for which can returns true.
func (r Registry) SchemesWhere(can func(d *Driver) bool) (schemes []string) {
	for i := range r {
		if can(&r[i]) {
			schemes = append(schemes, r[i].Scheme)
		}
	}
	return schemes
}

// Servers returns the schemes of the engines whose servers a lab can start.
func (r Registry) Servers() []string {
	return r.SchemesWhere(func(d *Driver) bool { return d.Server != nil })
}

// Installable returns the schemes of the engines that need `barograph lab install`.
func (r Registry) Installable() []string {
	return r.SchemesWhere(func(d *Driver) bool { return d.Server != nil || d.Library != nil })
}

func (d *Driver) params() []string {
	all := lists.Map(d.Params, func(p Param) string { return p.Name })
	if d.Place == Remote {
		all = append(all, passFile, passEnv)
	}
	return all
}

// Open parses a URL and opens its engine.
func (r Registry) Open(ctx context.Context, raw string, o Options) (*Engine, error) {
	d, u, err := r.Parse(raw)
	if err != nil {
		return nil, err
	}
	if u, err = withPassword(u); err != nil {
		return nil, err
	}
	if path := Path(u); d.Place == Embedded && path != "" && path[0] != ':' { // :memory: is not a file
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // opening a pipe would wait forever
			return nil, &fault.Error{File: path, Problem: "is neither a file nor a folder", Err: ErrUnreachable, Cure: "name another path"}
		} else if o.ReadOnly && errors.Is(err, fs.ErrNotExist) {
			return nil, &fault.Error{Setting: fault.Redact(raw), Problem: "does not exist", Err: ErrUnreachable, Cure: "check the path, or load files into it: barograph load FILES --engine " + fault.Redact(raw)}
		}
	}
	e, err := d.Open(ctx, u, o)
	if err != nil {
		err = CallError(ctx, err)
		if shown := fault.Redact(raw); !strings.Contains(err.Error(), shown) && (d.Place != Embedded || Path(u) == "" || !strings.Contains(err.Error(), Path(u))) {
			err = &fault.Error{Setting: shown, Err: err}
		}
		return nil, err // the error names the database exactly once
	}
	if d.Place == Embedded {
		if location, err := NewLocation(Path(u)); err == nil { // :memory: has no location
			e.File = &location
		}
	}
	if about := e.About; about != nil {
		e.About = func(ctx context.Context) (About, error) {
			a, err := about(ctx)
			for name, value := range a.Settings {
				a.Settings[name] = fault.RedactValue(name, value)
			}
			return a, err
		}
	}
	return e, nil
}

// Missing looks for the software that the engine needs on this machine: the library of an
// embedded engine or the programs of a server. It returns nil if the software is installed
// or if the engine needs none. It ignores an Optional library unless all is set.
func (d *Driver) Missing(all bool) *fault.Skip {
	needs, err := "", error(nil)
	switch {
	case d.Library != nil && (all || !d.Library.Optional):
		needs, err = "library", d.Library.Find()
	case d.Server != nil:
		needs, err = "server", d.Server.Find()
	}
	if err == nil {
		return nil
	}
	problem := "is not installed"
	if known, ok := errors.AsType[*fault.Error](err); ok && needs == "library" && known.Problem != "" {
		problem = known.Problem // the library is damaged, or not available for this system
	}
	return &fault.Skip{Engine: d.Scheme, Reason: "its " + needs + " " + problem, Cure: "barograph lab install " + d.Scheme}
}

// Require is Missing for an engine that the user named: it returns an error, because a study must not skip that engine.
func (d *Driver) Require(all bool) error {
	if missing := d.Missing(all); missing != nil {
		return UnreachableError("engine "+d.Scheme, errors.New(missing.Reason), "install it: "+missing.Cure)
	}
	return nil
}

// SplitInstalled splits engines that the user did not name into those that are installed on
// this machine and those that a study skips.
func (r Registry) SplitInstalled(schemes []string) (installed []string, skipped []fault.Skip) {
	for _, scheme := range schemes {
		if d, ok := r.Find(scheme); ok {
			if missing := d.Missing(false); missing != nil {
				skipped = append(skipped, *missing)
			} else {
				installed = append(installed, scheme)
			}
		}
	}
	return installed, skipped
}

// CheckReachable checks each engine once, before the caller reads any file. It opens each server
// and looks for the library of each embedded engine. It ignores a URL that it cannot parse: the
// command reports the error when it opens the URL. CheckReachable sorts urls.
func (r Registry) CheckReachable(ctx context.Context, o Options, urls ...string) error {
	slices.Sort(urls)
	for _, raw := range slices.Compact(urls) {
		d, _, err := r.Parse(raw)
		if err == nil && d.Place == Embedded {
			if err := d.Require(false); err != nil {
				return err
			}
		}
		if err != nil || d.Place != Remote {
			continue
		}
		db, err := r.Open(ctx, raw, o)
		if err != nil {
			return err
		}
		if db.About != nil {
			_, err = db.About(ctx)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// SplitName splits NAME=URL. Users name servers when they give two of one kind. The path of an existing file or folder
// is a URL without a name, even if it contains =.
func SplitName(arg string) (name, url string) {
	before, after, ok := strings.Cut(arg, "=")
	if _, err := os.Stat(arg); err == nil || !ok || strings.ContainsAny(before, ":/?") {
		return "", arg
	}
	return before, after
}

// Path returns the file or folder of an embedded engine's URL. duckdb:a/b.db,
// duckdb:/a/b.db and duckdb:///a/b.db are valid.
func Path(u *url.URL) string {
	if p, err := url.PathUnescape(u.Opaque); err == nil && p != "" {
		return p
	}
	return cmp.Or(u.Opaque, u.Path)
}

// Values are the parameters of a URL, or their defaults. Values keeps the first error;
// after an error, the results of all further calls are meaningless.
type Values struct {
	Given  map[string]string // by parameter name: the text in the URL, or the default
	Err    error
	prefix string
}

// Values reads the parameters of a URL.
func (d *Driver) Values(u *url.URL) *Values {
	v := &Values{Given: map[string]string{}, prefix: d.Scheme + " URL, "}
	for _, p := range d.Params {
		v.Given[p.Name] = cmp.Or(u.Query().Get(p.Name), p.Default)
	}
	return v
}

// Refuse records the error that a part of the URL is invalid.
func (v *Values) Refuse(part, problem, cure string) {
	if v.Err == nil {
		v.Err = &fault.Error{Setting: v.prefix + part, Problem: problem, Cure: cure}
	}
}

// RefuseParam records the error that the value of a parameter is invalid.
func (v *Values) RefuseParam(name, cure string) {
	v.Refuse("parameter "+name, strconv.Quote(v.Given[name])+" is not understood", cure)
}

// Int parses a number from least to most.
func (v *Values) Int(name string, least, most int) int {
	n, err := strconv.Atoi(v.Given[name])
	if err != nil || n < least || n > most {
		v.RefuseParam(name, fmt.Sprintf("give a number from %d to %d", least, most))
	}
	return n
}

// Bool parses true or false.
func (v *Values) Bool(name string) bool {
	b, err := strconv.ParseBool(v.Given[name])
	if err != nil {
		v.RefuseParam(name, "write "+name+"=true or "+name+"=false")
	}
	return b
}

// Duration parses a duration such as 10s, which must be at least least.
func (v *Values) Duration(name string, least time.Duration) time.Duration {
	d, err := time.ParseDuration(v.Given[name])
	if err != nil || d < least {
		v.RefuseParam(name, "give a time such as 10s, at least "+least.String())
	}
	return d
}

// List splits names at commas.
func (v *Values) List(name string) []string {
	if v.Given[name] == "" {
		return nil
	}
	return strings.Split(v.Given[name], ",")
}

// Choice returns the value of known that the parameter names.
func Choice[T any](v *Values, name string, known map[string]T) T {
	t, ok := known[v.Given[name]]
	if !ok {
		v.RefuseParam(name, "choose one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return t
}

// URLFile is the file in a lab's folder that contains the server's URL. Only its owner may read it.
const URLFile = "url"

// EnvLab is the environment variable that names the folder of all labs; see LabDir.
const EnvLab = "BAROGRAPH_LAB"

// LabDir returns the folder that contains all labs. It is the value of EnvLab, or by
// default a folder in /var/tmp, because /tmp may be in memory.
func LabDir() string {
	if dir := os.Getenv(EnvLab); dir != "" {
		return dir
	}
	parent := os.TempDir()
	if info, err := os.Stat("/var/tmp"); err == nil && info.IsDir() {
		parent = "/var/tmp"
	}
	return filepath.Join(parent, "barograph-lab-"+strconv.Itoa(os.Geteuid()))
}

// ResolveURL replaces @FILE or lab:ENGINE by the URL that the file or the lab contains. It
// keeps passwords out of command lines. It returns other URLs unchanged.
func ResolveURL(raw string) (string, error) {
	name, isFile := strings.CutPrefix(raw, "@")
	cure, parameters := "name a file that contains one URL", ""
	if engine, isLab := strings.CutPrefix(raw, "lab:"); isLab {
		engine, parameters, _ = strings.Cut(engine, "?")
		name, isFile = filepath.Join(LabDir(), filepath.Base(engine), URLFile), true
		cure = "start the server: `barograph lab up " + engine + "`; or name the file of a lab in another folder: @DIR/" + engine + "/" + URLFile
		if err := ownFile(name); err != nil {
			return "", &fault.Error{Setting: raw, Problem: "is not one of your labs: " + fault.Name(name), Err: classified{err, ErrUnreachable}, Cure: cure}
		}
	}
	if !isFile {
		return raw, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &fault.Error{Setting: raw, Problem: "cannot be read", Err: err, Cure: cure}
	}
	url := strings.TrimSpace(string(text))
	if url == "" || strings.HasPrefix(url, "@") || strings.Contains(url, "\n") {
		return "", &fault.Error{Setting: raw, File: name, Problem: "contains no URL", Cure: cure}
	}
	if base, own, _ := strings.Cut(url, "?"); parameters != "" {
		url = base + "?" + strings.TrimPrefix(own+"&"+parameters, "&")
	}
	return url, nil
}
