// Package pebble keeps verification archives in Pebble, the key-value store of
// CockroachDB, in a folder and inside Barograph's own process: pebble:dir.
//
// Its design is keyvalue: the id of design.AppendKey leads to the payload of
// design.AppendPayload. A question becomes a multi-get of derived ids
// (keys-native) or one scan per series (epoch-range); the order is restored by
// answer.Arrange. Beside the pairs, whose ids begin with DD::, the store holds
// the catalog and the marks of each subset under ids that begin with BG::.
// Payloads lie in files of their own (Pebble's value separation, which it calls
// experimental); archives that were written before keep theirs in the tables,
// and both are read.
package pebble
