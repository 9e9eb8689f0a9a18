package compare

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// Benchstat writes repetitions in Go's benchmark format, one per line, for benchstat and similar
// tools (golang.org/design/14313-benchmark-format). The run's folder is the configuration "run". An
// incorrect result has no line.
func Benchstat(w io.Writer, runs []Run) error {
	out := bufio.NewWriter(w)
	for _, r := range runs {
		fmt.Fprintf(out, "run: %s\nbarograph: %s\ncpu: %s\n", fault.Name(filepath.Base(r.Dir)), r.Version, r.Machine.CPU)
		results, order := groupSamples(r)
		for _, k := range order {
			x := results[k]
			for _, v := range x.values {
				unit := x.unit
				switch {
				case unit == "ms" && x.name == "99th percentile":
					v, unit = v*1e6, "p99-ns/op"
				case unit == "ms":
					v, unit = v*1e6, "ns/op"
				}
				fmt.Fprintf(out, "%s 1 %g %s\n", benchmark(k), v, unit)
			}
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// benchmark is the name of a cell: BenchmarkCell/workload=met/engine=sqlite/case=test_1/phase=warm.
func benchmark(k cellQuantity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BenchmarkCell/workload=%s/engine=%s", url.PathEscape(k.cell.Workload), url.PathEscape(k.cell.Engine))
	names, values := k.cell.Axes()
	for i := range names {
		fmt.Fprintf(&b, "/%s=%s", names[i], url.PathEscape(values[i]))
	}
	phase := k.phase
	if phase == "" {
		phase = run.Warm
	}
	return b.String() + "/phase=" + string(phase)
}
