// Package archive contains no code. Its subfolders build an archive from records:
//
//	design      records as rows, documents or pairs; the catalog; the keys
//	load        files → archive: stores, rejects, deduplicates and removes records
//	tablediff   compares two METviewer databases, table by table
//
// These packages may import formats, record, query and the contract of engine, never an engine.
// Test with: go test ./archive/...
package archive
