// Package archive has no code of its own. Its folders make an archive of
// records:
//
//	design      records as rows, documents or pairs; the catalog; the keys
//	load        files → archive: what is stored, refused, repeated or removed
//	tablediff   two METviewer databases compared, table by table
//
// They may import formats, record, query and the contract of engine, never an
// engine. Test with: go test ./archive/...
package archive
