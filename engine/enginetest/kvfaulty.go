package enginetest

import (
	"context"
	"errors"
	"slices"

	"github.com/barograph/barograph/engine/kv"
)

// KVFault is a kind of wrong behavior of records under keys.
type KVFault string

// The faults. Most are defects that were found in other programs.
const (
	KVLostRow       KVFault = "drops rows"          // a scan omits its second record
	KVWrongOrder    KVFault = "wrong order"         // a scan swaps its first two records
	KVShortScan     KVFault = "short scan"          // a scan ends one record early
	KVStaleRead     KVFault = "stale read"          // the first value of a key that was read is returned forever
	KVEmptyRow      KVFault = "empty row"           // a read of a missing record succeeds
	KVMissingField  KVFault = "missing field"       // a read omits the last field
	KVLostUpdate    KVFault = "lost update"         // an update is acknowledged but not executed
	KVLostInsert    KVFault = "lost insert"         // an insert is acknowledged but not executed
	KVSilentTaken   KVFault = "duplicate unnoticed" // the insert of an existing key succeeds
	KVSwallowsError KVFault = "errors swallowed"    // a failed call returns no error
	KVWholeUpdate   KVFault = "update loses fields" // an update empties the fields that it does not name
	KVKeptDelete    KVFault = "delete not done"     // a delete is acknowledged but not executed
)

// The faults of transactions of several records.
const (
	KVTorn     KVFault = "half a transaction"           // in one of ten transactions the second update is not executed
	KVPiece    KVFault = "statement tried again"        // after a conflict only the writes are repeated, without the reads
	KVNoUndo   KVFault = "undone, and there"            // a failed transaction stays stored
	KVForgiven KVFault = "a conflict taken for success" // an aborted transaction is acknowledged
	KVDirty    KVFault = "dirty read"                   // others see the writes of a transaction before its end
)

// TransactionFaults lists the faults of transactions in their documented order.
func TransactionFaults() []KVFault { return []KVFault{KVTorn, KVPiece, KVNoUndo, KVForgiven, KVDirty} }

// KVFaults lists the faults in their documented order.
func KVFaults() []KVFault {
	return []KVFault{
		KVLostRow, KVWrongOrder, KVShortScan, KVStaleRead, KVEmptyRow, KVMissingField, KVLostUpdate, KVLostInsert,
		KVSilentTaken, KVSwallowsError, KVWholeUpdate, KVKeptDelete,
	}
}

// FaultyKV wraps an open table and gives its connections a fault. Tests of a check use it: the check
// must detect every fault.
func FaultyKV(r *kv.Records, f KVFault) *kv.Records {
	wrapped := *r
	wrapped.Connect = func(ctx context.Context) (*kv.Conn, error) {
		c, err := r.Connect(ctx)
		if err != nil {
			return nil, err
		}
		bad := *c
		spoil(&bad, c, f)
		return &bad, nil
	}
	return &wrapped
}

// spoil replaces one function of a connection.
func spoil(bad, c *kv.Conn, f KVFault) {
	switch f {
	case KVLostRow, KVWrongOrder, KVShortScan:
		bad.Scan = faultyScan(c, f)
	case KVStaleRead:
		bad.Read = staleRead(c)
	case KVEmptyRow:
		bad.Read = func(ctx context.Context, key []byte, fs kv.Fields, into *kv.Row) error {
			return forgive(c.Read(ctx, key, fs, into), kv.ErrNotFound)
		}
	case KVMissingField:
		bad.Read = func(ctx context.Context, key []byte, fs kv.Fields, into *kv.Row) error {
			var row kv.Row
			err := c.Read(ctx, key, fs, &row)
			for i := range max(row.Len()-1, 0) {
				into.Add(row.At(i))
			}
			return err
		}
	case KVLostUpdate:
		bad.Update = func(ctx context.Context, key []byte, _ *kv.Row) error {
			return c.Read(ctx, key, nil, &kv.Row{})
		}
	case KVLostInsert:
		bad.Insert = func(ctx context.Context, key []byte, _ *kv.Row) error {
			if c.Read(ctx, key, nil, &kv.Row{}) == nil {
				return kv.ErrExists
			}
			return nil
		}
	case KVSilentTaken:
		bad.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
			return forgive(c.Insert(ctx, key, r), kv.ErrExists)
		}
	case KVSwallowsError:
		bad.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
			_ = c.Update(ctx, key, r) // the fault ignores the error
			return nil
		}
	case KVWholeUpdate:
		bad.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
			var row kv.Row
			for i := range kvFields {
				v, _ := r.Value(i)
				row.Add(i, v)
			}
			return c.Update(ctx, key, &row)
		}
	case KVTorn, KVPiece, KVNoUndo, KVForgiven:
		spoilTransactions(bad, c, f)
	case KVDirty:
		writeAtOnce(bad, c)
	case KVKeptDelete:
		bad.Delete = func(ctx context.Context, key []byte) error { return c.Read(ctx, key, nil, &kv.Row{}) }
	}
}

// forgive replaces an ignored error by success.
func forgive(err, ignored error) error {
	if errors.Is(err, ignored) {
		return nil
	}
	return err
}

// staleRead remembers complete records.
func staleRead(c *kv.Conn) func(context.Context, []byte, kv.Fields, *kv.Row) error {
	first := map[string]*kv.Row{}
	return func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		var now kv.Row
		if err := c.Read(ctx, key, nil, &now); err != nil {
			return err
		}
		old := first[string(key)]
		if old == nil {
			old = &now
			first[string(key)] = old
		}
		for i := range old.Len() {
			field, v := old.At(i)
			if f == nil || slices.Contains(f, field) {
				into.Add(field, v)
			}
		}
		return nil
	}
}

// faultyScan collects the records of a scan, applies the fault, and passes them on.
func faultyScan(c *kv.Conn, f KVFault) func(context.Context, []byte, int, kv.Fields, func([]byte, *kv.Row) error) error {
	return func(ctx context.Context, from []byte, n int, fs kv.Fields, each func([]byte, *kv.Row) error) error {
		var rows []kv.KeyRow
		err := c.Scan(ctx, from, n, fs, func(key []byte, r *kv.Row) error {
			kept := &kv.Row{}
			for i := range r.Len() {
				kept.Add(r.At(i))
			}
			rows = append(rows, kv.KeyRow{Key: []byte(string(key)), Row: kept})
			return nil
		})
		if err != nil {
			return err
		}
		switch {
		case f == KVShortScan && len(rows) > 0:
			rows = rows[:len(rows)-1]
		case len(rows) < 2:
		case f == KVLostRow:
			rows = append(rows[:1], rows[2:]...)
		case f == KVWrongOrder:
			rows[0], rows[1] = rows[1], rows[0]
		}
		for _, r := range rows {
			if err := each(r.Key, r.Row); err != nil {
				return err
			}
		}
		return nil
	}
}
