package duckdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
)

// DuckDB's checksum of a part of a file: 5381 and the product of each word with a constant, combined by XOR
// (src/common/checksum.cpp). It is stored before the part.
func sealPart(part []byte) {
	sum := uint64(5381)
	for at := 8; at < len(part); at += 8 {
		sum ^= binary.LittleEndian.Uint64(part[at:]) * 0xbf58476d1ce4e5b9
	}
	binary.LittleEndian.PutUint64(part, sum)
}

// madeFile is a file with blocks of 16 KiB. free are the numbers in its list of free blocks, which is in the first block.
func madeFile(blocks int, free ...uint64) []byte {
	const size = 16384
	file := make([]byte, 3*4096+blocks*size)
	copy(file[8:], "DUCK")
	sealPart(file[:4096])
	put := func(part []byte, word int, v uint64) { binary.LittleEndian.PutUint64(part[8*word:], v) }
	for i := range 2 {
		head := file[4096*(i+1) : 4096*(i+2)]
		put(head, 1, uint64(i+1)) // the second header is the later one
		put(head, 3, math.MaxUint64)
		put(head, 4, uint64(blocks*i)) // an earlier checkpoint had no blocks
		put(head, 5, size)
		if i == 1 && free != nil {
			put(head, 3, 0|1<<56) // the second part of block 0
		}
		sealPart(head)
	}
	for k := range blocks {
		block := file[3*4096+k*size : 3*4096+(k+1)*size]
		block[100] = byte(k + 1)
		if k == 0 && free != nil {
			part := block[8+248:] // a part has (16384-8)/64 bytes, rounded down to a multiple of 8
			put(part, 0, math.MaxUint64)
			put(part, 1, uint64(len(free)))
			for i, number := range free {
				put(part, 2+i, number)
			}
		}
		sealPart(block)
	}
	return file
}

