package own

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// csvReader reads a CSV file as RFC 4180 defines it. It shares no code with DuckDB's reader, so the two check each
// other. An empty field is NULL, and a quoted empty field is an empty text.
type csvReader struct {
	path      string
	in        *bufio.Reader
	close     func() error
	position  func() int64 // how many of the stored bytes have been read; 0 after close
	sum       hash.Hash    // of the stored bytes, before gzip is decoded
	lines     lineCounter
	delimiter byte
	head      []string // fields of the first line, "" for a column without a name; nil until the line has been read
	line      int      // first line of the record that next returned
	nextLine  int      // first line of the next record

	// The record that next returned: its fields without quotes and delimiters, the offsets in text at which they end,
	// and which of them are NULL.
	text []byte
	ends []int
	null []bool
}

// lineCounter counts lines. It does not parse records, so it checks the reader of records.
type lineCounter struct {
	newlines int64
	unended  bool // the last line has no newline
}

func (c *lineCounter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		c.newlines += int64(bytes.Count(b, []byte{'\n'}))
		c.unended = b[len(b)-1] != '\n'
	}
	return len(b), nil
}

func (c *lineCounter) count() int64 {
	if c.unended {
		return c.newlines + 1
	}
	return c.newlines
}

// openCSV opens a file and reads its first line, the head.
func openCSV(path string) (*csvReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	position := func() int64 { n, _ := f.Seek(0, io.SeekCurrent); return n }
	r := &csvReader{path: path, close: f.Close, position: position, sum: sha256.New(), nextLine: 1}
	from := io.TeeReader(f, r.sum)
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		if from, err = gzip.NewReader(from); err != nil {
			return nil, errors.Join(unreadable(path, err), f.Close())
		}
	}
	r.in = bufio.NewReaderSize(io.TeeReader(from, &r.lines), 1<<20)
	if mark, err := r.in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = r.in.Discard(3) // Peek has read these bytes
	}
	if err := r.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// unreadable returns the error of a file that cannot be read.
func unreadable(path string, err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return &fault.Error{File: path, Problem: "cannot be read", Err: err, Cure: "repair the file, or move it out of the folder"}
}

// readHead reads the names of the columns from the first line. It chooses the delimiter that occurs most often in this
// line outside quotes. Every later line must have the same number of fields.
func (r *csvReader) readHead() error {
	first, _ := r.in.Peek(r.in.Size()) // a short file has fewer bytes
	counts, quoted := map[byte]int{}, false
	for _, c := range first {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[c]++
		}
	}
	r.delimiter = ','
	for _, c := range []byte("\t;|") {
		if counts[c] > counts[r.delimiter] {
			r.delimiter = c
		}
	}
	fields, _, err := r.next()
	if errors.Is(err, io.EOF) {
		return &fault.Error{File: r.path, Problem: "is empty", Cure: "write the names of the columns into its first line"}
	}
	if err != nil {
		return err
	}
	if r.line > 1 || !slices.ContainsFunc(fields, func(f []byte) bool { return len(f) > 0 }) {
		return &fault.Error{
			File: r.path, Line: 1, Problem: "names no column",
			Cure: "write the names of the columns into this line, and delete empty lines before it",
		}
	}
	for _, f := range fields {
		r.head = append(r.head, string(f))
	}
	return nil
}

// next returns the fields of the next record, valid until the next call, and
// which of them are NULL.
func (r *csvReader) next() (fields [][]byte, null []bool, err error) {
	for {
		r.text, r.ends, r.null, r.line = r.text[:0], r.ends[:0], r.null[:0], r.nextLine
		blank, err := r.record()
		if err != nil {
			return nil, nil, err
		}
		if blank && len(r.head) != 1 { // in a table with one column an empty line is a row
			continue
		}
		break
	}
	from := 0
	for _, end := range r.ends {
		fields, from = append(fields, r.text[from:end]), end
	}
	valid := true // of each field: r.text may be valid although one of its fields ends within a character
	for _, f := range fields {
		valid = valid && utf8.Valid(f)
	}
	if r.head != nil && len(fields) != len(r.head) {
		return nil, nil, r.lineError(fmt.Sprintf("has %s, but the first line has %d", run.CountOf(len(fields), "field"), len(r.head)),
			"repair the line: quote fields that contain "+string(r.delimiter))
	}
	if !valid {
		return nil, nil, r.lineError("is not UTF-8", "convert the file: iconv -f LATIN1 -t UTF-8")
	}
	return fields, r.null, nil
}

// lineError returns an error about the present record.
func (r *csvReader) lineError(problem, cure string) error {
	return &fault.Error{File: r.path, Line: r.line, Problem: problem, Cure: cure}
}

