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

// servedArchive is a database that is opened read-only when a question arrives, because an embedded
// engine that is open refuses a load.
type servedArchive struct {
	name, url string // name: in the page's URLs, without secrets
	path      string // of an embedded engine's file or folder; "" of servers
	study     string // the run folder that contains it; "" = none
	driver    *engine.Driver
	registry  engine.Registry
	slots     chan struct{} // one for each simultaneous question

	mu    sync.Mutex
	db    *engine.Engine
	open  map[design.Name]archive.Archive
	users int
	idle  *time.Timer
}

// The limits of an archive: simultaneous questions, and the time for which it stays open after the
// last.
const (
	maxAsking = 4
	letGo     = 5 * time.Second
)

// with calls f with the archive of a design.
func (a *servedArchive) with(ctx context.Context, n design.Name, f func(archive.Archive) error) error {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	opened, err := a.take(ctx, n)
	defer a.leave()
	if err != nil {
		return err
	}
	return f(opened)
}

func (a *servedArchive) take(ctx context.Context, n design.Name) (archive.Archive, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users++
	if l := a.waitingLoad(); l != nil {
		return nil, &fault.Error{File: a.name, Problem: fmt.Sprint("is being loaded by process ", l.PID), Err: engine.ErrUnreachable, Cure: "wait: the page repeats the query"}
	}
	if archive.Flavours(a.driver, n) == nil {
		return nil, fault.NotOffered("design", n, archive.Designs(a.driver), a.driver.Scheme)
	}
	if opened := a.open[n]; opened != nil {
		return opened, nil
	}
	if _, err := os.Stat(a.path); a.path != "" && errors.Is(err, os.ErrNotExist) {
		return nil, gone{&fault.Error{File: a.name, Problem: "is not where it was when this page was started", Cure: "move it back, or start barograph serve anew"}}
	}
	kept := context.WithoutCancel(ctx) // the archive stays open after the first request
	if a.db == nil {
		if _, _, state, err := readRun(a.study); a.study != "" && err == nil && state == run.Running { // which opens it as it needs
			return nil, &fault.Error{File: a.name, Problem: "is being measured by a run that goes on", Err: engine.ErrUnreachable, Cure: "wait: the page repeats the query"}
		}
		db, err := a.registry.Open(kept, a.url, engine.Options{ReadOnly: true})
		if err != nil {
			if pid, _ := engine.Holder(a.path); a.path != "" && pid != 0 && errors.Is(err, engine.ErrUnreachable) {
				return nil, &fault.Error{File: a.name, Problem: fmt.Sprint("is in use by process ", pid, ", which loads or reads it"), Err: engine.ErrUnreachable, Cure: "wait: the page repeats the query"}
			}
			return nil, err
		}
		a.db, a.open = db, map[design.Name]archive.Archive{}
		at, err := engine.NewLocation(a.path)
		go a.makeWay(db, func() bool { return a.waitingLoad() != nil || err == nil && at.CheckReplaced() != nil })
	}
	opened, err := archive.DatabaseOf(a.db).Open(kept, n)
	if err == nil {
		a.open[n] = opened
	}
	return opened, err
}

// waitingLoad is the load that waits until this page closes the archive, or nil.
func (a *servedArchive) waitingLoad() *design.Loading {
	if a.path == "" {
		return nil
	}
	if l := archive.ReadLoading(strings.TrimRight(a.path, "/") + ".loading"); l != nil && l.Waiting {
		return l
	}
	return nil
}

// makeWay closes the archive, as soon as no question is in flight, for a load that waits for
// it, or because another file or folder has its name now.
func (a *servedArchive) makeWay(opened *engine.Engine, wanted func() bool) {
	for range time.Tick(200 * time.Millisecond) {
		a.mu.Lock()
		closed := a.db != opened
		a.mu.Unlock()
		if closed {
			return
		}
		if wanted() {
			_ = a.release() // only read
		}
	}
}

// leave lets the archive go some time after the last question.
func (a *servedArchive) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users--; a.users > 0 {
		return
	}
	if a.idle != nil {
		a.idle.Stop()
	}
	a.idle = time.AfterFunc(letGo, func() { _ = a.release() }) // only read
}

// files are those of an embedded engine, but for locks.
func (a *servedArchive) files() (out []string) {
	_ = filepath.WalkDir(a.path, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "LOCK" {
			out = append(out, path)
		}
		return nil // a file that is removed in the meantime does not count
	})
	return append(out, a.path+".wal", a.path+"-wal")
}

