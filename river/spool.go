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
	unposted int    // number of its products that are not posted yet
	isRead   bool   // the service has read it to its end
	failure  string // why it goes to failed/; "" = it goes to done/
}

const (
	doubleTime       = 4 * time.Hour // time after which a repeated product is posted again
	settleUnfinished = time.Minute   // until an empty file or truncated gzip file counts as complete
	seenFile         = ".posted"     // products that were posted, a line each
	dayFolder        = "20060102"    // of done/
	lockFile         = ".lock"
	markFile         = ".running" // exists while a process posts, and after a kill
	whySuffix        = ".why"     // of the file in failed/ that has the reason
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
			return &fault.Error{
				Setting: "--spool " + s.Dir, Problem: "cannot be used", Err: err, Cure: "name a folder that can be written",
			}
		}
	}
	return nil
}

// acquire makes this process the only one that posts from the spool, and reads which products were posted in the last
// hours. It returns false if another process posts from the spool. Any number of processes may write into the spool,
// because LDM's pqact may start a process while the previous one still writes.
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
		return false, &fault.Error{
			File: f.Name(), Problem: "cannot be locked", Err: err, Cure: "put the spool on a disk of this machine",
		}
	}
	_, markErr := os.Stat(s.in(markFile))
	if err := os.WriteFile(s.in(markFile), fmt.Appendln(nil, os.Getpid()), 0o644); err != nil { //nolint:gosec // no secret
		return false, errors.Join(notWritable(s.Dir, err), f.Close())
	}
	s.killed, s.lock, s.seen = markErr == nil, f, map[[md5.Size]byte]int64{}
	if text, err := os.ReadFile(s.in(seenFile)); err == nil {
		for line := range strings.Lines(string(text)) {
			if sum, posted, ok := parseSeen(line); ok {
				s.seen[sum] = posted
			}
		}
	}
	return true, s.removeOld()
}

// parseSeen reads a line of seenFile: the checksum of a product, and the Unix seconds at which it was posted. A kill
// may truncate the last line.
func parseSeen(line string) (sum [md5.Size]byte, posted int64, ok bool) {
	hash, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
	posted, err := strconv.ParseInt(seconds, 10, 64)
	n, hexErr := hex.Decode(sum[:], []byte(hash[:min(len(hash), 2*len(sum))]))
	return sum, posted, n == len(sum) && errors.Join(err, hexErr) == nil
}

// in returns the path of a file in the spool.
func (s *Spool) in(name string) string { return filepath.Join(s.Dir, name) }

// isRecent reports whether a time is in the last hours. A time in the future comes from a clock that was wrong; Abs
// limits how long it counts as recent.
func isRecent(unix int64) bool { return time.Since(time.Unix(unix, 0)).Abs() < doubleTime }

// removeOld rewrites the list without old products, and removes files that were posted too long ago.
func (s *Spool) removeOld() error {
	s.rewritten = time.Now()
	var b strings.Builder
	for sum, posted := range s.seen {
		if !isRecent(posted) {
			delete(s.seen, sum)
			continue
		}
		fmt.Fprintf(&b, "%x %d\n", sum, posted)
	}
	err := os.WriteFile(s.in(seenFile+".tmp"), []byte(b.String()), 0o644) //nolint:gosec // no secret
	if err == nil {
		err = os.Rename(s.in(seenFile+".tmp"), s.in(seenFile))
	}
	if err != nil {
		return errors.Join(notWritable(s.Dir, err), os.Remove(s.in(seenFile+".tmp")))
	}
	if s.seenList != nil {
		s.seenList.Close() //nolint:errcheck // the new file replaces it
	}
	if s.seenList, err = os.OpenFile(s.in(seenFile), os.O_APPEND|os.O_WRONLY, 0o644); err != nil { //nolint:gosec // no secret
		return err
	}
	return s.removeOldDays()
}

// notWritable returns the error of a spool that cannot be written.
func notWritable(dir string, err error) error {
	return &fault.Error{
		Setting: "--spool " + dir, Problem: "cannot be written", Err: err,
		Cure: "make room on its disk, e.g. by --keep, or run the service as its owner; " +
			"the next start posts the files of the spool",
	}
}

