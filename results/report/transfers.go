package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// transferSections is the section about transfers between accounts, for samples that have any.
func transferSections(samples []run.Sample) []Section {
	t := table("engine", "isolation", "threads", "transfers acknowledged", "retried attempts", "commits without a response", "of these committed", "the sum is correct", "unexplained accounts")
	t.Note = "An attempt that the engine aborted, after a deadlock or a serialization failure, is repeated from its start and counts as a retried operation, not as a first attempt. " +
		"A commit without a response stays unknown until the balances show whether it was executed."
	wrong, decided := []string(nil), true
	title := titlesOf(samples)
	for i := range samples {
		s := &samples[i]
		x := s.Transfers
		if x == nil {
			continue
		}
		right, off := Cell{Text: "yes", Class: "ok"}, countCell(x.Unexplained)
		if x.Sum != x.Expected {
			right = bad(fmt.Sprintf("no: %s, not %s", count(x.Sum), count(x.Expected)))
		}
		if x.Undecided {
			off, decided = text("not decided"), false
		}
		if x.Problem() != "" {
			wrong = appendNew(wrong, title(s.Cell)+" at "+x.Isolation)
		}
		t.add("", append(texts(title(s.Cell), x.Isolation, s.Cell.Value("threads")), countCell(x.Moved), countCell(x.Aborted),
			countCell(x.Unknown), countCell(x.UnknownApplied), right, badIf(x.Unexplained > 0, off))...)
	}
	words := "Each transaction moved money between two accounts: it read two records and wrote both. At the end Barograph compared the sum of all balances, and each balance, with the acknowledged transfers."
	if len(wrong) > 0 {
		words += " They are not correct and have no times: " + strings.Join(slices.Sorted(slices.Values(wrong)), ", ") + "."
	} else if decided {
		words += " All are correct."
	}
	return filled(Section{ID: "transfers", Title: "Transfers between accounts", Terminal: true, Words: say("%s", words), Table: t})
}
