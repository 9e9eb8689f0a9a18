package engine

import (
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

// Parse finds the driver of a URL such as duckdb:archive.db or
// postgres://user@host/db, and checks its parameters. A bare scheme ("dry") is
// a URL too, and so is the path of an archive that an embedded engine wrote;
// @FILE and lab:ENGINE are read by ResolveURL.
func (r Registry) Parse(raw string) (*Driver, *url.URL, error) {
	raw, err := ResolveURL(raw)
	if err != nil {
		return nil, nil, err
	}
	if _, isScheme := r.Find(raw); !isScheme {
		if d, ok := r.Find(r.Recognize(raw)); ok { // the path of an archive, without its engine
			return d, &url.URL{Scheme: d.Scheme, Path: raw}, nil
		}
	}
	if !strings.Contains(raw, ":") {
		raw += ":"
	}
	u, err := fault.ParseURL(raw)
	if err != nil {
		return nil, nil, err
	}
	d, ok := r.Find(u.Scheme)
	if !ok {
		return nil, nil, r.unknown(u.Scheme, strings.TrimSuffix(raw, ":"))
	}
	for name := range u.Query() {
		if !slices.Contains(d.params(), name) {
			unknown := fault.Unknown(d.Scheme+" URL, parameter", name, d.params())
			unknown.Cure += "; see `barograph list engines`"
			return nil, nil, unknown
		}
	}
	return d, u, nil
}

// Recognize returns the scheme of the embedded engine that wrote a file or
// folder, or "" where none did.
func (r Registry) Recognize(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() { // a pipe is not opened
		return ""
	}
	head := make([]byte, 16)
	if f, err := os.Open(path); err == nil {
		n, _ := io.ReadFull(f, head) // a file may be shorter
		head = head[:n]
		_ = f.Close() // nothing was written
	}
	for i := range r {
		if r[i].Wrote != nil && r[i].Wrote(path, head) {
			return r[i].Scheme
		}
	}
	return ""
}

// unknown is the error of a URL without an engine; a file that is there is one
// whose engine is to be written before it.
func (r Registry) unknown(scheme, raw string) error {
	err := fault.Unknown("engine", scheme, r.schemes())
	if _, missing := os.Stat(raw); missing == nil {
		mine := r.Those(func(d *Driver) bool { return d.Wrote != nil })
		err.Setting, err.Problem = raw, "is not an archive of an engine that Barograph knows"
		err.Cure = "name the engine before the path: " + strings.Join(mine, ":"+raw+", ") + ":" + raw
	} else if strings.ContainsAny(raw, "./") && !strings.Contains(raw, ":") {
		err.Setting, err.Problem, err.Cure = raw, "names no engine", "name the engine before the path: duckdb:"+raw
	}
	return err
}

func (r Registry) schemes() []string { return r.Those(func(*Driver) bool { return true }) }

// Those are the schemes of the drivers that can do something.
func (r Registry) Those(can func(d *Driver) bool) (schemes []string) {
	for i := range r {
		if can(&r[i]) {
			schemes = append(schemes, r[i].Scheme)
		}
	}
	return schemes
}

// Servers are the schemes of the engines whose servers a lab can start.
func (r Registry) Servers() []string { return r.Those(func(d *Driver) bool { return d.Server != nil }) }

// Installable are the schemes of the engines that `lab install` brings something for.
func (r Registry) Installable() []string {
	return r.Those(func(d *Driver) bool { return d.Server != nil || d.Library != nil })
}

func (d *Driver) params() (all []string) {
	for _, p := range d.Params {
		all = append(all, p.Name)
	}
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
	if u, err = account(u); err != nil {
		return nil, err
	}
	if path := Path(u); o.ReadOnly && d.Place == Embedded && path != "" && path[0] != ':' { // :memory: is no file
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, &fault.Error{Setting: fault.Redact(raw), Problem: "is not there", Err: ErrUnreachable, Cure: "check the path, or load files into it: barograph load FILES --engine " + fault.Redact(raw)}
		}
	}
	e, err := d.Open(ctx, u, o)
	if err != nil {
		err = Failed(ctx, err)
		if shown := fault.Redact(raw); !strings.Contains(err.Error(), shown) && (d.Place != Embedded || Path(u) == "" || !strings.Contains(err.Error(), Path(u))) {
			err = &fault.Error{Setting: shown, Err: err}
		}
		return nil, err // which names its place once
	}
	if d.Place == Embedded {
		if at, err := NewLocation(Path(u)); err == nil { // :memory: has none
			e.File = &at
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

// Missing looks for what the engine needs on this machine besides Barograph: the
// library of an embedded engine, the programs of a server. It returns nil where
// they are installed, or where nothing is needed. A library that is Optional
// counts only for a study that needs all.
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
		problem = known.Problem // it is damaged, or not offered for this system
	}
	return &fault.Skip{Engine: d.Scheme, Reason: "its " + needs + " " + problem, Cure: "barograph lab install " + d.Scheme}
}

// Require refuses to start a study without an engine that the user named.
func (d *Driver) Require(all bool) error {
	missing := d.Missing(all)
	if missing == nil {
		return nil
	}
	return Unreachable("engine "+d.Scheme, errors.New(missing.Reason), "install it: "+missing.Cure)
}

// Installed divides engines that the user did not name into those that can be
// used on this machine and those that a study skips.
func (r Registry) Installed(schemes []string) (installed []string, skipped []fault.Skip) {
	for _, scheme := range schemes {
		d, ok := r.Find(scheme)
		if !ok {
			continue
		}
		if missing := d.Missing(false); missing != nil {
			skipped = append(skipped, *missing)
			continue
		}
		installed = append(installed, scheme)
	}
	return installed, skipped
}

// Reach checks each engine once before any file is read: it opens a server, and
// looks for the library of an embedded engine.
func (r Registry) Reach(ctx context.Context, o Options, urls ...string) error {
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

// SplitName splits NAME=URL: two servers of one kind need names of their own.
func SplitName(arg string) (name, url string) {
	before, after, ok := strings.Cut(arg, "=")
	if !ok || strings.ContainsAny(before, ":/?") {
		return "", arg
	}
	return before, after
}

// Path is the file or folder of an embedded engine's URL: duckdb:a/b.db,
// duckdb:/a/b.db and duckdb:///a/b.db are understood.
func Path(u *url.URL) string {
	if u.Opaque != "" {
		p, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return u.Opaque
		}
		return p
	}
	return u.Path
}

// Values are the parameters of a URL, as they are given or else by default.
// They keep the first error: what is read after it is of no use.
type Values struct {
	Given map[string]string // by the name of the parameter
	Err   error
	of    string
}

// Values reads the parameters of a URL.
func (d *Driver) Values(u *url.URL) *Values {
	v := &Values{Given: map[string]string{}, of: d.Scheme + " URL, "}
	for _, p := range d.Params {
		if v.Given[p.Name] = u.Query().Get(p.Name); v.Given[p.Name] == "" {
			v.Given[p.Name] = p.Default
		}
	}
	return v
}

// Refuse says of a part of the URL that it cannot be used.
func (v *Values) Refuse(part, problem, cure string) {
	if v.Err == nil {
		v.Err = &fault.Error{Setting: v.of + part, Problem: problem, Cure: cure}
	}
}

// Bad says of a parameter that it cannot be used.
func (v *Values) Bad(name, cure string) {
	v.Refuse("parameter "+name, strconv.Quote(v.Given[name])+" is not understood", cure)
}

// Int reads a whole number.
func (v *Values) Int(name string, least, most int) int {
	n, err := strconv.Atoi(v.Given[name])
	if err != nil || n < least || n > most {
		v.Bad(name, fmt.Sprintf("give a number from %d to %d", least, most))
	}
	return n
}

// Bool reads true or false.
func (v *Values) Bool(name string) bool {
	b, err := strconv.ParseBool(v.Given[name])
	if err != nil {
		v.Bad(name, "write "+name+"=true or "+name+"=false")
	}
	return b
}

// Duration reads a time such as 10s.
func (v *Values) Duration(name string, least time.Duration) time.Duration {
	d, err := time.ParseDuration(v.Given[name])
	if err != nil || d < least {
		v.Bad(name, "give a time such as 10s, at least "+least.String())
	}
	return d
}

// List reads names with commas between.
func (v *Values) List(name string) []string {
	if v.Given[name] == "" {
		return nil
	}
	return strings.Split(v.Given[name], ",")
}

// Choice reads one of several names.
func Choice[T any](v *Values, name string, known map[string]T) T {
	t, ok := known[v.Given[name]]
	if !ok {
		v.Bad(name, "choose one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return t
}

// URLFile lies in a lab's folder, for its owner alone: the server's URL.
const URLFile = "url"

// EnvLab names the folder of the labs; see LabDir.
const EnvLab = "BAROGRAPH_LAB"

// LabDir is the folder that labs are in where nothing else is said: that of
// EnvLab, or one on a disk that lasts, as /tmp may be in memory.
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

// ResolveURL returns the URL that @FILE or lab:ENGINE stands for, so that no
// password need stand in a command line; others are returned as they are.
func ResolveURL(raw string) (string, error) {
	name, isFile := strings.CutPrefix(raw, "@")
	cure := "name a file that holds one URL"
	parameters := ""
	if engine, isLab := strings.CutPrefix(raw, "lab:"); isLab {
		engine, parameters, _ = strings.Cut(engine, "?")
		name, isFile = filepath.Join(LabDir(), filepath.Base(engine), URLFile), true
		cure = "start the server: `barograph lab up " + engine + "`; or name the file of a lab elsewhere: @DIR/" + engine + "/" + URLFile
		if err := ownFile(name); err != nil {
			return "", &fault.Error{Setting: raw, Problem: "is no lab of yours", Err: fmt.Errorf("%w: %w", ErrUnreachable, err), Cure: cure}
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
		return "", &fault.Error{Setting: raw, File: name, Problem: "holds no URL", Cure: cure}
	}
	if parameters != "" && strings.Contains(url, "?") {
		return url + "&" + parameters, nil
	} else if parameters != "" {
		url += "?" + parameters
	}
	return url, nil
}
