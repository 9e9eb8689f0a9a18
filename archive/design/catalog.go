package design

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Catalog is the metadata of one subset: which series exist, from when to
// when, at which leads. The loader keeps it with the archive, so that keys can
// be derived without a search. It is what VxIngest's README asks for, and what
// METexpress keeps in its *_metadata tables.
//
// Catalogs of parts merge in any order. What there may be is a set; what is
// held is counted, so that a record which another one replaces is dropped.
type Catalog struct {
	Subset    string   `json:"subset"`
	Algorithm string   `json:"key_algorithm"`
	Design    Name     `json:"design,omitempty"`  // of the archive, and who stored last; archives of earlier versions have none
	Program   string   `json:"program,omitempty"` // Barograph's version
	Schema    int      `json:"schema,omitempty"`  // of the catalog: Schema
	Groups    []*Group `json:"groups"`            // ordered by (line type, version, model, obtype, fcst_var)
	Counted   bool     `json:"counted"`           // Objects, and Held and Valid of each group are kept; archives of earlier versions have none
	Objects   int64    `json:"objects"`           // documents, pairs or rows, as the design stores the records

	Trimmed int64 `json:"trimmed,omitempty"` // records that were removed, as the archive keeps those of the last days only
	From    int64 `json:"from,omitempty"`    // the least fcst_valid_beg that the last of these removals left

	Loading *Loading `json:"loading,omitempty"` // who loads, or has broken off

	Keeps bool `json:"keeps,omitempty"` // records of one identity and different values stand beside each other

	Conflicts     []Conflict `json:"conflicts,omitempty"`      // what files of the archive contradict each other in
	MoreConflicts bool       `json:"more_conflicts,omitempty"` // there were more than MaxConflicts

	Quarantine []Quarantine `json:"quarantine,omitempty"` // by file

	Sealed bool          `json:"sealed,omitempty"` // Files and the seal are kept; archives of earlier versions have none
	Files  record.Digest `json:"files"`            // of the marks, whose number is its Records

	Foreign bool `json:"-"` // made by reading what another program has stored: nothing else is known of it

	text  []byte // what ParseCatalog read
	index map[groupKey]*Group
	seen  map[seenHeader]*Group // what group has found; nil = nothing
	hash  record.Hasher
}

// seenHeader is a header, by its digest, of a line type.
type seenHeader struct {
	lineType *record.LineType
	header   record.Key
}

// Group is the metadata of all series of one line type, version, model,
// observation type and variable.
type Group struct {
	LineType string   `json:"line_type"`
	Version  string   `json:"version"`
	Model    string   `json:"model"`
	ObType   string   `json:"obtype"`
	FcstVar  string   `json:"fcst_var"`
	Masks    []string `json:"vx_mask"`
	Levels   []string `json:"fcst_lev"`
	Further  []string `json:"further_fields"` // see KeyAlgorithm; [""] for VSDB
	Leads    []int32  `json:"fcst_lead"`      // seconds
	First    int64    `json:"fcst_valid_first"`
	Last     int64    `json:"fcst_valid_last"`
	Step     int64    `json:"fcst_valid_step"` // greatest common divisor of the distances between valid times; 0 = one time only
	Plain    bool     `json:"plain_times"`     // forecast and observation share one valid time, obs_lead is 0

	Held  record.Digest `json:"held"`  // how many records there are, and what they say
	Valid Moments       `json:"valid"` // fcst_valid_beg of all of them
}

// Schema is the latest version of what is stored; archives of all earlier ones are
// read. What keeps several records of one identity is of version 2, all else of 1,
// which earlier programs know, too.
const Schema = 2

// Needs is the version that a program must know to read the archive.
func (c *Catalog) Needs() int {
	if c.Keeps {
		return 2
	}
	return 1
}

type groupKey struct{ lineType, version, model, obtype, fcstVar string }

// NewCatalog returns the catalog of an empty subset.
func NewCatalog(subset string) *Catalog {
	return &Catalog{Subset: subset, Algorithm: KeyAlgorithm, Counted: true, Sealed: true, index: map[groupKey]*Group{}}
}

// ParseCatalog reads what Encode wrote.
func ParseCatalog(text []byte) (*Catalog, error) {
	c := NewCatalog("")
	c.Counted, c.Sealed, c.text = false, false, text
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if c.Schema > Schema {
		return nil, &fault.Error{Setting: "subset " + c.Subset, Problem: fmt.Sprintf("was stored by a later Barograph (%s, schema %d; this one knows %d)", c.Program, c.Schema, Schema), Cure: "use that version or a later one"}
	}
	c.Counted = c.Counted || len(c.Groups) == 0
	for _, g := range c.Groups {
		c.index[g.key()] = g
	}
	return c, nil
}

