package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// transferSections returns the section about transfers between accounts; nil if no sample has any.
func transferSections(samples []run.Sample) []Section {
	t := table("engine", "isolation", "threads", "transfers acknowledged", "retried attempts", "commits without a response",
		"of these committed", "the sum is correct", "unexplained accounts")
	t.Note = prose("attempts")
	wrong, decided := []string(nil), true
	title := titlesOf(samples)
	for i := range samples {
		s := &samples[i]
		x := s.Transfers
		if x == nil {
			continue
		}
		sum, unexplained := Cell{Text: "yes", Class: "ok"}, countCell(x.Unexplained)
		if x.Sum != x.Expected {
			sum = bad(fmt.Sprintf("no: %s, not %s", count(x.Sum), count(x.Expected)))
		}
		if x.Undecided {
			unexplained, decided = text("not decided"), false
		}
		if x.Problem() != "" {
			wrong = appendNew(wrong, title(s.Cell)+" at "+x.Isolation)
		}
		t.add("", append(texts(title(s.Cell), x.Isolation, s.Cell.Value("threads")), countCell(x.Moved), countCell(x.Aborted),
			countCell(x.Unknown), countCell(x.UnknownApplied), sum, badIf(x.Unexplained > 0, unexplained))...)
	}
	outcome := ""
	if len(wrong) > 0 {
		outcome = " They are not correct and have no times: " + strings.Join(slices.Sorted(slices.Values(wrong)), ", ") + "."
	} else if decided {
		outcome = " All are correct."
	}
	return filled(Section{
		ID: "transfers", Title: "Transfers between accounts", Terminal: true, Table: t,
		Words: say("%s%s", prose("transfers"), outcome),
	})
}