// stamp changes when the archive changes. For an embedded engine it does not open the archive, so a
// page that is only open never blocks a load.
func (a *servedArchive) stamp(ctx context.Context, n design.Name, subset string) (out string, err error) {
	if a.path != "" {
		for _, path := range a.files() {
			if info, err := os.Stat(path); err == nil {
				out += fmt.Sprintln(path, info.Size(), info.ModTime().UnixNano())
			}
		}
		return fmt.Sprintf("%016x", xxh3.HashString(out)), nil
	}
	return out, a.with(ctx, n, func(in archive.Archive) error {
		out, err = dataOf(ctx, in, subset)
		return err
	})
}

// release closes the archive unless a question uses it.
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

// folder is a place with run folders: one, or some below it.
type folder struct{ name, dir string }

// add takes what was named on the command line.
func (s *Server) add(place string) error {
	const cure = "name an engine's URL, an archive's file, a run folder, or a folder of them"
	info, err := os.Stat(place)
	if err != nil {
		if _, named := s.o.Registry.Find(place); !named && !strings.ContainsAny(place, ":@=") {
			return &fault.Error{File: place, Err: fs.ErrNotExist, Cure: cure}
		}
		return s.addArchive("", place)
	}
	if s.o.Registry.Recognize(place) != "" {
		return s.addArchive("", place)
	}
	if !info.IsDir() {
		return &fault.Error{File: place, Problem: "is no archive of an embedded engine and no run folder", Cure: cure}
	}
	dir, err := filepath.Abs(place)
	if err != nil {
		return err
	}
	f := folder{s.unique(filepath.Base(dir), func(n string) bool { return s.folder(n) != nil }), dir}
	s.folders = append(s.folders, f)
	found := f.runs()
	if len(found) == 0 {
		return &fault.Error{File: place, Problem: "holds neither an archive nor a run folder", Cure: "name a folder that a study wrote, such as runs"}
	}
	for _, name := range found {
		s.addStudied(f, name)
	}
	return nil
}

// addStudied adds the embedded archives that a study left in its folder.
func (s *Server) addStudied(f folder, name string) {
	dir := filepath.Join(f.dir, name)
	kept, err := os.ReadDir(filepath.Join(dir, "archives"))
	if err != nil {
		return // a run without archives of its own
	}
	for _, e := range kept {
		if path := filepath.Join(dir, "archives", e.Name()); s.o.Registry.Recognize(path) != "" {
			if s.addArchive(filepath.Base(dir)+"/"+e.Name(), path) == nil { // an engine of our own
				s.archives[len(s.archives)-1].study = dir
			}
		}
	}
}

func (s *Server) addArchive(name, raw string) error {
	own, rest := engine.SplitName(raw)
	d, u, err := s.o.Registry.Parse(rest)
	if err == nil {
		err = archive.Require(s.o.Registry, d)
	}
	if err != nil {
		return err
	}
	switch {
	case own != "":
		name = own
	case name == "" && d.Place == engine.Embedded:
		name = filepath.Base(engine.Path(u))
	case name == "":
		name = d.Scheme + ":" + u.Host + u.Path
	}
	name = s.unique(name, func(n string) bool { return s.archive(n) != nil })
	path := ""
	if d.Place == engine.Embedded {
		path = engine.Path(u)
	}
	s.archives = append(s.archives, &servedArchive{name: name, url: rest, path: path, driver: d, registry: s.o.Registry, slots: make(chan struct{}, maxAsking)})
	return nil
}

// unique adds a number to a name that is taken.
func (s *Server) unique(name string, taken func(string) bool) string {
	out := name
	for n := 2; taken(out); n++ {
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

// runs are the run folders of a place, by their paths in it: "." is the place
// itself. Links that lead out of it are not followed.
func (f *folder) runs() (names []string) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only read
	is := func(name string) bool {
		_, err := root.Stat(filepath.Join(name, "run.json"))
		return err == nil
	}
	if is(".") {
		names = append(names, ".")
	}
	kept, err := os.ReadDir(f.dir)
	for i := 0; i < len(kept) && err == nil; i++ {
		if name := kept[i].Name(); is(name) && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// path is that of a run folder which runs lists; anything else does not exist.
func (s *Server) path(place, name string) (string, error) {
	if f := s.folder(place); f != nil && slices.Contains(f.runs(), name) {
		return filepath.Join(f.dir, name), nil
	}
	return "", &fault.Error{Setting: "run " + place + "/" + name, Problem: "is not served", Err: os.ErrNotExist, Cure: "choose one of the list"}
}

// readRun reads a run and its state.
func readRun(dir string) (*run.Run, []run.Event, run.State, error) {
	r, err := run.ReadRun(dir)
	if err != nil {
		return nil, nil, "", err
	}
	events, err := run.ReadEvents(dir)
	if errors.Is(err, os.ErrNotExist) { // an earlier version wrote none
		state := run.Done
		if r.Finished.IsZero() {
			state = run.Interrupted
		}
		return r, nil, state, nil
	}
	return r, events, run.StateOf(events, time.Now()), err
}
