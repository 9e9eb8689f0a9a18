package design

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestBytesOfAPayload: archives store payloads, and a later version must read them. The bytes are written by hand after
// the layout in the comment before payloadVersion.
func TestBytesOfAPayload(t *testing.T) {
	number := func(dst []byte, values ...float64) []byte {
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
		return dst
	}
	varint := func(dst []byte, values ...int64) []byte {
		for _, v := range values {
			dst = binary.AppendVarint(dst, v)
		}
		return dst
	}
	rows := func(name string, leads ...int32) *record.Batch {
		b := &record.Batch{}
		b.Reset(mustType(name), "")
		head := b.AddHeader(record.DefaultHeader())
		for _, lead := range leads {
			b.AppendTimes(head, lead, day, 0)
		}
		return b
	}
	plain := rows("RHIST", 3600, 7200, 1)
	plain.Num = [][]float64{{5, 5, 5}, {record.Missing(), record.Missing(), record.Missing()}}
	plain.Group, plain.GroupEnd = []float64{1.5, 2.5, 3.5}, []uint32{2, 2, 3}
	wantPlain := []byte{1, 3, 1}
	wantPlain = varint(wantPlain, 3600, 3600, -7199)
	wantPlain = append(number(append(wantPlain, 1), 5), 0)
	wantPlain = number(append(wantPlain, 2), 1.5, 2.5)
	wantPlain = number(append(wantPlain, 0, 1), 3.5)

	windows := rows("SSIDX", 0, -60)
	windows.ValidEnd[0], windows.ObsLead[0], windows.ObsBeg[0], windows.ObsEnd[0] = day+1, 2, day-3, day+4
	windows.Num = [][]float64{{1, 2}, {3, 3}, {4, 4}, {5, 5}}
	windows.Text = [][]string{{"GFS", ""}, {"Ω", strings.Repeat("x", 130)}}
	wantWindows := []byte{1, 2, 0}
	wantWindows = varint(wantWindows, 0, -60, 1, 2, -3, 4, 0, 0, 0, 0)
	wantWindows = number(append(wantWindows, 2), 1, 2)
	for _, v := range []float64{3, 4, 5} {
		wantWindows = number(append(wantWindows, 1), v)
	}
	wantWindows = append(wantWindows, 3, 'G', 'F', 'S', 0, 2, 0xce, 0xa9, 0x82, 0x01) // 130 in two bytes
	wantWindows = append(wantWindows, strings.Repeat("x", 130)...)

	for name, c := range map[string]struct {
		b    *record.Batch
		want []byte
	}{"plain times": {plain, wantPlain}, "windows": {windows, wantWindows}} {
		got := AppendPayload([]byte("before"), c.b, 0, c.b.Len())
		if !bytes.Equal(got, append([]byte("before"), c.want...)) {
			t.Errorf("%s:\n%v\nwant\n%v", name, got[6:], c.want)
		}
		into := &record.Batch{}
		into.Reset(c.b.Type, "")
		if err := DecodePayload(c.want, into, into.AddHeader(c.b.Headers[0]), day); err != nil || digest(into) != digest(c.b) {
			t.Errorf("%s: %v", name, err)
		}
		if slices.ContainsFunc(into.Line, func(n uint32) bool { return n != 0 }) { // a payload does not have them
			t.Errorf("%s: numbers of lines %d", name, into.Line)
		}
		for what, bad := range map[string][]byte{
			"another version": append([]byte{2}, c.want[1:]...), "a further byte": append(slices.Clone(c.want), 0),
			"too many records": slices.Concat([]byte{1, 0xff, 0x7f}, c.want[2:]), "nothing": nil,
			"more records than an int can count": slices.Concat([]byte{1}, binary.AppendUvarint(nil, math.MaxUint64), c.want[2:]),
		} {
			into.Reset(c.b.Type, "")
			if err := DecodePayload(bad, into, into.AddHeader(c.b.Headers[0]), day); err == nil {
				t.Errorf("%s: a payload with %s is decoded", name, what)
			}
		}
	}
	// A part of a batch is the payload of its rows.
	part := AppendPayload(nil, plain, 1, 3)
	into := &record.Batch{}
	into.Reset(plain.Type, "")
	if err := DecodePayload(part, into, into.AddHeader(plain.Headers[0]), day); err != nil || into.Len() != 2 || into.Lead[0] != 7200 || len(into.Repeats(1)) != 1 {
		t.Errorf("%v, %+v", err, into)
	}
}

