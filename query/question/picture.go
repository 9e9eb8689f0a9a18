package question

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// drawingYAML is the YAML form of a Drawing. The fields have the names of Drawing's fields; some keys are
// those of former versions.
type drawingYAML struct {
	Picture            string            `yaml:"picture,omitempty"`
	RightAxis          bool              `yaml:"right,omitempty"`
	Stat               stringList        `yaml:"stat,flow,omitempty"`
	Axis               string            `yaml:"axis,omitempty"`
	Series             groupsYAML        `yaml:"series,flow,omitempty"`
	Method             string            `yaml:"method,omitempty"`
	FromColumns        bool              `yaml:"finished,omitempty"`
	BootCI             string            `yaml:"boot_ci,omitempty"`
	Block              int               `yaml:"block,omitempty"`
	PlotCI             stringList        `yaml:"plot_ci,flow,omitempty"` // of former versions: the plot_ci of Styles
	NoVIF              bool              `yaml:"no_vif,omitempty"`
	Interval           *bootstrapYAML    `yaml:"interval,flow,omitempty"`
	EventEqual         bool              `yaml:"event_equal,omitempty"`
	Equalize           groupsYAML        `yaml:"equalize,flow,omitempty"`
	EqualizeAcrossAxis bool              `yaml:"equal_places,omitempty"`
	Baseline           string            `yaml:"minus,omitempty"`
	Derived            []derivedYAML     `yaml:"derived,omitempty"`
	Styles             []metviewer.Style `yaml:"styles,omitempty"`
	EquivalenceLow     *float64          `yaml:"eqbound_low,omitempty"`
	EquivalenceHigh    *float64          `yaml:"eqbound_high,omitempty"`
	Only               stringList        `yaml:"only,flow,omitempty"`
	XLabel             string            `yaml:"x_label,omitempty"`
	YLabel             string            `yaml:"y_label,omitempty"`
	Ticks              []metviewer.Tick  `yaml:"ticks,omitempty"`
}

// noStat is written in YAML in place of the statistics if nothing is to be drawn.
const noStat = "none"

// The bootstrap of a question that specifies none, and the largest number of replicates.
const (
	DefaultReplicates = 300
	DefaultConfidence = 0.95
	maxReplicates     = 100_000
)

// bootstrapYAML is the YAML form of a bootstrap. A single number is its confidence, and 0 means none.
type bootstrapYAML struct {
	Confidence float64 `yaml:"confidence"`
	Replicates *int    `yaml:"replicates,omitempty"` // nil = the default
	Seed       *uint64 `yaml:"seed,omitempty"`
}

// derivedYAML is the YAML form of a derived curve.
type derivedYAML struct {
	Op    string          `yaml:"op"`
	A     []int           `yaml:"a,flow"`
	B     []int           `yaml:"b,flow"`
	StatA string          `yaml:"stat_a,omitempty"`
	StatB string          `yaml:"stat_b,omitempty"`
	Style metviewer.Style `yaml:"style,omitempty"`
}

func (b *bootstrapYAML) UnmarshalYAML(decode func(any) error) error {
	if decode(&b.Confidence) == nil {
		return nil
	}
	var given map[string]any
	if decode(&given) == nil && len(given) > 0 {
		b.Confidence = DefaultConfidence // if only other keys are given
	}
	type keys bootstrapYAML
	return decode((*keys)(b))
}

// groupsYAML is the YAML form of the fields that make curves: one field, several, or fields with their
// values. A list within the list of values is one curve.
type groupsYAML []Group

func (s *groupsYAML) UnmarshalYAML(node ast.Node) error {
	for _, item := range itemsOf(node) {
		fields, ok := item.(ast.MapNode)
		if !ok {
			var field stringList
			if err := field.UnmarshalYAML(item); err != nil {
				return err
			}
			*s = append(*s, lists.Map(field, func(f string) Group { return Group{Field: f} })...)
			continue
		}
		for field := fields.MapRange(); field.Next(); {
			g := Group{Field: field.Key().GetToken().Value}
			for _, v := range itemsOf(field.Value()) {
				var together stringList
				err := together.UnmarshalYAML(v)
				for i := 0; i < len(together) && err == nil; i++ {
					together[i], err = normalGroupValue(g.Field, together[i])
				}
				if g.Values = append(g.Values, together); err != nil || len(together) == 0 {
					return cmp.Or(err, errors.New("a list has an empty value"))
				}
			}
			*s = append(*s, g)
		}
	}
	return nil
}

