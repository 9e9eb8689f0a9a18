package own

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
)

const (
	// maxDigits is the number of digits of DuckDB's largest decimal.
	maxDigits = 38

	// maxScale is the largest number of decimals of a column that becomes a decimal column even if a floating-point
	// column would keep every value.
	maxScale = 9
)

// exponent matches a number with an exponent.
var exponent = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][-+]?[0-9]{1,4}$`)

// guess collects the types that fit all values of a column.
type guess struct {
	hasValues                    bool
	noBool, noInteger, noDecimal bool
	noFloat, noDate              bool
	noTime                       bool   // a value is not a time without zone
	noZonedTime                  bool   // a value is not a time with zone
	hasNumbers                   bool   // a value has digits: not all are inf or nan
	intDigits, fracDigits        int    // largest numbers of digits before and after the point
	spelling                     string // of booleans: "true", "True" or "TRUE"; a column with several spellings is text
}

// add considers a value that is not NULL.
func (g *guess) add(field []byte) {
	if g.noBool && g.noDecimal && g.noFloat && g.noDate && g.noTime && g.noZonedTime {
		return // the column is text already
	}
	g.hasValues = true
	text := string(field)
	if !g.noBool {
		word := strings.ToLower(text)
		if g.noBool = word != "true" && word != "false"; !g.noBool {
			spelling := strings.ReplaceAll(strings.ReplaceAll(text, "false", "true"), "False", "True")
			spelling = strings.ReplaceAll(spelling, "FALSE", "TRUE")
			g.noBool, g.spelling = g.spelling != "" && g.spelling != spelling, spelling
		}
	}
	if !g.noDecimal || !g.noFloat {
		intDigits, fracDigits, plain := digitsOf(text)
		g.hasNumbers = g.hasNumbers || plain
		g.intDigits, g.fracDigits = max(g.intDigits, intDigits), max(g.fracDigits, fracDigits)
		g.noDecimal = g.noDecimal || !plain || g.intDigits+g.fracDigits > maxDigits
		if !g.noInteger {
			_, err := strconv.ParseInt(text, 10, 64)
			g.noInteger = err != nil || !plain
		}
		g.noFloat = g.noFloat || !exactFloat(text)
		g.hasNumbers = g.hasNumbers || !g.noFloat && exponent.MatchString(text)
	}
	if !g.noDate {
		_, err := time.Parse(time.DateOnly, text)
		g.noDate = err != nil
	}
	if !g.noTime {
		_, zone, ok := parseTime(text)
		g.noTime = !ok || zone
	}
	if !g.noZonedTime {
		_, zone, ok := parseTime(text)
		g.noZonedTime = !ok || !zone
	}
}

// chooseType sets the type of a column without a declared type: the narrowest one that keeps
// every value.
func (g *guess) chooseType(c *tables.Column) {
	isDecimal := !g.noDecimal && g.hasNumbers
	switch {
	case c.Kind != "":
	case !g.hasValues:
		c.Kind = tables.Text
	case !g.noBool:
		c.Kind = tables.Bool
	case isDecimal && !g.noInteger:
		c.Kind = tables.Integer
	case isDecimal && (g.fracDigits <= maxScale || g.noFloat):
		c.Kind, c.Digits, c.Decimals = tables.Decimal, max(g.intDigits+g.fracDigits, 1), g.fracDigits
	case !g.noFloat && g.hasNumbers:
		c.Kind = tables.Float
	case !g.noDate:
		c.Kind = tables.Date
	case !g.noTime || !g.noZonedTime:
		c.Kind, c.Zone = tables.Time, !g.noZonedTime
	default:
		c.Kind = tables.Text
	}
}

// digitsOf counts the digits of a plain number before and after the point. It runs for every value of every CSV file,
// so it uses no regular expression. A number with a leading zero or a plus sign is not plain, because it may be a code,
// such as a postal code.
func digitsOf(text string) (intDigits, fracDigits int, plain bool) {
	text = strings.TrimPrefix(text, "-")
	integer, fraction, point := strings.Cut(text, ".")
	for _, digits := range []string{integer, fraction} {
		for i := range len(digits) {
			if digits[i] < '0' || digits[i] > '9' {
				return 0, 0, false
			}
		}
	}
	if point && fraction == "" || !point && integer == "" || len(integer) > 1 && integer[0] == '0' {
		return 0, 0, false
	}
	return len(strings.TrimLeft(integer, "0")), len(fraction), true
}

// significant returns the sign, the digits without zeros at both ends, and the power of ten of a number. Two texts of
// the same number have the same three results.
func significant(text string) (sign, digits string, power int) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		power, _ = strconv.Atoi(strings.TrimPrefix(text[e+1:], "+")) // the pattern allows only digits
		text = text[:e]
	}
	integer, fraction, _ := strings.Cut(text, ".")
	digits = strings.TrimLeft(integer+fraction, "0")
	power -= len(fraction)
	short := strings.TrimRight(digits, "0")
	if power += len(digits) - len(short); short == "" {
		return "", "", 0
	}
	return sign, short, power
}

// sameNumber reports whether two texts are the same number, which may exceed the precision of every type of Go.
func sameNumber(a, b string) bool {
	as, ad, ap := significant(a)
	bs, bd, bp := significant(b)
	return as == bs && ad == bd && ap == bp
}

// exactFloat reports whether a 64-bit floating-point number keeps the value of a text: whether the text is the shortest
// decimal form of such a number, up to leading and trailing zeros.
func exactFloat(text string) bool {
	switch strings.ToLower(text) {
	case "inf", "-inf", "infinity", "-infinity", "nan":
		return true
	}
	if intDigits, fracDigits, plain := digitsOf(text); plain && intDigits+fracDigits <= 15 {
		return true
	} else if !plain && !exponent.MatchString(text) {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && sameNumber(strconv.FormatFloat(f, 'e', -1, 64), text)
}

var zoned = regexp.MustCompile(`(Z|[+-][0-9]{2}(:?[0-9]{2})?)$`)

// parseTime parses a time of ISO 8601 without a decimal comma, which time.Parse accepts too. It accepts at most six
// digits after the second, because engines store microseconds.
// zone reports whether the text has a zone.
func parseTime(text string) (at time.Time, zone, ok bool) {
	if len(text) < len("2006-01-02 15:04:05") || text[10] != ' ' && text[10] != 'T' || strings.Contains(text, ",") {
		return at, false, false
	}
	day, clock := text[:10], text[11:]
	layout := "2006-01-02 15:04:05"
	if m := zoned.FindString(clock); m != "" {
		zone, layout = true, layout+map[int]string{1: "Z07:00", 3: "-07", 5: "-0700", 6: "-07:00"}[len(m)]
		if _, fraction, _ := strings.Cut(strings.TrimSuffix(clock, m), "."); len(fraction) > 6 {
			return at, zone, false
		}
	} else if _, fraction, _ := strings.Cut(clock, "."); len(fraction) > 6 {
		return at, false, false
	}
	at, err := time.Parse(layout, day+" "+clock) // time.Parse accepts a fraction that is not in the layout
	return at, zone, err == nil
}

// conforms reports whether a text is a value of a declared type.
func conforms(c *tables.Column, text string) bool {
	switch c.Kind {
	case tables.Bool:
		word := strings.ToLower(text)
		return word == "true" || word == "false"
	case tables.Integer:
		_, err := strconv.ParseInt(text, 10, 64)
		_, _, plain := digitsOf(text)
		return err == nil && plain
	case tables.Decimal:
		intDigits, fracDigits, plain := digitsOf(text)
		return plain && fracDigits <= c.Decimals && intDigits <= c.Digits-c.Decimals
	case tables.Float:
		return exactFloat(text)
	case tables.Date:
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case tables.Time:
		_, zone, ok := parseTime(text)
		return ok && zone == c.Zone
	case tables.Text:
	}
	return true
}

// sameValue compares a typed value, as Table.Each returns it, with the text of its field.
func sameValue(c *tables.Column, typed, field string) bool {
	if typed == field {
		return true
	}
	switch c.Kind {
	case tables.Bool:
		return (typed == "1") == strings.EqualFold(field, "true")
	case tables.Integer, tables.Decimal:
		return sameNumber(typed, field)
	case tables.Float:
		a, err1 := strconv.ParseFloat(typed, 64)
		b, err2 := strconv.ParseFloat(field, 64)
		return errors.Join(err1, err2) == nil && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case tables.Time:
		a, _, ok1 := parseTime(typed)
		b, _, ok2 := parseTime(field)
		return ok1 && ok2 && a.Equal(b)
	case tables.Date, tables.Text:
	}
	return false
}

// kindName returns the name of a column's type, as reports and errors show it.
func kindName(c *tables.Column) string {
	switch {
	case c.Kind == tables.Decimal:
		return fmt.Sprintf("decimal(%d, %d)", c.Digits, c.Decimals)
	case c.Kind == tables.Time && c.Zone:
		return "time with zone, in UTC"
	}
	return string(c.Kind)
}

// declaration has the column types that a user declared, by table.
type declaration struct {
	file   string // as errors name it
	tables map[string][]tables.Column
}

// path returns the absolute path of the file; "" if that fails.
func (d *declaration) path() string {
	path, _ := filepath.Abs(d.file) // it fails only without a working directory
	return path
}

// schemaFile is the file in the folder of the tables that declares types.
const schemaFile = "schema.sql"

// readDeclaration reads CREATE TABLE statements from a file, or from schema.sql
// in the folder of the tables. Without a file it returns an empty declaration.
func readDeclaration(file, dir string) (*declaration, error) {
	named := file != ""
	if !named {
		file = filepath.Join(dir, schemaFile)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &fault.Error{File: dir, Problem: "is not a folder", Cure: "name a folder of Parquet or CSV files"}
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &declaration{file: "a file: --types FILE"}, nil
	}
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		const cure = "name a file of CREATE TABLE statements"
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: cure}}
	}
	d := &declaration{file: file, tables: map[string][]tables.Column{}}
	all := tokens(string(text))
	const cure = "write CREATE TABLE name (column TYPE, …); " +
		"with BOOLEAN, BIGINT, DECIMAL(p, s), DOUBLE, DATE, TIMESTAMP, TIMESTAMPTZ or TEXT"
	bad := func(i int, problem string) error {
		line := 1 + strings.Count(string(text)[:all[min(i, len(all)-1)].at], "\n")
		return questionError(file, line, problem, cure)
	}
	for i := 0; i < len(all); {
		if all[i].text == ";" {
			i++
			continue
		}
		if i+3 >= len(all) || !all[i].is("create") || !all[i+1].is("table") {
			return nil, bad(i, all[i].text+" … is not a CREATE TABLE statement")
		}
		i += 2
		for i < len(all)-1 && (all[i].is("if") || all[i].is("not") || all[i].is("exists")) {
			i++
		}
		table := strings.ToLower(strings.Trim(all[i].text, "\"`"))
		if i++; i >= len(all) || all[i].text != "(" {
			return nil, bad(i-1, "table "+table+" lacks a list of columns")
		}
		for i++; i < len(all) && all[i].depth > 0 && all[i].text != ")"; i++ {
			end := i
			for end < len(all) && all[end].depth > 0 && (all[end].depth > 1 || all[end].text != ",") {
				end++
			}
			constraints := []string{"primary", "foreign", "unique", "check", "constraint"}
			if !slices.ContainsFunc(constraints, all[i].is) {
				c, ok := declaredColumn(all[i:end])
				if !ok {
					return nil, bad(i, "column "+all[i].text+" has a type that some engines lack")
				}
				d.tables[table] = append(d.tables[table], c)
			}
			if i = end; i < len(all) && all[i].depth == 0 {
				break
			}
		}
		i++ // skips the closing parenthesis
		for i < len(all) && all[i].text != ";" {
			i++
		}
	}
	return d, nil
}

