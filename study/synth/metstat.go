package synth

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// MET describes an archive of grid_stat output of MET 12: per valid time, model
// and lead one .stat file with SL1L2 and VL1L2 lines and one with SAL1L2 and
// VAL1L2 lines, in folders and under names like those of NOAA's real ones:
//
//	G2G_v12/20241031-00z/grid_stat/grid_stat_GFS_TMP_vs_ANLYS_TMP_Z2_780000L_20241031_000000V.stat
//	G2G_v12/20241031-00z/grid_stat/grid_stat_GFS_TMP_vs_ANLYS_TMP_P1000_anom_780000L_20241031_000000V.stat
type MET struct {
	Seed     uint64
	From, To time.Time // first and last valid time, inclusive, six-hourly; To zero = From
	Models   []string  // GFS, ECMWF; nil = both
	Leads    []int     // hours, in any order; nil = 6, 12 … 120
	CTC      bool      // add contingency tables of precipitation to the first kind of file
}

// metModels are the models with their skill relative to GFS.
var metModels = []vsdbModel{ //nolint:gochecknoglobals // a constant table
	{name: "GFS", skill: 1, drift: 1},
	{name: "ECMWF", skill: 1.06, drift: -0.6},
}

var metMasks = masksOf("FULL 1038240 NHX 347040 SHX 347040 N60 174240 S60 174240 TRO 231840 NPO 35532 SPO 18177 NAO 18444 SAO 9669 CONUS 14145 " + //nolint:gochecknoglobals // a constant table
	"PNA 131100")

const (
	metLevels = "P1000 P975 P950 P925 P900 P850 P800 P750 P700 P650 P600 P550 P500 P450 P400 P350 P300 P250 P200 " +
		"P150 P100 P70 P50 P40 P30 P20 P10"
	metAnomalyLevels = "P1000 P925 P850 P700 P600 P500 P400 P300 P250 P200 P150 P100 P50"
)

// metUnits are the units of MET's variables.
var metUnits = map[string]string{ //nolint:gochecknoglobals // a constant table
	"TMP": "K", "HGT": "gpm", "UGRD": "m/s", "VGRD": "m/s", "WIND": "m/s", "RH": "%", "SPFH": "kg/kg",
	"UGRD_VGRD": "m/s", "APCP_06": "kg/m^2",
}

// maxLead is the largest lead, in hours. A file name has at most five digits of hours.
const maxLead = 10_000

// metFile describes one .stat file.
type metFile struct {
	seed    uint64
	model   *vsdbModel
	valid   int64
	lead    int // hours
	anomaly bool
	ctc     bool
}

// Files lists the files of the archive, without making their content. The order
// is by valid time, model and lead.
func (m MET) Files() ([]FileSpec, error) {
	if m.From.IsZero() {
		return nil, &fault.Error{Setting: "--since", Problem: "is missing", Cure: "give the first valid time, e.g. 2024-10-31"}
	}
	to := m.To
	if to.IsZero() {
		to = m.From
	}
	if to.Before(m.From) {
		return nil, &fault.Error{Setting: "--until", Problem: "is before --since", Cure: "exchange them"}
	}
	for _, name := range m.Models {
		if !slices.ContainsFunc(metModels, func(k vsdbModel) bool { return k.name == name }) {
			return nil, fault.Unknown("--models", name, []string{"GFS", "ECMWF"})
		}
	}
	leads := slices.Compact(slices.Sorted(slices.Values(m.Leads))) // a lead twice would be a file twice
	if len(leads) == 0 {
		leads = leadsBy(6, 6, 120)
	}
	if first, last := leads[0], leads[len(leads)-1]; first < 0 || last > maxLead {
		problem := fmt.Sprintf("has leads from %d to %d hours, which are not between 0 and %d hours", first, last, maxLead)
		return nil, &fault.Error{Setting: "--leads", Problem: problem, Cure: "choose other leads"}
	}
	var files []FileSpec
	for t := m.From.UTC(); !t.After(to); t = t.Add(6 * time.Hour) {
		for i := range metModels {
			model := &metModels[i]
			if len(m.Models) > 0 && !slices.Contains(m.Models, model.name) {
				continue
			}
			for _, lead := range leads {
				for _, anomaly := range []bool{false, true} {
					f := metFile{seed: m.Seed, model: model, valid: t.Unix(), lead: lead, anomaly: anomaly}
					f.ctc = m.CTC && !anomaly
					files = append(files, FileSpec{Path: f.path(), Append: f.append})
				}
			}
		}
	}
	return files, nil
}