// MarshalYAML writes the shortest of these forms.
func (s groupsYAML) MarshalYAML() (any, error) {
	if !slices.ContainsFunc(s, func(g Group) bool { return len(g.Values) > 0 }) {
		return stringList(lists.Map(s, func(g Group) string { return g.Field })).MarshalYAML()
	}
	fields := lists.Map(s, func(g Group) yaml.MapSlice {
		return yaml.MapSlice{{Key: g.Field, Value: lists.Map(g.Values, func(v []string) stringList { return v })}}
	})
	if len(lists.Set(s, func(g Group) string { return g.Field })) < len(s) { // a map has no key twice
		return fields, nil
	}
	return slices.Concat(fields...), nil
}

// groupFields are the fields outside of the header that can make curves.
var groupFields = []string{"fcst_lead", "fcst_valid_beg", "fcst_init_beg", "valid_hour", "init_hour"} //nolint:gochecknoglobals // a constant table

// drawing makes the drawing of q, and restricts q to the values of its curves (addSeriesConditions). The result is nil if
// YAML specifies no drawing.
func (p *drawingYAML) drawing(q *Question) (*Drawing, error) {
	if reflect.ValueOf(*p).IsZero() {
		return nil, nil //nolint:nilnil // the default drawing of the line type
	}
	if err := checkPicture(q.Type, p.Picture); err != nil {
		return nil, err
	}
	d := &Drawing{
		Picture: p.Picture, RightAxis: p.RightAxis, Axis: p.Axis, Curves: p.Series, Method: p.Method, BootCI: p.BootCI,
		Block: p.Block, NoVIF: p.NoVIF, EventEqual: p.EventEqual, Equalize: p.Equalize,
		EqualizeAcrossAxis: p.EqualizeAcrossAxis, Baseline: p.Baseline, Styles: p.Styles,
		EquivalenceBounds: [2]*float64{p.EquivalenceLow, p.EquivalenceHigh}, XLabel: p.XLabel, YLabel: p.YLabel, Ticks: p.Ticks,
	}
	switch {
	case slices.Equal(p.Stat, stringList{noStat}):
	case len(p.Stat) == 0 && !d.ShowsLineType() && DefaultStat(q.Type) != "":
		d.Stats = []string{DefaultStat(q.Type)}
	default:
		d.Stats = p.Stat
	}
	if slices.ContainsFunc(d.Ticks, func(t metviewer.Tick) bool {
		return t.Position != nil && (math.IsNaN(*t.Position) || math.IsInf(*t.Position, 0))
	}) {
		return nil, &fault.Error{Setting: "ticks", Problem: "have a position that is not a number", Cure: "write the position on the axis, e.g. 2"}
	}
	if known := []string{"perc", "pivotal", "bca"}; d.BootCI != "" && !slices.Contains(known, d.BootCI) {
		return nil, fault.Unknown("boot_ci", d.BootCI, known)
	}
	if d.Block < 0 {
		return nil, &fault.Error{Setting: "block", Problem: "is negative", Cure: "write 1 to draw single records, or omit it"}
	}
	if n := len(p.PlotCI); n > 0 && d.numCurves() <= maxCurves { // otherwise Question.Check refuses the question
		for i := range max(d.numCurves(), n) {
			d.Styles = append(d.Styles, metviewer.Style{"plot_ci": p.PlotCI[i%n]})
		}
	}
	for i := range d.Styles {
		if len(d.Styles[i]) == 0 {
			d.Styles[i] = nil // FromPlots, too, represents a style without properties by nil
		}
		if err := d.Styles[i].Check(); err != nil {
			return nil, err
		}
	}
	if err := d.checkNames(q); err != nil {
		return nil, err
	}
	d.FromColumns = p.FromColumns || len(d.Stats) > 0 && isOnlyInColumn(q.Type, d.Stats[0])
	methods := []string{"overall", "mean", "median", "sum"}
	if IsDefaultStatFromColumn(q.Type) {
		methods = methods[1:]
	}
	if d.Method = cmp.Or(p.Method, DefaultMethod(q.Type)); !slices.Contains(methods, d.Method) {
		return nil, fault.Unknown("method of "+q.Type.Name, p.Method, methods)
	}
	q.addSeriesConditions(d.Curves)
	var err error
	if d.Derived, err = p.derivedCurves(q, d); err != nil {
		return nil, err
	}
	if d.ValueConditions, err = parseValueConditions(q.Type, p.Only); err != nil {
		return nil, err
	}
	return d, d.setBootstrap(p.Interval)
}

