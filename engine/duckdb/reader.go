package duckdb

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/host"
)

// A process that reads an archive never becomes the program that it is started from: a
// command, a test, or a program that uses this package. No main of theirs knows of it.
func init() { //nolint:gochecknoinits // see above
	if host.IsChild(scheme) {
		host.Child(open)
	}
}

// reader opens a file for reading by a process of its own: where blocks of a file are
// swapped, DuckDB ends its process or never ends. Tables of other workloads are read in
// this process, and opened when they are asked for.
func reader(ctx context.Context, u *url.URL, o engine.Options, file string) (*engine.Engine, error) {
	d := Driver()
	v := d.Values(u)
	deadline := v.Duration("deadline", time.Second)
	if v.Err != nil {
		return nil, v.Err
	}
	r, err := host.NewReader(ctx, host.Options{
		URL: u.String(), Path: file, Threads: o.Threads, Deadline: deadline, Memory: processMemory(v.Given["memory_limit"]),
		Check:   func(ctx context.Context) ([]string, error) { return checkFile(ctx, file) },
		Invalid: func(err error) bool { return invalid.MatchString(err.Error()) },
	})
	if err != nil {
		return nil, err
	}
	var here *engine.Engine
	inProcess := sync.OnceValue(func() error {
		o.InProcess = true
		here, err = open(context.WithoutCancel(ctx), u, o)
		return err
	})
	return &engine.Engine{
		About: r.About, Cost: r.Cost(), Processes: []int32{int32(r.PID())}, //nolint:gosec // pids are small
		Abilities: append([]any{r}, lazily(func() (*engine.Engine, error) { err := inProcess(); return here, err })...),
		Close: func() error {
			err := r.Close()
			if here != nil {
				err = errors.Join(err, here.Close())
			}
			return err
		},
	}, nil
}

// invalid finds the errors after which DuckDB answers nothing until it is opened again.
var invalid = regexp.MustCompile(`FATAL Error|INTERNAL Error|database has been invalidated`)

// besides is the memory that a process has besides what DuckDB counts.
const besides = 1 << 30

var memorySize = regexp.MustCompile(`(?i)^([\d.]+)\s*([kmgt]?)(i?)b?$`)

// processMemory is the most that a process may have, for DuckDB's memory_limit; 0 = no limit.
func processMemory(limit string) int64 {
	m := memorySize.FindStringSubmatch(limit)
	if m == nil {
		total, err := mem.VirtualMemory()
		if err != nil {
			return 0
		}
		return int64(total.Total/10*8) + besides //nolint:gosec // far below
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	unit := 1000.0
	if m[3] != "" {
		unit = 1024
	}
	for range strings.Index(" kmgt", strings.ToLower(m[2] + " ")[:1]) {
		n *= unit
	}
	return int64(n) + besides
}