// path is the file's name as MET's scripts build it. The lead is HHMMSS, and has
// seven digits from 100 hours on.
func (f *metFile) path() string {
	t := time.Unix(f.valid, 0).UTC()
	kind := "Z2"
	if f.anomaly {
		kind = "P1000_anom"
	}
	return fmt.Sprintf("G2G_v12/%s/grid_stat/grid_stat_%s_TMP_vs_ANLYS_TMP_%s_%02d0000L_%sV.stat",
		t.Format("20060102-15z"), f.model.name, kind, f.lead, t.Format("20060102_150405"))
}

// metLine is a batch of one row that is reused for every line.
type metLine struct{ b record.Batch }

// newLine prepares lines of a type; typ must be in record's table.
func (f *metFile) newLine(typ string) *metLine {
	t, ok := record.TypeByName(typ)
	if !ok {
		panic("synth: record has no line type " + typ)
	}
	l := &metLine{}
	l.b.Reset(t, "")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType] = "V12.0.0", f.model.name, "ANLYS"
	h[record.InterpMthd], h[record.InterpPnts] = "NEAREST", "1"
	l.b.AppendTimes(l.b.AddHeader(h), int32(f.lead)*3600, f.valid, 1)
	for k := range l.b.Num {
		l.b.Num[k] = append(l.b.Num[k], record.Missing())
	}
	if t.Group != nil {
		l.b.GroupEnd = append(l.b.GroupEnd, 0)
	}
	return l
}

// setHeader sets the header of the next lines.
func (l *metLine) setHeader(variable, level, mask string) {
	h := &l.b.Headers[0]
	h[record.FcstVar], h[record.ObsVar] = variable, variable
	h[record.FcstUnits], h[record.ObsUnits] = metUnits[variable], metUnits[variable]
	h[record.FcstLev], h[record.ObsLev], h[record.VxMask] = level, level, mask
}

// append appends the line with the given numeric columns.
func (l *metLine) append(dst []byte, nums []float64) []byte {
	for k, x := range nums {
		l.b.Num[k][0] = printable(x)
	}
	return metstat.AppendLine(dst, &l.b, 0)
}

// printable rounds to 5 decimals, as MET does, but never to fewer than 9 significant digits. (MET
// prints small mean squares with fewer digits, which loses their differences.)
func printable(x float64) float64 {
	if x == 0 || math.Abs(x) >= 1e4 {
		return math.Round(x*1e5) / 1e5
	}
	scale := math.Pow10(8 - int(math.Floor(math.Log10(math.Abs(x)))))
	return math.Round(x*scale) / scale
}

// append appends the content of the file.
func (f *metFile) append(dst []byte) []byte {
	dst = metstat.AppendHeader(dst)
	if f.anomaly {
		dst = f.scalars(dst, "SAL1L2", "TMP HGT UGRD VGRD", metAnomalyLevels)
		return f.vectors(dst, "VAL1L2", metAnomalyLevels)
	}
	dst = f.scalars(dst, "SL1L2", "TMP HGT UGRD VGRD WIND SPFH", metLevels)
	moist, _, _ := strings.Cut(metLevels, " P70 ")
	dst = f.scalars(dst, "SL1L2", "RH", moist)
	dst = f.vectors(dst, "VL1L2", metLevels)
	if f.ctc {
		dst = f.tables(dst)
	}
	return dst
}

