package kv

import "errors"

// Sentinel errors of Conn.Transact.
var (
	// ErrConflict says that the engine gave a transaction up to let another one go
	// on, after a deadlock or as their order could not be determined. Nothing of it is
	// there; the whole of it may be run again, from what it reads on.
	ErrConflict = errors.New("another transaction was in the way")

	// ErrUnsettled says that a commit was asked for and not answered: all of the
	// transaction is there, or nothing.
	ErrUnsettled = errors.New("whether the transaction was committed is not known")
)

// IsolationLevel is how far transactions are kept apart, in SQL's words; what an
// engine makes of each is its own matter.
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
