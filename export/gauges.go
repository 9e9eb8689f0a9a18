package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"

	"github.com/parquet-go/parquet-go"
)

// Gauges writes decoded values as they come.
type Gauges interface {
	Write(r *shef.Result) error
	Close() error
}

// GaugeFormats are those that NewGauges writes; shefit is text form 1 of the
// National Weather Service's decoder.
func GaugeFormats() []string { return []string{"table", "csv", "json", "parquet", "shefit"} }

// NewGauges begins to write values in a format.
func NewGauges(w io.Writer, format string, cell Cell) (Gauges, error) {
	switch format {
	case "table":
		return newGaugeText(w, gaugeTableHead, appendGaugeTable), nil
	case "csv":
		return newGaugeText(w, gaugeCSVHead, cell.appendGauge), nil
	case "shefit":
		return newGaugeText(w, "", func(b []byte, _ *shef.Product, g *record.Gauge) []byte { return shef.AppendText(b, g) }), nil
	case "json":
		b := bufio.NewWriter(w)
		return &gaugeJSON{w: b, enc: json.NewEncoder(b)}, nil
	case "parquet":
		return newGaugeParquet(w), nil
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

func (t *gaugeText) Close() error { return t.w.Flush() }

const gaugeTableHead = "station   time (UTC)           code     value         quality  duration  created (UTC)        rev  series  source    comment"

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
		g.Station, utcText(g.Time), g.Code, value, g.Quality, g.Duration, created, yesNo(g.Revised), g.Series, source, g.Comment)
}

func utcText(t int64) string { return time.Unix(t, 0).UTC().Format(time.DateTime) }

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

const gaugeCSVHead = "station,time,code,value,quality,duration,probability,created,revised,series,source,comment,product,file,line"

func (cell Cell) appendGauge(b []byte, p *shef.Product, g *record.Gauge) []byte {
	b = fmt.Appendf(b, "%s,%s,%s,", cell(g.Station.String()), time.Unix(g.Time, 0).UTC().Format(time.RFC3339), g.Code)
	if !g.IsMissing() {
		b = strconv.AppendFloat(b, g.Value, 'g', -1, 64)
	}
	b = fmt.Appendf(b, ",%c,%d,", g.Quality, g.Duration)
	if g.Probability >= 0 || g.Probability == -.5 {
		b = strconv.AppendFloat(b, float64(g.Probability), 'g', -1, 32)
	}
	b = append(b, ',')
	if g.Created != record.NoTime {
		b = time.Unix(g.Created, 0).UTC().AppendFormat(b, time.RFC3339)
	}
	b = fmt.Appendf(b, ",%t,%d,%s,", g.Revised, g.Series, g.Source)
	b = appendQuoted(b, cell(g.Comment))
	b = appendQuoted(append(b, ','), cell(p.AWIPS))
	b = appendQuoted(append(b, ','), cell(p.File))
	return fmt.Appendf(b, ",%d\n", g.Line)
}

// appendQuoted appends a CSV field (RFC 4180).
func appendQuoted(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// Gauge is a value as JSON and Parquet have it. Nil is missing, or not given.
type Gauge struct {
	Station     string   `json:"station" parquet:"station,dict"`
	Time        int64    `json:"-" parquet:"time"` // Unix seconds
	TimeText    string   `json:"time" parquet:"-"`
	Code        string   `json:"code" parquet:"code,dict"`
	Value       *float64 `json:"value" parquet:"value,optional"`
	Quality     string   `json:"quality" parquet:"quality,dict"`
	Duration    int32    `json:"duration" parquet:"duration"`
	Probability *float32 `json:"probability,omitempty" parquet:"probability,optional"`
	Created     *int64   `json:"-" parquet:"created,optional"` // Unix seconds
	CreatedText string   `json:"created,omitempty" parquet:"-"`
	Revised     bool     `json:"revised" parquet:"revised"`
	Series      int32    `json:"series" parquet:"series"`
	Source      string   `json:"source,omitempty" parquet:"source,dict"`
	Comment     string   `json:"comment,omitempty" parquet:"comment,dict"`
	Product     string   `json:"product,omitempty" parquet:"product,dict"`
	File        string   `json:"file" parquet:"file,dict"`
	Line        int64    `json:"line" parquet:"line"`
}

func newGauge(p *shef.Product, g *record.Gauge) Gauge {
	row := Gauge{
		Station: g.Station.String(), Time: g.Time, Code: g.Code.String(), Quality: string(rune(g.Quality)),
		Duration: int32(g.Duration), Revised: g.Revised, Series: int32(g.Series), Source: g.Source.String(),
		Comment: g.Comment, Product: p.AWIPS, File: p.File, Line: int64(g.Line),
	}
	if !g.IsMissing() {
		row.Value = &g.Value
	}
	if g.Probability >= 0 || g.Probability == -.5 {
		row.Probability = &g.Probability
	}
	if g.Created != record.NoTime {
		row.Created = &g.Created
	}
	return row
}

// gaugeJSON writes an object on each line.
type gaugeJSON struct {
	w   *bufio.Writer
	enc *json.Encoder
}

func (j *gaugeJSON) Write(r *shef.Result) error {
	for i := range r.Values {
		row := newGauge(&r.Product, &r.Values[i])
		row.TimeText = time.Unix(row.Time, 0).UTC().Format(time.RFC3339)
		if row.Created != nil {
			row.CreatedText = time.Unix(*row.Created, 0).UTC().Format(time.RFC3339)
		}
		if err := j.enc.Encode(&row); err != nil {
			return err
		}
	}
	return nil
}

func (j *gaugeJSON) Close() error { return j.w.Flush() }

// gaugeParquet writes row groups of a bounded size.
type gaugeParquet struct {
	w    *parquet.GenericWriter[Gauge]
	rows []Gauge
}

const rowGroup = 32 << 10 // rows

func newGaugeParquet(w io.Writer) *gaugeParquet {
	return &gaugeParquet{w: parquet.NewGenericWriter[Gauge](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup))}
}

func (p *gaugeParquet) Write(r *shef.Result) error {
	p.rows = p.rows[:0]
	for i := range r.Values {
		p.rows = append(p.rows, newGauge(&r.Product, &r.Values[i]))
	}
	_, err := p.w.Write(p.rows)
	return err
}

func (p *gaugeParquet) Close() error { return p.w.Close() }
