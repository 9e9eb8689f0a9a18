package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Gauges writes decoded values. Write writes all values of r, the content of one product or of a part of a large one.
type Gauges interface {
	Write(r *shef.Result) error
	Flush() error // makes the written values readable; Parquet is only readable after Close
	Close() error
}

// GaugeFormats returns the formats of NewGauges; shefit is text form 1 of the National Weather
// Service's decoder.
func GaugeFormats() []string { return []string{"table", "csv", "json", "parquet", "shefit"} }

// NewGauges starts to write values in a format, with the properties of their stations.
func NewGauges(w io.Writer, format string, cell CellEncoder, sites Sites) (Gauges, error) {
	switch format {
	case "table":
		return newGaugeText(w, gaugeTableHead, appendGaugeTable), nil
	case "csv":
		return newGaugeText(w, gaugeCSVHead, (&gaugeCSV{cell, sites}).append), nil
	case "shefit":
		appendText := func(b []byte, _ *shef.Product, g *record.Gauge) []byte { return shef.AppendText(b, g) }
		return newGaugeText(w, "", appendText), nil
	case "json":
		b := bufio.NewWriter(w)
		return &gaugeJSON{b, json.NewEncoder(b), sites}, nil
	case "parquet":
		return newGaugeParquet(w, sites), nil
	}
	return nil, &fault.Status{Code: fault.Usage, Err: fault.Unknown("--format", format, GaugeFormats())}
}

// gaugeText writes a line for each value.
type gaugeText struct {
	w          *bufio.Writer
	line       []byte
	appendLine func([]byte, *shef.Product, *record.Gauge) []byte
	head       string
}

func newGaugeText(w io.Writer, head string, appendLine func([]byte, *shef.Product, *record.Gauge) []byte) *gaugeText {
	return &gaugeText{w: bufio.NewWriterSize(w, 64<<10), head: head, appendLine: appendLine}
}

func (t *gaugeText) Write(r *shef.Result) error {
	if t.head != "" {
		t.line = append(append(t.line[:0], t.head...), '\n')
		t.head = ""
		if _, err := t.w.Write(t.line); err != nil {
			return err
		}
	}
	for i := range r.Values {
		t.line = t.appendLine(t.line[:0], &r.Product, &r.Values[i])
		if _, err := t.w.Write(t.line); err != nil {
			return err
		}
	}
	return nil
}

func (t *gaugeText) Flush() error { return t.w.Flush() }
func (t *gaugeText) Close() error { return t.w.Flush() }

const gaugeTableHead = "station   time (UTC)           code     value         quality  duration  created (UTC)        " +
	"rev  series  source    comment"

func appendGaugeTable(b []byte, _ *shef.Product, g *record.Gauge) []byte {
	value, created := "missing", "-"
	if !g.IsMissing() {
		value = strconv.FormatFloat(g.Value, 'f', -1, 64)
	}
	if g.Created != record.NoTime {
		created = utcText(g.Created)
	}
	source := g.Source.String()
	if source == "" {
		source = "-"
	}
	return fmt.Appendf(b, "%-8s  %s  %s  %-12s  %-7c  %04d      %-19s  %-3s  %-6d  %-8s  %s\n",
		g.Station, utcText(g.Time), g.Code, value, g.Quality, g.Duration, created,
		map[bool]string{true: "yes", false: "no"}[g.Revised], g.Series, source, g.Comment)
}

func utcText(t int64) string { return time.Unix(t, 0).UTC().Format(time.DateTime) }

const gaugeCSVHead = "station,time,code,value,quality,duration,probability,created,revised,series,source,comment," +
	"product,file,line,center,issued,name,latitude,longitude,zone"

type gaugeCSV struct {
	cell  CellEncoder
	sites Sites
}

func (c *gaugeCSV) append(b []byte, p *shef.Product, g *record.Gauge) []byte {
	row := newGauge(p, g, c.sites)
	b = row.Time.AppendFormat(append(appendCell(b, c.cell(row.Station)), ','), time.RFC3339)
	b = appendNumber(append(appendCell(append(b, ','), c.cell(row.Code)), ','), row.Value)
	b = fmt.Appendf(appendCell(append(b, ','), c.cell(row.Quality)), ",%d,", g.Duration)
	if row.Probability != nil {
		b = strconv.AppendFloat(b, float64(*row.Probability), 'g', -1, 32)
	}
	b = appendTime(append(b, ','), row.Created)
	b = fmt.Appendf(b, ",%t,%d", g.Revised, g.Series)
	for _, text := range []string{row.Source, g.Comment, p.AWIPS, p.File} {
		b = appendCell(append(b, ','), c.cell(text))
	}
	b = appendCell(fmt.Appendf(b, ",%d,", g.Line), c.cell(row.Center))
	b = appendTime(append(b, ','), row.Issued)
	b = appendNumber(append(appendCell(append(b, ','), c.cell(row.Name)), ','), row.Latitude)
	b = appendNumber(append(b, ','), row.Longitude)
	return append(appendCell(append(b, ','), c.cell(row.Zone)), '\n')
}