// record reads one record, and reports whether it is an empty line.
func (r *csvReader) record() (blank bool, err error) {
	const (
		start  = iota // before the first byte of a field
		plain         // in a field without quotes
		inside        // in a field within quotes
		closed        // after a quote that ends the field, or is the first of ""
	)
	state, quoted := start, false
	endField := func() {
		r.ends, r.null = append(r.ends, len(r.text)), append(r.null, !quoted && state == start)
		state, quoted = start, false
	}
	for hasBytes := false; ; hasBytes = true {
		c, err := r.in.ReadByte()
		if err != nil {
			switch {
			case !errors.Is(err, io.EOF):
				return false, unreadable(r.path, err)
			case state == inside:
				return false, r.lineError("opens a quote that is not closed", `close it, and write " inside a field as ""`)
			case !hasBytes:
				return false, io.EOF
			}
			blank = state == start && len(r.ends) == 0 // the file ends with a carriage return
			endField()
			return blank, nil
		}
		if c == '\n' {
			r.nextLine++
		}
		switch {
		case state == inside && c == '"':
			state = closed
		case state == inside:
			if !fault.Planted || c != '|' { // planted fault: the reader loses a vertical bar within quotes
				r.text = append(r.text, c)
			}
		case c == r.delimiter:
			endField()
		case c == '\n', c == '\r' && r.beforeLineEnd():
			if c == '\r' {
				continue
			}
			blank = state == start && len(r.ends) == 0
			endField()
			return blank, nil
		case c == '"' && state == start:
			state, quoted = inside, true
		case c == '"' && state == closed:
			r.text, state = append(r.text, c), inside
		case state == closed:
			return false, r.lineError("has text after a closing quote", `write " inside a field as ""`)
		default:
			r.text, state = append(r.text, c), plain
		}
	}
}

// beforeLineEnd reports whether the next byte is a newline, or the file ends here.
func (r *csvReader) beforeLineEnd() bool {
	c, err := r.in.Peek(1)
	return err != nil || c[0] == '\n'
}

// profile reads all CSV files of a table. It finds the columns and a type that fits every
// value of each, counts rows and lines, and computes checksums.
func (s *source) profile(ctx context.Context) error {
	var before int64
	for i, path := range s.table.Files {
		r, err := openCSV(path)
		if err != nil {
			return err
		}
		s.stage.Store(&stage{"finding the types", before, r.position})
		out := &s.out.Sources[i]
		err = s.profileFile(ctx, r, out)
		if err == nil { // it has read all of the file
			out.Lines, out.SHA256 = r.lines.count(), hex.EncodeToString(r.sum.Sum(nil))
		}
		before += r.position()
		if err = errors.Join(err, r.close()); err != nil {
			return err
		}
	}
	for k := range s.table.Columns {
		s.guesses[k].chooseType(&s.table.Columns[k])
	}
	for _, u := range s.unnamed {
		note := fmt.Sprintf("%s: the first line does not name column %d; its name here is %s", u.file, u.position, u.name)
		if u.moreFiles > 0 {
			note += ", also in " + run.CountOf(u.moreFiles, "more file")
		}
		s.table.Notes = append(s.table.Notes, note)
	}
	return nil
}

// profileFile reads one CSV file for profile.
func (s *source) profileFile(ctx context.Context, r *csvReader, out *run.OwnFile) error {
	t := s.table
	columns, names, err := s.matchColumns(r)
	if err != nil {
		return err
	}
	s.noteUnnamed(r, names)
	d := string(r.delimiter)
	sameHead := func(g tables.Group) bool { return g.Delimiter == d && slices.Equal(g.Columns, names) }
	if i := slices.IndexFunc(t.Groups, sameHead); i >= 0 {
		t.Groups[i].Files = append(t.Groups[i].Files, r.path)
	} else {
		t.Groups = append(t.Groups, tables.Group{Files: []string{r.path}, Columns: names, Delimiter: d})
	}
	for {
		fields, null, err := r.next()
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		out.Rows++
		for k, f := range fields {
			if c := &s.table.Columns[columns[k]]; null[k] {
				continue
			} else if c.Kind == "" {
				s.guesses[columns[k]].add(f)
			} else if !conforms(c, string(f)) {
				return r.lineError(fmt.Sprintf("column %s: %q is not a %s", c.Name, f, kindName(c)),
					"repair the value, or declare another type in "+s.declared.file)
			}
		}
	}
}

