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

// A process that reads an archive must not run the program from which it is started: a command, a
// test, or a program that uses this package. Their main functions do not know about such processes.
func init() { //nolint:gochecknoinits // the comment gives the reason
	if host.IsChild(scheme) {
		host.Child(open)
	}
}

// reader opens a file for reading in a separate process, because swapped blocks of a file can crash
// DuckDB's process or make it hang. Tables of other studies are read in this process, which opens the
// file when they are first needed.
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
	var local *engine.Engine
	inProcess := sync.OnceValue(func() error {
		o.InProcess = true
		local, err = open(context.WithoutCancel(ctx), u, o)
		return err
	})
	return &engine.Engine{
		About: r.About, Cost: r.Cost(), Processes: []int32{int32(r.PID())}, //nolint:gosec // a pid fits
		Abilities: append([]any{r}, lazily(func() (*engine.Engine, error) { err := inProcess(); return local, err })...),
		Close: func() error {
			err := r.Close()
			if local != nil {
				err = errors.Join(err, local.Close())
			}
			return err
		},
	}, nil
}

// invalid reports the errors after which DuckDB answers no statement until it is opened again.
var invalid = regexp.MustCompile(`FATAL Error|INTERNAL Error|database has been invalidated`)

// extraMemory is the memory of a process that DuckDB does not count.
const extraMemory = 1 << 30

var memorySize = regexp.MustCompile(`(?i)^([\d.]+)\s*([kmgt]?)(i?)b?$`)

// processMemory is the memory limit of a process, for DuckDB's memory_limit; 0 = no limit.
func processMemory(limit string) int64 {
	m := memorySize.FindStringSubmatch(limit)
	if m == nil {
		total, err := mem.VirtualMemory()
		if err != nil {
			return 0
		}
		return int64(total.Total/10*8) + extraMemory //nolint:gosec // far below the limit of int64
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
	return int64(n) + extraMemory
}
