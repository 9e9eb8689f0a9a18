// Package study contains what all studies share. Each folder is one kind of
// study, which proves results before it times them:
//
//	met                verification archives: engine × design × flavour × case
//	ycsb               records under keys, with and without node failures
//	post               posting SHEF values, as in NOAA's report of 2006
//	scan, own, lake    tables over disks, a user's own tables, Parquet on an object store
//	faults             loads and queries of verification archives during node failures
//	growth             a longer series from the days of files, for studies of met
//	synth              synthetic files of every format
//
// A study imports no command, not the page, and no other study. There are two exceptions: growth makes the data and the
// questions of studies of met, and post uses synth.
// The table allowed in layout_test.go lists what each may import. Test with: go test ./study/...
package study
