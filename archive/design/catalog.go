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

// Catalog is the metadata of one subset: its series, their time spans and their leads. The loader
// stores it in the archive, which lets any client derive keys without a search. VxIngest's README
// requests such metadata, and METexpress keeps it in its *_metadata tables.
//
// Catalogs of parts of a subset merge in any order. Lists of values are sets and only grow. Records
// are counted, which allows Drop to subtract a replaced record.
type Catalog struct {
	Subset    string `json:"subset"`
	Algorithm string `json:"key_algorithm"`
	// of the archive and, with Program, of the last load; empty in archives of earlier versions
	Design  Name     `json:"design,omitempty"`
	Program string   `json:"program,omitempty"` // Barograph's version
	Schema  int      `json:"schema,omitempty"`  // version of the catalog's format, see Schema
	Groups  []*Group `json:"groups"`            // ordered by (line type, version, model, obtype, fcst_var)
	// Objects, and Digest and Valid of each group, are maintained; false in archives of earlier
	// versions
	Counted bool  `json:"counted"`
	Objects int64 `json:"objects"` // documents, pairs or rows, depending on the design

	// records that were removed because the archive keeps only recent days
	Trimmed int64 `json:"trimmed,omitempty"`
	// the last such removal removed all records with an earlier fcst_valid_beg
	TrimmedBefore int64 `json:"from,omitempty"`

	Loading *Loading `json:"loading,omitempty"` // the load that is running or was interrupted

	// the archive stores several records of one identity with different values
	KeepsConflicts bool `json:"keeps,omitempty"`

	Conflicts     []Conflict `json:"conflicts,omitempty"`      // lines of loaded files that contradict each other
	MoreConflicts bool       `json:"more_conflicts,omitempty"` // there were more than MaxConflicts

	Quarantine []Quarantine `json:"quarantine,omitempty"` // by file

	// Files and the seal are maintained; false in archives of earlier versions
	Sealed bool          `json:"sealed,omitempty"`
	Files  record.Digest `json:"files"` // digest of the marks; its Records is their number

	AdoptedOnly bool            `json:"-"` // built by reading the tables of another program, which stored nothing else
	Reread      map[string]bool `json:"-"` // files that a load reads again; Merge removes their refused conflicts from the other catalog

	text         []byte // the input of ParseCatalog
	index        map[groupKey]*Group
	headerGroups map[seenHeader]*Group // cache of group; nil = empty
	hash         record.Hasher
}

// seenHeader identifies a header by its digest and line type.
type seenHeader struct {
	lineType *record.LineType
	header   record.Key
}

// Group is the metadata of all series of one line type, version, model, observation type and
// variable.
type Group struct {
	LineType      string   `json:"line_type"`
	Version       string   `json:"version"`
	Model         string   `json:"model"`
	ObType        string   `json:"obtype"`
	FcstVar       string   `json:"fcst_var"`
	Masks         []string `json:"vx_mask"`
	Levels        []string `json:"fcst_lev"`
	FurtherFields []string `json:"further_fields"` // see KeyAlgorithm; [""] for VSDB
	Leads         []int32  `json:"fcst_lead"`      // seconds
	First         int64    `json:"fcst_valid_first"`
	Last          int64    `json:"fcst_valid_last"`
	// greatest common divisor of the distances between valid times; 0 = one time only
	Step int64 `json:"fcst_valid_step"`
	// forecast and observation share one valid time, and obs_lead is 0
	PlainTimes bool `json:"plain_times"`

	Digest record.Digest `json:"held"`  // number and digest of the records
	Valid  Moments       `json:"valid"` // fcst_valid_beg of all records
}

// Schema is the latest version of the catalog's format. This program reads all earlier versions.
// Archives that keep several records of one identity need version 2. All others need version 1,
// which earlier programs can also read.
const Schema = 2

// RequiredSchema is the version of the format that a program must support to read the archive.
func (c *Catalog) RequiredSchema() int {
	if c.KeepsConflicts {
		return 2
	}
	return 1
}

type groupKey struct{ lineType, version, model, obtype, fcstVar string }

// NewCatalog returns the catalog of an empty subset.
func NewCatalog(subset string) *Catalog {
	index, reread := map[groupKey]*Group{}, map[string]bool{}
	return &Catalog{Subset: subset, Algorithm: KeyAlgorithm, Counted: true, Sealed: true, index: index, Reread: reread}
}

