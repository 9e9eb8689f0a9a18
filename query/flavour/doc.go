// Package flavour puts a question into the words of an engine: question ×
// design × flavour → text.
//
// One question has one answer, whatever the flavour; the flavours differ in
// what they let an engine use. metviewer-sql is what METviewer sends, its casts
// included, which no index serves; sql is the same question written so that
// indexes serve it; keys derives the ids of the documents instead of
// searching for them.
package flavour

import "errors"

// Name names a flavour.
type Name string

// The flavours.
const (
	MetviewerSQL Name = "metviewer-sql" // METviewer's own SELECT, BINARY casts and date strings included
	SQL          Name = "sql"           // the same, written so that indexes serve it
	CachedSQL    Name = "cached-sql"    // sql, answered by the server's query cache
	ISOList      Name = "iso-list"      // valid times as a list of ISO strings
	ISORange     Name = "iso-range"     // valid times between two ISO strings
	EpochList    Name = "epoch-list"    // valid times as a list of epochs
	EpochRange   Name = "epoch-range"   // valid times between two epochs
	Keys         Name = "keys"          // derived ids, in the query language
	KeysNative   Name = "keys-native"   // derived ids, by the engine's own batch get
	Recall       Name = "recall"        // the answer is recalled from memory: what the client itself costs
)

// Names lists the flavours in their documented order.
func Names() []Name {
	return []Name{MetviewerSQL, SQL, CachedSQL, ISOList, ISORange, EpochList, EpochRange, Keys, KeysNative, Recall}
}

// Summary says in one line what a flavour is.
func (n Name) Summary() string {
	switch n {
	case MetviewerSQL:
		return "what METviewer sends, BINARY casts and date strings included"
	case SQL:
		return "the same question written so that indexes serve it"
	case CachedSQL:
		return "sql, answered by the server's query cache"
	case ISOList:
		return "valid times as a list of ISO strings"
	case ISORange:
		return "valid times between two ISO strings"
	case EpochList:
		return "valid times as a list of epochs"
	case EpochRange:
		return "valid times between two epochs"
	case Keys:
		return "derived ids put into the query language"
	case KeysNative:
		return "derived ids, the engine's own batch get"
	case Recall:
		return "the answer is recalled from memory: what the client itself costs"
	}
	return ""
}

// ErrCannotExpress is the error of a flavour that cannot put a question, e.g.
// a list of times where the question leaves them open.
var ErrCannotExpress = errors.New("this flavour cannot express the question")
