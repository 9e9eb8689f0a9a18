package ycsb

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/results/measure/pace"
)

// scan is the check of one scan's records as they come.
type scan struct {
	each     func(key []byte, r *kv.Row) error
	fields   kv.Fields
	records  int
	last     []byte
	known    int // place in existing of the next record that must come
	status   int
	verified int // status of the values
	began    time.Duration
}

// doScan scans from k.key, the existing key of number.
func (k *worker) doScan(ctx context.Context, r *pace.Recorder, number int64) {
	s := &k.scan
	s.fields, s.records, s.last, s.status, s.verified = k.chosen(), 0, s.last[:0], statusOK, statusOK
	if k.present != nil {
		s.known = k.present.after(k.ordinalOf(k.keyNumber(number)))
	}
	n := int(k.scanLength(k.rng))
	began := r.Now()
	s.began = began
	status := k.status("scan", number, k.conn.Scan(ctx, k.key, n, s.fields, s.each))
	if status == statusOK {
		if status = s.status; status == statusOK {
			status = k.bounds(number, n)
		}
	}
	r.Done(opScan, status, began)
	if status == statusOK && (k.Integrity || s.verified != statusOK) {
		r.Done(kindVerify, s.verified, r.Now())
	}
}

// scanned takes the next record.
func (k *worker) scanned(key []byte, row *kv.Row) error {
	s := &k.scan
	switch {
	case s.records == 0 && bytes.Compare(key, k.key) < 0, s.records > 0 && bytes.Compare(key, s.last) <= 0:
		s.status = k.wrong("scan: records are not in the order of their keys", func() string { return fmt.Sprintf("from %s: %s after %s", k.key, key, s.last) })
	case !k.complete(row, s.fields):
		s.status = k.wrong("scan: fields are missing", func() string { return fmt.Sprintf("%s has %d", key, row.Len()) })
	case s.records == 0 && !bytes.Equal(key, k.key):
		k.skippedFirst(key)
	}
	s.records++
	s.last = append(s.last[:0], key...)
	k.passed(key)
	switch {
	case s.verified != statusOK:
	case k.Integrity:
		s.verified = k.verify(key, row)
	case k.turn():
		s.verified = k.judge("scan", key, row, s.began)
	}
	return nil
}

// skippedFirst checks a scan that does not begin with the requested key, which existed when it was
// drawn.
func (k *worker) skippedFirst(key []byte) {
	if k.present != nil && k.present.from == 0 || k.Mix[opDelete] > 0 {
		return // passed reports it, or the record may have been deleted
	}
	k.scan.status = k.wrong("scan: the first record is left out", func() string { return fmt.Sprintf("from %s: %s", k.key, key) })
}

// passed moves to a record, and reports each record that the scan should have returned before it.
func (k *worker) passed(key []byte) {
	s := &k.scan
	if k.present == nil || s.status != statusOK {
		return
	}
	ordinal, ok := k.ordinalKey(key)
	if !ok || ordinal < k.present.from {
		return // not one of ours, or below those that are known
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

// missing reports whether the scan lacks a record that was not deleted.
func (k *worker) missing(number int64) bool {
	if k.absent.has(number) {
		return false
	}
	k.scan.status = k.wrong("scan: a record is left out", func() string {
		return fmt.Sprintf("from %s: %s", k.key, k.appendKey(nil, number))
	})
	return true
}

// bounds judges how many records came.
func (k *worker) bounds(number int64, n int) int {
	s := &k.scan
	switch {
	case s.records > n:
		return k.wrong("scan: more records than were asked for", func() string { return fmt.Sprintf("from %s: %d of %d", k.key, s.records, n) })
	case s.records == n:
		return statusOK
	case s.records == 0 && !k.absent.has(number):
		return k.wrong("scan: nothing, though its first record is there", func() string { return string(k.key) })
	case k.present == nil:
		return statusOK
	}
	for _, p := range k.present.sorted[s.known:] { // it ended early: nothing may be left
		if k.missing(p.number) {
			return s.status
		}
	}
	return statusOK
}
