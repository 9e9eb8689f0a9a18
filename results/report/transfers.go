package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// transferred is the section of what became of accounts, of samples that have any.
func transferred(samples []run.Sample) []Section {
	t := table("engine", "isolation", "threads", "transfers acknowledged", "tries given up for another", "commits not answered", "of these done", "the sum is right", "accounts that nothing explains")
	t.Note = "A try that the engine gave up, after a deadlock or as an order could not be determined, is run again from its beginning, and is among the retried operations, not the first tries. " +
		"A commit that was not answered stays unknown until the balances show whether it was done."
	var wrong []string
	for i := range samples {
		s := &samples[i]
		x := s.Transfers
		if x == nil {
			continue
		}
		right, off := Cell{Text: "yes", Class: "ok"}, whole(x.Off)
		if x.Sum != x.Expected {
			right = bad(fmt.Sprintf("no: %s, not %s", count(x.Sum), count(x.Expected)))
		}
		if x.Undecided {
			off = text("not decided")
		}
		if x.Wrong() != "" {
			wrong = once(wrong, s.Cell.Engine+" at "+x.Isolation)
		}
		t.add("", append(texts(s.Cell.Engine, x.Isolation, s.Cell.At("threads")), whole(x.Moved), whole(x.Conflicts), whole(x.Unknown), whole(x.Stand), right, badIf(x.Off > 0, off))...)
	}
	words := "Money was moved between accounts, each time in a transaction that read two records and wrote both; in the end the sum of all balances and each balance were held against what was acknowledged. All are right."
	if len(wrong) > 0 {
		slices.Sort(wrong)
		words = strings.TrimSuffix(words, " All are right.") + " They are not right, and have no times: " + strings.Join(wrong, ", ") + "."
	}
	return filled(Section{ID: "transfers", Title: "Transfers between accounts", Terminal: true, Words: say("%s", words), Table: t})
}
