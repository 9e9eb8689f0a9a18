// Package study has no code of its own. Each folder is one kind of
// measurement, which proves results before it takes times:
//
//	met                verification archives: engine × design × flavour × case
//	ycsb               records under keys, also while nodes fail
//	post               SHEF values, after the report of 2006
//	scan, own, lake    tables over disks, a user's own tables, Parquet on an object store
//	faults             met while nodes fail
//	synth              made files of every format
//
// A study may import all but commands, the page and other studies. Test with:
// go test ./study/...
package study