// Text is what ParseCatalog read; nil of a catalog that was made otherwise.
func (c *Catalog) Text() []byte { return c.text }

// Encode writes the catalog as JSON: the metadata document of the subset. Its
// last field is a seal, a digest of all others.
func (c *Catalog) Encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil || !c.Sealed {
		return text, err
	}
	return fmt.Appendf(text[:len(text)-1], `,"seal":"%016x"}`, xxh3.Hash(text)), nil
}

// Intact reports whether a catalog that was read is as it was written; engines
// may have written its JSON in another form. Those of earlier versions are.
func (c *Catalog) Intact() bool {
	var kept struct{ Seal string }
	if c.text == nil || json.Unmarshal(c.text, &kept) != nil {
		return c.text == nil
	}
	again, err := ParseCatalog(c.text)
	if err != nil {
		return false
	}
	text, err := json.Marshal(again)
	return err == nil && (!c.Sealed && kept.Seal == "" || kept.Seal == fmt.Sprintf("%016x", xxh3.Hash(text)))
}

func (g *Group) key() groupKey { return groupKey{g.LineType, g.Version, g.Model, g.ObType, g.FcstVar} }

// Add notes every record of b.
func (c *Catalog) Add(b *record.Batch) { c.AddEach(b, func(int, record.Key) {}) }

// AddEach notes every record of b, and tells the identity of each.
func (c *Catalog) AddEach(b *record.Batch, each func(i int, k record.Key)) {
	if b.Len() == 0 {
		return
	}
	groups := make([]*Group, len(b.Headers))
	c.Keeps = c.Keeps || b.Keep
	c.hash.Use(b)
	var last *Group
	var lead int32 = -1
	var valid int64
	for i := range b.Len() {
		g := groups[b.Head[i]]
		if g == nil {
			g = c.groupSeen(b, i)
			groups[b.Head[i]] = g
		}
		if g != last || b.Lead[i] != lead {
			lead = b.Lead[i]
			g.Leads = insert(g.Leads, lead)
		}
		if g != last || b.Valid[i] != valid {
			valid = b.Valid[i]
			g.addTime(valid)
		}
		last = g
		k, digest := c.hash.Both(i)
		g.Held.Add(digest)
		if g.Plain && !b.Plain(i) {
			g.Plain = false
		}
		each(i, k)
	}
}

// groupSeen is group for row i of b, which c.hash uses. Small files bring the
// same headers again and again.
func (c *Catalog) groupSeen(b *record.Batch, i int) *Group {
	at := seenHeader{b.Type, c.hash.Head(i)}
	g := c.seen[at]
	if g == nil {
		if c.seen == nil {
			c.seen = map[seenHeader]*Group{}
		}
		g = c.group(b.Type.Name, b.Header(i))
		c.seen[at] = g
	}
	return g
}

// Drop counts row i of b no longer, as another takes its place. That there may
// be such records stays noted. A catalog can have dropped more than it holds:
// what is to be taken off when it is merged into another.
func (c *Catalog) Drop(b *record.Batch, i int) {
	c.hash.UseRow(b, i)
	c.group(b.Type.Name, b.Header(i)).Held.Sub(c.hash.Digest(i))
}

// Held is the sum of all groups.
func (c *Catalog) Held() record.Digest {
	var d record.Digest
	for _, g := range c.Groups {
		d.Add(g.Held)
	}
	return d
}

// group finds or makes the group of a header and notes its mask, level and further fields.
func (c *Catalog) group(lineType string, h *record.Header) *Group {
	k := groupKey{lineType, h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar]}
	g := c.index[k]
	if g == nil {
		g = &Group{LineType: k.lineType, Version: k.version, Model: k.model, ObType: k.obtype, FcstVar: k.fcstVar, First: 0, Last: -1, Plain: true}
		c.insert(g)
	}
	g.Masks = insert(g.Masks, h[record.VxMask])
	g.Levels = insert(g.Levels, h[record.FcstLev])
	g.Further = insert(g.Further, Further(h))
	return g
}

func (c *Catalog) insert(g *Group) {
	c.index[g.key()] = g
	at, _ := slices.BinarySearchFunc(c.Groups, g, func(a, b *Group) int {
		x, y := a.key(), b.key()
		return cmp.Or(cmp.Compare(x.lineType, y.lineType), cmp.Compare(x.version, y.version), cmp.Compare(x.model, y.model),
			cmp.Compare(x.obtype, y.obtype), cmp.Compare(x.fcstVar, y.fcstVar))
	})
	c.Groups = slices.Insert(c.Groups, at, g)
}

