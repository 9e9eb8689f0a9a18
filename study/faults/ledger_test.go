package faults

import (
	"errors"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// batchOf returns records of a file with these leads, in hours.
func batchOf(file string, leads ...int32) *record.Batch {
	t, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(t, file)
	head := b.AddHeader(record.DefaultHeader())
	for i, lead := range leads {
		b.AppendTimes(head, lead*3600, 0, uint32(i+1)) //nolint:gosec // few
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], 1)
		}
	}
	return b
}

// A record that was acknowledged and is new for the archive later was lost. The digest of the final archive does not show
// that if the load stored it again.
func TestReloadedRecords(t *testing.T) {
	for _, c := range []struct {
		name     string
		lost     string // path of a file whose mark is missing
		commits  [][]int32
		stored   []int64
		reloaded int64
	}{
		{"an undisturbed load", "", [][]int32{{0, 6}, {12, 18}}, []int64{2, 2}, 0},
		{"a resumed load", "", [][]int32{{0, 6}, {0, 6, 12}}, []int64{2, 1}, 0},
		{"a commit without an acknowledgment", "", [][]int32{{0, 6}, {0, 6, 12, 18}}, []int64{2, 0}, 0},
		{"lost records of a file that is not complete", "", [][]int32{{0, 6}, {0, 6, 12}}, []int64{2, 3}, 2},
		{"a lost file, which is reported as such", "a.stat", [][]int32{{0, 6}, {0, 6}}, []int64{2, 2}, 0},
	} {
		l := &ledger{
			files: map[string]string{}, records: map[record.Key]string{}, lost: map[string]bool{}, reached: make(chan struct{}), killAfter: 9,
		}
		for i, leads := range c.commits {
			if i == 1 && c.lost != "" {
				l.lost[c.lost] = true
			}
			l.recordCommit([]*record.Batch{batchOf("a.stat", leads...)}, []archive.Mark(nil), c.stored[i])
		}
		if l.reloaded != c.reloaded {
			t.Errorf("%s: %d records were stored again, want %d", c.name, l.reloaded, c.reloaded)
		}
	}
}

// A load that could not store a file did not load the data, even if it ended without an error.
func TestFailedFiles(t *testing.T) {
	s := &runner{}
	s.out.Unread = 1
	for failed, wrong := range map[int]bool{0: false, 1: false, 2: true} {
		var sum load.Summary
		for range failed {
			sum.Failed = append(sum.Failed, errors.New("a node is down"))
		}
		if err := s.loadError(&sum, nil); (err != nil) != wrong {
			t.Errorf("%d failed files: %v", failed, err)
		}
	}
}
