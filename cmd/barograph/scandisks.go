package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"barograph/fault"
	"barograph/lab"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"
)

// allDisks is the value of --disks that names no number.
const allDisks = "all"

// findPaths makes the paths absolute, or takes them from the lab's disks.
func (f *scanFlags) findPaths() error {
	if f.disks != "" {
		return f.labDisks()
	}
	for i, path := range f.paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		f.paths[i] = abs
	}
	return nil
}

// labDisks are the paths of the throttled disks in the labs' folder.
func (f *scanFlags) labDisks() error {
	bad := func(problem, cure string) error {
		return usage(&fault.Error{Setting: "--disks " + f.disks, Problem: problem, Cure: cure})
	}
	most := 0
	if f.disks != allDisks {
		n, err := strconv.Atoi(f.disks)
		if err != nil || n < 1 {
			return bad("is no number of disks", "write --disks for all of them, or --disks=6")
		}
		most = n
	}
	disks, err := lab.Disks(filepath.Join(f.labs, disksName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return bad("there are no throttled disks in "+f.labs, fmt.Sprintf("make them: barograph lab disks --count %d --profile hdd; or name folders with --paths", max(most, 6)))
	case err != nil:
		return err
	case most > len(disks):
		return bad(fmt.Sprintf("there are %d throttled disks in %s", len(disks), f.labs), fmt.Sprintf("make more: barograph lab down disks, then barograph lab disks --count %d --profile hdd", most))
	case most == 0:
		most = len(disks)
	}
	for _, d := range disks[:most] {
		f.paths = append(f.paths, d.Path)
	}
	return nil
}

// lookAtDisks tells of the paths what a run keeps, and names their devices.
func (f *scanFlags) lookAtDisks(ctx context.Context, result *run.Scans) ([]string, error) {
	for _, path := range f.paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	devices, err := measure.Devices(ctx, f.paths)
	if err != nil {
		return nil, err
	}
	limited := 0
	for i, path := range f.paths {
		d := run.ScanDisk{Path: path, Device: devices[i], Type: measure.ReadMachine(ctx, path).Disk.Type}
		throttled, ok := lab.DiskOf(path)
		if ok {
			limited++
			d.Limit, d.Rate = throttled.Limits.ReadMBps*1e6, throttled.Measured.ReadMBps*1e6
			d.How = "measured by barograph lab disks; limits: " + throttled.Limits.String()
		}
		if f.measureDisks {
			if d.Rate, d.How, err = measure.ReadRate(path); err != nil {
				return nil, err
			}
		}
		result.Disks = append(result.Disks, d)
	}
	odd, err := scan.Recheck(result.Disks, measure.ReadRate)
	if err != nil {
		return nil, err
	}
	result.Warnings = append(result.Warnings, odd...)
	switch {
	case limited == 0:
		result.Limited = "plain folders: disks were not limited"
	case limited == len(f.paths):
		result.Limited = "every path lies on a throttled disk of the lab"
	default:
		result.Limited = fmt.Sprintf("%d of %d paths lie on throttled disks of the lab; the others are plain folders, not limited", limited, len(f.paths))
	}
	return devices, nil
}
