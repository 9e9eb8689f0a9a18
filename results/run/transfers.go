package run

import "fmt"

// Transfers counts the transfers of a run. Each moves an amount from one account to another in one transaction. The
// counts are known even if nothing was measured.
type Transfers struct {
	Isolation      string `json:"isolation"`
	Accounts       int64  `json:"accounts"`
	Moved          int64  `json:"moved"`                       // acknowledged transfers that moved something
	Aborted        int64  `json:"aborted" old:"conflicts"`     // attempts that the engine aborted in favor of another transaction
	Unknown        int64  `json:"unknown"`                     // transfers whose commit was not answered
	UnknownApplied int64  `json:"unknown_applied" old:"stand"` // of Unknown: transfers that the balances show to be committed
	Sum            int64  `json:"sum"`                         // sum of all balances at the end
	Expected       int64  `json:"expected"`                    // correct sum
	// accounts with a balance that no outcome of the unknown transfers explains
	Unexplained int64 `json:"unexplained" old:"off"`
	// there are too many unknown transfers to decide which of them were committed; Unexplained is then
	// not known
	Undecided bool   `json:"undecided,omitempty"`
	Example   string `json:"example,omitempty"`
}

// Problem describes what is wrong with the accounts; "" if nothing is, or if there are none.
func (t *Transfers) Problem() string {
	if t == nil || t.Sum == t.Expected && t.Unexplained == 0 {
		return ""
	}
	words := fmt.Sprintf("at isolation %s the sum of all balances is %d", t.Isolation, t.Sum)
	if t.Sum != t.Expected {
		words += fmt.Sprintf(", not %d", t.Expected)
	} else {
		words += ", which is correct"
	}
	if t.Unexplained > 0 {
		words += fmt.Sprintf("; %d of %d accounts have a balance that no transfer explains, such as %s", t.Unexplained, t.Accounts, t.Example)
	}
	return words
}