func appendNumber(b []byte, v *float64) []byte {
	if v == nil {
		return b
	}
	return strconv.AppendFloat(b, *v, 'g', -1, 64)
}

func appendTime(b []byte, t *time.Time) []byte {
	if t == nil {
		return b
	}
	return t.AppendFormat(b, time.RFC3339)
}

// appendCell appends a text as a field of CSV (RFC 4180).
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// Gauge is a value as an object of JSON and a row of Parquet. Nil = missing, or not given.
type Gauge struct {
	Station     string     `json:"station" parquet:"station,dict"`
	Time        time.Time  `json:"time" parquet:"time,timestamp(millisecond)"`
	Code        string     `json:"code" parquet:"code,dict"`
	Value       *float64   `json:"value" parquet:"value,optional"`
	Quality     string     `json:"quality" parquet:"quality,dict"`
	Duration    int32      `json:"duration" parquet:"duration"`
	Probability *float32   `json:"probability,omitempty" parquet:"probability,optional"`
	Created     *time.Time `json:"created,omitempty" parquet:"created,optional,timestamp(millisecond)"`
	Revised     bool       `json:"revised" parquet:"revised"`
	Series      int32      `json:"series" parquet:"series"`
	Source      string     `json:"source,omitempty" parquet:"source,dict"`
	Comment     string     `json:"comment,omitempty" parquet:"comment,dict"`
	Product     string     `json:"product,omitempty" parquet:"product,dict"`
	File        string     `json:"file" parquet:"file,dict"`
	Line        int64      `json:"line" parquet:"line"`
	Center      string     `json:"center,omitempty" parquet:"center,dict"` // CCCC of the heading
	Issued      *time.Time `json:"issued,omitempty" parquet:"issued,optional,timestamp(millisecond)"`
	Site
}

func newGauge(p *shef.Product, g *record.Gauge, sites Sites) Gauge {
	row := Gauge{
		Station: g.Station.String(), Time: time.Unix(g.Time, 0).UTC(), Code: g.Code.String(), Quality: string(rune(g.Quality)),
		Duration: int32(g.Duration), Created: timeOrNil(g.Created), Revised: g.Revised, Series: int32(g.Series), Source: g.Source.String(),
		Comment: g.Comment, Product: p.AWIPS, File: p.File, Line: int64(g.Line), Issued: timeOrNil(p.Issued), Site: sites.site(g.Station),
	}
	if len(p.Heading) > 11 {
		row.Center = p.Heading[7:11]
	}
	if !g.IsMissing() {
		row.Value = &g.Value
	}
	if g.Probability >= 0 || g.Probability == -.5 { // -0.5 is the mean; -1 is no probability
		row.Probability = &g.Probability
	}
	return row
}

// timeOrNil converts Unix seconds; nil for record.NoTime.
func timeOrNil(unix int64) *time.Time {
	if unix == record.NoTime {
		return nil
	}
	t := time.Unix(unix, 0).UTC()
	return &t
}

// gaugeJSON writes an object on each line.
type gaugeJSON struct {
	*bufio.Writer
	enc   *json.Encoder
	sites Sites
}

func (j *gaugeJSON) Write(r *shef.Result) error {
	for i := range r.Values {
		row := newGauge(&r.Product, &r.Values[i], j.sites)
		if err := j.enc.Encode(&row); err != nil {
			return err
		}
	}
	return nil
}

func (j *gaugeJSON) Close() error { return j.Flush() }

// gaugeParquet writes row groups of a bounded size.
type gaugeParquet struct {
	w     *parquet.GenericWriter[Gauge]
	rows  []Gauge
	sites Sites
}

const rowGroup = 32 << 10 // rows

func newGaugeParquet(w io.Writer, sites Sites) *gaugeParquet {
	pw := parquet.NewGenericWriter[Gauge](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup))
	return &gaugeParquet{w: pw, sites: sites}
}

func (p *gaugeParquet) Write(r *shef.Result) error {
	p.rows = p.rows[:0]
	for i := range r.Values {
		p.rows = append(p.rows, newGauge(&r.Product, &r.Values[i], p.sites))
	}
	_, err := p.w.Write(p.rows)
	return err
}

func (p *gaugeParquet) Flush() error { return nil }
func (p *gaugeParquet) Close() error { return p.w.Close() }

// Site contains the properties of a station. Zone does not affect times: messages contain their
// time zone.
type Site struct {
	Name      string   `json:"name,omitempty" parquet:"name,dict"`
	Latitude  *float64 `json:"latitude,omitempty" parquet:"latitude,optional"`
	Longitude *float64 `json:"longitude,omitempty" parquet:"longitude,optional"`
	Zone      string   `json:"zone,omitempty" parquet:"zone,dict"`
}

