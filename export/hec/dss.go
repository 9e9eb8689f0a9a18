package hec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
)

// StoreDSS stores what was collected in a DSS file, which is made where there is
// none, by HEC's library. What is stored is merged with what is there: missing
// values replace nothing. A series that would damage what is there is told and
// left out: one of another unit or type than the file has. Values of a regular
// series that do not lie on its grid are kept as an irregular one. All that is
// stored is read back and compared.
func (c *Collection) StoreDSS(library, name string) (err error) {
	f, err := open(library, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, s := range c.settled() {
		points := s.Points[:0]
		for _, p := range s.Points {
			if p.Missing {
				c.Missing++
				continue
			}
			points = append(points, p)
		}
		if s.Points = points; len(points) == 0 {
			continue
		}
		grid, off := f.parted(s)
		var err error
		for _, part := range []*Series{grid, off} {
			if len(part.Points) > 0 && err == nil {
				err = f.store(part)
			}
		}
		if err != nil {
			c.Refused += len(points)
			c.Told(&fault.Error{Setting: s.Name, Problem: "is not stored", Err: err, Cure: "name another series in the sensor or parameter file"})
			continue
		}
		if len(off.Points) > 0 && s.Step > 0 && s.Step != week {
			c.Told(fmt.Errorf("%s: %d of %d values lie off its times of day: they are in %s", s.Name, len(off.Points), len(points), off.Name))
		}
		c.Stored += len(points)
		c.Series++
	}
	return nil
}

// parted parts a series into what lies on the grid of a regular one and what
// does not. The library would move what is there to the grid of what comes.
func (f *file) parted(s *Series) (grid, off *Series) {
	grid, off = &Series{Where: s.Where}, &Series{Where: s.Where}
	if s.Step == 0 {
		off.Points = s.Points
		return grid, off
	}
	parts := strings.Split(s.Name, "/")
	if parts[5] = "~" + parts[5]; s.Step >= week { // DSS's own for what is nearly regular, and kept as irregular values
		parts[5] = "IR-DECADE"
	}
	off.Name, off.Step = strings.Join(parts, "/"), 0
	if s.Step == week {
		off.Points = s.Points
		return grid, off
	}
	usual, there := commonest(s), map[int64]int64{} // the phases of blocks
	for _, p := range s.Points {
		from, to := block(p.Time, s.Step)
		want, known := there[from]
		if !known {
			want = f.phaseOf(s, from, to, usual)
			there[from] = want
		}
		if phase(p.Time, s.Step) == want && p.Time%60 == 0 { // the library knows no seconds here
			grid.Points = append(grid.Points, p)
		} else {
			off.Points = append(off.Points, p)
		}
	}
	return grid, off
}

// phaseOf is the phase of what a block of the file holds, else the usual one.
func (f *file) phaseOf(s *Series, from, to, usual int64) int64 {
	if _, _, is := f.span(s.Name); !is || s.Step >= month {
		return usual
	}
	stored, err := f.read(s.Name, from+1, to, int((to-from)/s.Step)+3)
	if err != nil || len(stored.Points) == 0 { // it is an error where the file has no such block
		return usual
	}
	return phase(stored.Points[0].Time, s.Step)
}

// commonest is the phase of most values of a series. Of months and years the
// library keeps the first of a month alone.
func commonest(s *Series) (best int64) {
	if s.Step >= month {
		return 0
	}
	count := map[int64]int{}
	for _, p := range s.Points {
		at := phase(p.Time, s.Step)
		if count[at]++; count[at] > count[best] {
			best = at
		}
	}
	return best
}

// block is the record of DSS that a moment lies in: a day, month, year or decade
// by the interval, from after its beginning to its end. All values of one have one phase.
func block(t, step int64) (from, to int64) {
	at := time.Unix(t-1, 0).UTC()
	y, m, d := at.Date()
	years, months, days := 0, 0, 0
	switch {
	case step < 15*60:
		days = 1
	case step < 86400:
		d, months = 1, 1
	case step == 86400:
		m, d, years = 1, 1, 1
	default:
		y, m, d, years = y/10*10, 1, 1, 10
	}
	start := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return start.Unix(), start.AddDate(years, months, days).Unix()
}

const (
	week  = 604800 // of which the library loses its way over the end of a decade
	month = 30 * 86400
	year  = 365 * 86400
)

// phase is where a moment lies in its interval.
func phase(t, step int64) int64 {
	at := time.Unix(t, 0).UTC()
	switch step {
	case month:
		return t - time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC).Unix()
	case year:
		return t - time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return t % step
}

// after is the next moment of a regular series.
func after(t, step int64) int64 {
	at := time.Unix(t, 0).UTC()
	switch step {
	case month:
		return at.AddDate(0, 1, 0).Unix()
	case year:
		return at.AddDate(1, 0, 0).Unix()
	}
	return t + step
}

// longestGap is how many missing values are given to the library at most, to
// store what lies on both sides of them at once.
const longestGap = 1000

// store stores a series, and reads it back.
func (f *file) store(s *Series) error {
	if from, _, is := f.span(s.Name); is {
		switch there, err := f.read(s.Name, from-86400, from+86400, 2*86400/60+3); {
		case err != nil:
			return err
		case !strings.EqualFold(there.Unit, s.Unit):
			return fmt.Errorf("the file has it in %s, not %s", there.Unit, s.Unit)
		case !strings.EqualFold(there.Type, s.Type):
			return fmt.Errorf("the file has it as %s, not %s", there.Type, s.Type)
		}
	}
	if s.Step == 0 {
		return f.storeIrregular(s)
	}
	points := s.Points
	for from := 0; from < len(points); {
		values, next := []float64{points[from].Value}, from+1
		for at := after(points[from].Time, s.Step); next < len(points) && (points[next].Time-at)/s.Step < longestGap; at = after(at, s.Step) {
			if at != points[next].Time {
				values = append(values, missing)
				continue
			}
			values = append(values, points[next].Value)
			next++
		}
		if err := f.regular(s.Name, points[from].Time, values, s.Unit, s.Type); err != nil {
			return err
		}
		if err := f.compare(s.Name, points[from:next], len(values)+3); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// storeIrregular stores what the library takes at once, and reads it back.
func (f *file) storeIrregular(s *Series) error {
	for points := s.Points; len(points) > 0; {
		n := 1
		for n < len(points) && points[n].Time-points[0].Time < 60*year {
			n++
		}
		if err := f.irregular(s.Name, points[:n], s.Unit, s.Type); err != nil {
			return err
		}
		if err := f.compareIrregular(s.Name, points[:n]); err != nil {
			return err
		}
		points = points[n:]
	}
	return nil
}

// compareIrregular reads back what was stored, with what others stored between.
func (f *file) compareIrregular(path string, points []Point) (err error) {
	for most := 2*len(points) + 1000; most < 1<<28; most *= 4 {
		if err = f.compare(path, points, most); err == nil {
			return nil
		}
	}
	return err
}

// compare reads values back. most is how many values there can be in their time.
func (f *file) compare(path string, points []Point, most int) error {
	got, err := f.read(path, points[0].Time, points[len(points)-1].Time, most)
	if err != nil {
		return err
	}
	stored := make(map[int64]float64, len(got.Points))
	for _, p := range got.Points {
		stored[p.Time] = p.Value
	}
	for _, p := range points {
		if v, ok := stored[p.Time]; !ok || v != p.Value {
			return fmt.Errorf("read back, %s is %v, not %v", time.Unix(p.Time, 0).UTC().Format(time.RFC3339), v, p.Value)
		}
	}
	return nil
}
