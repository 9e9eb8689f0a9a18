package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
)

// ErrCannotDrop is returned where the operating system offers no way to drop
// files from its page cache. A run there has no cold times.
var ErrCannotDrop = errors.New("the page cache cannot be dropped on " + runtime.GOOS)

// DropCaches drops files from the operating system's page cache, so that the
// next read comes from the disk. Each path is a file, or a folder whose regular
// files are meant. The files are synced first, since dirty pages stay.
//
// Any user can do so for files of his own (posix_fadvise, DONTNEED); root also
// drops the whole cache, directories and inodes included, through
// /proc/sys/vm/drop_caches. how says in words which was done, for the run's
// record: a "cold" that was not is worse than none. Pages that a process has
// mapped stay in memory: close the database or stop the server first. Disks
// and hypervisors have caches of their own, which nothing here reaches.
func DropCaches(paths []string) (how string, err error) { return dropCaches(paths, globalCache) }

// globalCache is where root drops everything at once.
const globalCache = "/proc/sys/vm/drop_caches"

// regularFiles lists the files under the paths.
func regularFiles(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
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
