package run

import (
	"context"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// TimeQuery times one query. It reads the counters of devices, of the server's processes (if any) and
// of the machine before and after the query, and nothing in between.
func (f *Folder) TimeQuery(ctx context.Context, devices []string, server *ServerMeter, query func() error) (*Measured, error) {
	disks, err := measure.StartDisks(ctx, devices)
	if err != nil {
		return nil, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, err
	}
	spent := measure.CPUTime()
	m := &Measured{Start: time.Since(f.Run.Started), Usage: &Usage{}}
	began := time.Now()
	err = query()
	m.Total = time.Since(began)
	m.CPU = measure.CPUTime() - spent
	if err != nil {
		return nil, err
	}
	if m.Machine, err = machine.Stop(ctx); err != nil {
		return nil, err
	}
	if m.Server, err = server.Stop(ctx); err != nil {
		return nil, err
	}
	m.AvailableMemory = measure.AvailableMemory(ctx)
	m.Devices, err = disks.Stop(ctx)
	return m, err
}
