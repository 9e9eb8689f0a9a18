package river

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// LogFile is a log that appends lines to a file. Before the file grows above Most bytes, LogFile renames it to NAME.1,
// NAME.1 to NAME.2, and so on, and keeps Keep such files. It never splits a line between two files.
type LogFile struct {
	Name string
	Most int64
	Keep int

	mu   sync.Mutex
	f    *os.File
	size int64
}

// Write appends a line.
func (l *LogFile) Write(line []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return 0, err
	}
	if l.size > 0 && l.size+int64(len(line)) > l.Most {
		if err := errors.Join(l.rotate(), l.open()); err != nil {
			return 0, err
		}
	}
	n, err = l.f.Write(line)
	l.size += int64(n)
	return n, err
}

// open opens the file, unless it is open.
func (l *LogFile) open() (err error) {
	if l.f != nil {
		return nil
	}
	f, err := os.OpenFile(l.Name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // no secret
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f, l.size = f, info.Size()
	return nil
}

func (l *LogFile) rotate() error {
	err := l.f.Close()
	l.f, l.size = nil, 0
	old := func(i int) string { return fmt.Sprintf("%s.%d", l.Name, i) }
	if removeErr := os.Remove(old(l.Keep)); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	for i := l.Keep - 1; i > 0; i-- {
		if renameErr := os.Rename(old(i), old(i+1)); renameErr != nil && !errors.Is(renameErr, fs.ErrNotExist) {
			err = errors.Join(err, renameErr)
		}
	}
	if l.Keep > 0 {
		return errors.Join(err, os.Rename(l.Name, old(1)))
	}
	return errors.Join(err, os.Remove(l.Name))
}

// Close closes the file.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}
