package formats

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// Expand turns what a user named into files, sorted by path, none of them
// twice, however it was named:
//
//   - a file is taken whatever its name;
//   - of a folder, the files below it are taken whose names tell a format
//     (.vsdb, .stat, _TYPE.txt, also packed, .gz), in all its folders, also
//     behind links;
//   - of a pattern (*, ?, [a-z]; see path/filepath.Match), the files and
//     folders that it matches.
//
// A .stat file and its _TYPE.txt twins are all kept: their records are the
// same, and the archive holds each of them once. A path that does not exist
// and a folder or pattern without a file are errors, *fault.Error each. What
// cannot be read (a link to nothing, a pipe, a folder without permission) is
// kept, so that the rest goes on: OpenFile refuses it by name.
func Expand(paths []string) ([]string, error) { return ExpandTelling(paths, func(string) {}) }

// ExpandTelling is Expand that reports each file of a folder whose name is that
// of no format, and which is therefore left aside: half written ones (.tmp, .part)
// of a format, too, but no other hidden or half written ones.
func ExpandTelling(paths []string, aside func(path string)) ([]string, error) {
	x := expansion{aside: aside}
	for _, p := range paths {
		before := len(x.files)
		if err := x.add(p); err != nil {
			return nil, err
		}
		if len(x.files) == before {
			return nil, &fault.Error{File: p, Problem: "no VSDB or MET file there", Cure: "files of a folder are found by their names: *.vsdb, *.stat, *_TYPE.txt, also with .gz"}
		}
	}
	return x.once(), nil
}

// expansion is an Expand under way.
type expansion struct {
	aside   func(path string)
	files   []string
	links   map[string]bool   // of files, those that may be links
	folders map[string]string // what absolute has found of them
}

// add lists the files that one path stands for.
func (x *expansion) add(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		x.below(path)
		return nil
	case err == nil || isLink(path):
		x.named(path)
		return nil
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?["):
		return &fault.Error{File: path, Problem: "cannot be read", Err: cause(err), Cure: "check the path and its permissions"}
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return &fault.Error{File: path, Problem: "is no pattern", Cure: "put a backslash before a * ? or [ that is meant", Err: err}
	}
	for _, m := range matches {
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			x.below(m)
		} else {
			x.named(m)
		}
	}
	return nil
}

func (x *expansion) named(path string) {
	path = filepath.Clean(path)
	x.files, x.links = append(x.files, path), add(x.links, path)
}

// below adds the files in a folder and its folders.
func (x *expansion) below(dir string) {
	x.files = append(x.files, below(dir, func(path string, e fs.DirEntry) bool {
		wanted := IsFile(path, e)
		switch {
		case wanted && !e.Type().IsRegular():
			x.links = add(x.links, filepath.Clean(path))
		case !wanted && noFolder(path, e) && (!LeftAlone(e.Name()) || byName(strings.TrimSuffix(strings.TrimSuffix(path, ".tmp"), ".part")) != ""):
			x.aside(filepath.Clean(path))
		}
		return wanted
	})...)
}

func add(set map[string]bool, member string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[member] = true
	return set
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// below lists the files in a folder and its folders that are wanted, also behind links.
func below(dir string, wanted func(path string, e fs.DirEntry) bool) []string {
	var files []string
	Walk(dir, func(path string, e fs.DirEntry, err error) error { //nolint:errcheck // it returns none
		if err != nil || wanted(path, e) {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// Walk is filepath.WalkDir that follows links to folders. It follows no link to a
// folder that it began with or has followed before, so that a loop ends.
func Walk(dir string, f fs.WalkDirFunc) error {
	w := walker{f, map[string]bool{absolute(dir): true}}
	return w.walk(dir)
}

type walker struct {
	f        fs.WalkDirFunc
	followed map[string]bool // by path without links
}

func (w *walker) walk(dir string) error {
	// A folder that is itself a link is meant; with a slash it is followed.
	return filepath.WalkDir(dir+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil || e.IsDir() || noFolder(path, e) {
			return w.f(path, e, err)
		}
		target := absolute(path)
		if w.followed[target] {
			return nil
		}
		w.followed[target] = true
		return w.walk(path)
	})
}

// Within lists the files directly in a folder whose names tell a format; none
// where there is no such folder.
func Within(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []string{dir}
	}
	var files []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); IsFile(path, e) {
			files = append(files, path)
		}
	}
	return files
}

// IsFile reports whether an entry of a folder is to be read: no folder, nor a
// link to one, and with a name that tells a format.
func IsFile(path string, e fs.DirEntry) bool { return byName(path) != "" && noFolder(path, e) }

func noFolder(path string, e fs.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return true
	}
	info, err := os.Stat(path)
	return err != nil || !info.IsDir()
}

// once sorts files and drops those that are another one under another name.
func (x *expansion) once() []string {
	slices.Sort(x.files)
	x.files, x.folders = slices.Compact(x.files), map[string]string{}
	seen := make(map[string]bool, len(x.files))
	return slices.DeleteFunc(x.files, func(f string) bool {
		target := x.target(f)
		again := seen[target]
		seen[target] = true
		return again
	})
}

// target is the absolute path of a file without links.
func (x *expansion) target(file string) string {
	if x.links[file] {
		return absolute(file)
	}
	dir, name := filepath.Split(file)
	at, ok := x.folders[dir]
	if !ok {
		at = strings.TrimSuffix(absolute(filepath.Clean(dir)), string(filepath.Separator)) + string(filepath.Separator)
		x.folders[dir] = at
	}
	return at + name
}

func absolute(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return path
	}
	return target
}

// cause drops the path that an error of os repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
