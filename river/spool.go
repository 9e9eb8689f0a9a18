package river

import (
	"bufio"
	"bytes"
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

	"github.com/klauspost/compress/gzip"

	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
)

// Spool is a folder of files whose products wait for the database. Posted files are moved to
// done/YYYYMMDD, files with an error to failed, with the reason in NAME.why. Hidden files, *.tmp and
// *.part are ignored.
type Spool struct {
	Dir string
	Settling

	// Keep is the time for which posted files remain in done/; 0 = forever.
	Keep time.Duration

	lock      *os.File                 // locked by the process that posts
	seen      map[[md5.Size]byte]int64 // products that were posted, and when
	seenList  *os.File                 // the file of seen, opened for appending
	rewritten time.Time                // when this file was last rewritten
	killed    bool                     // the previous process that posted did not call Close
	notFiles  map[string]bool          // paths that are neither a file nor a link to one; true = newNotFiles returned it
	truncated map[string]observation   // truncated gzip files as they were when they were read
}

// Settling selects the complete files of a folder: those that no longer change.
type Settling struct {
	Settle     time.Duration          // a file is complete when it has not changed for this time
	incomplete map[string]observation // by path: files that may still change
}

// observation is the state of a file and the time since when it has had this state.
type observation struct {
	size  int64
	mtime time.Time
	since time.Time
}

// Waiting is a file of the spool.
type Waiting struct {
	Path     string
	Received time.Time
	Size     int64
	left     int    // number of its products that are not posted yet
	read     bool   // it was read to its end
	why      string // why it goes to failed/; "" = it goes to done/
}

const (
	remembered       = 4 * time.Hour
	settleUnfinished = time.Minute // until an empty file or truncated gzip file counts as complete
	seenFile         = ".posted"   // products that were posted, a line each
	dayFolder        = "20060102"  // of done/
	lockFile         = ".lock"
	markFile         = ".running" // exists while a process posts, and after a kill
)

// OpenSpool opens a folder. Its files are complete when they have not changed for the time settle.
func OpenSpool(dir string, settle time.Duration) (*Spool, error) {
	s := &Spool{Dir: dir, Settling: Settling{Settle: settle}}
	return s, s.Open()
}

// Open creates the missing folders.
func (s *Spool) Open() error {
	for _, d := range []string{s.Dir, s.in("done"), s.in("failed")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return &fault.Error{Setting: "--spool " + s.Dir, Problem: "cannot be used", Err: err, Cure: "name a folder that can be written"}
		}
	}
	return nil
}

