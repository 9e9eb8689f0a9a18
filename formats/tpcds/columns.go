package tpcds

import "slices"

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
	Char    // of a fixed size; files hold it without the spaces that fill it up
	Varchar // of a greatest size
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Size int // of Char and Varchar, in characters
	Key  bool
}

// Columns are the columns of a table in the order of the specification; nil
// for a table that is not known.
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

func column(kind Kind, names ...string) (out []Column) {
	for _, n := range names {
		out = append(out, Column{Name: n, Kind: kind})
	}
	return out
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
