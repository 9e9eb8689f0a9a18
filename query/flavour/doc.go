// Package flavour writes a question as a query of an engine: question × design × flavour → text. A
// flavour is the form in which a query is sent.
//
// A question has the same answer in every flavour; flavours differ in what they allow an engine to
// use. metviewer-sql is METviewer's query, including its casts, which prevent the use of indexes.
// sql is the same query without these casts. keys derives the ids of the documents instead of
// searching for them.
package flavour

import "errors"

// Name names a flavour.
type Name string

// The flavours.
const (
	MetviewerSQL Name = "metviewer-sql" // METviewer's own SELECT, including BINARY casts and date strings
	SQL          Name = "sql"           // the same query in a form that can use indexes
	CachedSQL    Name = "cached-sql"    // sql, answered by the server's query cache
	ISOList      Name = "iso-list"      // valid times as a list of ISO strings
	ISORange     Name = "iso-range"     // valid times between two ISO strings
	EpochList    Name = "epoch-list"    // valid times as a list of epochs
	EpochRange   Name = "epoch-range"   // valid times between two epochs
	Keys         Name = "keys"          // derived ids, in the query language
	KeysNative   Name = "keys-native"   // derived ids, by the engine's own batch get
	Recall       Name = "recall"        // the answer is returned from memory, to measure the client overhead
)

// Names lists the flavours in their documented order.
func Names() []Name {
	return []Name{MetviewerSQL, SQL, CachedSQL, ISOList, ISORange, EpochList, EpochRange, Keys, KeysNative, Recall}
}

// Summary describes a flavour in one line.
func (n Name) Summary() string {
	return map[Name]string{
		MetviewerSQL: "what METviewer sends, BINARY casts and date strings included",
		SQL:          "the same question written so that indexes serve it",
		CachedSQL:    "sql, answered by the server's query cache",
		ISOList:      "valid times as a list of ISO strings",
		ISORange:     "valid times between two ISO strings",
		EpochList:    "valid times as a list of epochs",
		EpochRange:   "valid times between two epochs",
		Keys:         "derived ids put into the query language",
		KeysNative:   "derived ids, the engine's own batch get",
		Recall:       "the answer is recalled from memory: what the client itself costs",
	}[n]
}

// ErrCannotExpress is the error of a flavour that cannot express a question, for example a list of
// times if the question has no condition on them.
var ErrCannotExpress = errors.New("this flavour cannot express the question")
