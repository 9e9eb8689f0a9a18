// Package launch is how a temporary server of an engine is obtained, started and stopped:
// Driver.Server of an engine is a Server, package lab runs it, and an embedded engine names
// the Artifacts that it loads. It only says what to run; it starts nothing.
//
// It imports no engine. Its tests need no server.
package launch
