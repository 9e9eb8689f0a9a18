package tpcds

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/barograph/barograph/formats/parquetfile"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Rows are the rows of a row group, column by column. They are valid until the next step.
type Rows struct {
	N       int
	Columns []Vector
}

// Vector is a column of Rows.
type Vector struct {
	Column
	Null []bool
	Int  []int64  // numbers and dates; 0 if the value is NULL
	Text [][]byte // texts
}

// Append appends value i as text: decimals as 12.30, dates as 1998-01-31. It appends nothing for
// NULL.
func (v *Vector) Append(to []byte, i int) []byte {
	if v.Null[i] {
		return to
	}
	switch v.Kind {
	case Char, Varchar:
		return append(to, v.Text[i]...)
	case Date:
		return time.Unix(v.Int[i]*86400, 0).UTC().AppendFormat(to, time.DateOnly)
	case Decimal:
		return AppendCents(to, v.Int[i])
	}
	return strconv.AppendInt(to, v.Int[i], 10)
}

// AppendCents appends hundredths as a decimal.
func AppendCents(to []byte, cents int64) []byte {
	u := uint64(cents)
	if cents < 0 {
		to, u = append(to, '-'), -u
	}
	to = strconv.AppendUint(to, u/100, 10)
	return append(to, '.', byte('0'+u%100/10), byte('0'+u%10))
}

// Read reads columns of a table (all if none is named) from a Parquet file, one row group at a
// time. A column that the file lacks, or that has another type, is an error that names it.
func Read(path, table string, names ...string) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		if err := read(path, table, names, yield); err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// errEnough ends a reading when the caller stops.
var errEnough = errors.New("enough")

func read(path, table string, names []string, yield func(*Rows, error) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	file, err := parquetfile.Open(f)
	if err != nil {
		return &fault.Error{File: path, Problem: "is not a Parquet file", Err: err, Cure: "make the tables with barograph synth tpcds"}
	}
	rows, at, err := findColumns(file, path, table, names)
	if err != nil {
		return err
	}
	values := make([]parquet.Value, 4096)
	for _, group := range file.RowGroups() {
		if err := rows.fill(group, at, values); err != nil {
			return &fault.Error{File: path, Err: err}
		}
		if !yield(rows, nil) {
			return errEnough
		}
	}
	return nil
}

// fill reads a row group; at are the positions of the columns in the file.
func (r *Rows) fill(group parquet.RowGroup, at []int, values []parquet.Value) (err error) {
	defer parquetfile.Damaged(&err)
	r.N = int(group.NumRows())
	chunks := group.ColumnChunks()
	for k := range r.Columns {
		c := &r.Columns[k]
		if err := c.read(chunks[at[k]], values); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if got := len(c.Null); got != r.N && !fault.Planted { // planted: nobody counts
			return fmt.Errorf("%s: %d values in a group of %d rows", c.Name, got, r.N)
		}
	}
	return nil
}

// findColumns finds the columns in the file.
func findColumns(file *parquet.File, path, table string, names []string) (_ *Rows, _ []int, err error) {
	defer func() {
		if p := recover(); p != nil { // a column that is a group and has no members
			err = &fault.Error{File: path, Problem: fmt.Sprint("is damaged: ", p), Cure: "make the tables with barograph synth tpcds"}
		}
	}()
	all := Columns(table)
	if all == nil {
		return nil, nil, &fault.Error{Setting: table, Problem: "is not a table of the star schema"}
	}
	if len(names) == 0 {
		names = lists.Map(all, func(c Column) string { return c.Name })
	}
	rows := &Rows{}
	var at []int
	for _, name := range names {
		leaf, ok := file.Schema().Lookup(name)
		if !ok {
			return nil, nil, &fault.Error{File: path, Setting: name, Problem: "is not a column of the file", Cure: "make the tables with barograph synth tpcds"}
		}
		k := slices.IndexFunc(all, func(c Column) bool { return c.Name == name })
		if k < 0 {
			return nil, nil, &fault.Error{Setting: name, Problem: "is not a column of " + table}
		}
		rows.Columns = append(rows.Columns, Vector{Column: all[k]})
		if t := leaf.Node.Type(); !leaf.Node.Leaf() || !all[k].accepts(t) {
			return nil, nil, &fault.Error{File: path, Setting: name, Problem: "is of type " + t.String(), Cure: "make the tables with barograph synth tpcds"}
		}
		at = append(at, leaf.ColumnIndex)
	}
	return rows, at, nil
}

// accepts reports whether a column of the file can be read as the specification's type.
func (c *Column) accepts(t parquet.Type) bool {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch kind := t.Kind(); c.Kind {
	case Char, Varchar:
		return kind == parquet.ByteArray
	case Decimal:
		d, ok := logical.(*format.DecimalType)
		return (kind == parquet.Int32 || kind == parquet.Int64) && ok && d.Scale == 2
	case Date:
		_, ok := logical.(*format.DateType)
		return kind == parquet.Int32 && ok
	default:
		return kind == parquet.Int32 || kind == parquet.Int64
	}
}

