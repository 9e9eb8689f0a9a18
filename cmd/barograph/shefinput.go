package main

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/barograph/barograph/export"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"

	"github.com/spf13/cobra"
)

// shefInput is how SHEF is read, and which of its values are wanted.
type shefInput struct {
	now, from, to, shefparm, stations string
	known                             bool
	filter                            shef.Filter
	sites                             export.Sites
}

func (s *shefInput) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.now, "now", "", "moment that decides years, e.g. 2024-07-03 or 2024-07-03T12:00:00Z (default: the present)")
	f.StringSliceVar(&s.filter.Stations, "station", nil, "patterns of stations that are wanted")
	f.StringSliceVar(&s.filter.Elements, "pe", nil, "patterns of physical elements, e.g. HG,P?")
	f.StringSliceVar(&s.filter.Sources, "ts", nil, "patterns of types and sources, e.g. R?,!RZ")
	f.StringVar(&s.from, "from", "", "first time of observation that is wanted, e.g. 2024-07-01")
	f.StringVar(&s.to, "to", "", "last one")
	f.StringVar(&s.shefparm, "shefparm", "", "shefparm file of a centre's own elements and codes")
	f.StringVar(&s.stations, "stations", "", "CSV file of stations: lid,name,lat,lon,zone")
	f.BoolVar(&s.known, "only-known", false, "leave out stations that --stations does not have")
}

// read reads what the flags name.
func (s *shefInput) read() (o shef.Options, err error) {
	if o.Now, err = moment("--now", s.now); err != nil {
		return o, err
	}
	for _, x := range []struct {
		flag, text string
		at         *int64
	}{{"--from", s.from, &s.filter.From}, {"--to", s.to, &s.filter.To}} {
		if x.text == "" {
			continue
		}
		t, err := moment(x.flag, x.text)
		if err != nil {
			return o, err
		}
		*x.at = t.Unix()
	}
	if err := s.filter.Check(); err != nil {
		return o, usage(&fault.Error{Setting: "--station, --pe, --ts", Problem: "is no pattern", Err: err, Cure: "write * for any letters, ? for one, [A-C] for one of several"})
	}
	if s.shefparm != "" {
		o.Tables, err = readTable(s.shefparm, shef.ReadTables)
	}
	if s.stations != "" && err == nil {
		s.sites, err = readTable(s.stations, export.ReadSites)
	}
	if s.known {
		s.filter.Known = func(id record.ID) bool { _, ok := s.sites[id]; return ok }
	}
	return o, err
}

func readTable[T any](name string, read func(r io.Reader, file string) (T, error)) (t T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return t, err
	}
	t, err = read(f, name)
	return t, errors.Join(err, f.Close())
}

// moment is that of a flag; the present where none is given.
func moment(flag, text string) (t time.Time, err error) {
	if text == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01-02T15"} {
		if t, err = time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return t, fault.Misuse(flag+" "+text, "is not a time", "write 2024-07-03 or 2024-07-03T12:00:00Z")
}