// checkNames returns an error for a statistic, an axis or a field of curves that q cannot have.
func (d *Drawing) checkNames(q *Question) error {
	for _, s := range d.Stats {
		if !isStat(q, s) {
			return fault.Unknown("stat of "+q.Type.Name, s, statsOf(q.Type))
		}
	}
	if d.Axis != "" && !isAxis(d.Axis) {
		return fault.Unknown("axis", d.Axis, axes)
	}
	for _, g := range d.Curves {
		if !isKnownField(g.Field) {
			return fault.Unknown("series", g.Field, append(fieldNames(), groupFields...))
		}
	}
	return nil
}

// derivedCurves reads the derived curves and checks that their sides are curves.
func (p *drawingYAML) derivedCurves(q *Question, d *Drawing) (all []Derived, err error) {
	for _, curve := range p.Derived {
		if !slices.Contains(stat.Operations(), curve.Op) {
			return nil, fault.Unknown("derived", curve.Op, stat.Operations())
		}
		for _, items := range [][]int{curve.A, curve.B} {
			fits := len(items) == len(d.Curves)
			for i := 0; fits && i < len(items); i++ {
				fits = items[i] >= 0 && items[i] < len(d.Curves[i].Values)
			}
			if !fits {
				return nil, &fault.Error{
					Setting: "derived " + curve.Op, Problem: fmt.Sprintf("has a side %v, which is not a curve of series", items),
					Cure: "write for each field of series the index of one of its values, counted from 0",
				}
			}
		}
		if err := curve.Style.Check(); err != nil {
			return nil, err
		}
		for _, name := range []string{curve.StatA, curve.StatB} {
			if name != "" && !isStat(q, name) {
				return nil, fault.Unknown("derived "+curve.Op+" of "+q.Type.Name, name, statsOf(q.Type))
			}
		}
		if drawn := (&Question{Drawing: d}); curve.StatA != "" && len(d.Stats) > 0 && !drawn.hasStat(curve.StatA) {
			problem := "is drawn with " + curve.StatA + ", which the question does not draw"
			return nil, &fault.Error{Setting: "derived " + curve.Op, Problem: problem, Cure: "add " + curve.StatA + " to stat"}
		}
		all = append(all, Derived{stat.Operation(curve.Op), curve.A, curve.B, curve.StatA, curve.StatB, curve.Style})
	}
	return all, nil
}

var valueConditionPattern = regexp.MustCompile(`^\s*(\w+)\s*(<=|>=|<|>|=)\s*(\S+)\s*$`)

// parseValueConditions reads conditions on numeric columns, such as total>=10.
func parseValueConditions(t *record.LineType, texts []string) (all []ValueCondition, err error) {
	for _, text := range texts {
		bad := &fault.Error{Setting: "only " + strconv.Quote(text), Cure: "write total>=10"}
		bad.Problem = "is not a condition on a numeric column of " + t.Name
		m := valueConditionPattern.FindStringSubmatch(text)
		if m == nil {
			return nil, bad
		}
		c, ok := t.Column(m[1])
		v, err := strconv.ParseFloat(m[3], 64)
		if !ok || c.Kind == record.Text || err != nil || math.IsNaN(v) {
			return nil, bad
		}
		all = append(all, ValueCondition{m[1], m[2], v})
	}
	return all, nil
}

// String is the form that parseValueConditions reads.
func (c *ValueCondition) String() string {
	return c.Column + c.Op + strconv.FormatFloat(c.Value, 'g', -1, 64)
}

// SetPicture chooses the picture of q by name.
func (q *Question) SetPicture(name string) error {
	if err := checkPicture(q.Type, name); err != nil {
		return err
	}
	q.Drawing = cmp.Or(q.Drawing, NewDrawing(q.Type, DefaultStat(q.Type), ""))
	q.Drawing.Picture = name
	return nil
}

// checkPicture returns an error for an unknown picture, or one that cannot draw a line type.
func checkPicture(t *record.LineType, name string) error {
	of, ok := LineTypesOfPictures()[name]
	switch {
	case name != "" && !ok:
		return fault.Unknown("picture", name, slices.Sorted(maps.Keys(LineTypesOfPictures())))
	case of != nil && !slices.Contains(of, t.Name):
		return fault.Unknown("line_type of a picture "+name, t.Name, of)
	}
	return nil
}

