package answer

import (
	"errors"
	"fmt"
)

// Degree is how much of an answer a proof compared. Proofs of different degrees
// are shown beside each other, and never ranked together.
type Degree string

// The degrees.
const (
	EveryValue    Degree = "every value"
	KeysAndCounts Degree = "keys and counts" // that what was asked for came, not what is in it
	DigestAlone   Degree = "digest"          // 128 bits over all values
)

// Proof says that what an engine gave was compared with what it must give, and
// is equal. Only the comparisons of this package make one.
type Proof struct {
	degree Degree
	digest Digest
	rows   int
}

// Degree is how much was compared.
func (p Proof) Degree() Degree { return p.degree }

// Digest is the digest of the answer that was proven; zero where answers were
// compared one by one.
func (p Proof) Digest() Digest { return p.digest }

// Rows is the number of rows that were proven.
func (p Proof) Rows() int { return p.rows }

// Valid is false for the zero Proof, which proves nothing.
func (p Proof) Valid() bool { return p.degree != "" }

// Tally counts how answers turned out that were compared one by one, as they
// came, and what they were held against.
type Tally struct {
	Succeeded int64 `json:"succeeded"`         // operations
	Wrong     int64 `json:"wrong,omitempty"`   // answers that cannot be
	Missing   int64 `json:"missing,omitempty"` // records that must be there, beyond those that are allowed
	Failed    int64 `json:"failed,omitempty"`  // operations: errors, keys that were taken

	Found   int64 `json:"found"`   // answers that were held against the keys and fields that must be there
	Values  int64 `json:"values"`  // of these, those whose every value was compared
	Written int64 `json:"written"` // inserts, updates, deletes: the engine's word
}

// Add adds another client's.
func (t *Tally) Add(o Tally) {
	t.Succeeded, t.Wrong, t.Missing, t.Failed = t.Succeeded+o.Succeeded, t.Wrong+o.Wrong, t.Missing+o.Missing, t.Failed+o.Failed
	t.Found, t.Values, t.Written = t.Found+o.Found, t.Values+o.Values, t.Written+o.Written
}

// CompareAll proves answers that were compared one by one: all of them must be
// right, and some must have been checked. The error is a *Diff where one is
// wrong; failed, the error with which the work ended, is that of the others.
func CompareAll(t Tally, failed error) (Proof, error) {
	if failed == nil && (t.Wrong+t.Missing+t.Failed > 0 || t.Succeeded == 0) {
		failed = fmt.Errorf("%d answers are wrong, %d records are missing, %d operations failed, %d succeeded", t.Wrong, t.Missing, t.Failed, t.Succeeded)
	}
	switch {
	case t.Wrong > 0:
		return Proof{}, &Diff{Problem: failed.Error()}
	case failed != nil:
		return Proof{}, failed
	case t.Found == 0:
		return Proof{}, errors.New("no answer was checked")
	case t.Values < t.Found:
		return Proof{degree: KeysAndCounts}, nil
	}
	return Proof{degree: EveryValue}, nil
}
