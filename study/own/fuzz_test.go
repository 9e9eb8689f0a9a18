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
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
)

// FuzzCSV: the reader returns the records that a regular expression finds in the file. It refuses a wrong record with
// its line, and it counts every line and byte.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "\xef\xbb\xbfa;b\r\n\"x;\"\"y\",\n\n3;\"\"", "a\n\n\"\"\n", "a\tb\n1\t2\t3\n", "a|b\n\"1\"|\"2;3\"\n",
		"a,b\n1,\"2\n3,4\n", "a\n\"1\"2\n", "a\n\xff\n", "", "a,b\n1,2\n\r", "\n\n\n\n", "\xde\x99\xc9,\x91",
		",a\n0,x\n", "a,,\n1,2,3\n", "\na\n1\n", ",\n1,2\n", "\"\"\n1\n", ",column_1,Column 1\n1,2,3\n", "a,A\n1,2\n",
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
			s := source{table: &tables.Table{Files: []string{path}}, declared: &declaration{}}
			_, names, matchErr := s.matchColumns(r)
			if wantNames, distinct := namesOf(want[0]); (matchErr == nil) != distinct || distinct && !slices.Equal(names, wantNames) {
				t.Errorf("%q: the names are %q, %v, not %q, %t", text, names, matchErr, wantNames, distinct)
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

// namesOf names the columns of a first line without code of the product: in lower case, with one _ for other characters.
// A column without a name is column_N, N being its position, with underscores until no named column has the name.
func namesOf(head []field) (names []string, distinct bool) {
	named := map[string]bool{}
	for _, f := range head {
		var name []byte
		isGood := true // the character before is a letter, a digit or _
		for _, c := range strings.ToLower(f.text) {
			wasGood := isGood
			if isGood = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'; isGood {
				name = append(name, byte(c))
			} else if wasGood {
				name = append(name, '_')
			}
		}
		names = append(names, string(name))
		named[string(name)] = true
	}
	for k, f := range head {
		if f.text != "" {
			continue
		}
		for names[k] = "column_" + strconv.Itoa(k+1); named[names[k]]; {
			names[k] += "_"
		}
	}
	sorted := slices.Sorted(slices.Values(names))
	return names, len(slices.Compact(sorted)) == len(names)
}

// splitRecords splits a file into records, up to the first wrong one. ok reports whether no record is wrong. The first
// record, the head, is the first line. It has no NULL, and at least one name.
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
			if width == 0 {
				return nil, false
			}
			continue
		}
		for _, f := range record {
			if !utf8.ValidString(f.text) {
				return records, false
			}
		}
		if width == 0 {
			if !slices.ContainsFunc(record, func(f field) bool { return f.text != "" }) {
				return nil, false
			}
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
