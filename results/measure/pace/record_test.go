package pace

import (
	"testing"
	"time"
)

// A result does not change after it was built: an abandoned worker that returns later adds nothing to its groups, its
// series or its elapsed time.
func TestResultIsFinal(t *testing.T) {
	r := newRunner(Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}})
	r.ending = Completed
	sample := []OperationSample{{End: time.Second, Service: time.Millisecond, Records: 1}}
	operation := []operation{{end: time.Second}}
	r.tally.add(sample, operation)
	r.tally.extend(2 * time.Second)
	got, err := r.result()
	if err != nil || !got.Hung {
		t.Fatalf("hung %v, %v", got.Hung, err)
	}
	r.tally.add(sample, operation)
	r.tally.extend(3 * time.Second)
	again, err := r.result()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Result{got, again} {
		samples, last := x.Groups[0][0].Count, x.Series[len(x.Series)-1]
		if samples != 1 || x.Operations != 1 || last.Finished != 1 || x.Elapsed != 2*time.Second {
			t.Errorf("%d samples, %d operations, series %v, elapsed %v", samples, x.Operations, x.Series, x.Elapsed)
		}
	}
}
