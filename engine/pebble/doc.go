// Package pebble stores verification archives in Pebble, the key-value store of CockroachDB, in a folder and
// inside Barograph's own process: pebble:dir.
//
// Its design is keyvalue: the key is the id of design.AppendKey, the value is the payload of
// design.AppendPayload. A query is a multi-get of derived ids (keys-native) or one scan per series
// (epoch-range); answer.Arrange restores the order. The ids of the pairs begin with DD::. The store also
// contains the catalog and the marks of each subset, with ids that begin with BG::. Payloads are in separate
// files (Pebble's value separation, which Pebble calls experimental). Earlier versions of Barograph stored
// payloads in the tables; both are readable.
package pebble