// ParseCatalog reads a catalog that Encode wrote.
func ParseCatalog(text []byte) (*Catalog, error) {
	c := NewCatalog("")
	c.Counted, c.Sealed, c.text = false, false, text
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if c.Schema > Schema {
		problem := fmt.Sprintf("was stored by a later Barograph (%s, schema %d; this program supports %d)", c.Program, c.Schema, Schema)
		return nil, &fault.Error{Setting: "subset " + c.Subset, Problem: problem, Cure: "use that version or a later one"}
	}
	c.Counted = c.Counted || len(c.Groups) == 0
	for _, g := range c.Groups {
		c.index[g.key()] = g
	}
	return c, nil
}

// ParsedText is the input of ParseCatalog; nil if the catalog was built otherwise.
func (c *Catalog) ParsedText() []byte { return c.text }

// Encode writes the catalog as JSON: the metadata document of the subset. Its last field is a seal,
// a digest of all other fields.
func (c *Catalog) Encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil || !c.Sealed {
		return text, err
	}
	return fmt.Appendf(text[:len(text)-1], `,"seal":"%016x"}`, xxh3.Hash(text)), nil
}

// Intact reports whether the parsed catalog has the content that Encode sealed, even if the engine
// reformatted its JSON. A catalog of an earlier version has no seal and counts as intact.
func (c *Catalog) Intact() bool {
	var stored struct{ Seal string }
	if c.text == nil || json.Unmarshal(c.text, &stored) != nil {
		return c.text == nil
	}
	reparsed, err := ParseCatalog(c.text)
	if err != nil {
		return false
	}
	text, err := json.Marshal(reparsed)
	return err == nil && (!c.Sealed && stored.Seal == "" || stored.Seal == fmt.Sprintf("%016x", xxh3.Hash(text)))
}

func (g *Group) key() groupKey { return groupKey{g.LineType, g.Version, g.Model, g.ObType, g.FcstVar} }

// Add adds every record of b.
func (c *Catalog) Add(b *record.Batch) { c.AddEach(b, func(int, record.Key) {}) }

