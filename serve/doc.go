// Package serve is one local page for archives and run folders: it explores what
// an archive holds, watches a run that goes on, and shows those that ended.
//
// It reads and never writes. Only GET and HEAD are answered, to a Host that is
// this machine, with a token that the first URL carries and a cookie keeps;
// archives are opened read-only and let go when nobody asks; no path leads out of
// the folders that were named. What the browser runs is in web/, bundled into
// web/dist and embedded, so that nothing is fetched from anywhere else.
package serve
