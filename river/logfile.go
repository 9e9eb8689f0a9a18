package river

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// LogFile is a file to which lines are added. If it would grow above Most bytes, it becomes NAME.1,
// NAME.1 becomes NAME.2, and so on; Keep such files are kept. A line is never split between two files.
type LogFile struct {
	Name string
	Most int64
	Keep int

	mu   sync.Mutex
	f    *os.File
	size int64
}

// Write adds a line.
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

// open opens the file where it is not open.
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
	if gone := os.Remove(old(l.Keep)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	for i := l.Keep - 1; i > 0; i-- {
		if moved := os.Rename(old(i), old(i+1)); moved != nil && !errors.Is(moved, fs.ErrNotExist) {
			err = errors.Join(err, moved)
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
