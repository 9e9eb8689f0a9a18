package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// peekBytes is how far Open looks into a file: enough for a header line. A file
// that has fewer is read once, whole.
const peekBytes = 64 << 10

// Opener opens one file after the other and keeps the memory of their readers:
// an archive has many small files. The zero value is ready. It belongs to one
// goroutine, and each File of it must be closed before the next is opened.
type Opener struct {
	Rows     int  // rows per batch; 0 = the readers' default, 8192
	KeepLast bool // a last line without a line end is whole, not record.PerhapsCut

	small   []byte        // the bytes of a file that is read whole
	buffer  *bufio.Reader // of the file
	plain   *bufio.Reader // of what gzip unpacks, where the format must be looked for
	unzip   *gzip.Reader
	vsdb    *vsdb.Reader
	metstat *metstat.Reader

	folder, ensemble string // of the VSDB file before
}

// File is an open file. Its readers hold a few batches at most, whatever the
// size of the file.
type File struct {
	Path     string // as given
	Kind     Kind
	Size     int64     // bytes on disk, compressed or not
	Modified time.Time // when it was changed last, before it was read
	Gzip     bool

	opener *Opener
	reader Reader
	source source
	blank  bool // the first peekBytes of its text are
}

// source counts what is read of the file itself.
type source struct {
	f    *os.File // nil = text is all of it
	text []byte   // what is left
	read atomic.Int64
}

func (s *source) Read(p []byte) (n int, err error) {
	if s.f != nil {
		n, err = s.f.Read(p)
	} else if n = copy(p, s.text); n == 0 {
		err = io.EOF
	}
	s.text = s.text[min(n, len(s.text)):]
	s.read.Add(int64(n))
	return n, err
}

// OpenFile opens a regular file for reading. Everything else is refused before
// it is opened, as a pipe or a device may never answer: a name that is not
// UTF-8, which no database takes, a folder, a link to nothing.
func OpenFile(path string) (*os.File, error) {
	info, err := look(path)
	if err != nil {
		return nil, err
	}
	return open(path, info)
}

// look asks for the status of what is to be opened.
func look(path string) (fs.FileInfo, error) {
	if !utf8.ValidString(path) {
		return nil, &fault.Error{File: strconv.Quote(path), Problem: "the name is not UTF-8, which an archive could not keep", Cure: "rename the file, or its folder"}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && isLink(path):
		return nil, &fault.Error{File: path, Problem: "is a link to nothing that can be read", Cure: "remove it or repair it", Err: cause(err)}
	case err != nil:
		return nil, unopened(path, err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, &fault.Error{File: path, Problem: "is no regular file but " + special(info.Mode()), Cure: "write what it gives to a file, and name that"}
	}
	return info, nil
}

func open(path string, info fs.FileInfo) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unopened(path, err)
	}
	if info.IsDir() {
		f.Close() //nolint:errcheck // nothing was written
		return nil, &fault.Error{File: path, Problem: "is a folder", Cure: "name files, or expand the folder first"}
	}
	return f, nil
}

func unopened(path string, err error) error {
	return &fault.Error{File: path, Problem: "cannot be opened", Err: cause(err), Cure: "check the path and its permissions"}
}

