package pebble

import (
	"context"

	"github.com/barograph/barograph/engine"
)

// metrics reads Pebble's own counts: what is written to the log, by flushes
// and by compactions, and whether blocks were found in the cache.
func (s *store) metrics(context.Context) (engine.Metrics, error) {
	m := s.db.Metrics()
	all := m.Total()
	total := func(name, unit string, value float64) engine.Total {
		return engine.Total{Name: name, Unit: unit, Value: value}
	}
	return engine.Metrics{Totals: []engine.Total{
		total("WAL.BytesIn", "bytes", float64(m.WAL.BytesIn)),
		total("WAL.BytesWritten", "bytes", float64(m.WAL.BytesWritten)),
		total("Flush.Count", "", float64(m.Flush.Count)),
		total("TableBytesFlushed", "bytes", float64(all.TableBytesFlushed)),
		total("Compact.Count", "", float64(m.Compact.Count)),
		total("Compact.Duration", "ms", float64(m.Compact.Duration.Milliseconds())),
		total("TableBytesRead", "bytes", float64(all.TableBytesRead)),
		total("TableBytesCompacted", "bytes", float64(all.TableBytesCompacted)),
		total("BlockCache.Hits", "", float64(m.BlockCache.Hits)),
		total("BlockCache.Misses", "", float64(m.BlockCache.Misses)),
	}}, nil
}
