package sqlengine

import (
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// IHFS is the hydrologic database of the Weather Service's forecast offices.
// What is here of it was read, not copied, in github.com/Unidata/awips2: the
// poster of SHEF values (edexOsgi/com.raytheon.edex.plugin.shef, PostShef.java
// and PostTables.java), the names of tables by element (DbUtils.java of
// cave/com.raytheon.viz.hydrocommon), the bits of quality_code (its
// QualityCodeUtil.java, and QualityCode.h in C), and in get_precip_settings.c
// which elements of precipitation are in which table. Columns and keys are
// those of a dump of the database.

// families are the tables of observations by the first letter of the element;
// those of P are told apart in family. Of B, C, D, J, K, O and Z IHFS has no
// table.
var families = map[byte]string{ //nolint:gochecknoglobals // a constant table
	'A': "agricultural", 'E': "evaporation", 'F': "fishcount", 'G': "ground", 'H': "height", 'I': "ice", 'L': "lake", 'M': "moisture",
	'N': "gatedam", 'Q': "discharge", 'R': "radiation", 'S': "snow", 'T': "temperature", 'U': "wind", 'V': "power", 'W': "waterquality",
	'X': "weather", 'Y': "yunique",
}

// family names the table of an observation. What IHFS has no table for goes
// into yunique, so that it is not lost.
func family(pe string) string {
	if pe[0] != 'P' {
		if t, ok := families[pe[0]]; ok {
			return t
		}
		return "yunique"
	}
	switch pe[1] {
	case 'P':
		return "rawpp"
	case 'C':
		return "rawpc"
	case 'A', 'D', 'E', 'L':
		return "pressure"
	}
	return "rawpother" // PM, PN, PR and PT; of PF, PJ and the like the sources disagree
}

// forecasts names the table of a forecast.
func forecasts(pe string) string {
	switch pe[0] {
	case 'H':
		return "fcstheight"
	case 'Q':
		return "fcstdischarge"
	case 'P':
		return "fcstprecip"
	case 'T':
		return "fcsttemperature"
	}
	return "fcstother"
}

// IHFSTable names the table of a code. What is paired is paired whatever its
// type; every type but R, F and C is processed, the numbered ones too.
func IHFSTable(c *record.Parameter) string {
	pe := c.PE()
	if record.Paired(pe) {
		return "pairedvalue"
	}
	switch c[3] {
	case 'F':
		return forecasts(pe)
	case 'C':
		return "contingencyvalue"
	case 'R':
		return family(pe)
	}
	return "procvalue"
}

func ihfsKey(further ...PostColumn) []PostColumn {
	return append([]PostColumn{
		textColumn("lid", 8, fromStation), textColumn("pe", 2, fromPE), column("dur", PostSmall, fromDuration),
		textColumn("ts", 2, fromTS), textColumn("extremum", 1, fromE),
	}, further...)
}

func (l *postLayout) addIHFS() {
	for c := byte('A'); c <= 'Z'; c++ {
		if t, ok := families[c]; ok {
			l.add(valueTable(t, true, ihfsKey(column("obstime", PostTime, fromTime))))
		}
	}
	for _, t := range []string{"rawpp", "rawpc", "rawpother", "pressure", "procvalue"} {
		l.add(valueTable(t, true, ihfsKey(column("obstime", PostTime, fromTime))))
	}
	ahead := func() []PostColumn {
		return ihfsKey(column("probability", PostFloat, fromProbability), column("validtime", PostTime, fromTime), column("basistime", PostTime, fromBasis))
	}
	for _, t := range []string{"fcstheight", "fcstdischarge", "fcstprecip", "fcsttemperature", "fcstother", "contingencyvalue"} {
		l.add(valueTable(t, true, ahead()))
	}
	l.add(valueTable("pairedvalue", true, append(ahead(), column("ref_value", PostInt, fromRef))))
}

// placeIHFS finds what the key of a value has besides its series and its time.
// The basis of a value that tells no time of creation is 1970-01-01.
func (l *postLayout) placeIHFS(g *record.Gauge, p *placed) (value float64) {
	t := l.tables[p.table]
	if t.find[fromRef] > 0 {
		at := 0
		at, value = record.SplitPair(g.Value)
		p.ref = int32(at)
	} else {
		value = engine.IHFSValue(&g.Code, g.Value)
	}
	if t.find[fromBasis] > 0 && g.Created != record.NoTime {
		p.basis = g.Created
	}
	return value
}

// quality_code tells by bits what was checked; that of a value of which nothing
// is known to be wrong has all but the sign and bit 28. A value that its sender
// calls questionable lacks the bit of that and their summary's, bit 29; one that
// he calls bad those of the check and of certainty, bit 30. Checks of ranges,
// which would clear further bits, are IHFS's own and not done here.
const (
	ihfsGood         = 1<<31 - 1 - 1<<28
	ihfsQuestionable = ihfsGood - 1<<20 - 1<<29
	ihfsBad          = ihfsGood - 1<<23 - 1<<30
)

// qualityCode is the code of a value by its qualifier.
func qualityCode(qualifier byte, missing bool) int64 {
	switch {
	case missing:
		return ihfsGood // IHFS checks no missing values
	case qualifier == 'Q' || qualifier == 'F':
		return ihfsQuestionable
	case qualifier == 'R' || qualifier == 'B':
		return ihfsBad
	}
	return ihfsGood
}
