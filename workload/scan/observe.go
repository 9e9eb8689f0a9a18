package scan

import (
	"context"
	"time"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// observe times an answer, and reads the counters of devices, of the server's
// processes, if there are any, and of the machine around it; while the answer is
// under way nothing is read.
func observe(ctx context.Context, started time.Time, devices []string, pids []int32, ask func() error) (*run.Measured, error) {
	disks, err := measure.StartDisks(ctx, devices)
	if err != nil {
		return nil, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return nil, err
	}
	var server *measure.ProcessMeter
	if len(pids) > 0 {
		server = measure.StartProcesses(ctx, pids)
	}
	spent := measure.CPUTime()
	m := &run.Measured{Start: time.Since(started), Used: &run.Used{}}
	began := time.Now()
	err = ask()
	m.Total = time.Since(began)
	m.CPU = measure.CPUTime() - spent
	if err != nil {
		return nil, err
	}
	if m.Machine, err = machine.Stop(ctx); err != nil {
		return nil, err
	}
	if server != nil {
		m.Server = &run.ServerLoad{Local: true, Used: server.Stop(ctx)}
	}
	m.Free = measure.AvailableMemory(ctx)
	m.Devices, err = disks.Stop(ctx)
	return m, err
}
