package engine

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/formats/tpcds"
)

// StarReference answers the questions of the analytical workload from the
// generated rows alone: no database has a part in it. Sums are exact.
type StarReference struct {
	Rows    map[StarTable]int64
	Sold    int64 // rows of store_sales whose ss_ext_sales_price is not NULL
	answers map[StarQuery][]StarRow
}

// OpenStarFiles finds the files of a folder of generated tables.
func OpenStarFiles(dir string) (StarFiles, *tpcds.Manifest, error) {
	files := StarFiles{Parquet: map[StarTable][]string{}}
	m, err := tpcds.Open(dir)
	if err != nil {
		return files, nil, err
	}
	for table, of := range m.Parquet {
		if files.Parquet[StarTable(table)], err = tpcds.Paths(dir, of); err != nil {
			return files, nil, err
		}
	}
	files.Documents, err = tpcds.Paths(dir, m.Documents)
	return files, m, err
}

// starDate and starItem are what the questions look at.
type (
	starDate struct{ year, month int64 }
	starItem struct {
		brandID, manufacturer, manager int64
		brand                          string
	}
	starKey struct {
		query         StarQuery
		year, brandID int64
		brand         string
	}
	starSum struct {
		cents int64
		some  bool // a value that is not NULL
	}
)

// starSums are what one reader of facts has seen.
type starSums struct {
	rows, sold int64
	all        starSum
	groups     map[starKey]starSum
}

func (s *starSum) add(o starSum) { s.cents, s.some = s.cents+o.cents, s.some || o.some }

// StarAnswers reads all rows and computes every answer.
func StarAnswers(ctx context.Context, files StarFiles) (*StarReference, error) {
	r := &StarReference{Rows: map[StarTable]int64{}, answers: map[StarQuery][]StarRow{}}
	dates, items := map[int64]starDate{}, map[int64]starItem{}
	err := dimension(files, DateDim, []string{"d_date_sk", "d_year", "d_moy"}, r.Rows, func(c []tpcds.Vector, i int) {
		dates[c[0].Whole[i]] = starDate{c[1].Whole[i], c[2].Whole[i]}
	})
	if err != nil {
		return nil, err
	}
	err = dimension(files, Item, []string{"i_item_sk", "i_brand_id", "i_manufact_id", "i_manager_id", "i_brand"}, r.Rows, func(c []tpcds.Vector, i int) {
		items[c[0].Whole[i]] = starItem{c[1].Whole[i], c[2].Whole[i], c[3].Whole[i], string(bytes.TrimRight(c[4].Text[i], " "))}
	})
	if err != nil {
		return nil, err
	}
	sums := make([]starSums, len(files.Parquet[StoreSales]))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range files.Parquet[StoreSales] {
		g.Go(func() error {
			sums[i].groups = map[starKey]starSum{}
			return sums[i].read(ctx, path, dates, items)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.gather(sums)
	return r, nil
}

// dimension reads columns of a small table. NULL comes as 0.
func dimension(files StarFiles, t StarTable, columns []string, count map[StarTable]int64, each func(c []tpcds.Vector, i int)) error {
	for _, path := range files.Parquet[t] {
		for rows, err := range tpcds.Read(path, string(t), columns...) {
			if err != nil {
				return err
			}
			count[t] += int64(rows.N)
			for i := range rows.N {
				each(rows.Columns, i)
			}
		}
	}
	return nil
}

// read sums the facts of a file.
func (s *starSums) read(ctx context.Context, path string, dates map[int64]starDate, items map[int64]starItem) error {
	for rows, err := range tpcds.Read(path, string(StoreSales), "ss_sold_date_sk", "ss_item_sk", "ss_ext_sales_price") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		day, item, price := &rows.Columns[0], &rows.Columns[1], &rows.Columns[2]
		s.rows += int64(rows.N)
		for i := range rows.N {
			x := starSum{price.Whole[i], !price.Null[i]}
			s.all.add(x)
			if x.some {
				s.sold++
			}
			if day.Null[i] || item.Null[i] {
				continue // joined with nothing
			}
			d, known := dates[day.Whole[i]]
			if !known || d.month != 11 {
				continue
			}
			if it, known := items[item.Whole[i]]; known {
				s.fact(d, it, x)
			}
		}
	}
	return nil
}

// fact adds a sale of November to the questions that ask for it.
func (s *starSums) fact(d starDate, it starItem, x starSum) {
	add := func(k starKey) {
		sum := s.groups[k]
		sum.add(x)
		s.groups[k] = sum
	}
	if it.manufacturer == 128 {
		add(starKey{Q3, d.year, it.brandID, it.brand})
	}
	if it.manager == 1 && d.year == 2000 {
		add(starKey{Q52, d.year, it.brandID, it.brand})
	}
	if it.manager == 28 && d.year == 1999 {
		add(starKey{Q55, 0, it.brandID, it.brand})
	}
}

// gather puts the readers' sums together.
func (r *StarReference) gather(sums []starSums) {
	all, groups := starSum{}, map[starKey]starSum{}
	for i := range sums {
		r.Rows[StoreSales] += sums[i].rows
		r.Sold += sums[i].sold
		all.add(sums[i].all)
		for k, x := range sums[i].groups {
			sum := groups[k]
			sum.add(x)
			groups[k] = sum
		}
	}
	for k, sum := range groups {
		r.answers[k.query] = append(r.answers[k.query], StarRow{Year: k.year, BrandID: k.brandID, Brand: k.brand, Cents: sum.cents, Null: !sum.some})
	}
	r.answers[ScanAll] = []StarRow{{Cents: all.cents, Null: !all.some}}
	for q, rows := range r.answers {
		slices.SortFunc(rows, func(a, b StarRow) int { return cmp.Or(NullLeast.compare(q, a, b), cmp.Compare(a.Brand, b.Brand)) })
	}
}

// Answer is every row of the answer to a question, also those beyond the
// hundred that the question asks for, in its order.
func (r *StarReference) Answer(q StarQuery, o NullOrder) []StarRow {
	rows := slices.Clone(r.answers[q])
	slices.SortStableFunc(rows, func(a, b StarRow) int { return o.compare(q, a, b) })
	return rows
}

// Check compares an engine's answer with the reference: NULL is least.
func (r *StarReference) Check(q StarQuery, got []StarRow) (answer.Proof, error) {
	return CompareStar(q, NullLeast, r.Answer(q, NullLeast), got)
}
