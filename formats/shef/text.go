package shef

import (
	"strconv"

	"github.com/barograph/barograph/record"
)

// AppendText appends a value as a line of shefit's text form 1, with its end of
// line: station, observation and creation time in UTC, parameter code, value,
// qualifier, probability, duration, revision, time series, source, comment.
func AppendText(b []byte, g *record.Gauge) []byte {
	b = appendPadded(b, g.Station, 10)
	b = appendTime(b, g.Time)
	b = append(b, ' ', ' ')
	if g.Created == record.NoTime {
		b = append(b, "0000-00-00 00:00:00"...)
	} else {
		b = appendTime(b, g.Created)
	}
	b = append(b, ' ', ' ')
	b = append(b, g.Code[:6]...)
	if g.Coded {
		b = append(b, g.Code[6])
	} else {
		b = append(b, ' ')
	}
	b = appendFixed(b, g.Value, 4, 15)
	b = append(b, ' ', g.Quality)
	b = appendFixed(b, float64(g.Probability), 3, 9)
	b = append(b, ' ', ' ')
	b = appendNumber(b, int(g.Duration), 4)
	b = append(b, ' ', flag(g.Revised), ' ', '0'+g.Series, ' ', ' ')
	b = appendPadded(b, g.Source, 8)
	b = append(b, "  \""...)
	if g.Comment == "" {
		b = append(b, ' ')
	}
	b = append(b, g.Comment...)
	return append(b, '"', '\n')
}

func flag(is bool) byte {
	if is {
		return '1'
	}
	return '0'
}

func appendPadded(b []byte, id record.ID, width int) []byte {
	n := id.Len()
	b = append(b, id[:n]...)
	for ; n < width; n++ {
		b = append(b, ' ')
	}
	return b
}

func appendFixed(b []byte, v float64, decimals, width int) []byte {
	from := len(b)
	b = strconv.AppendFloat(b, v, 'f', decimals, 64)
	if n := len(b) - from; n < width {
		b = append(b, "               "[:width-n]...)
		copy(b[len(b)-n:], b[from:from+n])
		for i := range width - n {
			b[from+i] = ' '
		}
	}
	return b
}

func appendNumber(b []byte, v, width int) []byte {
	var digits [8]byte
	for i := width - 1; i >= 0; i-- {
		digits[i] = '0' + byte(v%10)
		v /= 10
	}
	return append(b, digits[:width]...)
}

func appendTime(b []byte, t int64) []byte {
	var c clock
	c.set(t)
	b = appendNumber(b, int(c.year), 4)
	b = append(b, '-')
	b = appendNumber(b, int(c.month), 2)
	b = append(b, '-')
	b = appendNumber(b, int(c.day), 2)
	b = append(b, ' ')
	b = appendNumber(b, int(c.hour), 2)
	b = append(b, ':')
	b = appendNumber(b, int(c.minute), 2)
	b = append(b, ':')
	return appendNumber(b, int(c.second), 2)
}
