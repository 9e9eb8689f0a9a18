package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/barograph/barograph/fault"
)

// Interval is one line of a histogram log: what was recorded under a tag
// between two wall times. The log keeps milliseconds.
type Interval struct {
	Tag        string // operation, such as "READ"; may be empty
	Start, End time.Time
	Histogram  *Histogram
}

// LogWriter writes the standard HdrHistogram log, format version 1.3, which
// HistogramLogAnalyzer and the other HdrHistogram tools read. Times are
// absolute, maxima in milliseconds.
type LogWriter struct {
	log *hdrhistogram.HistogramLogWriter
}

// NewLogWriter writes the head of a log: the comments, one per line, the
// version, the start of the run and the legend.
func NewLogWriter(w io.Writer, start time.Time, comments ...string) (*LogWriter, error) {
	log := hdrhistogram.NewHistogramLogWriter(w)
	for _, c := range comments {
		for line := range strings.Lines(c) {
			if err := log.OutputComment(strings.TrimRight(line, "\r\n")); err != nil {
				return nil, fmt.Errorf("write histogram log: %w", err)
			}
		}
	}
	err := errors.Join(log.OutputLogFormatVersion(), log.OutputStartTime(start.UnixMilli()), log.OutputLegend())
	if err != nil {
		return nil, fmt.Errorf("write histogram log: %w", err)
	}
	return &LogWriter{log}, nil
}

// Write adds one interval. A tag must not contain commas, white space or
// control characters: the format has no way to quote them.
func (l *LogWriter) Write(i Interval) error {
	if strings.ContainsFunc(i.Tag, func(r rune) bool { return r == ',' || r <= ' ' || r == 0x7f }) {
		return &fault.Error{
			Setting: "tag", Problem: fmt.Sprintf("%q has a comma, white space or a control character", i.Tag),
			Cure: "name the operation with letters, digits, '-' and '_'",
		}
	}
	h := i.Histogram.hdr
	h.SetTag(i.Tag)
	h.SetStartTimeMs(i.Start.UnixMilli())
	h.SetEndTimeMs(i.End.UnixMilli())
	if err := l.log.OutputIntervalHistogram(h); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return nil
}

// ReadLog yields the intervals of a histogram log, of ours or of another tool,
// plain or tagged. A line that is no interval ends it with a *fault.Error that
// has the line number: the library's own reader passes over such lines in
// silence, and what was measured would be lost unseen. Start and end may be one
// millisecond early, since the library truncates decimal seconds.
func ReadLog(r io.Reader) iter.Seq2[Interval, error] {
	return func(yield func(Interval, error) bool) {
		lines := bufio.NewReader(r)
		var head strings.Builder // start and base time, which give later lines their meaning
		for n := 1; ; n++ {
			line, err := lines.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Interval{}, fmt.Errorf("read histogram log: %w", err))
				return
			}
			text := strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(text, "#["):
				head.WriteString(text + "\n")
			case text == "", text[0] == '#', text[0] == '"':
			default:
				i, bad := readInterval(head.String(), text)
				if bad != nil {
					yield(Interval{}, &fault.Error{
						Line: n, Problem: "not an interval of a histogram log", Err: bad,
						Cure: "restore the file, or delete the line and lose what it counted",
					})
					return
				}
				if !yield(i, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readInterval decodes one line behind the time lines seen so far.
func readInterval(head, line string) (Interval, error) {
	h, err := hdrhistogram.NewHistogramLogReader(strings.NewReader(head + line + "\n")).NextIntervalHistogram()
	if err != nil {
		return Interval{}, err
	}
	if h == nil {
		return Interval{}, errors.New("expected [Tag=…,]start,length,maximum,histogram")
	}
	return Interval{
		Tag:   h.Tag(),
		Start: time.UnixMilli(h.StartTimeMs()).UTC(), End: time.UnixMilli(h.EndTimeMs()).UTC(),
		Histogram: &Histogram{hdr: h},
	}, nil
}

// Packed is a histogram as a log holds it: compressed, as base64.
type Packed string

// Pack packs a histogram.
func (h *Histogram) Pack() (Packed, error) {
	text, err := h.hdr.EncodeV2()
	return Packed(text), err
}

// Histogram unpacks it.
func (p Packed) Histogram() (*Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(p))
	if err != nil {
		return nil, fmt.Errorf("read a histogram: %w", err)
	}
	return &Histogram{hdr: h}, nil
}