// TestCheckOfBlocks: Check names each block whose content has changed, and a file that ends early, unless only free blocks
// are missing.
func TestCheckOfBlocks(t *testing.T) {
	const size = 16384
	at := func(byteNumber int) string {
		return fmt.Sprintf("the block at byte %d of the file does not match its checksum", byteNumber)
	}
	flip := func(file []byte, places ...int) []byte {
		for _, p := range places {
			file[p] ^= 1
		}
		return file
	}
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"intact":                {madeFile(3), nil},
		"no block":              {madeFile(0), nil},
		"the first header":      {flip(madeFile(3), 10), []string{at(0)}},
		"the earlier header":    {flip(madeFile(3), 4096+500), []string{at(4096)}},
		"the later header":      {flip(madeFile(3), 8192+500), []string{at(8192)}}, // the earlier one counts no blocks
		"both headers":          {flip(madeFile(3), 4096+500, 8192+500), []string{at(4096), at(8192), "the file's header is damaged"}},
		"the first block":       {flip(madeFile(3), 3*4096+50), []string{at(3 * 4096)}},
		"the last byte":         {flip(madeFile(3), 3*4096+3*size-1), []string{at(3*4096 + 2*size)}},
		"two blocks":            {flip(madeFile(3), 3*4096+50, 3*4096+size+50), []string{at(3 * 4096), at(3*4096 + size)}},
		"cut":                   {madeFile(3)[:3*4096+2*size], []string{"the file is truncated within block 3 of 3"}},
		"cut within a block":    {madeFile(3)[:3*4096+2*size-1], []string{"the file is truncated within block 2 of 3"}},
		"a free block missing":  {madeFile(3, 2)[:3*4096+2*size], nil},
		"two free ones missing": {madeFile(3, 1, 2)[:3*4096+size], nil},
		"one of two is free":    {madeFile(3, 2)[:3*4096+size], []string{"the file is truncated within block 2 of 3"}},
		"another one is free":   {madeFile(3, 1)[:3*4096+2*size], []string{"the file is truncated within block 3 of 3"}},
		"free, but damaged":     {flip(madeFile(3, 2), 3*4096+size+50)[:3*4096+2*size], []string{at(3*4096 + size), "the file is truncated within block 3 of 3"}},
		"more after the end":    {append(madeFile(2), make([]byte, 100)...), nil},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := checkFile(t.Context(), path); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if name != "both headers" && !hasHeader(path) || name == "both headers" && hasHeader(path) {
			t.Errorf("%s: has a header %t", name, hasHeader(path))
		}
	}
	for _, blockSize := range []uint64{leastBlock - 8, mostBlock + 8} {
		file := madeFile(1)
		binary.LittleEndian.PutUint64(file[8192+40:], blockSize)
		sealPart(file[8192:12288])
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := checkFile(t.Context(), path); err != nil || !slices.Equal(got, []string{"the file's header is damaged"}) {
			t.Errorf("blocks of %d bytes: %q, %v", blockSize, got, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.db")
	if _, err := checkFile(t.Context(), path); !errors.Is(err, os.ErrNotExist) || hasHeader(path) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, madeFile(1)[:12287], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := checkFile(t.Context(), path); err == nil || hasHeader(path) {
		t.Errorf("a short file: %v", err)
	}
	if err := os.WriteFile(path, madeFile(1), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := checkFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestProcessMemory: a process may use DuckDB's limit and 1 GiB more. DuckDB counts KB in powers of 1000, KiB of 1024.
func TestProcessMemory(t *testing.T) {
	const more = 1 << 30
	for limit, want := range map[string]int64{
		"4GB": 4_000_000_000 + more, "4GiB": 4<<30 + more, "1.5gb": 1_500_000_000 + more, "512MiB": 512<<20 + more, "100 kB": 100_000 + more,
		"7KiB": 7<<10 + more, "2TB": 2_000_000_000_000 + more, "1TiB": 1<<40 + more, "1000": 1000 + more, "1000b": 1000 + more, "1.2.3GB": 0,
	} {
		if got := processMemory(limit); got != want {
			t.Errorf("%s: %d, want %d", limit, got, want)
		}
	}
	if all, some := processMemory(""), processMemory("80%"); all != some || all <= more {
		t.Errorf("80 %% of the machine: %d and %d", all, some)
	}
}

// A file is recognized by DUCK after its checksum, and a URL must name a file that DuckDB accepts.
func TestNamesOfAFile(t *testing.T) {
	d := Driver()
	for head, want := range map[string]bool{"12345678DUCK\x40": true, "12345678DUCK": false, "12345678duck\x40": false, "": false, "DUCK567890123": false} {
		if d.Recognizes("", []byte(head)) != want {
			t.Errorf("%q: %t", head, !want)
		}
	}
	dir := t.TempDir()
	for _, c := range []struct {
		path     string
		readOnly bool
		file     string
		err      string
	}{
		{"", false, "", "names no file"},
		{":memory:", false, "", ""},
		{":memory:", true, "", "is empty and read-only"},
		{filepath.Join(dir, "a?.db"), false, "", "has a question mark"},
		{filepath.Join(dir, "none.db"), true, "", "cannot be opened"},
		{filepath.Join(dir, "new", "a.db"), false, filepath.Join(dir, "new", "a.db"), ""},
	} {
		file, err := place(c.path, c.readOnly)
		if file != c.file || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q, read-only %t: %q, %v", c.path, c.readOnly, file, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || !info.IsDir() {
		t.Errorf("the folder of a new file: %v", err)
	}
}

// DuckDB's errors are a damaged file, a lock, a full disk or too little memory. A path that contains such a word is none.
func TestMeaningOfErrors(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"IO Error: Corrupt database file":                       "damaged",
		`IO Error: Cannot open file "/a/corrupt/x.db": missing`: "",
		"FATAL Error: x":                                     "damaged",
		"INTERNAL Error: x":                                  "damaged",
		"Serialization Error: x":                             "damaged",
		"the block is out of range of the file":              "damaged",
		"IO Error: x":                                        "",
		"Could not set lock on file":                         "",
		"the file is not a valid DuckDB database file":       "",
		"Failed to deserialize: field id mismatch":           "damaged",
		"Invalid Input Error: database has been invalidated": "damaged",
	} {
		if isDamage(text) != (want != "") {
			t.Errorf("%s: damage %t", text, want == "")
		}
	}
	path := filepath.Join(dir, "a.db")
	if err := unreachable(path, errors.New("FATAL Error: x")); fault.Code(err) != fault.Differs {
		t.Error(err)
	}
	notValid := errors.New("the file is not a valid DuckDB database file")
	if err := unreachable(path, notValid); fault.Code(err) == fault.Differs || !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	if err := os.WriteFile(path, madeFile(1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unreachable(path, notValid); fault.Code(err) != fault.Differs {
		t.Errorf("a file with a header: %v", err)
	}
	db := &database{path: path}
	for text, want := range map[string]string{
		"x: No space left on device": "disk is full", "x: out of disk space": "disk is full",
		"Out of Memory Error: too much\nPossible solutions:": "memory_limit=4GB", "FATAL Error: x": path,
	} {
		if err := db.explain(errors.New(text)); !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Possible solutions") {
			t.Errorf("%s: %v", text, err)
		}
	}
	other := errors.New("other")
	if err := db.explain(other); err != other { //nolint:errorlint // the same error
		t.Error(err)
	}
}

// METviewer stores leads in hours for VSDB and as HHMMSS for MET. The query states which of them a reply has.
func TestUnitsOfLeads(t *testing.T) {
	for _, c := range []struct {
		versions []string
		want     string
	}{{[]string{"V01"}, leadHours}, {[]string{"V12.0", "V11.1"}, leadHMS}, {[]string{"V01", "V12.0"}, ""}, {nil, leadHMS}} {
		if got := leadNote(c.versions); got != c.want {
			t.Errorf("%q: %q", c.versions, got)
		}
	}
	for _, c := range []struct {
		d    decoder
		role question.Role
		want []int64
	}{
		{decoder{hours: true}, question.Lead, []int64{36 * 3600, 120000 * 3600}},
		{decoder{hms: true}, question.Lead, []int64{36, 12 * 3600}},
		{decoder{}, question.Lead, []int64{36, 120000}},
		{decoder{}, question.ObsLead, []int64{36, 12 * 3600}},
		{decoder{hours: true}, question.ObsLead, []int64{36, 12 * 3600}},
	} {
		codes := []int64{36, 120000}
		if c.d.decodeLeads(c.role, codes); !slices.Equal(codes, c.want) {
			t.Errorf("%+v: %v, want %v", c.d, codes, c.want)
		}
	}
	var n interner
	if a, b := n.get([]byte("x")), n.get([]byte("x")); a != "x" || b != "x" || n.get([]byte("y")) != "y" || n.get([]byte("x")) != "x" || len(n.known) != 2 {
		t.Errorf("%v", n.known)
	}
	for i := range maxInterned + 10 {
		n.get(fmt.Append(nil, i))
	}
	if len(n.known) > maxInterned {
		t.Errorf("%d texts are kept", len(n.known))
	}
}