// AddEach adds every record of b, and calls each with the record's identity.
func (c *Catalog) AddEach(b *record.Batch, each func(i int, k record.Key)) {
	if b.Len() == 0 {
		return
	}
	groups := make([]*Group, len(b.Headers))
	c.KeepsConflicts = c.KeepsConflicts || b.KeepConflicts
	c.hash.SetBatch(b)
	var last *Group
	var lead int32
	var valid int64
	for i := range b.Len() {
		g := groups[b.HeaderIndex[i]]
		if g == nil {
			g = c.cachedGroup(b, i)
			groups[b.HeaderIndex[i]] = g
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
		k, digest := c.hash.KeyAndDigest(i)
		g.Digest.Add(digest)
		if g.PlainTimes && !b.HasPlainTimes(i) {
			g.PlainTimes = false
		}
		each(i, k)
	}
}

// cachedGroup is group for row i of b, to which c.hash is set. The cache saves time because small files
// contain the same headers.
func (c *Catalog) cachedGroup(b *record.Batch, i int) *Group {
	key := seenHeader{b.Type, c.hash.HeaderKey(i)}
	g := c.headerGroups[key]
	if g == nil {
		if c.headerGroups == nil {
			c.headerGroups = map[seenHeader]*Group{}
		}
		g = c.group(b.Type.Name, b.Header(i))
		c.headerGroups[key] = g
	}
	return g
}

// Drop subtracts row i of b because another row replaces it. It keeps the row's header values and
// times in the lists. The counts of a catalog may become negative; they are then subtracted when it
// is merged into another.
func (c *Catalog) Drop(b *record.Batch, i int) {
	c.hash.SetRow(b, i)
	c.group(b.Type.Name, b.Header(i)).Digest.Sub(c.hash.Digest(i))
}

// Digest is the sum of the digests of all groups.
func (c *Catalog) Digest() record.Digest {
	var d record.Digest
	for _, g := range c.Groups {
		d.Add(g.Digest)
	}
	return d
}

// group finds or creates the group of a header, and adds the header's mask, level and further
// fields to it.
func (c *Catalog) group(lineType string, h *record.Header) *Group {
	k := groupKey{lineType, h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar]}
	g := c.index[k]
	if g == nil {
		g = &Group{LineType: k.lineType, Version: k.version, Model: k.model, ObType: k.obtype, FcstVar: k.fcstVar, Last: -1, PlainTimes: true}
		c.insert(g)
	}
	g.Masks = insert(g.Masks, h[record.VxMask])
	g.Levels = insert(g.Levels, h[record.FcstLev])
	g.FurtherFields = insert(g.FurtherFields, Further(h))
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

// addTime adds a valid time: it widens First … Last and reduces Step to the greatest common
// divisor.
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

// Merge adds another catalog of the same subset, for example that of one commit to that of the
// archive.
func (c *Catalog) Merge(o *Catalog) {
	c.Conflicts = slices.DeleteFunc(c.Conflicts, func(one Conflict) bool { return one.Refused && o.Reread[one.Dropped.File] })
	for _, conflict := range o.Conflicts {
		c.AddConflict(conflict)
	}
	for _, q := range o.Quarantine {
		c.AddQuarantine(q)
	}
	if o.text != nil && len(c.Groups) == 0 {
		c.text = o.text
	}
	if o.Schema > 0 {
		c.Design, c.Program, c.Schema = o.Design, o.Program, o.Schema
	}
	if o.Loading != nil && (c.Loading == nil || o.Loading.Continues(c.Loading)) {
		c.Loading = o.Loading
	}
	if c.Loading != nil && c.Loading.PID == 0 {
		c.Loading = nil
	}
	c.Objects += o.Objects
	c.Trimmed, c.TrimmedBefore = c.Trimmed+o.Trimmed, max(c.TrimmedBefore, o.TrimmedBefore)
	c.Sealed, c.KeepsConflicts = c.Sealed && o.Sealed, c.KeepsConflicts || o.KeepsConflicts
	c.Files.Add(o.Files)
	c.MoreConflicts, c.Counted = c.MoreConflicts || o.MoreConflicts, c.Counted && o.Counted
	for _, g := range o.Groups {
		existing := c.index[g.key()]
		if existing == nil {
			clone := *g
			clone.Masks, clone.Levels = slices.Clone(g.Masks), slices.Clone(g.Levels)
			clone.FurtherFields, clone.Leads, clone.Valid = slices.Clone(g.FurtherFields), slices.Clone(g.Leads), slices.Clone(g.Valid)
			c.insert(&clone)
			continue
		}
		existing.Masks, existing.Levels = insert(existing.Masks, g.Masks...), insert(existing.Levels, g.Levels...)
		existing.FurtherFields = insert(existing.FurtherFields, g.FurtherFields...)
		existing.Leads, existing.Valid = insert(existing.Leads, g.Leads...), insert(existing.Valid, g.Valid...)
		existing.Digest.Add(g.Digest)
		if g.Last >= g.First { // false if it only dropped records
			step := gcd(existing.Step, g.Step)
			existing.addTime(g.First)
			existing.addTime(g.Last)
			existing.Step = gcd(existing.Step, step)
		}
		existing.PlainTimes = existing.PlainTimes && g.PlainTimes
	}
}

// Records counts the records by line type.
func (c *Catalog) Records() map[string]int64 {
	n := map[string]int64{}
	for _, g := range c.Groups {
		n[g.LineType] += g.Digest.Records
	}
	return n
}

// Clear removes all series and keeps the list of conflicts.
func (c *Catalog) Clear() {
	c.Groups, c.Objects, c.Counted, c.Sealed, c.Files = nil, 0, true, true, record.Digest{}
	clear(c.index)
	clear(c.headerGroups)
}

// insert adds values to a sorted set.
func insert[T cmp.Ordered](set []T, values ...T) []T {
	for _, v := range values {
		if at, found := slices.BinarySearch(set, v); !found {
			set = slices.Insert(set, at, v)
		}
	}
	return set
}

// Facts is what a flavour must know about the series that a question can match.
type Facts struct {
	Versions []string               // of the matching series
	Varies   [record.NumFields]bool // header fields with more than one value among them
	Plain    bool                   // all their records have plain times, see Group.PlainTimes
}

// Facts examines the series that q can match.
func (c *Catalog) Facts(q *question.Question) Facts {
	f := Facts{Plain: true}
	var seen [record.NumFields]map[string]struct{}
	for i := range seen {
		seen[i] = map[string]struct{}{}
	}
	for h, g := range c.Series(q) {
		for i, v := range h {
			if f := record.Field(i); repeatsForecast(f) && v == impliedValue(h, f) {
				v = "" // it repeats the forecast's field, and does not vary on its own
			}
			seen[i][v] = struct{}{}
		}
		f.Plain = f.Plain && g.PlainTimes
	}
	for i := range seen {
		f.Varies[i] = len(seen[i]) > 1
	}
	f.Versions = slices.Sorted(maps.Keys(seen[record.Version]))
	return f
}

// repeatsForecast reports whether an observation field usually repeats the forecast's.
func repeatsForecast(f record.Field) bool {
	return f == record.ObsVar || f == record.ObsLev || f == record.ObsThresh
}

// GroupFor returns the group whose records may have type t and header h; nil if the archive
// certainly has none. Most records of a load are new, and a loader writes those without searching
// for an existing record.
func (c *Catalog) GroupFor(t *record.LineType, h *record.Header) *Group {
	g := c.index[groupKey{t.Name, h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar]}]
	if g == nil || !contains(g.Masks, h[record.VxMask]) || !contains(g.Levels, h[record.FcstLev]) || !contains(g.FurtherFields, Further(h)) {
		return nil
	}
	return g
}