// Sites maps stations to their properties.
type Sites map[record.ID]Site

// ReadSites reads a table of stations: CSV whose first line names its columns, lid and any of name,
// lat, lon and zone. It ignores other columns.
func ReadSites(r io.Reader, file string) (Sites, error) {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	lid := slices.Index(head, "lid")
	if err != nil || lid < 0 {
		return nil, &fault.Error{File: file, Line: 1, Problem: "names no column lid", Err: err, Cure: "begin with lid,name,lat,lon,zone"}
	}
	sites := Sites{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return sites, nil
		}
		line := lineOf(rows, err)
		var s Site
		for i := 0; i < len(row) && err == nil; i++ {
			switch head[i] {
			case "name":
				s.Name = row[i]
			case "zone":
				s.Zone = row[i]
			case "lat":
				s.Latitude, err = degrees(row[i], -90, 90)
			case "lon":
				s.Longitude, err = degrees(row[i], -180, 360)
			}
		}
		if err == nil && len(row[lid]) > len(record.ID{}) {
			err = strconv.ErrRange
		}
		if err != nil {
			return nil, &fault.Error{
				File: file, Line: line, Problem: "is not a row of stations", Err: err,
				Cure: "write an identifier of at most 8 characters, and degrees as 30.8 and -99.5",
			}
		}
		var id record.ID
		copy(id[:], strings.ToUpper(row[lid]))
		sites[id] = s
	}
}

// degrees reads a latitude or a longitude, which some networks count eastward from 0 to 360.
func degrees(text string, low, high float64) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not given
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !(v >= low && v <= high) { // JSON has no NaN
		err = strconv.ErrRange
	}
	return &v, err
}

// site returns the properties of a station. The identifier of a station that is not in the table may contain its place
// (SHEF manual 4.1.2): W for south-west, X north-west, Y north-east or Z south-east, then latitude and longitude in
// tenths of degrees, with three and four digits. site ignores a place that is not on the earth.
func (s Sites) site(id record.ID) Site {
	site, known := s[id]
	text := id.String()
	if known || len(text) != 8 || !strings.Contains("WXYZ", text[:1]) {
		return site
	}
	n, err := strconv.ParseUint(text[1:], 10, 32) // it accepts no sign
	lat, lon := float64(n/10000)/10, float64(n%10000)/10
	if err != nil || lat > 90 || lon > 180 {
		return site
	}
	if text[0] == 'W' || text[0] == 'Z' {
		lat = -lat
	}
	if text[0] == 'W' || text[0] == 'X' {
		lon = -lon
	}
	return Site{Latitude: &lat, Longitude: &lon}
}

// Product counts the content of a product, over all its parts.
type Product struct {
	File     string `json:"file"`
	Product  int    `json:"product"` // number of the product in the file, from 1
	Line     int    `json:"line"`    // first line of the product in the file, from 1
	AWIPS    string `json:"awips,omitempty"`
	Heading  string `json:"heading,omitempty"`
	Lines    int64  `json:"lines"`
	Messages int64  `json:"messages"`
	Values   int64  `json:"values"`
	Missing  int64  `json:"missing"` // included in Values
	Lost     int64  `json:"lost"`    // values that could not be decoded; not included in Values
	Nulls    int64  `json:"nulls"`   // empty places (SHEF manual 5.3.5)
	Errors   int64  `json:"errors"`
	Warnings int64  `json:"warnings"`
}

// NewProduct returns the Product with zero counts.
func NewProduct(p *shef.Product) Product {
	return Product{File: p.File, Product: p.Number, Line: p.Line, AWIPS: p.AWIPS, Heading: p.Heading}
}

// Add adds the counts of r, which is a part of the product.
func (p *Product) Add(r *shef.Result) {
	a := &r.Account
	p.Lines += a.Lines
	p.Messages += a.Messages
	p.Values += a.Values
	p.Lost += a.Lost
	p.Nulls += a.Nulls
	p.Errors += a.Errors
	p.Warnings += a.Warnings
	for i := range r.Values {
		if r.Values[i].IsMissing() {
			p.Missing++
		}
	}
}

// ProductHead is the header line of the list of products.
const ProductHead = "  lines  messages   values  missing     lost    nulls   errors  warnings  awips   heading" +
	"                 product"

// Write writes a row of the list of products.
func (p *Product) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(p)
	}
	_, err := fmt.Fprintf(w, "%7d  %8d  %7d  %7d  %7d  %7d  %7d  %8d  %-6s  %-22s  %s:%d\n",
		p.Lines, p.Messages, p.Values, p.Missing, p.Lost, p.Nulls, p.Errors, p.Warnings, p.AWIPS, p.Heading, fault.Name(p.File), p.Line)
	return err
}