// TestTextOfADocument: the JSON text of a document, after the comment before ISO. A missing number has no member, a record
// with separate times has all of them.
func TestTextOfADocument(t *testing.T) {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.VxMask], h[record.FcstVar], h[record.FcstLev] = "V12.0", "GFS", "FULL", "TMP", "Z2"
	b := &record.Batch{}
	b.Reset(mustType("RHIST"), "")
	head := b.AddHeader(h)
	b.AppendTimes(head, 0, day, 1)
	b.AppendTimes(head, 21600, day, 2)
	b.ValidEnd[1], b.ObsLead[1], b.ObsBeg[1], b.ObsEnd[1] = day+1, -2, day-3, day+4
	b.Num = [][]float64{{3600, record.Missing()}, {2, 3}}
	b.Group, b.GroupEnd = []float64{0.1, record.Missing(), 1e21}, []uint32{2, 3}
	want := `{"id":"DD::V12.0::RHIST::s::GFS::FULL::TMP::NA::Z2::obs_var=NA;obs_lev=NA::1704067200","line_type":"RHIST","subset":"s",` +
		`"version":"V12.0","model":"GFS","descr":"NA","fcst_var":"TMP","fcst_units":"NA","fcst_lev":"Z2","obs_var":"NA","obs_units":"NA",` +
		`"obs_lev":"NA","obtype":"NA","vx_mask":"FULL","interp_mthd":"NA","interp_pnts":"0","fcst_thresh":"NA","obs_thresh":"NA",` +
		`"cov_thresh":"NA","alpha":"NA","fcst_valid_epoch":1704067200,"fcst_valid_beg":"2024-01-01T00:00:00Z","data":[` +
		`{"fcst_lead":0,"total":3600,"n_rank":2,"repeats":[0.1,null]},` +
		`{"fcst_lead":21600,"fcst_valid_end":1704067201,"obs_lead":-2,"obs_valid_beg":1704067197,"obs_valid_end":1704067204,` +
		`"n_rank":3,"repeats":[1e+21]}]}`
	if got := string(AppendJSON(nil, "s", b)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	into := &record.Batch{}
	into.Reset(b.Type, "")
	if subset, err := ParseJSON([]byte(want), into); err != nil || subset != "s" || digest(into) != digest(b) || into.Headers[0] != h {
		t.Errorf("subset %q, %v, header %q", subset, err, into.Headers)
	}
	if got := string(AppendISO([]byte("at "), -1)); got != "at 1969-12-31T23:59:59Z" {
		t.Error(got)
	}
}

