package report

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// TestLakeAdvice: statements about file layouts follow from rank tests. With too few repetitions they have no number.
func TestLakeAdvice(t *testing.T) {
	const reps = 12
	configuration := func(partition string, base float64, reps int) *lakeConfiguration {
		times := &repeats{}
		for i := range reps {
			s := base + float64(i%5)/100
			times.seconds = append(times.seconds, s)
			times.answers = append(times.answers, &run.Measured{Total: time.Duration(s * 1e9)})
		}
		return &lakeConfiguration{"duckdb", &run.LakeLayout{Partition: partition, FileMB: 8}, map[string]*repeats{"q": times}}
	}
	for _, c := range []struct {
		name            string
		reps            int
		details, absent string
	}{
		{"enough", reps, "fastest with files not partitioned and of 8.00 MB; slowest, 2.9", "too few"},
		{"similar", reps, "Of 3 configurations 1 cannot be distinguished from the fastest.", "too few"},
		{"too few", 3, "by the medians; the repetitions are too few to distinguish this from chance.", "times ("},
		{"two layouts", 4, "slowest, 2.97 times (no interval) as long", "too few"}, // 4 and 4 can differ, but have no interval
	} {
		r := &run.Run{Reps: c.reps, Seed: 1, Cases: []run.Case{{Name: "q"}}}
		l := &lakeReport{
			run: r,
			configurations: []*lakeConfiguration{
				configuration("none", 1, c.reps), configuration("day", 1.001, c.reps), configuration("model", 3, c.reps),
			},
		}
		if c.name == "two layouts" {
			l.configurations = l.configurations[1:]
		}
		if advice := l.advice("duckdb"); !strings.Contains(advice, c.details) || strings.Contains(advice, c.absent) {
			t.Errorf("%s: %s", c.name, advice)
		}
	}
}

// TestLakeWrong: a table lists wrong results, with each reason shortened to one line. Without wrong results there is no
// table.
func TestLakeWrong(t *testing.T) {
	l := &lakeReport{}
	if l.wrongTable() != nil {
		t.Error("nothing is wrong")
	}
	l.wrong = []lakeWrong{{run.LakeCell("duckdb", &run.LakeLayout{Partition: "day", FileMB: 8}, "q"), strings.Repeat("x", 500)}}
	var b strings.Builder
	l.wrongTable().print(&b)
	if text := b.String(); !strings.Contains(text, "by valid day") ||
		!strings.Contains(text, strings.Repeat("x", 120)+"…") || strings.Contains(text, strings.Repeat("x", 121)) {
		t.Error(text)
	}
}

// TestLakeInterrupted: the report of an interrupted run states how many of its answers exist.
func TestLakeInterrupted(t *testing.T) {
	l := &lakeReport{
		run:            &run.Run{Reps: 5, Archives: []run.Archive{{Engine: "duckdb"}}, Cases: []run.Case{{Name: "q"}}},
		configurations: make([]*lakeConfiguration, 2),
	}
	if sentence := l.allCorrect(3); !strings.HasPrefix(sentence, "3 of 10 timed answers are recorded") {
		t.Error(sentence)
	}
	l.run.Finished = time.Unix(1, 0)
	if sentence := l.allCorrect(10); !strings.HasPrefix(sentence, "Every answer of duckdb to 1 question is") {
		t.Error(sentence)
	}
}

// TestLakeLimits: a store without limits is not described as one that sends 0 MB/s, neither in the facts nor in the
// caption of the picture.
func TestLakeLimits(t *testing.T) {
	for want, store := range map[string]run.Lake{
		"no limit": {},
		"at most 50.0 MB/s for all clients together":                                   {Rate: 50},
		"each response delayed by 20.0 ms":                                             {Latency: 20 * time.Millisecond},
		"at most 50.0 MB/s for all clients together, each response delayed by 20.0 ms": {Rate: 50, Latency: 20 * time.Millisecond},
	} {
		l := &lakeReport{Lake: &store, run: &run.Run{Archives: []run.Archive{{Engine: "duckdb"}}}}
		if got := l.limits(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		layout := &run.LakeLayout{Partition: "none", FileMB: 8}
		l.configurations = []*lakeConfiguration{{"duckdb", layout, nil}}
		if caption := l.pictures()[0].(plot.Lines).Caption; !strings.Contains(caption, "an object store ("+want+")") {
			t.Error(caption)
		}
	}
}
