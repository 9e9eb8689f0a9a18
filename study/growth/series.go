package growth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Options describe a series.
type Options struct {
	Files    []string
	KeepLast bool                 // accept a last line without a line end
	Dir      string               // the folder into which the days are written
	MaxDays  int                  // number of days at the largest size
	Models   int                  // number of models; 0 = as in the files
	Cases    []*question.Question // nil = derived from the first day
}

// Series is the data of some days, repeated for as many days as wanted. A day is 24 hours of valid
// times, counted from the first valid time of the files. After the last day of the files the first
// one follows again, moved to later days. The files of a day have the lines of the real files with
// other times and, in a copy of a model, with another model: no value is formatted again.
type Series struct {
	Options
	ModelCount int
	Notes      []string // what is not in the series, with the reason

	fileDays int                 // number of days of the files
	first    int64               // first valid time of the files
	models   []string            // of the files
	renamed  []map[string]string // by copy of the models: the model of the files → its name
	unread   map[string]bool     // files that cannot be read to their end
	parsed   *load.ParseCache
	days     [][]string // the written files, by day
}

const secondsPerDay = 24 * 60 * 60

// parsedMemory is the limit in bytes for keeping the parsed records in memory.
const parsedMemory = 256 << 20

// Open finds the days and the models of the files.
func Open(ctx context.Context, o Options) (*Series, error) {
	s := &Series{Options: o, unread: map[string]bool{}, parsed: load.NewParseCache(parsedMemory)}
	models, least, last := map[string]bool{}, int64(0), int64(0)
	each := func(_ *load.File, b *record.Batch) error {
		for i, t := range b.Valid {
			if len(models) == 0 && i == 0 {
				least, last = t, t
			}
			least, last = min(least, t), max(last, t)
			models[b.Header(i)[record.Model]] = true
		}
		return nil
	}
	end := func(f *load.File) error {
		if f.Err != nil {
			s.unread[f.Path] = true
			s.Notes = append(s.Notes, f.Path+" cannot be read to its end; the series has it on its first day only")
		}
		return nil
	}
	err := load.Read(ctx, o.Files, load.ReadOptions{KeepLast: o.KeepLast, ParseCache: s.parsed}, each, end)
	if err == nil && len(models) == 0 {
		err = &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Problem: "the data has no records, so there is no day to repeat", Cure: "name other files; `barograph show FILES` shows what they contain",
		}}
	}
	s.first, s.fileDays, s.models = least, int((last-least)/secondsPerDay)+1, slices.Sorted(maps.Keys(models))
	if err == nil {
		s.renamed, err = renames(s.models, o.Models)
	}
	s.ModelCount = max(o.Models, len(s.models))
	return s, err
}

// dayOf is the day of the files, from 0, to which a valid time belongs.
func (s *Series) dayOf(valid int64) int { return int((valid - s.first) / secondsPerDay) }

// renames returns the names of the models in each copy of the data; the copy with number 0 keeps
// those of the files. Together the copies have n models; 0 = as many as the files. The second copy
// of GFS is called GFS_2.
func renames(models []string, n int) ([]map[string]string, error) {
	if n == 0 {
		n = len(models)
	}
	if n < len(models) {
		return nil, fault.Misuse(fmt.Sprintf("--models %d", n), fmt.Sprintf("is less than the %d models of the files", len(models)), "name more models, or the files of fewer")
	}
	out := []map[string]string{{}}
	for _, model := range models {
		out[0][model] = model
	}
	taken := slices.Clone(models)
	for i := len(models); i < n; i++ {
		model := models[i%len(models)]
		if i%len(models) == 0 {
			out = append(out, map[string]string{})
		}
		name := fmt.Sprintf("%s_%d", model, len(out))
		for slices.Contains(taken, name) { // a model of the files has this name
			name += "_2"
		}
		taken, out[len(out)-1][model] = append(taken, name), name
	}
	return out, nil
}

// Through writes the days that are not written yet and returns the files of the first n days.
func (s *Series) Through(ctx context.Context, n int) ([]string, error) {
	for day := len(s.days); day < n; day++ {
		files, err := s.write(ctx, day)
		if err == nil {
			err = s.check(ctx, day, files)
		}
		if err != nil {
			return nil, err
		}
		s.days = append(s.days, slices.Sorted(maps.Keys(files)))
	}
	return slices.Concat(s.days[:n]...), nil
}

// write writes the files of a day, and returns for each of them the file that it is made from.
func (s *Series) write(ctx context.Context, day int) (map[string]string, error) {
	out := map[string]string{}
	for i, path := range s.Files {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.unread[path] && day == 0:
			out[path] = path
			continue
		case s.unread[path]:
			continue
		}
		r, err := formats.OpenText(path)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		for copyIndex, models := range s.renamed {
			lines := s.day(text, day, copyIndex, models)
			if lines == nil {
				continue
			}
			// The name of the folder is part of the model of VSDB's ensembles.
			to := filepath.Join(s.Dir, fmt.Sprintf("day-%04d", day+1), fmt.Sprintf("%d-%d", i+1, copyIndex+1), filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), ".gz"))
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, lines, 0o644)); err != nil { //nolint:gosec // like the other files of a run folder
				return nil, err
			}
			out[to] = path
		}
	}
	return out, nil
}