// TestRepeats: repeating columns as JSON. A damaged text is an error, and changes nothing.
func TestRepeats(t *testing.T) {
	for text, want := range map[string][]float64{"[]": nil, "[1]": {1}, "[1.5,null,-2e-07]": {1.5, record.Missing(), -2e-7}} {
		if got := string(AppendRepeats([]byte("x"), want)); got != "x"+text {
			t.Errorf("%v is %s, want x%s", want, got, text)
		}
		got, err := ParseRepeats([]byte(text), []float64{7})
		if err != nil || !slices.EqualFunc(got, append([]float64{7}, want...), func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{}", "1", `["1"]`, "[1"} {
		if got, err := ParseRepeats([]byte(text), []float64{7}); err == nil || !slices.Equal(got, []float64{7}) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// TestTextOfTimes: runs of equidistant times are short, and every other time has a word.
func TestTextOfTimes(t *testing.T) {
	for want, times := range map[string]Moments{
		"":                        nil,
		"9223372036854775800+7*2": {math.MaxInt64 - 7, math.MaxInt64},
		"9223372036854775807":     {math.MaxInt64},
		"5":                       {5},
		"0+6*2":                   {0, 6},
		"-12+6*4":                 {-12, -6, 0, 6},
		"0+6*3 13+9*2":            {0, 6, 12, 13, 22},
		"0+6*2 100":               {0, 6, 100},
		"0+5*3 20+10*2 31+1*2":    {0, 5, 10, 20, 30, 31, 32},
	} {
		got, err := times.MarshalText()
		var back Moments
		if err != nil || string(got) != want || back.UnmarshalText([]byte(want)) != nil || !slices.Equal(back, times) {
			t.Errorf("%v is %q, want %q; read as %v", times, got, want, back)
		}
	}
	for _, text := range []string{"1+6", "1+6*", "1+6*x", "1+x*3", "1+-6*3", "1+6*-3", "0+1*10000001", "0+1*3 2", "9223372036854775800+8*2", "9223372036854775800+4*3", "0 +6*3", "9223372036854775807+1*2"} {
		var m Moments
		if err := m.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "is not a list of times") {
			t.Errorf("%q is read as %v, %v", text, m, err)
		}
	}
}

// TestStepOfTimes: the step is the distance of more than half of the neighbors, and gaps are counted in steps.
func TestStepOfTimes(t *testing.T) {
	for _, c := range []struct {
		times Moments
		step  int64
		gaps  []Gap
	}{
		{nil, 0, nil},
		{Moments{7}, 0, nil},
		{Moments{7, 9}, 2, nil},
		{Moments{0, 6, 12, 13, 20}, 0, nil}, // two of four
		{Moments{0, 6, 12, 13, 19}, 6, nil}, // three of four
		{Moments{0, 6, 12, 18, 30, 36, 60}, 6, []Gap{{18, 1}, {36, 3}}},
		{Moments{0, 6, 12, 24, 31, 37}, 6, []Gap{{12, 1}, {24, 1}}}, // 7 after 24 is later than 6
		{Moments{-12, -6, 6}, 0, nil},
	} {
		if got := c.times.Step(); got != c.step {
			t.Errorf("%v: step %d, want %d", c.times, got, c.step)
		}
		if got := c.times.Gaps(c.step); !slices.Equal(got, c.gaps) {
			t.Errorf("%v: gaps %v, want %v", c.times, got, c.gaps)
		}
	}
}

// TestBadKeysAreNothing: with an error, every other result of ParseKey is empty.
func TestBadKeysAreNothing(t *testing.T) {
	for _, key := range []string{"", "DD::V01::NONE::s::M::R::V::O::L::5", "DD::V01::SL1L2::s::M::R::V::O::L::x", "DD::V01::SL1L2::s::M::R::V::O::L::descr::5"} {
		lt, subset, _, valid, err := ParseKey(key)
		if err == nil || lt != nil || subset != "" || valid != 0 {
			t.Errorf("%q: %v, %q, %d, %v", key, lt, subset, valid, err)
		}
	}
}

// TestDesigns: each design has its own summary, and stores documents, pairs or rows.
func TestDesigns(t *testing.T) {
	seen := map[string]bool{}
	for i, n := range Names() {
		want := []string{"normalized rows", "document documents", "wide rows", "keyvalue pairs", "memory rows"}[i]
		if got := string(n) + " " + n.Objects(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if n.Summary() == "" || seen[n.Summary()] {
			t.Errorf("%s: summary %q", n, n.Summary())
		}
		seen[n.Summary()] = true
	}
	if got := Name("other").Summary(); len(Names()) != 5 || got != "" {
		t.Errorf("%d designs; another one is %q", len(Names()), got)
	}
}
