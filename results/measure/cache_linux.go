package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func dropCaches(paths []string, global string) (string, error) {
	files, err := regularFiles(paths)
	if err != nil {
		return "", err
	}
	for _, path := range files {
		if err := dropFile(path); err != nil {
			return "", err
		}
	}
	how := fmt.Sprintf("fsync and posix_fadvise(DONTNEED) on %d file(s)", len(files))
	if os.Geteuid() != 0 {
		return how + "; without root, " + global + " was not used", nil
	}
	unix.Sync()
	if err := os.WriteFile(global, []byte("3\n"), 0o200); err != nil {
		return fmt.Sprintf("%s; %s could not be written (%v)", how, global, err), nil
	}
	return how + "; sync and 3 to " + global, nil
}

func dropFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed since it was listed
	}
	if err != nil {
		return fmt.Errorf("drop a file from the page cache: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing to lose
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync %s before dropping it from the page cache: %w", path, err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("posix_fadvise %s: %w", path, err)
	}
	return nil
}
