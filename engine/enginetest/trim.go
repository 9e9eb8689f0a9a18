package enginetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// trim removes the records of the first times from one of two subsets. The other records must be intact,
// and questions and marks must stay as before.
func (s *suite) trim(t *testing.T) {
	files := Generate(7, 6, mixedSeries()...)
	url := s.URL(t)
	h := s.open(t, url, engine.Options{})
	for _, subset := range []string{"a", "b"} {
		mustStore(t, h, subset, files, 3)
	}
	keep := retainHalf(files)
	removal, err := load.Retain(t.Context(), h, "a", keep)
	noTrim := archive.OfferOf(&s.Driver).NoTrim
	if noTrim && errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil || noTrim {
		t.Fatalf("the engine cannot remove records: %t; the removal returns: %v", noTrim, err)
	}
	removed, want := removal.Records, digestSince(files, removal.Cutoff)
	all := expect(files)
	if want.Records == 0 || want.Records == all.Records || removed != all.Records-want.Records {
		t.Errorf("%d removed, %d of %d should stay", removed, want.Records, all.Records)
	}
	checkDigest(t, h, "a", want)
	checkDigest(t, h, "b", all)
	checkMarks(t, h, "a", files)
	for _, subset := range []string{"a", "b"} {
		if v, err := load.Verify(t.Context(), h, subset); err != nil || len(v.Problems) > 0 {
			t.Errorf("%s: %v, %q", subset, err, v.Problems)
		}
	}
	if removal, err := load.Retain(t.Context(), h, "a", keep); err != nil || removal.Records != 0 {
		t.Errorf("once more: %+v, %v", removal, err)
	}
	if s.Reopenable { // a commit that is completed later must not restore records
		h.close(t)
		h = s.open(t, url, engine.Options{ReadOnly: true})
		checkDigest(t, h, "a", want)
	}
}

// retainHalf returns a retention time that removes about half of the records.
func retainHalf(files []File) load.Retention {
	var first, last int64
	for _, f := range files {
		for _, b := range f.Batches {
			for _, v := range b.Valid {
				if first == 0 || v < first {
					first = v
				}
				last = max(last, v)
			}
		}
	}
	return load.Retention{MaxAge: time.Duration((last-first)/2) * time.Second, Force: true}
}

// digestSince returns the digest of the records of files from a time on.
func digestSince(files []File, from time.Time) (want record.Digest) {
	var hash record.Hasher
	for _, f := range files {
		for _, b := range f.Batches {
			hash.SetBatch(b)
			for i := range b.Len() {
				if b.Valid[i] >= from.Unix() {
					want.Add(hash.Digest(i))
				}
			}
		}
	}
	return want
}

// killedTrim kills a removal at a random moment. The archive must be intact, and the next removal must continue.
func (s *suite) killedTrim(t *testing.T) {
	if archive.OfferOf(&s.Driver).NoTrim {
		t.Skip("the engine cannot remove records")
	}
	files := crashFiles()
	h, keep := s.openNew(t), retainHalf(files)
	mustStore(t, h, "a", files, 8)
	began := time.Now()
	removal, err := load.Retain(t.Context(), h, "a", keep)
	if err != nil {
		t.Fatal(err)
	}
	attack, duration := s.attacked(t, "client killed during a removal"), time.Since(began)
	rng := newRand(attack.Seed)
	h.close(t)
	before := 0
	for range s.repetitions(t, 4, 1) {
		attack.Times++
		url := s.URL(t)
		h := s.open(t, url, engine.Options{})
		mustStore(t, h, "a", files, 8)
		h.close(t)
		c := s.start(t, job{URL: url, Design: s.design, Keep: keep.MaxAge})
		time.Sleep(time.Duration(rng.Int64N(int64(duration) + 1)))
		if !kill(t, c) {
			before++
		}
		attack.Note = fmt.Sprintf("%d before the end of the removal", before)
		h = s.open(t, url, engine.Options{})
		v, err := load.Verify(t.Context(), h, "a")
		if err != nil || len(v.Problems) > 0 {
			t.Errorf("after the kill: %v, %q", err, v.Problems)
		}
		next, err := load.Retain(t.Context(), h, "a", keep)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the removal was killed; %d records were removed by the next", next.Records)
		checkDigest(t, h, "a", digestSince(files, removal.Cutoff))
		checkMarks(t, h, "a", files)
		if v, err := load.Verify(t.Context(), h, "a"); err != nil || len(v.Problems) > 0 {
			t.Errorf("after the removal: %v, %q", err, v.Problems)
		}
		h.close(t)
	}
}