// declaredColumn reads a column's name and type.
func declaredColumn(words []token) (c tables.Column, ok bool) {
	if len(words) < 2 {
		return c, false
	}
	c.Name = tables.Name(strings.Trim(words[0].text, "\"`"))
	has := func(word string) bool {
		return slices.ContainsFunc(words[2:], func(t token) bool { return t.is(word) })
	}
	switch strings.ToLower(words[1].text) {
	case "boolean", "bool":
		c.Kind = tables.Bool
	case "tinyint", "smallint", "integer", "int", "bigint", "int2", "int4", "int8":
		c.Kind = tables.Integer
	case "hugeint":
		c.Kind, c.Digits = tables.Decimal, maxDigits
	case "decimal", "numeric":
		if len(words) < 4 {
			return c, false
		}
		c.Kind = tables.Decimal
		c.Digits, _ = strconv.Atoi(words[3].text) // the return statement refuses 0
		if len(words) > 5 && words[4].text == "," {
			c.Decimals, _ = strconv.Atoi(words[5].text)
		}
		return c, c.Digits >= 1 && c.Digits <= maxDigits && c.Decimals <= c.Digits
	case "double", "float", "real", "float8":
		c.Kind = tables.Float
	case "date":
		c.Kind = tables.Date
	case "timestamp", "datetime":
		c.Kind, c.Zone = tables.Time, has("with") && has("zone")
	case "timestamptz":
		c.Kind, c.Zone = tables.Time, true
	case "text", "varchar", "char", "character", "string", "json", "uuid", "clob":
		c.Kind = tables.Text
	}
	return c, c.Kind != ""
}

// declare sets the declared type of a column, if there is one.
func (d *declaration) declare(table string, c *tables.Column) {
	for _, o := range d.tables[table] {
		if o.Name == c.Name {
			*c = o
		}
	}
}

// check compares the columns of a table with the declared ones.
func (d *declaration) check(t *tables.Table) error {
	for _, o := range d.tables[t.Name] {
		k := slices.IndexFunc(t.Columns, func(c tables.Column) bool { return c.Name == o.Name })
		if k < 0 {
			return &fault.Error{
				File:    d.file,
				Setting: "table " + t.Name,
				Problem: "declares column " + o.Name + ", which no file has",
				Cure:    "omit the column, or use the name in the files",
			}
		}
		c := t.Columns[k]
		sameSize := c.Digits == o.Digits && c.Decimals == o.Decimals
		if c.Kind != o.Kind || c.Kind == tables.Decimal && !sameSize {
			const problem = "declares column %s as %s, but its type in the Parquet files is %s"
			return &fault.Error{
				File:    d.file,
				Setting: "table " + t.Name,
				Problem: fmt.Sprintf(problem, o.Name, kindName(&o), kindName(&c)),
				Cure:    "omit the column: Parquet files define their types",
			}
		}
	}
	return nil
}
