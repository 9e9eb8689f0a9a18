package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"

	"github.com/zeebo/xxh3"
)

// servedArchive is a database. The page opens it read-only for a request and closes it when it is idle,
// because an open embedded engine prevents a load.
type servedArchive struct {
	name     string // in the page's URLs; it contains no secrets
	url      string
	path     string // file or folder of an embedded engine; "" = a server
	study    string // the run folder that contains it; "" = none
	driver   *engine.Driver
	registry engine.Registry
	slots    chan struct{} // contains one element for each request in progress

	mu    sync.Mutex
	db    *engine.Engine
	open  map[design.Name]archive.Archive
	users int
	idle  *time.Timer
}

// The limits of an archive: the number of requests at once, and the time until an idle archive is closed.
const (
	maxRequests = 4
	idleTime    = 5 * time.Second
)

// waitCure is the cure of an error that ends without the user.
const waitCure = "wait: the page repeats the query"

// with calls f with the archive of a design. It waits while maxRequests requests use the archive.
func (a *servedArchive) with(ctx context.Context, n design.Name, f func(archive.Archive) error) error {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	opened, err := a.enter(ctx, n)
	defer a.leave()
	if err != nil {
		return err
	}
	return f(opened)
}

// enter starts a request: it returns the archive of a design, and opens it if necessary. The caller calls
// leave, also after an error.
func (a *servedArchive) enter(ctx context.Context, n design.Name) (archive.Archive, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users++
	if l := a.waitingLoad(); l != nil {
		return nil, a.busyError(fmt.Sprint("is being loaded by process ", l.PID))
	}
	if archive.Flavours(a.driver, n) == nil {
		return nil, fault.NotOffered("design", n, archive.Designs(a.driver), a.driver.Scheme)
	}
	if opened := a.open[n]; opened != nil {
		return opened, nil
	}
	if _, err := os.Stat(a.path); a.path != "" && errors.Is(err, os.ErrNotExist) {
		problem, cure := "was moved or deleted after barograph serve had started", "move it back, or restart barograph serve"
		return nil, notFound{&fault.Error{File: a.name, Problem: problem, Cure: cure}}
	}
	lasting := context.WithoutCancel(ctx) // the archive stays open after the first request
	if a.db == nil {
		if a.isMeasured() {
			return nil, a.busyError("is being measured by a run in progress")
		}
		db, err := a.registry.Open(lasting, a.url, engine.Options{ReadOnly: true})
		if err != nil {
			if pid, _ := engine.Holder(a.path); a.path != "" && pid != 0 && errors.Is(err, engine.ErrUnreachable) {
				return nil, a.busyError(fmt.Sprint("is in use by process ", pid, ", which loads or reads it"))
			}
			return nil, err
		}
		a.db, a.open = db, map[design.Name]archive.Archive{}
		location, locationErr := engine.NewLocation(a.path) // it fails for a server, whose path is empty
		go a.closeIf(db, func() bool {
			return a.waitingLoad() != nil || locationErr == nil && location.CheckReplaced() != nil
		})
	}
	opened, err := archive.DatabaseOf(a.db).Open(lasting, n)
	if err == nil {
		a.open[n] = opened
	}
	return opened, err
}

// busyError is the error of an archive that another process uses. The page repeats its request.
func (a *servedArchive) busyError(problem string) error {
	return &fault.Error{File: a.name, Problem: problem, Err: engine.ErrUnreachable, Cure: waitCure}
}

// isMeasured reports whether a run in progress measures the archive. A reader would disturb it.
func (a *servedArchive) isMeasured() bool {
	if a.study == "" {
		return false
	}
	_, _, state, err := readRun(a.study)
	return err == nil && state == run.Running
}

// waitingLoad returns the load that waits until this page closes the archive, or nil.
func (a *servedArchive) waitingLoad() *design.Loading {
	if a.path == "" {
		return nil
	}
	if l := archive.ReadLoading(archive.LoadingFileOf(a.path)); l != nil && l.Waiting {
		return l
	}
	return nil
}

