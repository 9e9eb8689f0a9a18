package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine"
)

// digestsFile contains the digests of those files of an archive for which ClickHouse has none: the definitions of
// tables, and the descriptions of a part's format. A flipped bit in them makes tables empty or changes values without
// an error. The file is written when the archive is closed. It does not exist while a process may write into the
// archive.
const digestsFile = "barograph.sums"

// fileDigests returns the content of digestsFile: a line with digest and name for each file.
func fileDigests(archive fs.FS) ([]byte, error) {
	var out bytes.Buffer
	for _, pattern := range []string{"metadata/*.sql", "store/*/*/*.sql", "store/*/*/*.txt", "store/*/*/*/*.txt", "store/*/*/*/*.json"} {
		names, err := fs.Glob(archive, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(archive, name)
			if errors.Is(err, fs.ErrNotExist) { // a file of a merged part, which ClickHouse removes later
				continue
			}
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "%016x %s\n", xxh3.Hash(text), name)
		}
	}
	return out.Bytes(), nil
}

// writeDigests writes digestsFile. If it cannot, the archive has no digests, as after a kill. Merges stop before,
// because they would change the files.
func (d *database) writeDigests(ctx context.Context) {
	if d.readOnly {
		return
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if err := d.Exec(ctx, "SYSTEM STOP MERGES"); err != nil {
		return
	}
	if text, err := fileDigests(os.DirFS(d.path)); err == nil {
		_ = writeFile(filepath.Join(d.path, digestsFile), string(text))
	}
}

// checkAndRemoveDigests compares the files with their digests, and removes digestsFile if this process may write into
// the archive. A lock keeps other processes from writing meanwhile.
func (d *database) checkAndRemoveDigests() error {
	err := d.checkDigests()
	if err == nil && !d.readOnly {
		if err = os.Remove(filepath.Join(d.path, digestsFile)); err == nil {
			err = syncFile(d.path) // otherwise the digests could return after a power failure
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkDigests returns an error that names a file that has changed since the archive was closed. The error wraps
// fs.ErrNotExist if there are no digests.
func (d *database) checkDigests() error {
	archive := os.DirFS(d.path)
	text, err := fs.ReadFile(archive, digestsFile)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), " ")
		file, err := fs.ReadFile(archive, name)
		if err != nil {
			if _, folderErr := fs.Stat(archive, path.Dir(name)); errors.Is(folderErr, fs.ErrNotExist) {
				continue // ClickHouse has removed the folder of a merged part
			}
		}
		if err != nil || sum != fmt.Sprintf("%016x", xxh3.Hash(file)) {
			return engine.DamagedError(d.path, fmt.Errorf("%s differs from its digest in %s", name, digestsFile))
		}
	}
	return nil
}
