package duckdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// The parts of a file: three headers and blocks, each with a checksum before it
// (DuckDB's src/include/duckdb/storage/storage_info.hpp and src/common/checksum.cpp).
const (
	headerBytes  = 4096
	headers      = 3
	blockSizeAt  = headerBytes + 5*8 // in the second header
	mostBlock    = 256 << 10
	leastBlock   = 16 << 10
	checksumSeed = 5381
	checksumMix  = 0xbf58476d1ce4e5b9
)

// Check compares the checksum of every block of the file with what it holds;
// DuckDB itself looks at those that it reads.
func (a *archive) Check(ctx context.Context, _ string) (problems []string, err error) {
	if a.db.path == "" {
		return nil, nil
	}
	f, err := os.Open(a.db.path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	size := make([]byte, 8)
	if _, err := f.ReadAt(size, blockSizeAt); err != nil {
		return nil, err
	}
	block := make([]byte, binary.LittleEndian.Uint64(size))
	if len(block) < leastBlock || len(block) > mostBlock {
		return []string{"the file's header is damaged"}, nil
	}
	for at, part := int64(0), block[:headerBytes]; ctx.Err() == nil; at += int64(len(part)) {
		if at >= headers*headerBytes {
			part = block
		}
		if _, err := f.ReadAt(part, at); errors.Is(err, io.EOF) {
			return problems, nil
		} else if err != nil {
			return problems, err
		}
		if binary.LittleEndian.Uint64(part) != checksum(part[8:]) {
			problems = append(problems, fmt.Sprintf("the block at byte %d of the file does not fit its checksum", at))
		}
	}
	return problems, ctx.Err()
}

func checksum(b []byte) uint64 {
	sum := uint64(checksumSeed)
	for ; len(b) >= 8; b = b[8:] {
		sum ^= binary.LittleEndian.Uint64(b) * checksumMix
	}
	return sum
}
