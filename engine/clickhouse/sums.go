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

// sumsFile has the digests of the files of an archive for which ClickHouse keeps
// none: the definitions of tables, and what says how a part is to be read. Where a bit
// of one turns, tables are empty or columns have different values, without an error. It
// is written when the archive is closed, and is gone while somebody may write into it.
const sumsFile = "barograph.sums"

// sums lists the digest of each of these files.
func sums(archive fs.FS) ([]byte, error) {
	var out bytes.Buffer
	for _, pattern := range []string{"metadata/*.sql", "store/*/*/*.sql", "store/*/*/*.txt", "store/*/*/*/*.txt", "store/*/*/*/*.json"} {
		names, err := fs.Glob(archive, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(archive, name)
			if errors.Is(err, fs.ErrNotExist) { // of a part that was merged, which is removed some time after
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

// seal writes the digests. An archive for which it cannot is left without them, as
// after a kill.
func (d *database) seal(ctx context.Context) {
	if d.readOnly {
		return
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if err := d.Exec(ctx, "SYSTEM STOP MERGES"); err != nil {
		return
	}
	if text, err := sums(os.DirFS(d.path)); err == nil {
		_ = writeFile(filepath.Join(d.path, sumsFile), string(text))
	}
}

// unseal holds the files against their digests, and removes these where the archive
// may be written from now on. Nobody else may write into it meanwhile.
func (d *database) unseal() error {
	err := d.altered()
	if err == nil && !d.readOnly {
		err = os.Remove(filepath.Join(d.path, sumsFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// altered tells a file that is not what it was when the archive was closed; an error
// that wraps fs.ErrNotExist says that there are no digests.
func (d *database) altered() error {
	archive := os.DirFS(d.path)
	text, err := fs.ReadFile(archive, sumsFile)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), " ")
		file, err := fs.ReadFile(archive, name)
		if err != nil {
			if _, gone := fs.Stat(archive, path.Dir(name)); errors.Is(gone, fs.ErrNotExist) { // a part that was merged
				continue
			}
		}
		if err != nil || sum != fmt.Sprintf("%016x", xxh3.Hash(file)) {
			return engine.DamagedError(d.path, fmt.Errorf("%s is not as %s has it", name, sumsFile))
		}
	}
	return nil
}