// each calls do with every series of variables at levels over all masks.
func (f *metFile) each(variables, levels string, do func(variable, level, mask string, s *series)) {
	var s series
	for v := range strings.FieldsSeq(variables) {
		for l := range strings.FieldsSeq(levels) {
			for _, m := range metMasks {
				// Every lead has its own file, and therefore its own draws.
				s.start(&identity{
					seed: f.seed, variable: v, level: l, mask: m.name, model: f.model.name, valid: f.valid, cycle: f.lead,
					total: float64(m.total), anomaly: f.anomaly, vector: v == "UGRD_VGRD",
					modelSkill: f.model.skill, modelDrift: f.model.drift,
				})
				do(v, l, m.name, &s)
			}
		}
	}
}

func (f *metFile) power() float64 { return math.Pow(float64(f.lead), skillPower) }

func (f *metFile) scalars(dst []byte, typ, variables, levels string) []byte {
	line, power := f.newLine(typ), f.power()
	var buf [8]float64
	f.each(variables, levels, func(variable, level, mask string, s *series) {
		line.setHeader(variable, level, mask)
		dst = line.append(dst, s.scalar(buf[:0], float64(f.lead), power, true))
	})
	return dst
}

func (f *metFile) vectors(dst []byte, typ, levels string) []byte {
	line, power := f.newLine(typ), f.power()
	var buf [16]float64
	f.each("UGRD_VGRD", levels, func(variable, level, mask string, s *series) {
		line.setHeader(variable, level, mask)
		nums := s.vector(buf[:0], float64(f.lead), power)
		dst = line.append(dst, winds(nums))
	})
	return dst
}

// winds appends the mean speeds and the errors of direction to the columns of a vector line. A mean
// speed is between the length of the mean vector and the root mean square; for vectors with a
// normal distribution about 0 the factor is π/4.
func winds(v []float64) []float64 {
	uf, vf, uo, vo, fo, ff, oo := v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	fm, om := uf*uf+vf*vf, uo*uo+vo*vo
	fs, os := math.Sqrt(fm+math.Pi/4*(ff-fm)), math.Sqrt(om+math.Pi/4*(oo-om))
	off := math.Atan(math.Sqrt(max(0, ff+oo-2*fo))/(1.5*os)) * 180 / math.Pi
	return append(v, fs, os, v[0], 4*(fs-os)/os, 0.7*off, off*off)
}

// tables appends contingency tables of six-hourly precipitation.
func (f *metFile) tables(dst []byte) []byte {
	line, power := f.newLine("CTC"), f.power()
	thresholds := []struct {
		text string
		rate float64 // relative frequency
	}{{">=0.254", 0.31}, {">=2.54", 0.12}, {">=6.35", 0.052}, {">=12.7", 0.019}, {">=25.4", 0.0045}}
	f.each("APCP_06", "A06", func(variable, level, mask string, s *series) {
		line.setHeader(variable, level, mask)
		for i, th := range thresholds {
			h := &line.b.Headers[0]
			h[record.FcstThresh], h[record.ObsThresh] = th.text, th.text
			_, _, _, r := s.forecast(float64(f.lead), power)
			skill := max(0.02, 0.8*r-0.06*float64(i)) // heavier rain is harder
			dst = line.append(dst, contingency(s.total, th.rate*(1+0.2*s.o/s.so), skill, 1.1-0.08*float64(i)))
		}
	})
	return dst
}

// contingency returns total, fy_oy, fy_on, fn_oy, fn_on and ec_value of n pairs
// with the given base rate, skill (0 = random hits, 1 = the maximum of hits) and
// frequency bias.
func contingency(n, rate, skill, bias float64) []float64 {
	o := math.Round(n * min(max(rate, 0), 1))
	f := math.Round(min(n, o*bias))
	chance := f * o / n
	a := math.Round(chance + skill*(min(f, o)-chance))
	return []float64{n, a, f - a, o - a, n - f - o + a, 0.5}
}
