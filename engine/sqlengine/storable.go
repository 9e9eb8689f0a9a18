package sqlengine

import (
	"strings"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Storable describes the texts that an engine can store: UTF-8, with zero bytes if the
// engine accepts them.
type Storable struct {
	Product   string // "PostgreSQL"
	ZeroBytes bool
}

func (s Storable) isStorable(text string) bool {
	return utf8.ValidString(text) && (s.ZeroBytes || strings.IndexByte(text, 0) < 0)
}

func (s Storable) problem() string {
	if s.ZeroBytes {
		return "that " + s.Product + " does not store, because it is not UTF-8"
	}
	return "that " + s.Product + " does not store, because it is not UTF-8 or has a zero byte"
}

// Check is the CheckText of a LoadSession.
func (s Storable) Check(b *record.Batch, i int, text string) error {
	if s.isStorable(text) {
		return nil
	}
	problem, cure := "contains text "+s.problem(), "convert the file, for example with iconv"
	return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: problem, Cure: cure}
}

// Subset returns an error for a name of a subset that the engine cannot store.
func (s Storable) Subset(name string) error {
	if s.isStorable(name) {
		return nil
	}
	return &fault.Error{Setting: "subset", Problem: "has a name with text " + s.problem(), Cure: "choose another name"}
}
