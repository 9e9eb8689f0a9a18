package scan

import (
	"context"
	"fmt"
	"time"
)

// rateMeter measures the read rates of several paths one after the other, and reports its progress.
type rateMeter struct {
	progress       func(s string)
	paths          int
	measure        func(path string) (rate float64, how string, err error)
	reportInterval time.Duration // between two reports about a path
	done           int
	spent          time.Duration // on the paths that are done
}

// newRateMeter returns a meter for a number of paths; rate is measure.ReadRate. A nil progress reports nothing.
func newRateMeter(progress func(s string), paths int, rate func(path string) (float64, string, error)) *rateMeter {
	if progress == nil {
		progress = func(string) {}
	}
	return &rateMeter{progress: progress, paths: paths, measure: rate, reportInterval: 10 * time.Second}
}

// read measures the next path. It reports the path at the start, the elapsed time every ten seconds, and at the end the
// rate with the remaining time. After a cancellation it finishes the path, because only then its file is removed.
func (m *rateMeter) read(ctx context.Context, path string) (rate float64, how string, err error) {
	if err := ctx.Err(); err != nil {
		return 0, "", err
	}
	name := fmt.Sprintf("path %d of %d, %s", m.done+1, m.paths, path)
	m.progress("measuring how fast it is read: " + name)
	began, ended := time.Now(), make(chan struct{})
	go func() {
		defer close(ended)
		rate, how, err = m.measure(path)
	}()
	for tick := time.Tick(m.reportInterval); ; {
		select {
		case <-tick:
			m.progress(fmt.Sprintf("measuring %s: %s so far", name, time.Since(began).Round(time.Second)))
			continue
		case <-ended:
		}
		break
	}
	m.done++
	m.spent += time.Since(began)
	if err != nil {
		return 0, "", err
	}
	text := fmt.Sprintf("%s: %.1f MB/s", name, rate/1e6)
	if left := m.paths - m.done; left > 0 {
		text += fmt.Sprintf(", about %s left", (m.spent / time.Duration(m.done) * time.Duration(left)).Round(time.Second))
	}
	m.progress(text)
	return rate, how, ctx.Err()
}
