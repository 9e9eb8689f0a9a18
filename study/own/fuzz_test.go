package own

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/fault"
)

// FuzzCSV: the reader returns the records that a regular expression finds in the file. It refuses a wrong record with
// its line, and it counts every line and byte.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "\xef\xbb\xbfa;b\r\n\"x;\"\"y\",\n\n3;\"\"", "a\n\n\"\"\n", "a\tb\n1\t2\t3\n", "a|b\n\"1\"|\"2;3\"\n",
		"a,b\n1,\"2\n3,4\n", "a\n\"1\"2\n", "a\n\xff\n", "", "a,b\n1,2\n\r", "\n\n\n\n", "\xde\x99\xc9,\x91",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "x.csv")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, ok := splitRecords(string(text))
		r, err := openCSV(path)
		var records [][]field
		if err == nil {
			var head []field
			for _, name := range r.head {
				head = append(head, field{text: name})
			}
			for records = append(records, head); err == nil; {
				var fields [][]byte
				var null []bool
				if fields, null, err = r.next(); err != nil {
					break
				}
				var record []field
				for k, f := range fields {
					record = append(record, field{string(f), null[k]})
				}
				records = append(records, record)
			}
			if e := r.close(); e != nil {
				t.Fatal(e)
			}
		}
		complete := errors.Is(err, io.EOF)
		blank := strings.Trim(strings.TrimPrefix(string(text), mark), "\r\n") == "" // an empty file has no line
		place, hasPlace := errors.AsType[*fault.Error](err)
		if !complete && (!hasPlace || place.File != path || place.Line == 0 && !blank) {
			t.Errorf("an error without a place: %v", err)
		}
		if complete != ok || !slices.EqualFunc(records, want, slices.Equal) {
			t.Errorf("%q: the reader returns %v, %v; the regular expression %v, %t", text, records, err, want, ok)
		}
		sum := sha256.Sum256(text)
		lines := strings.Count(string(text), "\n")
		if !bytes.HasSuffix(text, []byte("\n")) {
			lines++
		}
		if complete && (!bytes.Equal(r.sum.Sum(nil), sum[:]) || r.lines.count() != int64(lines)) {
			t.Errorf("%q has %d lines, and another digest or count %d", text, lines, r.lines.count())
		}
	})
}

// field is a field of a record.
type field struct {
	text string
	null bool
}

const mark = "\xef\xbb\xbf"

// splitRecords splits a file into records, up to the first wrong one. ok reports whether no record is wrong. The first
// record, the head, has no NULL.
func splitRecords(text string) (records [][]field, ok bool) {
	text = strings.TrimPrefix(text, mark)
	if text == "" {
		return nil, false
	}
	head := regexp.MustCompile(`^(?:"[^"]*"|[^"\n])*`).FindString(text)
	if rest := text[len(head):]; strings.HasPrefix(rest, `"`) { // it is not closed: only delimiters before it count
		head += `"`
	}
	outside := regexp.MustCompile(`"[^"]*"|"`).ReplaceAllString(head, "")
	delimiter := ","
	for _, d := range []string{"\t", ";", "|"} {
		if strings.Count(outside, d) > strings.Count(outside, delimiter) {
			delimiter = d
		}
	}
	// one field, quoted or plain, and the delimiter or line end after it
	d := regexp.QuoteMeta(delimiter)
	one := regexp.MustCompile(`(?s)^(?:"((?:[^"]|"")*)"|()|([^"` + d + `\n].*?))(` + d + `|\r?\n|\r?$)`)
	width := 0
	for text != "" {
		var record []field
		for ended := false; !ended; {
			m := one.FindStringSubmatchIndex(text)
			if m == nil {
				return records, false
			}
			f := field{null: m[4] >= 0}
			switch {
			case m[2] >= 0:
				f.text = strings.ReplaceAll(text[m[2]:m[3]], `""`, `"`)
			case m[6] >= 0:
				f.text = text[m[6]:m[7]]
			}
			record, ended = append(record, f), text[m[8]:m[9]] != delimiter
			text = text[m[1]:]
		}
		if len(record) == 1 && record[0].null && width != 1 { // a blank line
			continue
		}
		for _, f := range record {
			if !utf8.ValidString(f.text) {
				return records, false
			}
		}
		if width == 0 {
			width = len(record)
			for i := range record {
				record[i].null = false
			}
		}
		if len(record) != width {
			return records, false
		}
		records = append(records, record)
	}
	return records, width > 0
}
