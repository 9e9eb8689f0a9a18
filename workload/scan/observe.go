package scan

import (
	"context"
	"time"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// observe times an answer, and reads into p the counters of devices, of the
// server's processes, if there are any, and of the machine around it; while
// the answer is under way nothing is read.
func observe(ctx context.Context, p *run.ScanPoint, devices []string, pids []int32, ask func() error) (took time.Duration, err error) {
	disks, err := measure.StartDisks(ctx, devices)
	if err != nil {
		return 0, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return 0, err
	}
	var server *measure.ProcessMeter
	if len(pids) > 0 {
		server = measure.StartProcesses(ctx, pids)
	}
	spent := measure.CPUTime()
	began := time.Now()
	err = ask()
	took = time.Since(began)
	p.Client = measure.CPUTime() - spent
	if err != nil {
		return took, err
	}
	if p.Machine, err = machine.Stop(ctx); err != nil {
		return took, err
	}
	if server != nil {
		load := server.Stop(ctx)
		p.Server = &load
	}
	p.Free = measure.AvailableMemory(ctx)
	p.Devices, err = disks.Stop(ctx)
	return took, err
}