// day returns the lines of a file for a day and a copy of the models; nil = none has a time on that
// day. MET's lines of column names are in each file. Other lines without a time, which no archive
// stores, are on the first day only, so that a study reports each of them once.
func (s *Series) day(text []byte, day, copyIndex int, models map[string]string) (out []byte) {
	source, shiftDays := day%s.fileDays, day/s.fileDays*s.fileDays
	hasLines := false
	for line := range bytes.Lines(text) {
		times := timesIn(line)
		switch {
		case len(times) == 0 && (bytes.HasPrefix(line, []byte("VERSION")) || day == 0 && copyIndex == 0):
			out = append(out, line...)
			hasLines = hasLines || !bytes.HasPrefix(line, []byte("VERSION"))
			continue
		case len(times) == 0 || s.dayOf(times[0].unix) != source || times[0].unix < s.first:
			continue
		}
		at := 0
		if copyIndex > 0 {
			model := tokens(line)[1]
			name, member, ensemble := strings.Cut(string(line[model.from:model.to]), "/")
			if models[name] == "" {
				continue
			}
			out = append(append(out, line[:model.from]...), models[name]...)
			if at = model.to; ensemble {
				out = append(append(out, '/'), member...)
			}
		}
		for _, t := range times {
			out = append(out, line[at:t.from]...)
			out, at = time.Unix(t.unix+int64(shiftDays)*secondsPerDay, 0).UTC().AppendFormat(out, t.layout), t.to
		}
		out, hasLines = append(out, line[at:]...), true
	}
	if !hasLines {
		return nil
	}
	return out
}

type token struct{ from, to int }

// tokens returns where the first tokens of a line are: as many as the line types' headers have, and those
// of the times of tropical cyclones.
func tokens(line []byte) (out []token) {
	const most = 24
	from := -1
	for i, c := range line {
		switch blank := c <= ' '; {
		case !blank && from < 0:
			from = i
		case blank && from >= 0:
			out, from = append(out, token{from, i}), -1
			if len(out) == most {
				return out
			}
		}
	}
	if from >= 0 {
		out = append(out, token{from, len(line)})
	}
	return out
}

// lineTime is a time in a line, and how it is written.
type lineTime struct {
	token
	layout string
	unix   int64
}

// timesIn finds the times in a line of VSDB (YYYYMMDDHH, the fourth token) or of MET
// (YYYYMMDD_HHMMSS); the first is the valid time. The check of the written files finds a line with
// times elsewhere.
func timesIn(line []byte) (out []lineTime) {
	for i, t := range tokens(line) {
		layout := "20060102_150405"
		switch {
		case i == 3 && t.to-t.from == 10:
			layout = "2006010215"
		case t.to-t.from != len(layout) || line[t.from+8] != '_':
			continue
		}
		at, err := time.Parse(layout, string(line[t.from:t.to]))
		if err != nil {
			continue
		}
		out = append(out, lineTime{t, layout, at.Unix()})
		if i == 3 && layout == "2006010215" {
			break
		}
	}
	return out
}

// check reads the files of a day, and compares their records with those of the real files, whose
// times and models it changes itself.
func (s *Series) check(ctx context.Context, day int, written map[string]string) error {
	source, by := day%s.fileDays, int64(day/s.fileDays*s.fileDays)*secondsPerDay
	want, got := map[string]record.Digest{}, map[string]record.Digest{}
	var hash record.Hasher
	add := func(sums map[string]record.Digest, path string, b *record.Batch) {
		if b.Len() > 0 && !s.unread[path] {
			d := sums[path]
			d.Add(hash.DigestOf(b))
			sums[path] = d
		}
	}
	o := load.ReadOptions{KeepLast: s.KeepLast, ParseCache: s.parsed}
	ignore := func(*load.File) error { return nil }
	err := load.Read(ctx, s.Files, o, func(f *load.File, b *record.Batch) error {
		for _, models := range s.renamed {
			add(want, f.Path, s.shifted(b, source, by, models))
		}
		return nil
	}, ignore)
	if err != nil {
		return err
	}
	o.ParseCache = nil
	err = load.Read(ctx, slices.Sorted(maps.Keys(written)), o, func(f *load.File, b *record.Batch) error {
		add(got, written[f.Path], b)
		return nil
	}, ignore)
	if err != nil {
		return err
	}
	for _, path := range s.Files {
		if want[path] != got[path] {
			return &fault.Error{
				File: path,
				Problem: fmt.Sprintf("cannot be shifted: it has %s of a day, the shifted file has %s, or has others",
					english.Plural(int(want[path].Records), "record", ""), humanize.Comma(int64(got[path].Records))),
				Cure: "name VSDB files, or MET files of other tools; --models copies only lines that name their model in the second column",
			}
		}
	}
	return nil
}

// shifted returns the records of a day of the files, with other times and models.
func (s *Series) shifted(b *record.Batch, source int, by int64, models map[string]string) *record.Batch {
	out := b.Filter(func(i int) bool {
		return s.dayOf(b.Valid[i]) == source && models[b.Header(i)[record.Model]] != ""
	})
	moved := *out
	moved.Headers = slices.Clone(out.Headers)
	for i := range moved.Headers {
		if name := models[moved.Headers[i][record.Model]]; name != "" { // otherwise no row has this header
			moved.Headers[i][record.Model] = name
		}
	}
	for _, times := range []*[]int64{&moved.Valid, &moved.ValidEnd, &moved.ObsBeg, &moved.ObsEnd} {
		*times = slices.Clone(*times)
		for i := range *times {
			(*times)[i] += by
		}
	}
	return &moved
}
