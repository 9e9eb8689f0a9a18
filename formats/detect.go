package formats

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/barograph/barograph/record"
)

// gzipSuffix is the suffix of a compressed file. Open detects compression by the file's first bytes,
// not by the suffix.
const gzipSuffix = ".gz"

// unsupportedSuffixes are suffixes of unsupported compression formats. Files with these suffixes are
// treated as files of their format, because opening them returns an error with a cure.
var unsupportedSuffixes = []string{".bz2", ".xz", ".zst", ".zip", ".z", ".lz4"} //nolint:gochecknoglobals // a constant table

// byName detects the format from a file's name: .vsdb, .stat, .tcst (TC-Pairs) and _TYPE.txt, where
// TYPE is a line type in lower case (MET's separate files of a .stat file) or one of MODE's and
// MTD's. A suffix of a compression format may follow. As in METdbLoad, case is ignored. "" = the
// name does not identify a format.
func byName(path string) Kind {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), gzipSuffix)
	for _, suffix := range unsupportedSuffixes {
		name = strings.TrimSuffix(name, suffix)
	}
	switch ext := filepath.Ext(name); ext {
	case ".vsdb":
		return VSDB
	case ".stat", ".tcst":
		return MetStat
	case ".txt":
		stem := strings.TrimSuffix(name, ext)
		for _, suffix := range objectFileSuffixes {
			if strings.HasSuffix(stem, suffix) {
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

// objectFileSuffixes are the endings of names of MODE's and MTD's files in METdbLoad.
var objectFileSuffixes = []string{ //nolint:gochecknoglobals // a constant table
	"_obj", "_2d", "_3d_pair_cluster", "_3d_pair_simple", "_3d_single_cluster", "_3d_single_simple",
}

// byText detects the format from the first line that is not blank. A MET file begins with a header
// line, VERSION MODEL …, or with a version such as V12.0.0; a VSDB line begins with V01 and has the
// valid time YYYYMMDDHH in the fourth place.
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

// isVersion reports whether word is V, a digit, and further digits or bytes of allowed.
func isVersion(word []byte, allowed string) bool {
	rest, ok := bytes.CutPrefix(word, []byte("V"))
	return ok && len(rest) > 0 && isDigits(rest[:1]) && len(bytes.Trim(rest, "0123456789"+allowed)) == 0
}

func isDigits(word []byte) bool { return len(bytes.Trim(word, "0123456789")) == 0 }

// unsupportedCompression are unsupported compression formats, by their first bytes.
var unsupportedCompression = []struct{ magic, name string }{ //nolint:gochecknoglobals // a constant table
	{"BZh", "bzip2"},
	{"\xfd7zXZ", "xz"},
	{"\x28\xb5\x2f\xfd", "zstd"},
	{"PK\x03\x04", "zip"},
	{"\x1f\x9d", "compress"},
	{"\x04\x22\x4d\x18", "lz4"},
}