// acquire makes this process the only one that posts from the spool, and reads which products were posted in
// the last hours; false = another process posts from it. Any number of processes may write into the spool, because
// LDM's pqact may start a process while the previous one still writes.
func (s *Spool) acquire() (bool, error) {
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
	_, none := os.Stat(s.in(markFile))
	if err := os.WriteFile(s.in(markFile), fmt.Appendln(nil, os.Getpid()), 0o644); err != nil { //nolint:gosec // no secret
		return false, errors.Join(full(s.Dir, err), f.Close())
	}
	s.killed, s.lock, s.seen = none == nil, f, map[[md5.Size]byte]int64{}
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

// recent reports whether a time is in the last hours. A time in the future comes from a clock that was wrong
// then; Abs limits how long it counts as recent.
func recent(unix int64) bool { return time.Since(time.Unix(unix, 0)).Abs() < remembered }

// forget rewrites the list without old products, and removes files that were posted too long ago.
func (s *Spool) forget() error {
	s.rewritten = time.Now()
	var b strings.Builder
	for sum, at := range s.seen {
		if !recent(at) {
			delete(s.seen, sum)
			continue
		}
		fmt.Fprintf(&b, "%x %d\n", sum, at)
	}
	err := os.WriteFile(s.in(seenFile+".tmp"), []byte(b.String()), 0o644) //nolint:gosec // no secret
	if err == nil {
		err = os.Rename(s.in(seenFile+".tmp"), s.in(seenFile))
	}
	if err != nil {
		return errors.Join(full(s.Dir, err), os.Remove(s.in(seenFile+".tmp")))
	}
	if s.seenList != nil {
		s.seenList.Close() //nolint:errcheck // the new file replaces it
	}
	if s.seenList, err = os.OpenFile(s.in(seenFile), os.O_APPEND|os.O_WRONLY, 0o644); err != nil { //nolint:gosec // no secret
		return err
	}
	return s.clear()
}

// full is the error of a spool that cannot be written.
func full(dir string, err error) error {
	return &fault.Error{Setting: "--spool " + dir, Problem: "cannot be written", Err: err, Cure: "make room on its disk, e.g. by --keep, or let its owner run the service; what is in it is posted at the next start"}
}

// clear removes the days of done/ that are older than Keep.
func (s *Spool) clear() error {
	if s.Keep <= 0 {
		return nil
	}
	days, err := os.ReadDir(s.in("done"))
	for _, d := range days {
		if day, other := time.Parse(dayFolder, d.Name()); other == nil && time.Since(day) > s.Keep+24*time.Hour {
			err = errors.Join(err, os.RemoveAll(s.in(filepath.Join("done", d.Name()))))
		}
	}
	return err
}

// Doubled reports whether the same product was posted in the last hours.
func (s *Spool) Doubled(p *Product) bool {
	return recent(s.seen[p.Sum])
}

// Posted records that products were posted. A crash before this call does no harm, because posting
// them again changes nothing.
func (s *Spool) Posted(products []*Product) error {
	var b []byte
	now := time.Now().Unix()
	for _, p := range products {
		s.seen[p.Sum] = now
		b = fmt.Appendf(b, "%x %d\n", p.Sum, now)
	}
	if _, err := s.seenList.Write(b); err != nil || time.Since(s.rewritten) < time.Hour {
		return err
	}
	return s.forget()
}

// mostReady is the maximum number of files that Ready returns. The service handles signals between two calls
// of Ready, and the memory must not grow with the backlog.
const mostReady = 5 * BatchProducts

// Ready returns the complete files, the oldest first, at most mostReady. files is the number of all files that
// wait.
func (s *Spool) Ready() (ready []*Waiting, files int, err error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	complete, notFiles, truncated := s.newPass(), map[string]bool{}, map[string]observation{}
	for err == nil {
		var some []fs.DirEntry
		some, err = dir.ReadDir(1024)
		for _, e := range some {
			if formats.IsIgnored(e.Name()) {
				continue
			}
			path := s.in(e.Name())
			info, failed := os.Stat(path)
			if failed != nil && e.Type().IsRegular() {
				continue // gone
			}
			if failed != nil || !info.Mode().IsRegular() {
				notFiles[path] = s.notFiles[path]
				continue
			}
			files++
			w := complete(path, info)
			if w != nil && time.Since(w.Received) < settleUnfinished {
				l := observation{size: w.Size, mtime: w.Received}
				if s.truncated[path] == l || isTruncatedGzip(path) {
					truncated[path] = l
					continue
				}
			}
			if w != nil {
				ready = append(ready, w)
			}
		}
		if len(ready) > 2*mostReady {
			ready = oldest(ready)
		}
	}
	if s.notFiles, s.truncated = notFiles, truncated; errors.Is(err, io.EOF) {
		err = nil
	}
	return oldest(ready), files, err
}

// isTruncatedGzip reports whether a file is truncated gzip: its writer may not have finished.
func isTruncatedGzip(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b := bufio.NewReader(f)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return false
	}
	z, err := gzip.NewReader(b)
	if err == nil {
		_, err = io.Copy(io.Discard, z) //nolint:gosec // nothing is kept of it
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// Backlog counts the files that wait, settled or not, and finds when the oldest
// arrived. It may be called while somebody posts.
func (s *Spool) Backlog() (files int, bytes int64, oldest time.Time, err error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return 0, 0, oldest, err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	for err == nil {
		var some []fs.DirEntry
		some, err = dir.ReadDir(1024)
		for _, e := range some {
			info, gone := os.Stat(s.in(e.Name()))
			if formats.IsIgnored(e.Name()) || gone != nil || !info.Mode().IsRegular() {
				continue
			}
			if files, bytes = files+1, bytes+info.Size(); oldest.IsZero() || info.ModTime().Before(oldest) {
				oldest = info.ModTime()
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return files, bytes, oldest, err
}

// newNotFiles returns the paths that Ready found and cannot read, each path once.
func (s *Spool) newNotFiles() (paths []string) {
	for path, reported := range s.notFiles {
		if s.notFiles[path] = true; !reported {
			paths = append(paths, path)
		}
	}
	return paths
}

// oldest returns the first mostReady files by arrival.
func oldest(all []*Waiting) []*Waiting {
	sortByArrival(all)
	clear(all[min(len(all), mostReady):])
	return all[:min(len(all), mostReady)]
}

func sortByArrival(all []*Waiting) {
	slices.SortFunc(all, func(a, b *Waiting) int { return cmp.Or(a.Received.Compare(b.Received), cmp.Compare(a.Path, b.Path)) })
}

// Complete selects the complete files from found, whose keys are paths, the oldest first.
func (s *Settling) Complete(found map[string]fs.FileInfo) (ready []*Waiting) {
	complete := s.newPass()
	for path, info := range found {
		if w := complete(path, info); w != nil {
			ready = append(ready, w)
		}
	}
	sortByArrival(ready)
	return ready
}

// newPass starts a pass over all files. The function that it returns returns nil for a file that is not complete.
// Settling remembers only these files.
func (s *Settling) newPass() func(path string, info fs.FileInfo) *Waiting {
	now, before := time.Now(), s.incomplete
	s.incomplete = map[string]observation{}
	return func(path string, info fs.FileInfo) *Waiting {
		l := observation{info.Size(), info.ModTime(), now}
		settled := s.Settle
		if l.size == 0 { // its writer may have just created it
			settled = settleUnfinished
		}
		if now.Sub(l.mtime) < settled {
			if b := before[path]; b.size == l.size && b.mtime.Equal(l.mtime) && !b.since.IsZero() {
				l.since = b.since
			}
			s.incomplete[path] = l
			if now.Sub(l.since) < settled {
				return nil
			}
		}
		return &Waiting{Path: path, Received: l.mtime, Size: l.size}
	}
}

// Done moves a file to done/ or failed/. A file that has changed since it was read stays, and is read again.
func (s *Spool) Done(w *Waiting) error {
	why := w.why
	if info, err := os.Stat(w.Path); err == nil && (info.Size() != w.Size || !info.ModTime().Equal(w.Received)) {
		return nil
	}
	dir := s.in(filepath.Join("done", time.Now().UTC().Format(dayFolder)))
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
	return nil // somebody removed the file
}

// Retry moves the named files of failed/, or all of them, back into the spool, and removes their reasons. Posting
// their products again changes nothing in the database if they were posted before.
func (s *Spool) Retry(names []string) (back []string, err error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(s.in("failed"))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".why") {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		from, to := s.in(filepath.Join("failed", name)), s.in(name)
		if filepath.Base(name) != name {
			return back, &fault.Error{Setting: name, Problem: "is no file of " + s.in("failed"), Cure: "name it without its folder"}
		}
		for n := 1; ; n++ {
			if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
				break
			}
			to = s.in(fmt.Sprintf("%s.again%d", name, n))
		}
		if err := os.Rename(from, to); err != nil {
			return back, &fault.Error{File: from, Problem: "cannot be put back", Err: err, Cure: "see what is in " + s.in("failed")}
		}
		if err := os.Remove(from + ".why"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return back, err
		}
		back = append(back, to)
	}
	return back, nil
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
				continue // control characters between two products
			}
			if f, err = os.OpenFile(s.in(fmt.Sprintf(".%s-%06d", time.Now().UTC().Format("20060102T150405.000000"), n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil { //nolint:gosec // no secret
				return full(s.Dir, err)
			}
			n++
		}
		if _, err = f.Write(p.Text); err == nil && p.Last {
			if err = errors.Join(f.Sync(), f.Close()); err == nil {
				err = os.Rename(f.Name(), s.in(strings.TrimPrefix(filepath.Base(f.Name()), ".")))
			}
		}
		if err != nil {
			f.Close()           //nolint:errcheck // the first error counts
			os.Remove(f.Name()) //nolint:errcheck // an incomplete product would never be read
			return full(s.Dir, err)
		}
		if p.Last {
			f = nil
		}
	}
}

// Close lets another process post from the spool.
func (s *Spool) Close() error {
	if s.lock == nil {
		return nil
	}
	err := os.Remove(s.in(markFile))
	if s.seenList != nil {
		err = errors.Join(err, s.seenList.Close())
	}
	return errors.Join(err, s.lock.Close())
}