// addTime notes a valid time: it widens First … Last and narrows Step to the
// greatest common divisor.
func (g *Group) addTime(v int64) {
	g.Valid = insert(g.Valid, v)
	if g.Last < g.First { // the first time of all
		g.First, g.Last = v, v
		return
	}
	g.Step = gcd(g.Step, v-g.First)
	g.First, g.Last = min(g.First, v), max(g.Last, v)
}

func gcd(a, b int64) int64 {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Merge adds another catalog of the same subset, e.g. that of the records of
// one commit to that of the archive.
func (c *Catalog) Merge(o *Catalog) {
	for _, one := range o.Conflicts {
		c.Note(one)
	}
	for _, q := range o.Quarantine {
		c.Reject(q)
	}
	if o.text != nil && len(c.Groups) == 0 {
		c.text = o.text
	}
	if o.Schema > 0 {
		c.Design, c.Program, c.Schema = o.Design, o.Program, o.Schema
	}
	if o.Loading != nil {
		c.Loading = o.Loading
	}
	if c.Loading != nil && c.Loading.PID == 0 {
		c.Loading = nil
	}
	c.Objects += o.Objects
	c.Trimmed, c.From = c.Trimmed+o.Trimmed, max(c.From, o.From)
	c.Sealed, c.Keeps = c.Sealed && o.Sealed, c.Keeps || o.Keeps
	c.Files.Add(o.Files)
	c.MoreConflicts, c.Counted = c.MoreConflicts || o.MoreConflicts, c.Counted && o.Counted
	for _, g := range o.Groups {
		mine := c.index[g.key()]
		if mine == nil {
			clone := *g
			clone.Masks, clone.Levels = slices.Clone(g.Masks), slices.Clone(g.Levels)
			clone.Further, clone.Leads, clone.Valid = slices.Clone(g.Further), slices.Clone(g.Leads), slices.Clone(g.Valid)
			c.insert(&clone)
			continue
		}
		mine.Masks, mine.Levels, mine.Further = insert(mine.Masks, g.Masks...), insert(mine.Levels, g.Levels...), insert(mine.Further, g.Further...)
		mine.Leads, mine.Valid = insert(mine.Leads, g.Leads...), insert(mine.Valid, g.Valid...)
		mine.Held.Add(g.Held)
		if g.Last >= g.First { // it notes times, and does not only drop records
			step := gcd(mine.Step, g.Step)
			mine.addTime(g.First)
			mine.addTime(g.Last)
			mine.Step = gcd(mine.Step, step)
		}
		mine.Plain = mine.Plain && g.Plain
	}
}

// Records counts them by line type.
func (c *Catalog) Records() map[string]int64 {
	n := map[string]int64{}
	for _, g := range c.Groups {
		n[g.LineType] += g.Held.Records
	}
	return n
}

// Clear forgets all series, and keeps the list of conflicts.
func (c *Catalog) Clear() {
	c.Groups, c.Objects, c.Counted, c.Sealed, c.Files = nil, 0, true, true, record.Digest{}
	clear(c.index)
	clear(c.seen)
}

// insert puts values into a sorted set.
func insert[T cmp.Ordered](set []T, values ...T) []T {
	for _, v := range values {
		if at, found := slices.BinarySearch(set, v); !found {
			set = slices.Insert(set, at, v)
		}
	}
	return set
}

// Facts is what a phrasing needs to know of the series that a question can match.
type Facts struct {
	Versions []string               // of the matching series
	Varies   [record.NumFields]bool // header fields with more than one value among them
	Plain    bool                   // all their records have plain times
}

// Facts looks through the catalog for the series that q can match.
func (c *Catalog) Facts(q *question.Question) Facts {
	f := Facts{Plain: true}
	var seen [record.NumFields]map[string]struct{}
	for i := range seen {
		seen[i] = map[string]struct{}{}
	}
	for h, g := range c.Series(q) {
		for i, v := range h {
			if f := record.Field(i); mirrors(f) && v == implied(h, f) {
				v = "" // says the same as the forecast's field: no difference of its own
			}
			seen[i][v] = struct{}{}
		}
		f.Plain = f.Plain && g.Plain
	}
	for i := range seen {
		f.Varies[i] = len(seen[i]) > 1
	}
	f.Versions = slices.Sorted(maps.Keys(seen[record.Version]))
	return f
}

// mirrors reports whether an observation field usually repeats the forecast's.
func mirrors(f record.Field) bool {
	return f == record.ObsVar || f == record.ObsLev || f == record.ObsThresh
}

// Holding finds the group under which an archive may hold records of type t
// and header h; nil where it certainly holds none. Most of what a loader brings
// is new, and is written without a look at what is stored.
func (c *Catalog) Holding(t *record.LineType, h *record.Header) *Group {
	g := c.index[groupKey{t.Name, h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar]}]
	if g == nil || !has(g.Masks, h[record.VxMask]) || !has(g.Levels, h[record.FcstLev]) || !has(g.Further, Further(h)) {
		return nil
	}
	return g
}