// MayContain reports whether the group may have records of a valid time. A nil group has none.
func (g *Group) MayContain(valid int64) bool {
	return g != nil && valid >= g.First && valid <= g.Last && (g.Step == 0 || (valid-g.First)%g.Step == 0)
}

// HasTime reports whether the group lists a valid time. A nil group lists none.
func (g *Group) HasTime(valid int64) bool { return g != nil && contains(g.Valid, valid) }

// HasLead reports whether the group has records of a lead, in seconds.
func (g *Group) HasLead(lead int32) bool { return contains(g.Leads, lead) }

func contains[T cmp.Ordered](sorted []T, v T) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}

// Conflict is a record to which two lines give different values.
type Conflict struct {
	Existing Line   `json:"stands"`            // the line whose values are stored
	Dropped  Line   `json:"dropped"`           // the line whose values are not stored, unless Kept
	What     string `json:"what"`              // the record, and the first value in which the lines differ
	Refused  bool   `json:"refused,omitempty"` // the user has not chosen which of the two to store
	Kept     bool   `json:"kept,omitempty"`    // both are stored
}

// Line is a line of a file. File is "" if the file is no longer known.
type Line struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// Compare orders lines by the path of their file, then by their number.
func (l Line) Compare(o Line) int {
	return cmp.Or(cmp.Compare(l.File, o.File), cmp.Compare(l.Line, o.Line))
}

// MaxConflicts is the maximum number of conflicts that a catalog lists, ordered by the dropped
// line. It lists one conflict of each file before it lists a second one of any file.
const MaxConflicts = 1000

// AddConflict adds a conflict to the catalog's list, which is a set. If the list is full, it removes the last
// conflict that is not the first one of its file or, if each is the first one of its file, the first of the
// list. Later loads find in the list that a line of a file was refused.
func (c *Catalog) AddConflict(one Conflict) {
	at, found := slices.BinarySearchFunc(c.Conflicts, one, func(a, b Conflict) int {
		return cmp.Or(a.Dropped.Compare(b.Dropped), a.Existing.Compare(b.Existing))
	})
	if found {
		return
	}
	c.Conflicts = slices.Insert(c.Conflicts, at, one)
	if at = len(c.Conflicts) - 1; at >= MaxConflicts {
		for at > 0 && c.Conflicts[at].Dropped.File != c.Conflicts[at-1].Dropped.File {
			at--
		}
		c.Conflicts, c.MoreConflicts = slices.Delete(c.Conflicts, at, at+1), true
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.Dropped, one.Existing, stored, one.What)
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
		return "a removed file"
	}
	return fmt.Sprintf("%s:%d", fault.Name(l.File), l.Line)
}

// Quarantine lists the lines of one file that could not be read.
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

// These limits bound the size of a catalog: reasons per file, and files.
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

// AddQuarantine records the lines of a completely loaded file that could not be read. It replaces
// the entry of a file with the same digest. An entry without lines has no effect on readers.
func (c *Catalog) AddQuarantine(q Quarantine) {
	c.Quarantine = slices.DeleteFunc(c.Quarantine, func(o Quarantine) bool { return o.Digest == q.Digest })
	at, _ := slices.BinarySearchFunc(c.Quarantine, q, func(a, b Quarantine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Digest, b.Digest))
	})
	c.Quarantine = slices.Insert(c.Quarantine, at, q)
	c.Quarantine = c.Quarantine[:min(len(c.Quarantine), MaxQuarantines)]
}
