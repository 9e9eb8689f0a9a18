package formats

import (
	"bufio"
	"bytes"
	"cmp"
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

// peekBytes is how many bytes Open examines: enough for a header line. A smaller file is read once,
// completely.
const peekBytes = 64 << 10

// maxText is the greatest length of a gzip file's text that is kept in memory, instead of unpacking it twice.
const maxText = 4 << 20

// Opener opens one file after the other and reuses the memory of their readers, because an archive
// has many small files. The zero value is ready for use. Only one goroutine may use it, and it must
// close each File before it opens the next.
type Opener struct {
	Rows     int  // rows per batch; 0 = the readers' default, 8192
	KeepLast bool // accept a last line without a line end instead of rejecting it as record.MaybeTruncated

	small   []byte        // content of a file that is read completely
	buffer  *bufio.Reader // of the file
	text    bytes.Buffer  // uncompressed text of a gzip file, if it has at most maxText bytes
	plain   *bufio.Reader // uncompressed text
	unzip   gzip.Reader
	vsdb    *vsdb.Reader
	metstat *metstat.Reader

	folder, ensemble string // of the previous VSDB file
}

// File is an open file. Its readers use the memory of a few batches and of maxText, whatever the size of the file.
type File struct {
	Path     string // as given
	Kind     Kind
	Size     int64     // bytes on disk, compressed or not
	Modified time.Time // modification time before it was read
	Gzip     bool

	opener *Opener
	reader Reader
	source source
	blank  bool // the first peekBytes of its text contain only blanks
}

// source reads the bytes of a file, from the disk or from memory, and counts them.
type source struct {
	f    *os.File // nil for a small file, which Begin has read completely
	text []byte   // of a small file: what Read has not returned yet
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

// OpenFile opens a regular file for reading. It returns an error for anything else before opening
// it, because a pipe or a device may block: a folder, a broken link, and a name that is not UTF-8,
// which databases do not accept.
func OpenFile(path string) (*os.File, error) {
	info, err := statRegular(path)
	if err != nil {
		return nil, err
	}
	return open(path, info)
}

// statRegular returns the status of a file or a folder. It refuses pipes, sockets and devices; open refuses folders.
func statRegular(path string) (fs.FileInfo, error) {
	if !utf8.ValidString(path) {
		problem := "the name is not UTF-8, and an archive cannot store it"
		return nil, &fault.Error{File: strconv.Quote(path), Problem: problem, Cure: "rename the file, or its folder"}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && isLink(path):
		return nil, &fault.Error{File: path, Problem: "is a broken link", Cure: "remove it or repair it", Err: cause(err)}
	case err != nil:
		return nil, openError(path, err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, &fault.Error{File: path, Problem: "is not a regular file but " + describeMode(info.Mode()), Cure: "write its content to a file, and name that file"}
	}
	return info, nil
}

func open(path string, info fs.FileInfo) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if info.IsDir() {
		f.Close() //nolint:errcheck // nothing was written
		return nil, &fault.Error{File: path, Problem: "is a folder", Cure: "name files, or expand the folder first"}
	}
	return f, nil
}

func openError(path string, err error) error {
	return &fault.Error{File: path, Problem: "cannot be opened", Err: cause(err), Cure: "check the path and its permissions"}
}

func describeMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Open is Begin followed by Start.
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

// Begin opens a file. Hash and Start then read the same bytes: Begin reads a small file completely.
// Its error is a *fault.Error that names the file and a cure.
func (o *Opener) Begin(path string) (*File, error) {
	info, err := statRegular(path)
	if err != nil {
		return nil, err
	}
	file := &File{Path: path, Size: info.Size(), Modified: info.ModTime(), opener: o}
	if info.Mode().IsRegular() && info.Size() < peekBytes {
		if o.small == nil {
			o.small = make([]byte, peekBytes)
		}
		if text := readSmall(path, o.small, int(info.Size())); text != nil {
			file.source.text, file.Size = text, int64(len(text))
			return file, nil
		}
	}
	file.source.f, err = open(path, info)
	return file, err
}

// readSmall reads a file of this size into a larger buffer; nil = the file could not be read, or is
// larger. It needs fewer system calls than os.File, which checks whether it can wait for the file
// and reads until the end.
func readSmall(path string, buffer []byte, size int) []byte {
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

// Hash writes the bytes of the file to h, through a buffer.
func (f *File) Hash(h io.Writer, buffer []byte) (int64, error) {
	if f.source.f == nil {
		n, err := h.Write(f.source.text)
		return int64(n), err
	}
	n, err := io.CopyBuffer(h, struct{ io.Reader }{f.source.f}, buffer) // WriteTo of a file would not use the buffer
	if err == nil {
		_, err = f.source.f.Seek(0, io.SeekStart)
	}
	return n, err
}

// Start detects gzip by the first bytes, and the format by the name (.vsdb, .stat, _TYPE.txt,
// optionally with .gz) or, if the name does not identify it, by the first line. Next can then read
// the records. A damaged gzip file is an error of Start, because any of its values may be wrong.
func (f *File) Start() error {
	f.Kind = byName(f.Path)
	text, err := f.opener.unpack(f)
	if err != nil {
		return err
	}
	if _, err := text.Peek(1); err == io.EOF {
		return &fault.Error{File: f.Path, Problem: "is empty", Cure: "create or fetch it again, or omit it"}
	}
	var all bool
	if f.blank, all = beginsBlank(text); f.blank && all {
		return blankError(f.Path)
	}
	if f.Kind == "" {
		// The reader returns an error of Peek again, except the end of a short file.
		beginning, _ := text.Peek(peekBytes)
		if f.Kind = byText(beginning); f.Kind == "" {
			return &fault.Error{
				File: f.Path, Problem: "neither its name nor its first line is that of a VSDB or a MET .stat file",
				Cure: "name it *.vsdb, *.stat, *.tcst or *_TYPE.txt (with .gz if it is gzip) if it is one",
			}
		}
	}
	return f.opener.read(f, text)
}

// beginsBlank reports whether the first peekBytes of a text contain only blanks, and whether they are
// the complete text.
func beginsBlank(text *bufio.Reader) (blank, complete bool) {
	beginning, err := text.Peek(peekBytes)
	return len(bytes.TrimSpace(bytes.TrimPrefix(beginning, []byte("\xef\xbb\xbf")))) == 0, err == io.EOF
}

func blankError(path string) error {
	return &fault.Error{
		File: path, Problem: "contains only blanks",
		Cure: "create or fetch it again, or omit it",
	}
}

// unpack returns the uncompressed text of file and records whether it was gzip.
func (o *Opener) unpack(file *File) (*bufio.Reader, error) {
	if o.buffer == nil {
		o.buffer = bufio.NewReaderSize(nil, peekBytes)
	}
	content := file.source.text
	o.buffer.Reset(&file.source)
	magic, err := o.buffer.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &fault.Error{File: file.Path, Problem: "cannot be read", Err: cause(err)}
	}
	for _, p := range unsupportedCompression {
		if bytes.HasPrefix(magic, []byte(p.magic)) {
			return nil, &fault.Error{File: file.Path, Problem: "is packed with " + p.name, Cure: "unpack it first: gzip is the only supported compression"}
		}
	}
	if bytes.HasPrefix(magic, []byte("\xff\xfe")) || bytes.HasPrefix(magic, []byte("\xfe\xff")) {
		return nil, &fault.Error{File: file.Path, Problem: "is UTF-16", Cure: "write it as UTF-8: iconv -f UTF-16 -t UTF-8"}
	}
	if !bytes.HasPrefix(magic, []byte("\x1f\x8b")) {
		return o.buffer, nil
	}
	file.Gzip = true
	if err := o.unzip.Reset(o.buffer); err != nil {
		return nil, &fault.Error{File: file.Path, Problem: "is an incomplete gzip file", Err: err}
	}
	if o.plain == nil {
		o.plain = bufio.NewReaderSize(nil, peekBytes)
	}
	// The checksum is at the end. Hence all text is unpacked before the first record, and a long text then once more.
	o.text.Reset()
	o.plain.Reset(&o.text)
	if _, err = io.CopyN(&o.text, &o.unzip, maxText+1); errors.Is(err, io.EOF) {
		return o.plain, nil
	}
	// Read returns an error of CopyN again. WriteTo is not used, because after Read it restarts a checksum that is 0.
	if _, err = io.Copy(io.Discard, struct{ io.Reader }{&o.unzip}); err == nil && file.source.f != nil {
		_, err = file.source.f.Seek(0, io.SeekStart)
	}
	file.source.text = content
	file.source.read.Store(0)
	o.buffer.Reset(&file.source)
	if err = cmp.Or(err, o.unzip.Reset(o.buffer)); err != nil {
		return nil, &fault.Error{File: file.Path, Problem: "cannot be read to its end", Err: cause(err), Cure: "check the file or fetch it again"}
	}
	o.plain.Reset(&o.unzip)
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

// ensembleOf is the suffix that METviewer adds to the model of VSDB's ensemble types. It is part of
// the folder's name. The absolute path is used because the current folder must not matter.
func (o *Opener) ensembleOf(path string) (string, error) {
	dir := filepath.Dir(path)
	if dir == o.folder {
		return o.ensemble, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &fault.Error{File: path, Problem: "its folder is unknown", Err: err}
	}
	o.folder, o.ensemble = dir, vsdb.EnsembleOf(filepath.ToSlash(abs))
	return o.ensemble, nil
}

// Next exchanges *into for the next batch; see Reader.
func (f *File) Next(into *record.Batch) error {
	err := f.reader.Next(into)
	if f.blank && errors.Is(err, io.EOF) && f.Lines() == 0 {
		return blankError(f.Path)
	}
	return err
}

// Lines is the number of data lines read so far.
func (f *File) Lines() int64 { return f.reader.Lines() }

// BytesRead is the number of bytes of the file that have been read, of Size; for gzip, compressed
// bytes. Any goroutine may call it.
func (f *File) BytesRead() int64 { return f.source.read.Load() }

// Close closes the file. Batches that Next returned stay valid.
func (f *File) Close() error {
	if f.source.f == nil {
		return nil
	}
	return f.source.f.Close()
}
