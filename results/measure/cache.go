package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
)

// ErrCannotDrop is returned if the operating system cannot drop files from its page cache. Runs on
// such a system have no cold times.
var ErrCannotDrop = errors.New("the page cache cannot be dropped on " + runtime.GOOS)

// DropCaches drops files from the operating system's page cache, which makes the next read come
// from the disk. Each path is a file, or a folder with its regular files. It first syncs the files,
// because dirty pages cannot be dropped. A path may be a symbolic link; it does not follow links inside a folder.
//
// Any user can do this for his own files (posix_fadvise, DONTNEED). Root also drops the complete
// cache, including directories and inodes, through /proc/sys/vm/drop_caches. how describes which
// was done, for the run's record, because a false "cold" is worse than none. Pages that a process
// has mapped stay in memory: close the database or stop the server first. DropCaches does not
// affect the caches of disks and hypervisors.
func DropCaches(paths []string) (how string, err error) { return dropCaches(paths, globalCache) }

// globalCache is the file through which root drops the complete cache.
const globalCache = "/proc/sys/vm/drop_caches"

// resolved returns a path without symbolic links, or the path itself if it cannot be resolved.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// regularFiles lists the files under the paths.
func regularFiles(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		path = resolved(path) // WalkDir does not follow a link
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && p != path {
				return nil // the engine removed it meanwhile, as ClickHouse does after a merge
			}
			if err == nil && d.Type().IsRegular() {
				out = append(out, p)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("drop %s from the page cache: %w", path, err)
		}
	}
	return out, nil
}