// matchColumns finds the columns of a file by their names, and adds new columns to the table. For each field it returns
// the index of its column in the table, and the name.
func (s *source) matchColumns(r *csvReader) (columns []int, names []string, err error) {
	t := s.table
	for field, head := range r.head {
		name := tables.Name(head)
		if head == "" {
			if name, err = s.nameOfUnnamed(field + 1); err != nil {
				return nil, nil, err
			}
		}
		if slices.Contains(names, name) {
			return nil, nil, r.lineError("has two columns whose name in lower case is "+name, "rename one of them")
		}
		names = append(names, name)
		k := slices.IndexFunc(t.Columns, func(c tables.Column) bool { return c.Name == name })
		if k < 0 {
			k = len(t.Columns)
			c := tables.Column{Name: name}
			s.declared.declare(t.Name, &c)
			t.Columns, s.guesses = append(t.Columns, c), append(s.guesses, &guess{})
		}
		columns = append(columns, k)
	}
	return columns, names, nil
}

// unnamedColumn is a column that the first lines of some files do not name.
type unnamedColumn struct {
	name      string // that the column has in the table
	position  int    // in the file, from 1
	file      string // the first one
	moreFiles int
}

// nameOfUnnamed returns the name of a column without a name: column_1 for the first column of a file. It adds
// underscores if another column of the table has this name, because columns of its files are matched by their names.
func (s *source) nameOfUnnamed(position int) (string, error) {
	if s.named == nil {
		s.named = map[string]bool{}
		for _, k := range s.table.Keys {
			s.named[k.Column.Name] = true
		}
		for _, path := range s.table.Files {
			r, err := openCSV(path)
			if err != nil {
				return "", err
			}
			for _, head := range r.head {
				s.named[tables.Name(head)] = true
			}
			if err := r.close(); err != nil {
				return "", err
			}
		}
	}
	name := fmt.Sprint("column_", position)
	for s.named[name] {
		name += "_"
	}
	return name, nil
}

// noteUnnamed records which columns of a file have no name; names are their names in the table.
func (s *source) noteUnnamed(r *csvReader, names []string) {
	for k, head := range r.head {
		if head != "" {
			continue
		}
		i := slices.IndexFunc(s.unnamed, func(u unnamedColumn) bool { return u.position == k+1 })
		if i < 0 {
			s.unnamed = append(s.unnamed, unnamedColumn{names[k], k + 1, r.path, 0})
		} else {
			s.unnamed[i].moreFiles++
		}
	}
}

// verify compares each value that DuckDB has read from the CSV files and written to the Parquet file with the text of
// its field, which csvReader reads.
func (s *source) verify(ctx context.Context) error {
	type pair struct { // a row, or the error after the last row
		row []any
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := make(chan pair, 64)
	go func() {
		defer close(rows)
		send := func(p pair) error {
			select {
			case rows <- p:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := s.table.Each(ctx, func(row []any) error { return send(pair{slices.Clone(row), nil}) }); err != nil {
			_ = send(pair{nil, err}) // fails only if the reader has ended
		}
	}()
	var before int64
	for _, g := range s.table.Groups {
		for _, path := range g.Files {
			r, err := openCSV(path)
			if err != nil {
				return err
			}
			s.stage.Store(&stage{"comparing the values with the text", before, r.position})
			err = s.verifyFile(r, func() ([]any, error) {
				p, ok := <-rows
				if !ok {
					return nil, r.lineError("DuckDB's reader omits this line", "repair the line")
				}
				return p.row, p.err
			})
			before += r.position()
			if err = errors.Join(err, r.close()); err != nil {
				return err
			}
		}
	}
	if p, ok := <-rows; ok {
		return cmp.Or(p.err, error(&fault.Error{
			File:    s.table.Files[0],
			Problem: "DuckDB's reader finds more rows in the table's files than Barograph's",
			Cure:    "declare the types, or write the table as Parquet",
		}))
	}
	return nil
}

// verifyFile compares the records of one CSV file with the rows that next returns.
func (s *source) verifyFile(r *csvReader, next func() ([]any, error)) error {
	columns, _, err := s.matchColumns(r)
	if err != nil {
		return err
	}
	for {
		fields, null, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row, err := next()
		if err != nil {
			return err
		}
		for k, f := range fields {
			c := &s.table.Columns[columns[k]]
			value := row[columns[k]]
			if typed, ok := value.(string); ok == null[k] || ok && !sameValue(c, typed, string(f)) {
				return r.lineError(fmt.Sprintf("column %s: DuckDB reads %q as %v (%s)", c.Name, f, value, kindName(c)),
					"declare the column as text: --types FILE with CREATE TABLE "+s.table.Name+" ("+c.Name+" TEXT)")
			}
		}
	}
}
