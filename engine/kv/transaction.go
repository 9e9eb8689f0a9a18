package kv

import "errors"

// Sentinel errors of Conn.Transact.
var (
	// ErrConflict means that the engine aborted a transaction in favor of another one, after a
	// deadlock or because it could not serialize them. No write of it is stored. The caller may run
	// the complete transaction again, including its reads.
	ErrConflict = errors.New("another transaction was in the way")

	// ErrUnsettled means that the server did not answer a commit: either all writes of the
	// transaction are stored or none.
	ErrUnsettled = errors.New("whether the transaction was committed is not known")
)

// IsolationLevel is an isolation level as SQL names it. Engines implement each level in
// their own way.
type IsolationLevel string

// The levels, the strictest last.
const (
	ReadCommitted  IsolationLevel = "read-committed"
	RepeatableRead IsolationLevel = "repeatable-read"
	Serializable   IsolationLevel = "serializable"
)

// IsolationLevels lists the levels in their documented order.
func IsolationLevels() []IsolationLevel {
	return []IsolationLevel{ReadCommitted, RepeatableRead, Serializable}
}