// MayHold reports whether there may be records of a valid time; a nil group has none.
func (g *Group) MayHold(valid int64) bool {
	return g != nil && valid >= g.First && valid <= g.Last && (g.Step == 0 || (valid-g.First)%g.Step == 0)
}

// HasLead reports whether there are records of a lead, in seconds.
func (g *Group) HasLead(lead int32) bool { return has(g.Leads, lead) }

func has[T cmp.Ordered](sorted []T, v T) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}

// Conflict is a record to which two lines give different values.
type Conflict struct {
	Stands  Line   `json:"stands"`            // whose values the archive holds
	Dropped Line   `json:"dropped"`           // whose values it does not, unless both are kept
	What    string `json:"what"`              // the record, and the first value in which they differ
	Refused bool   `json:"refused,omitempty"` // nobody has chosen which of the two stands
	Kept    bool   `json:"kept,omitempty"`    // both are stored
}

// Line is a line of a file. File is "" where it is not known any more; a line
// is known by its file.
type Line struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// Compare orders lines by the path of their file, then by their number.
func (l Line) Compare(o Line) int {
	return cmp.Or(cmp.Compare(l.File, o.File), cmp.Compare(l.Line, o.Line))
}

// MaxConflicts is the number of conflicts that a catalog lists: the first ones
// by the line that was dropped.
const MaxConflicts = 1000

// Note adds a conflict to the catalog's list, which is a set.
func (c *Catalog) Note(one Conflict) {
	at, found := slices.BinarySearchFunc(c.Conflicts, one, func(a, b Conflict) int {
		return cmp.Or(a.Dropped.Compare(b.Dropped), a.Stands.Compare(b.Stands))
	})
	if found {
		return
	}
	c.Conflicts = slices.Insert(c.Conflicts, at, one)
	if len(c.Conflicts) > MaxConflicts {
		c.Conflicts, c.MoreConflicts = c.Conflicts[:MaxConflicts], true
	}
}

// ConflictsText writes the list of conflicts as a table.
func (c *Catalog) ConflictsText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "conflicting line\texisting line\tstored\trecord and first difference")
	for _, one := range c.Conflicts {
		stored := "existing, by choice"
		switch {
		case one.Refused:
			stored = "existing; refused"
		case one.Kept:
			stored = "both"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.Dropped, one.Stands, stored, one.What)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	more := ""
	if c.MoreConflicts {
		more = ", and more that were not kept"
	}
	_, err := fmt.Fprintf(out, "conflicts: %d%s\n", len(c.Conflicts), more)
	return err
}

// String is "file:line".
func (l Line) String() string {
	if l.File == "" {
		return "a file that was removed"
	}
	return fmt.Sprintf("%s:%d", fault.Name(l.File), l.Line)
}

// Quarantine is what of one file could not be read.
type Quarantine struct {
	File    string   `json:"file"`
	Digest  string   `json:"digest"` // of the file's bytes, see archive.Mark
	Lines   int64    `json:"lines"`
	Reasons []Reason `json:"reasons"` // the first MaxReasons, in the order of the file
}

// Reason is why lines could not be read.
type Reason struct {
	Text  string `json:"reason"`
	Lines int64  `json:"lines"`
	First uint32 `json:"first_line"`
}

// MaxReasons and MaxQuarantines bound what a catalog keeps: the reasons of a
// file, and files.
const (
	MaxReasons     = 20
	MaxQuarantines = 1000
)

// Add counts a line.
func (q *Quarantine) Add(line uint32, reason string) {
	q.Lines++
	i := slices.IndexFunc(q.Reasons, func(r Reason) bool { return r.Text == reason })
	switch {
	case i >= 0:
		q.Reasons[i].Lines++
	case len(q.Reasons) < MaxReasons:
		q.Reasons = append(q.Reasons, Reason{reason, 1, line})
	}
}

// Reject notes what of a file that is loaded whole could not be read. It takes
// the place of what was noted of the same bytes; no lines = there is nothing any more.
func (c *Catalog) Reject(q Quarantine) {
	c.Quarantine = slices.DeleteFunc(c.Quarantine, func(o Quarantine) bool { return o.Digest == q.Digest })
	at, _ := slices.BinarySearchFunc(c.Quarantine, q, func(a, b Quarantine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Digest, b.Digest))
	})
	c.Quarantine = slices.Insert(c.Quarantine, at, q)
	c.Quarantine = c.Quarantine[:min(len(c.Quarantine), MaxQuarantines)]
}
