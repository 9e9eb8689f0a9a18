package river

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // no secret: two copies of a product are alike
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
)

// Spool is a folder of products that wait for the database. Files that are
// posted go to done/YYYYMMDD, those that cannot be to failed, with the reason
// beside them; hidden files, *.tmp and *.part are left alone.
type Spool struct {
	Dir string
	Settling

	lock *os.File                 // held by who posts
	seen map[[md5.Size]byte]int64 // products that were posted, and when
	list *os.File                 // of them
	tidy time.Time                // when the list was written anew
}

// Settling finds the files that are whole.
type Settling struct {
	Settle time.Duration // a file is whole when it has not changed for so long
	looks  map[string]look
}

// look is a file as it was found first.
type look struct {
	size  int64
	mtime time.Time
	since time.Time
}

// Waiting is a file of the spool.
type Waiting struct {
	Path     string
	Received time.Time
	Size     int64
	left     int    // products that are not posted yet
	read     bool   // to its end
	why      string // a product of it failed
}

const (
	remembered = 4 * time.Hour
	seenFile   = ".posted" // products that were posted, a line each
	lockFile   = ".lock"
)

// OpenSpool makes the folders that are not there.
func OpenSpool(dir string, settle time.Duration) (*Spool, error) {
	s := &Spool{Dir: dir, Settling: Settling{Settle: settle}}
	for _, d := range []string{dir, s.in("done"), s.in("failed")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, &fault.Error{Setting: "--spool " + dir, Problem: "cannot be used", Err: err, Cure: "name a folder that can be written"}
		}
	}
	return s, nil
}

// own makes the spool this process's to post from, and reads which products were
// posted in the last hours; false = another process posts from it. Any number may
// write into it meanwhile: pqact begins a pipe while the one before still empties.
func (s *Spool) own() (bool, error) {
	f, err := os.OpenFile(s.in(lockFile), os.O_CREATE|os.O_RDWR, 0o644) //nolint:gosec // no secret
	if err != nil {
		return false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, &fault.Error{File: f.Name(), Problem: "cannot be locked", Err: err, Cure: "put the spool on a disk of this machine"}
	}
	s.lock, s.seen = f, map[[md5.Size]byte]int64{}
	if text, err := os.ReadFile(s.in(seenFile)); err == nil {
		for line := range strings.Lines(string(text)) {
			var sum [md5.Size]byte
			hash, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			unix, err := strconv.ParseInt(at, 10, 64)
			if n, decoded := hex.Decode(sum[:], []byte(hash[:min(len(hash), 2*len(sum))])); n == len(sum) && errors.Join(err, decoded) == nil {
				s.seen[sum] = unix
			}
		}
	}
	return true, s.forget()
}

func (s *Spool) in(name string) string { return filepath.Join(s.Dir, name) }

// forget writes the list anew, without what is too old.
func (s *Spool) forget() error {
	s.tidy = time.Now()
	old := s.tidy.Add(-remembered).Unix()
	var b strings.Builder
	for sum, at := range s.seen {
		if at < old {
			delete(s.seen, sum)
			continue
		}
		fmt.Fprintf(&b, "%x %d\n", sum, at)
	}
	if s.list != nil {
		s.list.Close() //nolint:errcheck // it is written anew
	}
	err := os.WriteFile(s.in(seenFile+".tmp"), []byte(b.String()), 0o644) //nolint:gosec // no secret
	if err == nil {
		err = os.Rename(s.in(seenFile+".tmp"), s.in(seenFile))
	}
	if err == nil {
		s.list, err = os.OpenFile(s.in(seenFile), os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // no secret
	}
	return err
}

// Doubled reports whether the same product was posted in the last hours.
func (s *Spool) Doubled(p *Product) bool {
	return s.seen[p.Sum] > time.Now().Add(-remembered).Unix()
}

// Posted remembers products. A crash before it is no harm: posting them again
// changes nothing.
func (s *Spool) Posted(products []*Product) error {
	var b []byte
	now := time.Now().Unix()
	for _, p := range products {
		s.seen[p.Sum] = now
		b = fmt.Appendf(b, "%x %d\n", p.Sum, now)
	}
	if _, err := s.list.Write(b); err != nil || time.Since(s.tidy) < time.Hour {
		return err
	}
	return s.forget()
}

// Ready lists the files that are whole, the oldest first, and counts all that
// wait.
func (s *Spool) Ready() (ready []*Waiting, files int, bytes int64, err error) {
	entries, err := os.ReadDir(s.Dir)
	found := make(map[string]fs.FileInfo, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || formats.LeftAlone(e.Name()) {
			continue // gone, a folder, or not meant
		}
		files, bytes = files+1, bytes+info.Size()
		found[s.in(e.Name())] = info
	}
	return s.Whole(found), files, bytes, err
}

// Whole selects the files that are whole of those that there are, by path, the
// oldest first.
func (s *Settling) Whole(found map[string]fs.FileInfo) (ready []*Waiting) {
	now := time.Now()
	looks := make(map[string]look, len(found))
	for path, info := range found {
		l := s.looks[path]
		if l.size != info.Size() || !l.mtime.Equal(info.ModTime()) {
			l = look{info.Size(), info.ModTime(), now}
		}
		looks[path] = l
		settled := s.Settle
		if l.size == 0 { // somebody has just opened it
			settled = time.Minute
		}
		if now.Sub(l.since) >= settled || now.Sub(l.mtime) >= settled {
			ready = append(ready, &Waiting{Path: path, Received: l.mtime, Size: l.size})
		}
	}
	s.looks = looks
	slices.SortFunc(ready, func(a, b *Waiting) int { return cmp.Or(a.Received.Compare(b.Received), cmp.Compare(a.Path, b.Path)) })
	return ready
}

// Done puts a file away.
func (s *Spool) Done(w *Waiting) error {
	why := w.why
	dir := s.in(filepath.Join("done", time.Now().UTC().Format("20060102")))
	if why != "" {
		dir = s.in("failed")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.Base(w.Path))
	for n := 1; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", filepath.Base(w.Path), n))
	}
	if why != "" {
		if err := os.WriteFile(to+".why", []byte(why+"\n"), 0o644); err != nil { //nolint:gosec // no secret
			return err
		}
	}
	if err := os.Rename(w.Path, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // somebody took it
}

// Take writes the products of a stream into the spool, each a file that is on
// disk before the next one is read, so that the stream never waits for the
// database.
func (s *Spool) Take(r io.Reader, now time.Time) error {
	split := shef.NewSplitter(r, "standard input", now)
	var p shef.Product
	var f *os.File
	for n := 1; ; {
		err := split.Next(&p)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
		if f == nil {
			if len(strings.Trim(string(p.Text), "\x00\x01\x03 \r\n")) == 0 {
				continue // what is left of a frame
			}
			if f, err = os.OpenFile(s.in(fmt.Sprintf(".%s-%06d", time.Now().UTC().Format("20060102T150405.000000"), n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil { //nolint:gosec // no secret
				return err
			}
			n++
		}
		if _, err = f.Write(p.Text); err == nil && p.Last {
			err = errors.Join(f.Sync(), f.Close(), os.Rename(f.Name(), s.in(strings.TrimPrefix(filepath.Base(f.Name()), "."))))
			f = nil
		}
		if err != nil {
			return err
		}
	}
}

// Close leaves the spool to others.
func (s *Spool) Close() error {
	if s.lock == nil {
		return nil
	}
	return errors.Join(s.list.Close(), s.lock.Close())
}
