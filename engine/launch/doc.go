// Package launch describes how to obtain, start and stop a temporary server of an engine.
// Driver.Server of an engine is a Server, and package lab runs it. An embedded engine names
// the Artifacts that it loads. This package starts nothing itself.
//
// It imports no engine. Its tests need no server.
package launch
