package enginetest

import (
	"math"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// AwkwardTexts lists texts that break an archive which quotes, pads, folds or shortens texts. Each is a
// distinct value that must be returned unchanged.
func AwkwardTexts() []string {
	return []string{
		"", " ", "trailing ", " leading", "'", "''", `"`, "`", `\`, `\'`, `a\`, "%", "_", "%25", "%3A", "::", "a::b", ":", ";", "a;b=c",
		"descr=x", "--", "-- comment", "/* x */", "$1", "?", ":name", "@p", "{}", "[1]", "NULL", "null", "NA", "na", "-9999", "0", "00", "1e3", "true",
		"a,b", "a|b", "tab\there", "line\nbreak", "carriage\rreturn", "é", "e\u0301", "É", "ß", "SS", "日本語", "🌀", "\u200b", "\ufeffbom", "gfs", "GFS",
		">=273.15&&<=300", "G2/NHX", "x'); DROP TABLE stat_header; --", strings.Repeat("long ", 40),
	}
}

// texts returns the awkward texts that the engine's schema accepts.
func (s *suite) texts() []string {
	var out []string
	for _, x := range AwkwardTexts() {
		if s.MaxText == 0 || len(x) <= s.MaxText {
			out = append(out, x)
		}
	}
	return out
}

// values tests values: every value that a file may contain must be returned unchanged.
func (s *suite) values(t *testing.T) {
	t.Run("every line type METdbLoad drops PCT and ECLV", s.everyType)
	t.Run("awkward numbers", s.awkwardNumbers)
	t.Run("awkward texts in columns", s.awkwardColumns)
	t.Run("awkward texts in headers", s.awkwardHeaders)
	t.Run("awkward times", s.awkwardTimes)
}

// everyType stores records of every line type twice, the second time into non-empty tables (METdbLoad then
// loses over-long records such as PCT and ECLV, or joins them to the wrong row). The records have missing
// values, texts, repeating columns of various lengths, and some differ only in key columns.
func (s *suite) everyType(t *testing.T) {
	var series []Series
	for i, lt := range record.Types() {
		series = append(series, Series{
			Type: lt, Header: met("WRF", "FULL", "TMP", "Z2", "NEAREST", ">0"), Windows: i%3 == 0,
			Valid: every(newYear2019, 6*hour, 2), Lead: hours(0, 6, 12),
			Stations: 1 + 2*len(lt.IdentityColumns()), // for each key column two records that differ only in it
		})
	}
	files := Generate(11, 2, series...)
	h := s.openNew(t)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
	s.everyColumn(t, h, files)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
}

// everyColumn asks for all columns of each line type.
func (s *suite) everyColumn(t *testing.T, h *opened, files []File) {
	var qs []*question.Question
	for _, lt := range record.Types() {
		q := everything("a", lt)
		q.Name, q.Valid = "all columns of "+lt.Name, question.Times{First: newYear2019, Last: newYear2019 + day, Step: 6 * hour}
		qs = append(qs, q)
	}
	s.proveInTurn(t, h, files, qs...)
}

// recordsOf makes a file with one record of type lt for each header.
func recordsOf(lt *record.LineType, headers []record.Header, fill func(b *record.Batch, i int)) []File {
	f := File{Path: "one.stat"}
	b := f.batch(lt)
	for i, h := range headers {
		b.AppendTimes(b.AddHeader(h), 6*hour, newYear2019, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i))
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], record.NA)
		}
		if lt.Group != nil {
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
		if fill != nil {
			fill(b, i)
		}
	}
	return []File{f}
}

// stations returns n headers that differ in their mask.
func stations(n int) []record.Header {
	out := make([]record.Header, n)
	for i := range out {
		out[i] = vsdb("GFS", "ANL", "M"+string(rune('A'+i/26))+string(rune('A'+i%26)), "HGT", "P500")
	}
	return out
}

// awkwardNumbers compares bit by bit, except for the sign of zero.
func (s *suite) awkwardNumbers(t *testing.T) {
	numbers := append(AwkwardNumbers(), record.Missing())
	files := recordsOf(lineType("SL1L2"), stations(len(numbers)), func(b *record.Batch, i int) {
		for k := 1; k < len(b.Num); k++ {
			b.Num[k][i] = numbers[(i+k)%len(numbers)]
		}
		if v := numbers[i]; v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			b.Num[0][i] = v // a count has no fraction
		}
	})
	h := s.openNew(t)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
	s.prove(t, h, files, everything("a", lineType("SL1L2")))
}

