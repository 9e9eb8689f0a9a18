// Package serve is one local page for archives and run folders. It explores the contents of an
// archive, watches a run in progress, and shows finished runs.
//
// It reads and never writes. It answers only GET and HEAD requests whose Host is a name of this
// machine. A request must have the token, which is in the first URL and then in a cookie. The page
// opens archives read-only and closes them when no request uses them. It serves no file outside the
// folders that the command line names, also not through a symbolic link. The browser's code is in
// web/, bundled into web/dist and embedded, so the page fetches nothing from elsewhere.
//
// Statement N in the tests is row N of the table of promises in docs/results/serve.md.
package serve