// read reads a column of a row group.
func (v *Vector) read(chunk parquet.ColumnChunk, values []parquet.Value) (err error) {
	defer parquetfile.Damaged(&err)
	v.Null, v.Int, v.Text = v.Null[:0], v.Int[:0], v.Text[:0]
	pages := chunk.Pages()
	defer pages.Close() //nolint:errcheck // nothing was written
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from := page.Values()
		for {
			n, err := from.ReadValues(values)
			for i := range values[:n] {
				v.add(&values[i])
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

func (v *Vector) add(x *parquet.Value) {
	v.Null = append(v.Null, x.IsNull())
	switch {
	case v.Kind == Char || v.Kind == Varchar:
		v.Text = append(v.Text, append([]byte(nil), x.ByteArray()...)) // the page's memory is used again
	case x.IsNull():
		v.Int = append(v.Int, 0)
	case x.Kind() == parquet.Int32:
		v.Int = append(v.Int, int64(x.Int32()))
	default:
		v.Int = append(v.Int, x.Int64())
	}
}

// TableName is the field of a document that names its table.
const TableName = "table_name"

// AppendDocument appends row i as a line of JSON: the table's name, then every column that is not
// NULL. Decimals are numbers, dates are ISO strings.
func (r *Rows) AppendDocument(to []byte, table string, i int) []byte {
	to = append(to, `{"`+TableName+`":"`...)
	to = append(append(to, table...), '"')
	for k := range r.Columns {
		v := &r.Columns[k]
		if v.Null[i] {
			continue
		}
		to = append(append(append(to, `,"`...), v.Name...), `":`...)
		switch v.Kind {
		case Char, Varchar:
			to = appendString(to, v.Text[i])
		case Date:
			to = append(v.Append(append(to, '"'), i), '"')
		default:
			to = v.Append(to, i)
		}
	}
	return append(to, '}', '\n')
}

// appendString appends a JSON string.
func appendString(to, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(string(text))
			if err != nil { // a string always marshals
				panic(err)
			}
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// WriteDocuments writes the rows of a Parquet file of a table as documents.
func WriteDocuments(path, table, parquet string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for rows, err := range Read(parquet, table) {
		if err != nil {
			return err
		}
		for i := range rows.N {
			line = rows.AppendDocument(line[:0], table, i)
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// The tables, by their names in SQL.
const (
	StoreSales = "store_sales"
	DateDim    = "date_dim"
	Item       = "item"
)

// Kind is the type of a column.
type Kind byte

// The kinds.
const (
	Whole   Kind = iota // fits 32 bits
	Big                 // 64 bits
	Decimal             // DECIMAL(7,2)
	Date
	Char    // of a fixed size; files contain it without trailing spaces
	Varchar // of a maximum size
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Size int // Char and Varchar only, in characters
	Key  bool
}

// Columns are the columns of a table in the order of the specification; nil for an unknown table.
func Columns(table string) []Column {
	switch table {
	case StoreSales:
		return storeSales()
	case DateDim:
		return dateDim()
	case Item:
		return item()
	}
	return nil
}

func column(kind Kind, names ...string) []Column {
	return lists.Map(names, func(n string) Column { return Column{Name: n, Kind: kind} })
}

func sized(kind Kind, size int, names ...string) []Column {
	out := column(kind, names...)
	for i := range out {
		out[i].Size = size
	}
	return out
}

func storeSales() []Column {
	c := slices.Concat(
		column(Whole, "ss_sold_date_sk", "ss_sold_time_sk", "ss_item_sk", "ss_customer_sk", "ss_cdemo_sk", "ss_hdemo_sk", "ss_addr_sk", "ss_store_sk", "ss_promo_sk"),
		column(Big, "ss_ticket_number"),
		column(Whole, "ss_quantity"),
		column(Decimal, "ss_wholesale_cost", "ss_list_price", "ss_sales_price", "ss_ext_discount_amt", "ss_ext_sales_price", "ss_ext_wholesale_cost", "ss_ext_list_price",
			"ss_ext_tax", "ss_coupon_amt", "ss_net_paid", "ss_net_paid_inc_tax", "ss_net_profit"),
	)
	c[2].Key, c[9].Key = true, true
	return c
}

func dateDim() []Column {
	c := slices.Concat(
		column(Whole, "d_date_sk"), sized(Char, 16, "d_date_id"), column(Date, "d_date"),
		column(Whole, "d_month_seq", "d_week_seq", "d_quarter_seq", "d_year", "d_dow", "d_moy", "d_dom", "d_qoy", "d_fy_year", "d_fy_quarter_seq", "d_fy_week_seq"),
		sized(Char, 9, "d_day_name"), sized(Char, 6, "d_quarter_name"), sized(Char, 1, "d_holiday", "d_weekend", "d_following_holiday"),
		column(Whole, "d_first_dom", "d_last_dom", "d_same_day_ly", "d_same_day_lq"),
		sized(Char, 1, "d_current_day", "d_current_week", "d_current_month", "d_current_quarter", "d_current_year"),
	)
	c[0].Key = true
	return c
}

func item() []Column {
	c := slices.Concat(
		column(Whole, "i_item_sk"), sized(Char, 16, "i_item_id"), column(Date, "i_rec_start_date", "i_rec_end_date"), sized(Varchar, 200, "i_item_desc"),
		column(Decimal, "i_current_price", "i_wholesale_cost"),
		column(Whole, "i_brand_id"), sized(Char, 50, "i_brand"), column(Whole, "i_class_id"), sized(Char, 50, "i_class"),
		column(Whole, "i_category_id"), sized(Char, 50, "i_category"), column(Whole, "i_manufact_id"), sized(Char, 50, "i_manufact"),
		sized(Char, 20, "i_size", "i_formulation", "i_color"), sized(Char, 10, "i_units", "i_container"),
		column(Whole, "i_manager_id"), sized(Char, 50, "i_product_name"),
	)
	c[0].Key = true
	return c
}