// isStat reports whether q's line type has this statistic.
func isStat(q *Question, name string) bool {
	plain := Question{Type: q.Type}
	_, err := StatOf(&plain, name)
	return err == nil
}

// NewDrawing draws a statistic on an axis with default settings. Without a name it draws nothing.
func NewDrawing(t *record.LineType, name, axis string) *Drawing {
	d := &Drawing{Method: DefaultMethod(t)}
	if name != "" {
		d.Stats, d.Axis, d.FromColumns = []string{name}, axis, isOnlyInColumn(t, name)
	}
	_ = d.setBootstrap(nil) // never fails: the default is valid
	return d
}

// DefaultMethod is the default way to compute one value from many records: "overall" aggregates
// their partial sums; for statistics that are read from columns it is "median".
func DefaultMethod(t *record.LineType) string {
	return map[bool]string{true: "median", false: "overall"}[IsDefaultStatFromColumn(t)]
}

// addSeriesConditions restricts q to the values of its curves, for header fields without a condition. Curves by leads,
// times and hours do not restrict the rows.
func (q *Question) addSeriesConditions(curves []Group) {
	for _, g := range curves {
		if f, ok := record.FieldByName(g.Field); ok && len(q.Header[f]) == 0 {
			q.Header[f] = Unique(slices.Concat(g.Values...))
		}
	}
}

// setBootstrap sets the bootstrap; nil = the default. Only the method overall resamples.
func (d *Drawing) setBootstrap(i *bootstrapYAML) error {
	overall := d.Method == "overall"
	if i == nil && !overall {
		return nil
	}
	i = cmp.Or(i, &bootstrapYAML{Confidence: DefaultConfidence})
	n := DefaultReplicates
	if i.Replicates != nil {
		n = *i.Replicates
	}
	if math.IsNaN(i.Confidence) || i.Confidence < 0 || i.Confidence >= 1 || n < 0 || n > maxReplicates {
		problem := fmt.Sprintf("is not a confidence from 0 to below 1 with at most %d replicates", maxReplicates)
		cure := fmt.Sprintf("write 0.95, or {confidence: 0.95, replicates: %d, seed: 1}, or 0 for none", DefaultReplicates)
		return &fault.Error{Setting: "interval", Problem: problem, Cure: cure}
	}
	if !overall && i.Replicates != nil && n > 0 {
		problem := "has replicates, but method " + d.Method + " does not resample"
		return &fault.Error{Setting: "interval", Problem: problem, Cure: "omit them, or write method: overall"}
	}
	if d.Confidence, d.Seed = i.Confidence, i.Seed; !overall || i.Confidence == 0 {
		n = 0
	}
	d.Replicates = n
	return nil
}

// newDrawingYAML returns the YAML form of a drawing.
func newDrawingYAML(q *Question) drawingYAML {
	d := q.Drawing
	if d == nil {
		return drawingYAML{}
	}
	p := drawingYAML{
		Picture: d.Picture, RightAxis: d.RightAxis, Stat: d.Stats, Axis: d.Axis, Series: d.Curves, BootCI: d.BootCI,
		Block: d.Block, NoVIF: d.NoVIF, EventEqual: d.EventEqual, Equalize: d.Equalize,
		EqualizeAcrossAxis: d.EqualizeAcrossAxis, Baseline: d.Baseline, Styles: d.Styles,
		EquivalenceLow: d.EquivalenceBounds[0], EquivalenceHigh: d.EquivalenceBounds[1], XLabel: d.XLabel, YLabel: d.YLabel, Ticks: d.Ticks,
	}
	p.Derived = lists.Map(d.Derived, func(c Derived) derivedYAML {
		return derivedYAML{string(c.Operation), c.A, c.B, c.StatA, c.StatB, c.Style}
	})
	p.Only = lists.Map(d.ValueConditions, func(c ValueCondition) string { return c.String() })
	p.FromColumns = d.FromColumns && (len(d.Stats) == 0 || !isOnlyInColumn(q.Type, d.Stats[0]))
	if len(d.Stats) == 0 && !d.ShowsLineType() {
		p.Stat = stringList{noStat}
	}
	if d.Method != DefaultMethod(q.Type) {
		p.Method = d.Method
	}
	defaults := Drawing{Method: d.Method}
	_ = defaults.setBootstrap(nil) // never fails: the default is valid
	if d.Replicates != defaults.Replicates || d.Confidence != defaults.Confidence || d.Seed != nil {
		p.Interval = &bootstrapYAML{d.Confidence, &d.Replicates, d.Seed}
	}
	return p
}
