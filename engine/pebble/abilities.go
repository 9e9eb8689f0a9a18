package pebble

import "github.com/barograph/barograph/engine/kv"

// offered lists what a folder can contain besides an archive.
func offered() []any { return []any{kv.Offer{Layouts: []kv.Layout{kv.Pairs}}} }

// abilities returns the abilities of an open folder.
func (s *store) abilities() []any { return []any{kvTables{s}} }
