package export

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// Site is what is known of a station. It decides no time: messages tell theirs.
type Site struct {
	Name      string   `json:"name,omitempty" parquet:"name,dict"`
	Latitude  *float64 `json:"latitude,omitempty" parquet:"latitude,optional"`
	Longitude *float64 `json:"longitude,omitempty" parquet:"longitude,optional"`
	Zone      string   `json:"zone,omitempty" parquet:"zone,dict"`
}

// Sites are what is known of stations.
type Sites map[record.ID]Site

// ReadSites reads a table of stations: CSV whose first line names its columns,
// lid and any of name, lat, lon and zone; others are passed over.
func ReadSites(r io.Reader, file string) (Sites, error) {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	lid := slices.Index(head, "lid")
	if err != nil || lid < 0 {
		return nil, &fault.Error{File: file, Line: 1, Problem: "names no column lid", Err: err, Cure: "begin with lid,name,lat,lon,zone"}
	}
	sites := Sites{}
	for n := 2; ; n++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return sites, nil
		}
		var s Site
		for i := 0; i < len(row) && err == nil; i++ {
			switch head[i] {
			case "name":
				s.Name = row[i]
			case "zone":
				s.Zone = row[i]
			case "lat":
				s.Latitude, err = degrees(row[i])
			case "lon":
				s.Longitude, err = degrees(row[i])
			}
		}
		if err == nil && len(row[lid]) > len(record.ID{}) {
			err = strconv.ErrRange
		}
		if err != nil {
			return nil, &fault.Error{File: file, Line: n, Problem: "is no row of stations", Err: err, Cure: "write an identifier of at most 8 characters, and degrees as 30.8 and -99.5"}
		}
		var id record.ID
		copy(id[:], strings.ToUpper(row[lid]))
		sites[id] = s
	}
}

func degrees(text string) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not given
	}
	v, err := strconv.ParseFloat(text, 64)
	return &v, err
}

// of is what is known of a station. A stranger's identifier tells its place
// itself (SHEF manual 4.1.2): a letter for the quarter of the earth, latitude
// and longitude in tenths of degrees.
func (s Sites) of(id record.ID) Site {
	site, known := s[id]
	text := id.String()
	if known || len(text) != 8 || !strings.Contains("WXYZ", text[:1]) {
		return site
	}
	n, err := strconv.Atoi(text[1:])
	if err != nil {
		return site
	}
	quarter := text[0] - 'W'
	lat, lon := float64(n/10000)/10, float64(n%10000)/10
	if quarter == 0 || quarter == 3 {
		lat = -lat
	}
	if quarter < 2 {
		lon = -lon
	}
	return Site{Latitude: &lat, Longitude: &lon}
}
