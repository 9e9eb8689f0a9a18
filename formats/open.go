package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/record"
)

// peekBytes is how far Open looks into a file: enough for a header line.
const peekBytes = 64 << 10

// Opener opens one file after the other and keeps the memory of their readers:
// an archive has many small files. The zero value is ready. It belongs to one
// goroutine, and each File of it must be closed before the next is opened.
type Opener struct {
	Rows     int  // rows per batch; 0 = the readers' default, 8192
	KeepLast bool // a last line without a line end is whole, not record.PerhapsCut

	buffer  *bufio.Reader // of the file
	plain   *bufio.Reader // of what gzip unpacks, where the format must be looked for
	unzip   *gzip.Reader
	vsdb    *vsdb.Reader
	metstat *metstat.Reader
}

// File is an open file. Its readers hold a few batches at most, whatever the
// size of the file.
type File struct {
	Path string // as given
	Kind Kind
	Size int64 // bytes on disk, compressed or not
	Gzip bool

	reader Reader
	source *source
}

// source counts what is read of the file itself.
type source struct {
	f    *os.File
	read atomic.Int64
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.f.Read(p)
	s.read.Add(int64(n))
	return n, err
}

// OpenFile opens a regular file for reading. Everything else is refused before
// it is opened, as a pipe or a device may never answer: a name that is not
// UTF-8, which no database takes, a folder, a link to nothing.
func OpenFile(path string) (*os.File, error) {
	if !utf8.ValidString(path) {
		return nil, &fault.Error{File: strconv.Quote(path), Problem: "the name is not UTF-8, which an archive could not keep", Cure: "rename the file, or its folder"}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && isLink(path):
		return nil, &fault.Error{File: path, Problem: "is a link to nothing that can be read", Cure: "remove it or mend it", Err: cause(err)}
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return nil, &fault.Error{File: path, Problem: "is no regular file but " + special(info.Mode()), Cure: "write what it gives to a file, and name that"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &fault.Error{File: path, Problem: "cannot be opened", Err: cause(err), Cure: "check the path and its permissions"}
	}
	if info.IsDir() {
		f.Close() //nolint:errcheck // nothing was written
		return nil, &fault.Error{File: path, Problem: "is a folder", Cure: "name files, or expand the folder first"}
	}
	return f, nil
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

// Open reports whether the file is gzip, by its first bytes, and what format it
// has, by its name (.vsdb, .stat, _TYPE.txt, with .gz behind them or not) and,
// where the name does not tell, by its first line. Its error is a *fault.Error
// that names the file and a cure.
func (o *Opener) Open(path string) (*File, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	file, err := o.open(path, f)
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return file, nil
}

func (o *Opener) open(path string, f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &fault.Error{File: path, Problem: "cannot be read", Err: cause(err)}
	}
	file := &File{Path: path, Size: info.Size(), Kind: byName(path), source: &source{f: f}}
	text, err := o.unpack(file)
	if err != nil {
		return nil, err
	}
	if _, err := text.Peek(1); err == io.EOF {
		return nil, &fault.Error{File: path, Problem: "is empty: there is nothing to store", Cure: "make or fetch it again, or leave it out"}
	}
	if file.Kind == "" {
		// An error of Peek other than the end of a short file comes again when the reader reads.
		beginning, _ := text.Peek(peekBytes)
		if file.Kind = byText(beginning); file.Kind == "" {
			return nil, &fault.Error{
				File: path, Problem: "neither its name nor its first line is that of a VSDB or a MET .stat file",
				Cure: "name it *.vsdb, *.stat or *_TYPE.txt (with .gz if it is gzip) if it is one",
			}
		}
	}
	return file, o.read(file, text)
}

// unpack returns the plain text of file and notes whether it was gzip.
func (o *Opener) unpack(file *File) (*bufio.Reader, error) {
	if o.buffer == nil {
		o.buffer = bufio.NewReaderSize(nil, peekBytes)
	}
	o.buffer.Reset(file.source)
	magic, err := o.buffer.Peek(6)
	if err != nil && err != io.EOF {
		return nil, &fault.Error{File: file.Path, Problem: "cannot be read", Err: cause(err)}
	}
	for _, p := range packed {
		if bytes.HasPrefix(magic, []byte(p.magic)) {
			return nil, &fault.Error{File: file.Path, Problem: "is packed with " + p.name, Cure: "unpack it first: only gzip is read as it is"}
		}
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
		ensemble, err := ensembleOf(file.Path)
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
func ensembleOf(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &fault.Error{File: path, Problem: "its folder is not known", Err: err}
	}
	return vsdb.EnsembleOf(filepath.ToSlash(filepath.Dir(abs))), nil
}

// Next exchanges *into for the next batch; see Reader.
func (f *File) Next(into *record.Batch) error { return f.reader.Next(into) }

// Lines is the number of data lines read so far.
func (f *File) Lines() int64 { return f.reader.Lines() }

// BytesRead is how much of the file itself, of Size, has been read: compressed
// bytes where it is gzip. It may be asked from another goroutine.
func (f *File) BytesRead() int64 { return f.source.read.Load() }

// Close closes the file. What Next returned stays valid.
func (f *File) Close() error { return f.source.f.Close() }
