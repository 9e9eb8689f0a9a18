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

// Expand turns paths that a user named into files, sorted by path and without duplicates:
//
//   - a file is taken, whatever its name is;
//   - for a folder, all files in it and its subfolders are taken whose names identify a format
//     (.vsdb, .stat, _TYPE.txt, also compressed as .gz), following links;
//   - for a pattern (*, ?, [a-z]; see path/filepath.Match), all matching files and folders are taken.
//
// A .stat file and its _TYPE.txt files are all kept: they contain the same records, and the archive
// stores each record once. A path that does not exist, and a folder or pattern without a file, are
// errors of type *fault.Error. Paths that cannot be read (a broken link, a pipe, a folder without
// permission) are kept, and the other files can be loaded: OpenFile returns an error that names
// them.
func Expand(paths []string) ([]string, error) { return ExpandReporting(paths, func(string) {}) }

// ExpandReporting is Expand, and reports each file of a folder that it skips because its name
// identifies no format. It also reports incomplete files (.tmp, .part) of a format, but no other
// hidden or incomplete files.
func ExpandReporting(paths []string, reportSkipped func(path string)) ([]string, error) {
	x := expansion{reportSkipped: reportSkipped, links: map[string]bool{}}
	for _, p := range paths {
		before := len(x.files)
		if err := x.add(p); err != nil {
			return nil, err
		}
		if len(x.files) == before {
			return nil, &fault.Error{
				File: p, Problem: "no VSDB or MET file found",
				Cure: "files of a folder are found by their names: *.vsdb, *.stat, *.tcst, *_TYPE.txt, also with .gz",
			}
		}
	}
	return x.sortedUnique(), nil
}

// expansion is the state of Expand.
type expansion struct {
	reportSkipped func(path string)
	files         []string
	links         map[string]bool   // files that may be links
	folders       map[string]string // cache of absolute
}

// add adds the files of one path.
func (x *expansion) add(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		x.addFolder(path)
		return nil
	case err == nil || isLink(path):
		x.addFile(path)
		return nil
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?["):
		return &fault.Error{File: path, Problem: "cannot be read", Err: cause(err), Cure: "check the path and its permissions"}
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return &fault.Error{File: path, Problem: "is not a valid pattern", Cure: "put a backslash before a literal * ? or [", Err: err}
	}
	for _, m := range matches {
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			x.addFolder(m)
		} else {
			x.addFile(m)
		}
	}
	return nil
}

func (x *expansion) addFile(path string) {
	path = filepath.Clean(path)
	x.files, x.links[path] = append(x.files, path), true
}

// addFolder adds the files in a folder and its subfolders.
func (x *expansion) addFolder(dir string) {
	x.files = append(x.files, filesBelow(dir, func(path string, e fs.DirEntry) bool {
		wanted := IsFile(path, e)
		switch {
		case wanted && !e.Type().IsRegular():
			x.links[filepath.Clean(path)] = true
		case !wanted && isNotFolder(path, e) &&
			(!IsIgnored(e.Name()) || byName(strings.TrimSuffix(strings.TrimSuffix(path, ".tmp"), ".part")) != ""):
			x.reportSkipped(filepath.Clean(path))
		}
		return wanted
	})...)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// filesBelow lists the wanted files in a folder and its subfolders, following links.
func filesBelow(dir string, wanted func(path string, e fs.DirEntry) bool) []string {
	var files []string
	Walk(dir, func(path string, e fs.DirEntry, err error) error { //nolint:errcheck // it returns none
		if err != nil || wanted(path, e) {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// Walk is filepath.WalkDir that follows links to folders. To end in a loop of links, it follows
// each folder only once.
func Walk(dir string, f fs.WalkDirFunc) error {
	w := walker{f, map[string]bool{absolute(dir): true}}
	return w.walk(dir)
}

type walker struct {
	f        fs.WalkDirFunc
	followed map[string]bool // by path without links
}

func (w *walker) walk(dir string) error {
	// With a slash at its end, WalkDir follows a link to a folder.
	return filepath.WalkDir(dir+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil || e.IsDir() || isNotFolder(path, e) {
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

// FilesIn lists the files directly in a folder whose names identify a format; none if the folder
// does not exist. For a folder that cannot be read it returns the folder, so that opening it reports
// the error.
func FilesIn(dir string) []string {
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

// IsFile reports whether an entry of a folder must be read: it is not a folder or a link to one,
// and its name identifies a format.
func IsFile(path string, e fs.DirEntry) bool { return byName(path) != "" && isNotFolder(path, e) }

func isNotFolder(path string, e fs.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return true
	}
	info, err := os.Stat(path)
	return err != nil || !info.IsDir()
}

// sortedUnique sorts files and removes those that are another file under a different name.
func (x *expansion) sortedUnique() []string {
	slices.Sort(x.files)
	x.files, x.folders = slices.Compact(x.files), map[string]string{}
	seen := make(map[string]bool, len(x.files))
	return slices.DeleteFunc(x.files, func(f string) bool {
		target := x.target(f)
		duplicate := seen[target]
		seen[target] = true
		return duplicate
	})
}

// target is the absolute path of a file without links.
func (x *expansion) target(file string) string {
	if x.links[file] {
		return absolute(file)
	}
	dir, name := filepath.Split(file)
	resolved, ok := x.folders[dir]
	if !ok {
		resolved = strings.TrimSuffix(absolute(filepath.Clean(dir)), string(filepath.Separator)) + string(filepath.Separator)
		x.folders[dir] = resolved
	}
	return resolved + name
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

// cause removes the path from an error of package os, because the caller's error contains it.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
