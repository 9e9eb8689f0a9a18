package pebble

import "github.com/barograph/barograph/engine/kv"

// offered is what a folder can hold besides an archive.
func offered() []any { return []any{kv.Offer{Layouts: []kv.Layout{kv.Pairs}}} }

// abilities are those of an open folder.
func (s *store) abilities() []any { return []any{kvTables{s}} }
