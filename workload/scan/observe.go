package scan

import (
	"context"
	"time"

	"barograph/measure"
	"barograph/run"
)

// observe times an answer into p and reads the counters of devices, of the
// server's processes, if there are any, and of the machine around it; while
// the answer is under way nothing is read.
func observe(ctx context.Context, p *run.ScanPoint, devices []string, pids []int32, ask func() error) error {
	disks, err := measure.StartDisks(ctx, devices)
	if err != nil {
		return err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return err
	}
	var server *measure.ProcessMeter
	if len(pids) > 0 {
		server = measure.StartProcesses(ctx, pids)
	}
	spent := measure.CPUTime()
	began := time.Now()
	err = ask()
	p.Time = time.Since(began)
	p.Client = measure.CPUTime() - spent
	if err != nil {
		return err
	}
	if p.Machine, err = machine.Stop(ctx); err != nil {
		return err
	}
	if server != nil {
		load := server.Stop(ctx)
		p.Server = &load
	}
	p.Free = measure.AvailableMemory(ctx)
	p.Devices, err = disks.Stop(ctx)
	return err
}