// closeIf closes the archive when required returns true and no request uses it. It ends when the archive is
// closed.
func (a *servedArchive) closeIf(opened *engine.Engine, required func() bool) {
	for range time.Tick(200 * time.Millisecond) {
		a.mu.Lock()
		closed := a.db != opened
		a.mu.Unlock()
		if closed {
			return
		}
		if required() {
			_ = a.release() // only read
		}
	}
}

// leave ends a request. The archive is closed some time after the last one.
func (a *servedArchive) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users--; a.users > 0 {
		return
	}
	if a.idle != nil {
		a.idle.Stop()
	}
	a.idle = time.AfterFunc(idleTime, func() { _ = a.release() }) // only read
}

// files returns the files of an embedded engine, except its lock.
func (a *servedArchive) files() (out []string) {
	root := a.path
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += string(filepath.Separator) // WalkDir does not follow a link without it
	}
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "LOCK" {
			out = append(out, path)
		}
		return nil // the engine may have removed a file meanwhile
	})
	return append(out, a.path+".wal", a.path+"-wal")
}

// stamp returns a text that changes when the archive changes. It does not open the archive of an embedded
// engine. Therefore a page that polls it never blocks a load.
func (a *servedArchive) stamp(ctx context.Context, n design.Name, subset string) (out string, err error) {
	if a.path != "" {
		for _, path := range a.files() {
			if info, err := os.Stat(path); err == nil {
				out += fmt.Sprintln(path, info.Size(), info.ModTime().UnixNano())
			}
		}
		return fmt.Sprintf("%016x", xxh3.HashString(out)), nil
	}
	err = a.with(ctx, n, func(in archive.Archive) error {
		out, err = contentsID(ctx, in, subset)
		return err
	})
	return out, err
}

// release closes the archive unless a request uses it.
func (a *servedArchive) release() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users > 0 || a.db == nil {
		return nil
	}
	var errs []error
	for _, opened := range a.open {
		errs = append(errs, opened.Close())
	}
	errs = append(errs, a.db.Close())
	a.db, a.open = nil, nil
	return errors.Join(errs...)
}

// folder is a run folder, or a folder of run folders.
type folder struct{ name, dir string }

// add adds an argument of the command line.
func (s *Server) add(place string) error {
	const cure = "name an engine's URL, an archive's file, a run folder, or a folder of run folders"
	info, err := os.Stat(place)
	if err != nil {
		if _, isEngine := s.o.Registry.Find(place); !isEngine && !strings.ContainsAny(place, ":@=") {
			if errors.Is(err, fs.ErrNotExist) {
				err = fs.ErrNotExist
			}
			return &fault.Error{File: place, Err: err, Cure: cure}
		}
		return s.addArchive("", place)
	}
	if s.o.Registry.Recognize(place) != "" {
		return s.addArchive("", place)
	}
	if !info.IsDir() {
		if _, _, err := s.o.Registry.Parse(place); errors.Is(err, engine.ErrUnreachable) {
			return err // the file cannot be read
		}
		return &fault.Error{File: place, Problem: "is no archive of an embedded engine and no run folder", Cure: cure}
	}
	dir, err := filepath.Abs(place)
	if err != nil {
		return err
	}
	f := folder{unique(filepath.Base(dir), func(n string) bool { return s.folder(n) != nil }), dir}
	s.folders = append(s.folders, f)
	found, err := f.runs()
	if err != nil {
		cure := "change its permissions, or name another folder"
		return &fault.Error{File: place, Problem: "cannot be read", Err: err, Cure: cure}
	}
	if len(found) == 0 {
		problem, cure := "contains neither an archive nor a run folder", "name a folder that a study wrote, such as runs"
		if inside := s.archiveIn(place); inside != "" {
			problem, cure = "contains no run folder", "name the archive itself: "+fault.Name(inside)
		}
		return &fault.Error{File: place, Problem: problem, Cure: cure}
	}
	for _, name := range found {
		s.addArchivesOf(filepath.Join(f.dir, name))
	}
	return nil
}