func (s *suite) awkwardColumns(t *testing.T) {
	texts := s.texts()
	lt := lineType("MPR")
	sid, _ := lt.Column("obs_sid")
	qc, _ := lt.Column("obs_qc")
	files := recordsOf(lt, stations(len(texts)), func(b *record.Batch, i int) {
		b.Headers, b.HeaderIndex[i] = b.Headers[:1], 0 // one header: only the key column distinguishes records
		b.Text[sid.Slot][i], b.Text[qc.Slot][i] = texts[i], texts[len(texts)-1-i]
		b.Num[1][i] = 1
	})
	h := s.openNew(t)
	mustStore(t, h, "a", files, 1)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
	s.prove(t, h, files, everything("a", lt))
}

// awkwardHeaders puts each text into a header field of its own record. It asks for all records, and then
// for each text separately, by day for a slow server for all texts of a field together.
func (s *suite) awkwardHeaders(t *testing.T) {
	fields := []record.Field{
		record.Model, record.VxMask, record.FcstVar, record.FcstLev, record.ObType, record.Descr, record.FcstThresh,
		record.InterpMthd,
	}
	var headers []record.Header
	for i, x := range s.texts() {
		h := met("WRF", "FULL", "TMP", "Z2", "NEAREST", ">0")
		h[fields[i%len(fields)]] = x
		h[fields[(i*3+1)%len(fields)]] = x
		headers = append(headers, h)
	}
	files := recordsOf(lineType("SL1L2"), headers, nil)
	h := s.openNew(t)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("SL1L2")))
	var qs []*question.Question
	for i, x := range s.texts() {
		if s.thin() && i >= len(fields) { // all texts of a field together
			asked := &qs[i%len(fields)].Header[fields[i%len(fields)]]
			*asked = append(*asked, x)
			continue
		}
		q := everything("a", lineType("SL1L2"))
		q.Name = "the text " + x
		q.Header[fields[i%len(fields)]] = []string{x, "absent"}
		q.Valid = question.Times{List: []int64{newYear2019}}
		qs = append(qs, q)
	}
	s.proveInTurn(t, h, files, qs...)
}

// awkwardTimes stores times before 1970 and before September 2001 (fewer than ten digits), after 2038, and
// negative and long leads.
func (s *suite) awkwardTimes(t *testing.T) {
	f := File{Path: "times.stat"}
	b := f.batch(lineType("SL1L2"))
	head := b.AddHeader(met("CFS", "FULL", "TMP", "Z2", "NEAREST", record.NA))
	const interval = 120 * day // few derived keys, though they span 130 years
	for i, n := range []int64{-1, 0, 1, 96, 97, 149, 395} {
		valid := n * interval
		for _, lead := range []int32{-6 * hour, 0, 90, 999 * hour} {
			appendRecord(b, &Series{Type: b.Type}, head, valid, lead, i, newRand(uint64(valid)))
		}
	}
	files := []File{f}
	h := s.openNew(t)
	mustStore(t, h, "a", files, 1)
	checkDigest(t, h, "a", expect(files))
	qs := []*question.Question{everything("a", b.Type)}
	for _, v := range []question.Times{
		{First: -interval, Last: hour},
		{First: hour, Last: 97 * interval},
		{First: 96 * interval, Last: 400 * interval, Step: interval},
		{First: -2 * interval, Last: -hour},
		{List: []int64{-interval, interval, 96 * interval, 97 * interval}},
	} {
		q := everything("a", b.Type)
		q.Name, q.Valid = "awkward times", v
		q.Lead = []int32{-6 * hour, 90, 999 * hour}
		qs = append(qs, q)
	}
	q := everything("a", b.Type)
	q.Name, q.TimeFilter = "hours before 1970", question.TimeFilter{ValidHour: []int{0}, InitHour: []int{9, 23}}
	qs = append(qs, q)
	s.prove(t, h, files, qs...)
}
