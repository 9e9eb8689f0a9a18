package scan

import (
	"fmt"
	"math"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// above is how much more than a disk was measured to give an answer may have
// read from it: measurements of one disk differ by less.
const above = 1.1

// tooFast names a disk from which an answer read more than it was measured to
// give, and says so; "" where it did not. A limit of the kernel lets short reads
// pass, and what a cache below the disk holds is not the disk's.
func tooFast(disks []run.ScanDisk, m *run.Measured) string {
	for i, d := range m.Devices {
		if i >= len(disks) || disks[i].Rate <= 0 || m.Total <= 0 {
			continue
		}
		if rate := float64(d.Read) / m.Total.Seconds(); rate > above*disks[i].Rate {
			return fmt.Sprintf("%.1f MB/s from %s, which was measured to give %.1f", rate/1e6, disks[i].Path, disks[i].Rate/1e6)
		}
	}
	return ""
}

// TooFast warns of answers that read faster than the disks were measured to
// give, one warning for each question under a configuration. No law is made of
// them.
func TooFast(r *run.Run, samples []run.Sample) (warnings []string) {
	first, n := map[run.Cell]string{}, map[run.Cell]int{}
	var order []run.Cell
	for i := range samples {
		m, c := samples[i].Measured(), samples[i].Cell
		if m == nil {
			continue
		}
		if why := tooFast(r.Scan.Disks, m); why != "" {
			if n[c]++; n[c] == 1 {
				order, first[c] = append(order, c), why
			}
		}
	}
	for _, c := range order {
		warnings = append(warnings, fmt.Sprintf("%s with %s: %d answers read faster than the disks can, the first %s: short reads pass a limit, and caches below a disk are not the disk; no law is made of them",
			c.At("query"), Words(&r.Scan.Configs[r.ConfigOf(c)]), n[c], first[c]))
	}
	return warnings
}

// Recheck measures again each disk whose rate contradicts those of its set,
// the disks with the same limit, and warns where it still does. again is
// measure.ReadRate.
func Recheck(disks []run.ScanDisk, again func(path string) (rate float64, how string, err error)) (warnings []string, err error) {
	var twice []*run.ScanDisk
	for i := range disks {
		if d := &disks[i]; odd(disks, d) {
			twice = append(twice, d)
		}
	}
	for _, d := range twice {
		before := d.Rate
		if d.Rate, d.How, err = again(d.Path); err != nil {
			return nil, err
		}
		d.How += fmt.Sprintf("; measured again, as %.1f MB/s contradicted its set", before/1e6)
	}
	for _, d := range twice {
		if odd(disks, d) {
			warnings = append(warnings, fmt.Sprintf("%s gives %.1f MB/s, measured twice, and the other disks of its set %.1f: times with it are of another disk",
				d.Path, d.Rate/1e6, usual(disks, d)/1e6))
		}
	}
	return warnings, nil
}

// odd reports whether a disk was measured to give more than its limit, or
// something else than the disks with the same limit do.
func odd(disks []run.ScanDisk, d *run.ScanDisk) bool {
	if d.Rate <= 0 || d.Limit <= 0 {
		return false
	}
	return d.Rate > above*d.Limit || math.Abs(d.Rate/usual(disks, d)-1) > above-1
}

// usual is the median rate of the disks with the same limit.
func usual(disks []run.ScanDisk, d *run.ScanDisk) float64 {
	var rates []float64
	for _, o := range disks {
		if o.Limit == d.Limit && o.Rate > 0 {
			rates = append(rates, o.Rate)
		}
	}
	return measure.Median(rates)
}
