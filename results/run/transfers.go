package run

import "fmt"

// Transfers is what became of the accounts between which a run moved amounts, each
// in a transaction. Counts are known also where nothing is measured.
type Transfers struct {
	Isolation string `json:"isolation"`
	Accounts  int64  `json:"accounts"`
	Moved     int64  `json:"moved"`               // transfers that were acknowledged and moved something
	Conflicts int64  `json:"conflicts"`           // tries that the engine gave up for another transaction
	Unknown   int64  `json:"unknown"`             // transfers whose commit was not answered
	Stand     int64  `json:"stand"`               // of these, those that the balances show to be there
	Sum       int64  `json:"sum"`                 // of all balances, in the end
	Expected  int64  `json:"expected"`            // what it must be
	Off       int64  `json:"off"`                 // accounts with a balance that no outcome of the unknown transfers explains
	Undecided bool   `json:"undecided,omitempty"` // the unknown ones are too many to tell which of them stand, and Off is not known
	Example   string `json:"example,omitempty"`
}

// Wrong says what is not right with the accounts; "" where all is, or there are none.
func (t *Transfers) Wrong() string {
	if t == nil || t.Sum == t.Expected && t.Off == 0 {
		return ""
	}
	words := fmt.Sprintf("at isolation %s the balances sum up to %d", t.Isolation, t.Sum)
	if t.Sum != t.Expected {
		words += fmt.Sprintf(", not %d", t.Expected)
	} else {
		words += " as they must"
	}
	if t.Off > 0 {
		words += fmt.Sprintf("; %d of %d accounts hold what no transfer explains, such as %s", t.Off, t.Accounts, t.Example)
	}
	return words
}