func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Open is Begin and Start.
func (o *Opener) Open(path string) (*File, error) {
	file, err := o.Begin(path)
	if err != nil {
		return nil, err
	}
	if err := file.Start(); err != nil {
		file.Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return file, nil
}

// Begin opens a file, of which Hash and then Start read the same bytes: one
// that is small is read here, whole. Its error is a *fault.Error that names the
// file and a cure.
func (o *Opener) Begin(path string) (*File, error) {
	info, err := look(path)
	if err != nil {
		return nil, err
	}
	file := &File{Path: path, Size: info.Size(), Modified: info.ModTime(), opener: o}
	if info.Mode().IsRegular() && info.Size() < peekBytes {
		if o.small == nil {
			o.small = make([]byte, peekBytes)
		}
		if text := whole(path, o.small, int(info.Size())); text != nil {
			file.source.text, file.Size = text, int64(len(text))
			return file, nil
		}
	}
	file.source.f, err = open(path, info)
	return file, err
}

// whole reads a file of a size into a larger buffer; nil = it is not read, or there
// is more of it than that. It asks the system for less than os.File does, which
// looks whether it could wait for the file, and then for the end.
func whole(path string, buffer []byte, size int) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing was written
	for n := 0; n < len(buffer); {
		more, err := syscall.Read(fd, buffer[n:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return nil
		case more == 0:
			return buffer[:n]
		default:
			if n += more; n == size {
				return buffer[:n]
			}
		}
	}
	return nil
}

// Hash gives h the bytes of a file that is started, by way of a buffer.
func (f *File) Hash(h io.Writer, buffer []byte) (int64, error) {
	if f.source.f == nil {
		n, err := h.Write(f.source.text)
		return int64(n), err
	}
	n, err := io.CopyBuffer(h, struct{ io.Reader }{f.source.f}, buffer) // by itself a file would make a buffer of its own
	if err == nil {
		_, err = f.source.f.Seek(0, io.SeekStart)
	}
	return n, err
}

// Start reports whether the file is gzip, by its first bytes, and what format it
// has, by its name (.vsdb, .stat, _TYPE.txt, with .gz behind them or not) and,
// where the name does not tell, by its first line. Next then reads it.
func (f *File) Start() error {
	f.Kind = byName(f.Path)
	text, err := f.opener.unpack(f)
	if err != nil {
		return err
	}
	if _, err := text.Peek(1); err == io.EOF {
		return &fault.Error{File: f.Path, Problem: "is empty: there is nothing to store", Cure: "make or fetch it again, or leave it out"}
	}
	var all bool
	if f.blank, all = isBlank(text); f.blank && all {
		return blank(f.Path)
	}
	if f.Kind == "" {
		// An error of Peek other than the end of a short file comes again when the reader reads.
		beginning, _ := text.Peek(peekBytes)
		if f.Kind = byText(beginning); f.Kind == "" {
			return &fault.Error{
				File: f.Path, Problem: "neither its name nor its first line is that of a VSDB or a MET .stat file",
				Cure: "name it *.vsdb, *.stat or *_TYPE.txt (with .gz if it is gzip) if it is one",
			}
		}
	}
	return f.opener.read(f, text)
}

// isBlank reports whether the first peekBytes of a text have no line that is not blank,
// and whether they are all of it.
func isBlank(text *bufio.Reader) (is, all bool) {
	if first, err := text.Peek(1); err != nil || first[0] > ' ' && first[0] != 0xef || first[0] == 0 {
		return false, false
	}
	beginning, err := text.Peek(peekBytes)
	return len(bytes.TrimSpace(bytes.TrimPrefix(beginning, []byte("\xef\xbb\xbf")))) == 0, err == io.EOF
}

func blank(path string) error {
	return &fault.Error{
		File: path, Problem: "has nothing but blanks: there is nothing to store",
		Cure: "make or fetch it again, or leave it out",
	}
}

// unpack returns the plain text of file and notes whether it was gzip.
func (o *Opener) unpack(file *File) (*bufio.Reader, error) {
	if o.buffer == nil {
		o.buffer = bufio.NewReaderSize(nil, peekBytes)
	}
	o.buffer.Reset(&file.source)
	magic, err := o.buffer.Peek(6)
	if err != nil && err != io.EOF {
		return nil, &fault.Error{File: file.Path, Problem: "cannot be read", Err: cause(err)}
	}
	for _, p := range packed {
		if bytes.HasPrefix(magic, []byte(p.magic)) {
			return nil, &fault.Error{File: file.Path, Problem: "is packed with " + p.name, Cure: "unpack it first: only gzip is read as it is"}
		}
	}
	if bytes.HasPrefix(magic, []byte("\xff\xfe")) || bytes.HasPrefix(magic, []byte("\xfe\xff")) {
		return nil, &fault.Error{File: file.Path, Problem: "is UTF-16", Cure: "write it as UTF-8: iconv -f UTF-16 -t UTF-8"}
	}
	if !bytes.HasPrefix(magic, []byte("\x1f\x8b")) {
		return o.buffer, nil
	}
	file.Gzip = true
	if o.unzip == nil {
		o.unzip = new(gzip.Reader)
	}
	if err := o.unzip.Reset(o.buffer); err != nil {
		return nil, &fault.Error{File: file.Path, Problem: "is no whole gzip file", Err: err}
	}
	if o.plain == nil {
		o.plain = bufio.NewReaderSize(nil, peekBytes)
	}
	o.plain.Reset(o.unzip)
	return o.plain, nil
}

// read starts the reader of file's format.
func (o *Opener) read(file *File, text io.Reader) error {
	switch file.Kind {
	case VSDB:
		ensemble, err := o.ensembleOf(file.Path)
		if err != nil {
			return err
		}
		if o.vsdb == nil {
			o.vsdb = vsdb.NewReader(text, file.Path, vsdb.Options{Rows: o.Rows, Ensemble: ensemble, KeepLast: o.KeepLast})
		} else {
			o.vsdb.Reset(text, file.Path, ensemble)
		}
		file.reader = o.vsdb
	case MetStat:
		if o.metstat == nil {
			o.metstat = metstat.NewReader(text, file.Path, metstat.Options{Rows: o.Rows, KeepLast: o.KeepLast})
		} else {
			o.metstat.Reset(text, file.Path)
		}
		file.reader = o.metstat
	default:
		return fmt.Errorf("no reader for format %q", file.Kind)
	}
	return nil
}

// ensembleOf is the suffix that METviewer adds to the model of VSDB's ensemble
// types. It stands in the name of the folder; which folder one is in must not
// matter, hence the absolute path.
func (o *Opener) ensembleOf(path string) (string, error) {
	dir := filepath.Dir(path)
	if dir == o.folder {
		return o.ensemble, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &fault.Error{File: path, Problem: "its folder is not known", Err: err}
	}
	o.folder, o.ensemble = dir, vsdb.EnsembleOf(filepath.ToSlash(abs))
	return o.ensemble, nil
}

// Next exchanges *into for the next batch; see Reader.
func (f *File) Next(into *record.Batch) error {
	err := f.reader.Next(into)
	if f.blank && errors.Is(err, io.EOF) && f.Lines() == 0 {
		return blank(f.Path)
	}
	return err
}

// Lines is the number of data lines read so far.
func (f *File) Lines() int64 { return f.reader.Lines() }

// BytesRead is how much of the file itself, of Size, has been read: compressed
// bytes where it is gzip. It may be asked from another goroutine.
func (f *File) BytesRead() int64 { return f.source.read.Load() }

// Close closes the file. What Next returned stays valid.
func (f *File) Close() error {
	if f.source.f == nil {
		return nil
	}
	return f.source.f.Close()
}
