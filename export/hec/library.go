package hec

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/barograph/barograph/fault"
)

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "library.h"
import "C"

// api is what of HEC's interface is used: store functions of another had other
// arguments.
const api = "0.4."

// file is a HEC-DSS file, version 7, held open by HEC's own library. It is used
// by one goroutine.
type file struct {
	lib C.hec_library
	dss unsafe.Pointer
}

// open opens a file, or makes it. One that is there and is none of DSS's is
// refused: the library would write into it.
func open(library, name string) (*file, error) {
	f := &file{}
	path, target := C.CString(library), C.CString(name)
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(target))
	if problem := C.hec_load(path, &f.lib); problem != nil {
		return nil, &fault.Error{Setting: "--dss-library " + library, Problem: "is not HEC's library for DSS", Err: errors.New(C.GoString(problem)), Cure: "`barograph lab install --yes hecdss`, or name a libhecdss of API " + api + "x"}
	}
	if version := C.GoString(C.hec_version(&f.lib)); !strings.HasPrefix(version, api) {
		return nil, &fault.Error{Setting: "--dss-library " + library, Problem: "has API " + version + ", whose functions may take other arguments", Cure: "name one of API " + api + "x, as `barograph lab install --yes hecdss` brings it"}
	}
	if info, err := os.Stat(name); err == nil && info.Size() == 0 {
		return nil, &fault.Error{File: name, Problem: "is empty, and so no DSS file", Cure: "remove it, or name another with --out"}
	} else if err == nil {
		switch version := int(C.hec_file_version(&f.lib, target)); version {
		case 7:
		case 6:
			return nil, &fault.Error{File: name, Problem: "is a DSS file of version 6", Cure: "convert it with HEC-DSSVue, or name another with --out"}
		default:
			return nil, &fault.Error{File: name, Problem: "is no DSS file", Cure: "name another with --out; nothing was written"}
		}
	}
	C.hec_quiet(&f.lib)
	if status := C.hec_open(&f.lib, target, &f.dss); status != 0 {
		return nil, &fault.Error{File: name, Problem: fmt.Sprintf("cannot be opened by HEC's library, status %d", int(status)), Cure: "is another program using it, and may this one write there?"}
	}
	return f, nil
}

func (f *file) close() error {
	if status := C.hec_close(&f.lib, f.dss); status != 0 {
		return fmt.Errorf("HEC's library closes the file with status %d", int(status))
	}
	return nil
}

// span is the time of a whole series; false = there is none of the path.
func (f *file) span(path string) (from, to int64, is bool) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var at [4]C.int
	if status := C.hec_range(&f.lib, f.dss, p, &at[0]); status != 0 {
		return 0, 0, false
	}
	from, to = unix(int64(at[0]), int64(at[1])), unix(int64(at[2]), int64(at[3]))
	return from, to, from <= to
}

// unix is the moment of a day of DSS's, of which 1 is the first of 1900, and a
// second of it.
func unix(day, second int64) int64 { return (day-25568)*86400 + second }

// dssTime is a moment as the library reads it. Midnight is the end of a day.
func dssTime(t int64) (day, clock string) {
	at := time.Unix(t, 0).UTC()
	if t%86400 == 0 {
		return strings.ToUpper(at.AddDate(0, 0, -1).Format("02Jan2006")), "24:00:00"
	}
	return strings.ToUpper(at.Format("02Jan2006")), at.Format(time.TimeOnly)
}

// missing is what DSS keeps of a value that there is none of.
const missing = -3.4028234663852886e38

// read reads a series in a time, both ends inclusive, without its missing
// values. most is how many there can be, those too.
func (f *file) read(path string, from, to int64, most int) (s Series, err error) {
	a, b := dssTime(from)
	c, d := dssTime(to)
	text, free := cStrings(path, a, b, c, d)
	defer free()
	times, values := make([]C.int, most), make([]C.double, most)
	var got, base, granularity C.int
	var unit, kind [64]C.char
	if status := C.hec_read(&f.lib, f.dss, text[0], text[1], text[2], text[3], text[4], &times[0], &values[0], C.int(most), &got, &base, &granularity, &unit[0], &kind[0], C.int(len(unit))); status != 0 {
		return s, fmt.Errorf("HEC's library reads no values, status %d", int(status))
	}
	s.Where = Where{Name: path, Unit: C.GoString(&unit[0]), Type: C.GoString(&kind[0])}
	for i := range int(got) {
		if v := float64(values[i]); v > missing {
			s.Points = append(s.Points, Point{Time: unix(int64(base), int64(times[i])*int64(granularity)), Value: v})
		}
	}
	return s, nil
}

// regular stores values that lie step seconds apart; those that are missing
// leave what is there.
func (f *file) regular(path string, from int64, values []float64, unit, kind string) error {
	day, clock := dssTime(from)
	text, free := cStrings(path, day, clock, unit, kind)
	defer free()
	if status := C.hec_store_regular(&f.lib, f.dss, text[0], text[1], text[2], (*C.double)(&values[0]), C.int(len(values)), text[3], text[4]); status != 0 {
		return fmt.Errorf("HEC's library does not store it, status %d", int(status))
	}
	return nil
}

// irregular merges values, of less than 68 years, into what is there.
func (f *file) irregular(path string, points []Point, unit, kind string) error {
	day := points[0].Time / 86400 * 86400
	times, values := make([]C.int, len(points)), make([]C.double, len(points))
	for i, p := range points {
		times[i], values[i] = C.int(p.Time-day), C.double(p.Value)
	}
	base := strings.ToUpper(time.Unix(day, 0).UTC().Format("02Jan2006"))
	text, free := cStrings(path, base, unit, kind)
	defer free()
	if status := C.hec_store_irregular(&f.lib, f.dss, text[0], text[1], &times[0], &values[0], C.int(len(values)), text[2], text[3]); status != 0 {
		return fmt.Errorf("HEC's library does not store it, status %d", int(status))
	}
	return nil
}

func cStrings(all ...string) (out []*C.char, free func()) {
	for _, s := range all {
		out = append(out, C.CString(s))
	}
	return out, func() {
		for _, s := range out {
			C.free(unsafe.Pointer(s))
		}
	}
}
