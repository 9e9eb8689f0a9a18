// Package serve is one local page for archives and run folders. It explores the contents of an
// archive, watches a run in progress, and shows finished runs.
//
// It reads and never writes. It answers only GET and HEAD, with a Host that is this machine, and
// with a token that the first URL contains and a cookie keeps. It opens archives read-only and
// closes them when nobody uses them. No path leads out of the folders that were named. The
// browser's code is in web/, bundled into web/dist and embedded, so the page fetches nothing from
// elsewhere.
package serve