// archiveIn returns the path of an archive of an embedded engine in a folder; "" = there is none.
func (s *Server) archiveIn(dir string) string {
	entries, _ := os.ReadDir(dir) // add has just read it without an error
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); s.o.Registry.Recognize(path) != "" {
			return path
		}
	}
	return ""
}

// addArchivesOf adds the embedded archives that a study left in its run folder. It follows no symbolic link that leads
// out of the folder.
func (s *Server) addArchivesOf(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // the folder was removed meanwhile
	}
	defer root.Close()                                         //nolint:errcheck // only read
	entries, err := os.ReadDir(filepath.Join(dir, "archives")) // without root, which would block on a FIFO
	if err != nil {
		return // a run without archives of its own
	}
	for _, e := range entries {
		inside := filepath.Join("archives", e.Name())
		if _, err := root.Stat(inside); err != nil { // it leads out of the folder
			continue
		}
		if path := filepath.Join(dir, inside); s.o.Registry.Recognize(path) != "" {
			if s.addArchive(filepath.Base(dir)+"/"+e.Name(), path) == nil { // an engine that stores archives
				s.archives[len(s.archives)-1].study = dir
			}
		}
	}
}

func (s *Server) addArchive(name, raw string) error {
	given, url := engine.SplitName(raw) // NAME=URL
	d, u, err := s.o.Registry.Parse(url)
	if err == nil {
		err = archive.Require(s.o.Registry, d)
	}
	if err != nil {
		return err
	}
	switch {
	case given != "":
		name = given
	case name == "" && d.Place == engine.Embedded:
		name = filepath.Base(engine.Path(u))
	case name == "":
		name = d.Scheme + ":" + u.Host + u.Path
	}
	name = unique(name, func(n string) bool { return s.archive(n) != nil })
	path := ""
	if d.Place == engine.Embedded {
		path = engine.Path(u)
	}
	s.archives = append(s.archives, &servedArchive{
		name: name, url: url, path: path, driver: d, registry: s.o.Registry, slots: make(chan struct{}, maxRequests),
	})
	return nil
}

// unique returns name, with a number if another place has it already.
func unique(name string, exists func(string) bool) string {
	out := name
	for n := 2; exists(out); n++ {
		out = fmt.Sprintf("%s (%d)", name, n)
	}
	return out
}

func (s *Server) archive(name string) *servedArchive {
	for _, a := range s.archives {
		if a.name == name {
			return a
		}
	}
	return nil
}

func (s *Server) folder(name string) *folder {
	for i := range s.folders {
		if s.folders[i].name == name {
			return &s.folders[i]
		}
	}
	return nil
}

// runs returns the paths of the run folders of a place, relative to the place. "." is the place itself. It
// follows no symbolic link that leads out of the place.
func (f *folder) runs() (names []string, err error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	isRun := func(name string) bool {
		_, err := root.Stat(filepath.Join(name, "run.json"))
		return err == nil
	}
	if isRun(".") {
		names = append(names, ".")
	}
	entries, err := os.ReadDir(f.dir)
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && isRun(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// path returns the path of a run folder that runs lists. No other folder is served.
func (s *Server) path(place, name string) (string, error) {
	if f := s.folder(place); f != nil {
		if names, err := f.runs(); err == nil && slices.Contains(names, name) {
			return filepath.Join(f.dir, name), nil
		}
	}
	problem, cure := "is not served", "choose a run folder of the page Runs"
	return "", notFound{&fault.Error{Setting: "run " + place + "/" + name, Problem: problem, Cure: cure}}
}

// readRun reads a run and its state.
func readRun(dir string) (*run.Run, []run.Event, run.State, error) {
	r, err := run.ReadRun(dir)
	if err != nil {
		return nil, nil, "", err
	}
	events, err := run.ReadEvents(dir)
	if errors.Is(err, os.ErrNotExist) { // a run of a version that wrote no events
		state := run.Done
		if r.Finished.IsZero() {
			state = run.Interrupted
		}
		return r, nil, state, nil
	}
	return r, events, run.StateOf(events, time.Now()), err
}
