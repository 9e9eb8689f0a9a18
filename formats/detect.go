package formats

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/barograph/barograph/record"
)

// gzipped is the suffix of a compressed file; what is compressed is recognized by
// the file's first bytes, not by it.
const gzipped = ".gz"

// unread are suffixes of files that are packed otherwise: they are taken for what
// they hold, so that opening them says what to do.
var unread = []string{".bz2", ".xz", ".zst", ".zip", ".z", ".lz4"} //nolint:gochecknoglobals // a constant table

// byName tells the format from a file's name: .vsdb, .stat, .tcst (TC-Pairs) and
// _TYPE.txt, where TYPE is a line type in lower case (MET's twins of a .stat file)
// or one of MODE's and MTD's, each of them with .gz or another packing's suffix
// behind it or without, in capitals or not, as METdbLoad has it. "" means that the name does not tell.
func byName(path string) Kind {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), gzipped)
	for _, packing := range unread {
		name = strings.TrimSuffix(name, packing)
	}
	switch ext := filepath.Ext(name); ext {
	case ".vsdb":
		return VSDB
	case ".stat", ".tcst":
		return MetStat
	case ".txt":
		stem := strings.TrimSuffix(name, ext)
		for _, of := range objectFiles {
			if strings.HasSuffix(stem, of) {
				return MetStat
			}
		}
		for _, t := range record.Types() {
			if strings.HasSuffix(stem, "_"+strings.ToLower(t.Name)) {
				return MetStat
			}
		}
	}
	return ""
}

// objectFiles are the ends of names of MODE's and MTD's files, METdbLoad's.
var objectFiles = []string{"_obj", "_2d", "_3d_pair_cluster", "_3d_pair_simple", "_3d_single_cluster", "_3d_single_simple"} //nolint:gochecknoglobals // a constant table

// byText tells the format from the first line that is not blank. A MET file
// begins with a header line, VERSION MODEL …, of whatever tool of MET, or with
// a version such as V12.0.0; a VSDB line with V01 and, at the fourth place, the
// valid time YYYYMMDDHH.
func byText(text []byte) Kind {
	line, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), []byte("\n"))
	words := bytes.Fields(line)
	switch {
	case len(words) == 0:
		return ""
	case string(words[0]) == "VERSION":
		return MetStat
	case len(words) > 4 && isVersion(words[0], ".") && len(words[4]) == len("YYYYMMDD_HHMMSS") && words[4][8] == '_':
		return MetStat
	case len(words) > 3 && isVersion(words[0], "") && len(words[3]) == len("YYYYMMDDHH") && isDigits(words[3]):
		return VSDB
	}
	return ""
}

// isVersion reports whether word is V and digits, with the bytes of also among them.
func isVersion(word []byte, also string) bool {
	rest, ok := bytes.CutPrefix(word, []byte("V"))
	return ok && len(rest) > 0 && isDigits(rest[:1]) && len(bytes.Trim(rest, "0123456789"+also)) == 0
}

func isDigits(word []byte) bool { return len(bytes.Trim(word, "0123456789")) == 0 }

// packed names the compressed formats that are not read, by their first bytes.
var packed = []struct{ magic, name string }{ //nolint:gochecknoglobals // a constant table
	{"BZh", "bzip2"},
	{"\xfd7zXZ", "xz"},
	{"\x28\xb5\x2f\xfd", "zstd"},
	{"PK\x03\x04", "zip"},
	{"\x1f\x9d", "compress"},
	{"\x04\x22\x4d\x18", "lz4"},
}