// removeOldDays removes the days of done/ that are older than Keep.
func (s *Spool) removeOldDays() error {
	if s.Keep <= 0 {
		return nil
	}
	days, err := os.ReadDir(s.in("done"))
	for _, d := range days {
		day, parseErr := time.Parse(dayFolder, d.Name()) // fails for folders of the user
		if parseErr == nil && time.Since(day) > s.Keep+24*time.Hour {
			err = errors.Join(err, os.RemoveAll(s.in(filepath.Join("done", d.Name()))))
		}
	}
	return err
}

// Doubled reports whether the same product was posted in the last hours.
func (s *Spool) Doubled(p *Product) bool {
	return isRecent(s.seen[p.Sum])
}

// Posted records that products were posted. A crash before this call does no harm, because posting the products again
// changes nothing.
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
	return s.removeOld()
}

// maxReady is the maximum number of files that Ready returns, because the service handles signals between two calls of
// Ready, and its memory must not grow with the backlog.
const maxReady = 5 * BatchProducts

// Ready returns the complete files, the oldest first, at most maxReady. files is the number of all files that wait.
func (s *Spool) Ready() (ready []*Waiting, files int, err error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	complete, notFiles, truncated := s.newPass(), map[string]bool{}, map[string]observation{}
	for err == nil {
		var entries []fs.DirEntry
		entries, err = dir.ReadDir(1024)
		for _, e := range entries {
			if formats.IsIgnored(e.Name()) {
				continue
			}
			path := s.in(e.Name())
			info, statErr := os.Stat(path)
			if statErr != nil && e.Type().IsRegular() {
				continue // somebody removed the file
			}
			if statErr != nil || !info.Mode().IsRegular() {
				notFiles[path] = s.notFiles[path]
				continue
			}
			files++
			w := complete(path, info)
			if w != nil && time.Since(w.Received) < settleUnfinished {
				state := observation{size: w.Size, mtime: w.Received}
				if s.truncated[path] == state || isTruncatedGzip(path) {
					truncated[path] = state
					continue
				}
			}
			if w != nil {
				ready = append(ready, w)
			}
		}
		if len(ready) > 2*maxReady {
			ready = oldest(ready)
		}
	}
	if s.notFiles, s.truncated = notFiles, truncated; errors.Is(err, io.EOF) {
		err = nil
	}
	return oldest(ready), files, err
}

// isTruncatedGzip reports whether a file is truncated gzip, because its writer has not finished.
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

