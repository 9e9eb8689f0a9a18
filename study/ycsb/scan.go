package ycsb

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/results/measure/pace"
)

// scan is the check of the records of one scan while it returns them.
type scan struct {
	each     func(key []byte, r *kv.Row) error
	fields   kv.Fields
	number   int64 // of the first key
	records  int   // returned until now
	last     []byte
	known    int // index, in present.sorted, of the next record that the scan must return
	status   int // of keys and fields
	verified int // status of the values
	began    time.Duration
}

// doScan scans from k.key, the existing key of number.
func (k *worker) doScan(ctx context.Context, r *pace.Recorder, number int64) {
	s := &k.scan
	s.fields, s.number, s.records, s.last = k.chosen(), number, 0, s.last[:0]
	s.status, s.verified = statusOK, statusOK
	if k.present != nil {
		s.known = k.present.search(k.ordinalOf(k.keyNumber(number)))
	}
	n := int(k.scanLength(k.rng))
	began := r.Now()
	s.began = began
	status := k.status("scan", number, k.conn.Scan(ctx, k.key, n, s.fields, s.each))
	if status == statusOK {
		if status = s.status; status == statusOK {
			status = k.bounds(n)
		}
	}
	r.Done(opScan, status, began)
	if status == statusOK && (k.Integrity || s.verified != statusOK) {
		r.Done(kindVerify, s.verified, r.Now())
	}
}

// scanned checks the next record of the scan.
func (k *worker) scanned(key []byte, row *kv.Row) error {
	s := &k.scan
	switch {
	case s.records == 0 && bytes.Compare(key, k.key) < 0, s.records > 0 && bytes.Compare(key, s.last) <= 0:
		s.status = k.wrong("scan: records are not in the order of their keys", func() string {
			return fmt.Sprintf("from %s: %s after %s", k.key, key, s.last)
		})
	case !k.complete(row, s.fields):
		s.status = k.wrong("scan: fields are missing", func() string { return fmt.Sprintf("%s has %d", key, row.Len()) })
	case s.records == 0 && !bytes.Equal(key, k.key):
		k.skippedFirst(key)
	}
	s.records++
	s.last = append(s.last[:0], key...)
	k.checkLeftOut(key)
	switch {
	case s.verified != statusOK:
	case k.Integrity:
		s.verified = k.verify(key, row)
	case k.turn():
		s.verified = k.judge("scan", key, row, s.began)
	}
	return nil
}

// skippedFirst reports a scan that does not begin with the requested record.
func (k *worker) skippedFirst(key []byte) {
	isKnown := k.scan.number < k.Records && k.present != nil && k.present.from == 0
	if isKnown || k.mayLackFirst() { // checkLeftOut reports a known record
		return
	}
	k.scan.status = k.wrong("scan: the first record is left out", func() string {
		return fmt.Sprintf("from %s: %s", k.key, key)
	})
}

// mayLackFirst reports whether a scan may lack the requested record: a worker has deleted it meanwhile, or a run
// inserted it, and the engine may return it later or may have lost it.
func (k *worker) mayLackFirst() bool {
	isInserted := k.scan.number >= k.Records
	return isInserted && (k.lenient || k.excused.Load()) || k.absent.has(k.scan.number)
}

// checkLeftOut reports each known record that the scan should have returned before key.
func (k *worker) checkLeftOut(key []byte) {
	s := &k.scan
	if k.present == nil || s.status != statusOK {
		return
	}
	ordinal, ok := k.ordinalKey(key)
	if !ok || ordinal < k.present.from {
		return // no key of the workload, or less than the known ones
	}
	for all := k.present.sorted; s.known < len(all) && all[s.known].ordinal <= ordinal; s.known++ {
		if all[s.known].ordinal == ordinal {
			s.known++
			return
		}
		if k.missing(all[s.known].number) {
			return
		}
	}
}

// missing reports whether the scan lacks a record that no worker has deleted.
func (k *worker) missing(number int64) bool {
	if k.absent.has(number) {
		return false
	}
	k.scan.status = k.wrong("scan: a record is left out", func() string {
		return fmt.Sprintf("from %s: %s", k.key, k.appendKey(nil, number))
	})
	return true
}

// bounds checks the number of records of a scan for at most n.
func (k *worker) bounds(n int) int {
	s := &k.scan
	switch {
	case s.records > n:
		return k.wrong("scan: more records than were requested", func() string {
			return fmt.Sprintf("from %s: %d of %d", k.key, s.records, n)
		})
	case s.records == n:
		return statusOK
	case s.records == 0 && !k.mayLackFirst():
		return k.wrong("scan: no record, although the first one exists", func() string { return string(k.key) })
	case k.present == nil:
		return statusOK
	}
	for _, p := range k.present.sorted[s.known:] { // the scan returned fewer: no record may follow
		if k.missing(p.number) {
			return s.status
		}
	}
	return statusOK
}