// Backlog counts the files that wait, complete or not, and returns the arrival of the oldest. Another goroutine may
// post meanwhile.
func (s *Spool) Backlog() (files int, bytes int64, oldest time.Time, err error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return 0, 0, oldest, err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	for err == nil {
		var entries []fs.DirEntry
		entries, err = dir.ReadDir(1024)
		for _, e := range entries {
			info, statErr := os.Stat(s.in(e.Name()))
			if formats.IsIgnored(e.Name()) || statErr != nil || !info.Mode().IsRegular() {
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

// oldest returns the first maxReady files by arrival.
func oldest(all []*Waiting) []*Waiting {
	sortByArrival(all)
	clear(all[min(len(all), maxReady):])
	return all[:min(len(all), maxReady)]
}

func sortByArrival(all []*Waiting) {
	slices.SortFunc(all, func(a, b *Waiting) int {
		return cmp.Or(a.Received.Compare(b.Received), cmp.Compare(a.Path, b.Path))
	})
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

// newPass starts a pass over all files. It returns a function that must be called for each file. The function returns
// nil for a file that is not complete. Settling remembers only such files.
func (s *Settling) newPass() func(path string, info fs.FileInfo) *Waiting {
	now, before := time.Now(), s.incomplete
	s.incomplete = map[string]observation{}
	return func(path string, info fs.FileInfo) *Waiting {
		state := observation{info.Size(), info.ModTime(), now}
		settle := s.Settle
		if state.size == 0 { // its writer may have just created it
			settle = settleUnfinished
		}
		if now.Sub(state.mtime) < settle {
			if b := before[path]; b.size == state.size && b.mtime.Equal(state.mtime) && !b.since.IsZero() {
				state.since = b.since
			}
			s.incomplete[path] = state
			if now.Sub(state.since) < settle {
				return nil
			}
		}
		return &Waiting{Path: path, Received: state.mtime, Size: state.size}
	}
}

// maxName is the number of bytes of a file's name that Done keeps, because file systems limit a name to 255 bytes, and
// Done may append a number and .why.
const maxName = 240

// freePath returns the first path in a folder that does not exist: NAME, or NAME with a suffix and a number from 1. It
// also skips a path whose PATH.why exists, because that may be a file of the feed, which the reason would overwrite.
func freePath(dir, name, suffix string) (string, error) {
	path := filepath.Join(dir, name)
	for n := 1; ; n++ {
		_, err := os.Lstat(path)
		_, reasonErr := os.Lstat(path + whySuffix)
		if errors.Is(err, fs.ErrNotExist) && errors.Is(reasonErr, fs.ErrNotExist) {
			return path, nil
		}
		for _, err := range []error{err, reasonErr} {
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // it would be the same for every number
				return "", err
			}
		}
		path = filepath.Join(dir, fmt.Sprintf("%s%s%d", name, suffix, n))
	}
}

// Done moves a file to done/ or failed/. It does not move a file that has changed since it was read, which the service
// then reads again.
func (s *Spool) Done(w *Waiting) error {
	if info, err := os.Stat(w.Path); err == nil && (info.Size() != w.Size || !info.ModTime().Equal(w.Received)) {
		return nil
	}
	dir := s.in(filepath.Join("done", time.Now().UTC().Format(dayFolder)))
	if w.failure != "" {
		dir = s.in("failed")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Base(w.Path)
	to, err := freePath(dir, name[:min(len(name), maxName)], ".")
	if err != nil {
		return err
	}
	if w.failure != "" {
		if err := os.WriteFile(to+whySuffix, []byte(w.failure+"\n"), 0o644); err != nil { //nolint:gosec // no secret
			return err
		}
	}
	if err := os.Rename(w.Path, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // somebody removed the file
}

// Retry moves files of failed/ back into the spool, and removes their reasons. Without names it moves all files. It
// returns their new paths. If the posting policy uses the origin of values (posts.Policy.UsesOrigin), and a row of the
// table stores one value, the products do not replace values of products that were issued later.
func (s *Spool) Retry(names []string) (moved []string, err error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(s.in("failed"))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			failed, isReason := strings.CutSuffix(e.Name(), whySuffix)
			if isReason { // unless the feed has a file of this name
				_, err := os.Lstat(s.in(filepath.Join("failed", failed)))
				isReason = err == nil
			}
			if !isReason {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		if filepath.Base(name) != name {
			return moved, &fault.Error{
				Setting: name, Problem: "is no file of " + s.in("failed"), Cure: "name it without its folder",
			}
		}
		from := s.in(filepath.Join("failed", name))
		to, err := freePath(s.Dir, name, ".again")
		if err == nil {
			err = os.Rename(from, to)
		}
		if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		}
		if err != nil {
			return moved, &fault.Error{
				File: from, Problem: "cannot be moved into the spool", Err: err, Cure: "name a file of " + s.in("failed"),
			}
		}
		if err := os.Remove(from + whySuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return moved, err
		}
		moved = append(moved, to)
	}
	return moved, nil
}

// Take writes each product of a stream into a file of the spool. It does not wait for the database. The file is durable
// before Take reads the next product.
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
			// The name is hidden until the file is complete.
			path := s.in(fmt.Sprintf(".%s-%06d", time.Now().UTC().Format("20060102T150405.000000"), n))
			f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // no secret
			if err != nil {
				return notWritable(s.Dir, err)
			}
			n++
		}
		if _, err = f.Write(p.Text); err == nil && p.Last {
			if err = errors.Join(f.Sync(), f.Close()); err == nil {
				err = os.Rename(f.Name(), s.in(strings.TrimPrefix(filepath.Base(f.Name()), ".")))
			}
			if err == nil { // the new name is durable, too: the service never reads a hidden file
				err = syncFolder(s.Dir)
			}
		}
		if err != nil {
			f.Close()           //nolint:errcheck // the first error counts
			os.Remove(f.Name()) //nolint:errcheck // the service never reads a hidden file
			return notWritable(s.Dir, err)
		}
		if p.Last {
			f = nil
		}
	}
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
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
