package mariadb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// These are the prefixes of the databases that an adoption uses, before the name of the adopted
// database. They must differ from mv_, because METviewer lists databases with that prefix.
const (
	newPrefix = "barograph_new_"
	oldPrefix = "barograph_old_"
)

// adoption is an adoption in progress.
type adoption struct {
	a      *openArchive
	name   string // name of the subset
	pool   sqlengine.Querier
	tables map[string][]string // the columns of each table of the database
	twins  map[string]map[string]bool
	tally  *tally
	result archive.Adoption

	before *design.Catalog // nil = first adoption
	marks  []archive.Mark

	next        *openArchive // the archive of the copies; nil = without repair
	loader      archive.Loader
	uncommitted *design.Catalog // the catalog of uncommitted records
	digest      record.Digest
}

// adoptRows is the number of records of a commit.
const adoptRows = 1 << 18

// Adopt reads all of a METviewer database. To repair it, Adopt writes the repaired records into
// a second database and exchanges the tables of both with one RENAME TABLE. Other programs
// cannot write meanwhile.
func (a *openArchive) Adopt(ctx context.Context, subset string, repair bool) (*archive.Adoption, error) {
	s := &adoption{a: a, name: subset, pool: a.Pool, tally: newTally()}
	s.result = archive.Adoption{Database: a.database(subset), Read: map[string]int64{}}
	if err := s.check(ctx, repair); err != nil {
		return nil, err
	}
	c, err := a.db.writes.Conn(ctx)
	if err != nil {
		return nil, callError(ctx, err)
	}
	// ErrBadConn closes the connection, which frees its locks.
	defer c.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it always is ErrBadConn
	if !repair {
		err = s.read(ctx)
	} else {
		err = a.locked(ctx, c, subset, func() error { return s.repair(ctx, c) })
	}
	s.result.Findings = s.tally.findings()
	return &s.result, callError(ctx, err)
}

// check checks everything that can be checked before Adopt writes anything.
func (s *adoption) check(ctx context.Context, repair bool) (err error) {
	db := s.result.Database
	refuse := func(problem, cure string) error {
		return &fault.Error{Setting: "database " + db, Problem: problem + "; nothing was written", Cure: cure}
	}
	if s.tables, err = s.a.columns(ctx, db); err != nil {
		return err
	}
	if s.tables[design.HeaderTable] == nil || s.tables[sqlengine.FileTable] == nil {
		return refuse("has no tables stat_header and data_file",
			"name a database of METviewer's schema: barograph adopt mariadb://user@host:port/mv_site")
	}
	if s.twins, err = s.a.twins(ctx, s.pool, s.name); err != nil {
		return err
	}
	if differences := s.compareSchema(); len(differences) > 0 {
		return refuse("has other columns than METviewer 5.1's schema: "+strings.Join(differences, ", "),
			"run METdataio's update scripts, or move these columns to other tables")
	}
	if err := s.unindexed(ctx); err != nil {
		return err
	}
	if s.tables[s.a.OwnName(sqlengine.CatalogTable)] != nil {
		if s.marks, err = s.a.Marks(ctx, s.name); err != nil {
			return err
		}
		if s.before, err = s.a.Catalog(ctx, s.name); err != nil {
			return err
		}
	}
	problems, err := s.a.Check(ctx, s.name)
	if err == nil && len(problems) > 0 {
		return refuse("is damaged: "+strings.Join(problems, "; "), "REPAIR TABLE")
	}
	if err != nil || !repair {
		return err
	}
	const text = "SELECT engine FROM information_schema.tables WHERE table_schema = ? AND table_name = ?"
	kind, err := sqlengine.QueryTexts(ctx, s.pool, text, db, design.HeaderTable)
	if err == nil && kind[0] != s.a.db.engine {
		return refuse("has tables of "+kind[0], "write ?engine="+kind[0]+" at the end of the URL")
	}
	existing, existingErr := s.a.columns(ctx, oldPrefix+db)
	if err = cmp.Or(err, existingErr); err == nil && len(existing) > 0 {
		return refuse("was adopted before: "+oldPrefix+db+" contains its original tables",
			"check the result, then run barograph adopt … --forget")
	}
	return err
}

// columns returns the columns of each table of a database.
func (a *openArchive) columns(ctx context.Context, db string) (map[string][]string, error) {
	out := map[string][]string{}
	const text = "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables " +
		"USING (table_schema, table_name) WHERE table_type = 'BASE TABLE' AND table_schema = ? ORDER BY table_name, ordinal_position"
	err := a.Pool.Rows(ctx, text, []any{db}, func(row []any) error {
		var table, column string
		err := sqlengine.Scan(row, &table, &column)
		out[table] = append(out[table], column)
		return err
	})
	return out, err
}

// repair creates the copies, compares them with the records that it read, and exchanges them.
func (s *adoption) repair(ctx context.Context, c *sql.Conn) error {
	do := func(text string) error { _, err := c.ExecContext(ctx, text); return err }
	db := *s.a.db
	db.prefix = newPrefix + db.prefix
	n, err := db.Open(ctx, design.Normalized)
	if err != nil {
		return err
	}
	s.next = n.(*openArchive) //nolint:forcetypeassert // Open returns only this type
	fresh := s.next.database(s.name)
	if err := drop(do, fresh); err != nil { // a crashed adoption may have left it
		return err
	}
	var tables []string
	for t := range s.tables {
		tables = append(tables, s.a.table(s.name, t)+" READ")
	}
	if err := do("LOCK TABLES " + strings.Join(tables, ", ")); err != nil {
		return err
	}
	if s.loader, err = s.next.Loader(ctx, s.name); err != nil {
		return err
	}
	defer s.loader.Close() //nolint:errcheck // everything is committed or dropped
	s.uncommitted = design.NewCatalog(s.name)
	if s.before != nil {
		s.uncommitted.Conflicts, s.uncommitted.MoreConflicts = s.before.Conflicts, s.before.MoreConflicts
		s.uncommitted.Quarantine = s.before.Quarantine
	}
	commit := func(ctx context.Context) error { return s.commit(ctx, s.marks) }
	exchange := func(ctx context.Context) error { return s.exchange(ctx, c) }
	if err := runSteps(ctx, s.files, s.read, commit, s.indexes, s.verifyCopies, exchange); err != nil {
		return err
	}
	s.result.OriginalsDatabase = oldPrefix + s.result.Database
	return drop(do, fresh)
}

// files copies the rows of data_file to which a line of any table refers, including lines of
// MODE, MTD and tropical cyclones. The numbers of the files do not change.
func (s *adoption) files(ctx context.Context) error {
	err := s.next.exec(ctx, "INSERT INTO "+s.next.table(s.name, sqlengine.FileTable)+" SELECT * FROM "+
		s.a.table(s.name, sqlengine.FileTable)+" WHERE data_file_id IN ("+s.referred()+")")
	for _, t := range metviewerObjects {
		if s.tables[t.name] != nil {
			rows, names := foreignObjects(s.result.Database, t.name, s.tables)
			err = cmp.Or(err, s.next.exec(ctx, "INSERT INTO "+s.next.table(s.name, t.name)+" ("+names+") "+rows))
		}
	}
	return err
}

// foreignObjects returns the query for the rows of one of METviewer's tables of objects and cyclones, and the names of
// its columns. It omits Barograph's own rows of a view, which a commit writes. tables are the columns of db's tables.
func foreignObjects(db, table string, tables map[string][]string) (query, names string) {
	names = columnNames(existingColumns(tables, table, objectColumns(table)))
	query = "SELECT " + names + " FROM " + ident(db) + "." + ident(table)
	for _, v := range objectViews() {
		switch isForeign := rowColumn + " IS NULL"; {
		case !slices.Contains(tables[v.table], rowColumn):
		case table == v.table:
			query += " WHERE " + isForeign
		case table == v.child:
			query += " WHERE " + idOfLines + " IN (SELECT " + idOfLines + " FROM " + ident(db) + "." + ident(v.table) + " WHERE " + isForeign + ")"
		}
	}
	return query, names
}

// referred returns the query for the files that have lines.
func (s *adoption) referred() string {
	var queries []string
	for t, columns := range s.tables {
		if t != sqlengine.FileTable && slices.Contains(columns, "data_file_id") {
			queries = append(queries, "SELECT data_file_id FROM "+s.a.table(s.name, t))
		}
	}
	return strings.Join(queries, " UNION ")
}

func (a *openArchive) exec(ctx context.Context, text string) error {
	return querier{a.db.writes}.Exec(ctx, text)
}

// read reads every line, file by file. With repair it also writes the repaired lines.
func (s *adoption) read(ctx context.Context) error {
	var err error
	count := func(kind int, text string) {
		if err == nil {
			var n int64
			n, err = sqlengine.QueryNumber(ctx, s.pool, "SELECT count(*) FROM "+text)
			s.tally.add(kind, n, "")
		}
	}
	count(noLines, s.a.table(s.name, sqlengine.FileTable)+" WHERE data_file_id NOT IN ("+s.referred()+")")
	headers := s.a.table(s.name, design.HeaderTable)
	fields := columnNames(existingColumns(s.tables, design.HeaderTable, parseColumns(metviewerHeader, "")))
	count(headerTwice, headers+" h JOIN "+headers+" g USING ("+fields+") WHERE g.stat_header_id < h.stat_header_id")
	for _, t := range lists.Filter(record.Types(), func(t *record.LineType) bool { return s.tables[tableOf(t)] != nil }) {
		lines := s.a.table(s.name, tableOf(t)) + " ld "
		headers := s.a.table(s.name, headerTable(t, s.twins))
		count(noHeader, lines+"WHERE stat_header_id NOT IN (SELECT stat_header_id FROM "+headers+")")
		if child, _ := childTable(tableOf(t)); child != "" {
			count(noParent, s.a.table(s.name, child)+" WHERE line_data_id NOT IN (SELECT line_data_id FROM "+lines+")")
		}
		if t.Name == "MPR" && slices.Contains(s.tables[tableOf(t)], "mpr_climo") {
			count(mprMoved, lines+"WHERE mpr_climo <> -9999")
		}
		if err != nil {
			return err
		}
		if err := s.readType(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", tableOf(t), err)
		}
	}
	return err
}

// columnNames returns the names of columns.
func columnNames(cols []metCol) string {
	return flavour.Join(cols, ", ", func(c metCol) string { return c.name })
}

// readType reads the lines of a type.
func (s *adoption) readType(ctx context.Context, t *record.LineType) error {
	exprs, cols := s.a.lineSelect(s.name, t, s.twins)
	isForeign := "0"
	if s.twins[tableOf(t)][ownColumn(t)] {
		isForeign = "ld." + ownColumn(t) + " IS NULL"
	}
	decoder := s.a.NewRecordDecoder(t, cols)
	var file string
	s.tally.seen = map[record.Key]uint64{}
	flush := func() error {
		decoder.Batch.File = file
		b := s.tally.repair(decoder.Batch.Clone())
		decoder.Reset()
		return s.storeBatch(ctx, b)
	}
	text := "SELECT f.path, f.filename, ld.data_file_id, NOT ld.fcst_init_beg <=> " + initTime + ", " + isForeign + ", " + exprs +
		s.a.fromLines(s.name, t, s.twins) + " LEFT JOIN " + s.a.table(s.name, sqlengine.FileTable) +
		" f ON f.data_file_id = ld.data_file_id ORDER BY ld.data_file_id, ld.line_num"
	err := s.pool.Rows(ctx, text, nil, func(row []any) error {
		var path, name string
		var id, wrongInit, foreign int64
		if err := sqlengine.Scan(row[2:5], &id, &wrongInit, &foreign); err != nil {
			return err
		}
		rowFile := fmt.Sprintf("data_file %d", id)
		if row[1] != nil {
			if err := sqlengine.Scan(row, &path, &name); err != nil {
				return err
			}
			rowFile = strings.TrimPrefix(path+"/"+name, "/")
			if strings.HasPrefix(path, "/") {
				rowFile = path + "/" + name
			}
		} else {
			s.tally.add(noFile, 1, rowFile)
		}
		if decoder.Batch.Len() == archive.DumpRows || rowFile != file {
			if err := flush(); err != nil {
				return err
			}
		}
		file = rowFile
		s.result.Read[t.Name]++
		s.tally.add(initBeyond, wrongInit, rowFile)
		s.tally.add(addedSince, foreign, rowFile)
		if err := decoder.SetRow(row[5:]); err != nil {
			return err
		}
		return decoder.EndRow()
	})
	if err != nil {
		return err
	}
	return flush()
}

// storeBatch counts the records of a repaired batch and, with repair, writes them.
func (s *adoption) storeBatch(ctx context.Context, b *record.Batch) error {
	s.result.Records += int64(b.Len())
	if s.next == nil || b.Len() == 0 {
		return nil
	}
	s.uncommitted.Add(b)
	if err := s.loader.Add(ctx, b); err != nil {
		return err
	}
	if s.uncommitted.Digest().Records < adoptRows {
		return nil
	}
	return s.commit(ctx, nil)
}

func (s *adoption) commit(ctx context.Context, marks []archive.Mark) error {
	s.digest.Add(s.uncommitted.Digest())
	_, err := s.loader.Commit(ctx, archive.Commit{Catalog: s.uncommitted, Complete: marks})
	s.uncommitted = design.NewCatalog(s.name)
	return err
}

// verifyCopies reads the copies and compares them with the catalog.
func (s *adoption) verifyCopies(ctx context.Context) error {
	c, catalogErr := s.next.Catalog(ctx, s.name)
	found, err := archive.BuildCatalog(ctx, s.next, s.name)
	if err = cmp.Or(catalogErr, err); err != nil {
		return err
	}
	if found.Digest() != s.digest || c.Digest() != s.digest || s.digest.Records != s.result.Records {
		return fmt.Errorf("the copies contain %s, the catalog counts %s, and the adoption read %s (%d records); no table was exchanged",
			found.Digest(), c.Digest(), s.digest, s.result.Records)
	}
	return nil
}

// indexes adds the further indexes of the originals to the copies.
func (s *adoption) indexes(ctx context.Context) error {
	const text = "SELECT table_name, index_name, " +
		"GROUP_CONCAT(column_name, IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')) ORDER BY seq_in_index) " +
		"FROM information_schema.statistics WHERE table_schema = ? AND index_name <> 'PRIMARY' GROUP BY table_name, index_name"
	read := func(db string) (map[string]string, error) { // the keys are table and columns, and table and =name
		out := map[string]string{}
		err := s.pool.Rows(ctx, text, []any{db}, func(row []any) error {
			var table, name, columns string
			err := sqlengine.Scan(row, &table, &name, &columns)
			out[table+"\x00"+columns], out[table+"\x00="+name] = name, name
			return err
		})
		return out, err
	}
	want, wantErr := read(s.result.Database)
	existing, existingErr := read(s.next.database(s.name))
	copies, err := s.a.columns(ctx, s.next.database(s.name))
	if err = cmp.Or(wantErr, existingErr, err); err != nil {
		return err
	}
	for key, name := range want {
		table, columns, _ := strings.Cut(key, "\x00")
		if strings.HasPrefix(columns, "=") || existing[key] != "" || existing[table+"\x00="+name] != "" || copies[table] == nil || !s.exchanged(table) {
			continue // an older schema has an index of that name on other columns
		}
		if err := s.next.exec(ctx, "CREATE INDEX "+ident(name)+" ON "+s.next.table(s.name, table)+" ("+columns+")"); err != nil {
			return err
		}
	}
	return nil
}

// exchanged reports whether Adopt copies and repairs a table. The other tables stay.
func (s *adoption) exchanged(table string) bool {
	if s.tables[table] == nil || table == design.HeaderTable || table == sqlengine.FileTable || strings.HasPrefix(table, "barograph_") {
		return true
	}
	return objectColumns(table) != nil || slices.ContainsFunc(record.Types(), func(t *record.LineType) bool {
		child, _ := childTable(tableOf(t))
		return table == tableOf(t) || table == child
	})
}

// exchange replaces the tables by the copies, all at once. RENAME TABLE waits for the lock that
// keeps other programs from writing, and runs before any waiting writer.
func (s *adoption) exchange(ctx context.Context, locks *sql.Conn) error {
	copies, err := s.a.columns(ctx, s.next.database(s.name))
	if err != nil {
		return err
	}
	old := ident(oldPrefix + s.result.Database)
	var originals, repaired []string
	for t := range copies {
		if !s.exchanged(t) {
			continue
		}
		if s.tables[t] != nil {
			originals = append(originals, s.a.table(s.name, t)+" TO "+old+"."+ident(t))
		}
		repaired = append(repaired, s.next.table(s.name, t)+" TO "+s.a.table(s.name, t))
	}
	if err := s.a.exec(ctx, "CREATE DATABASE IF NOT EXISTS "+old); err != nil {
		return err
	}
	c, err := s.a.db.writes.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // everything is done
	var id int64
	if err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.ExecContext(ctx, "RENAME TABLE "+strings.Join(slices.Concat(originals, repaired), ", "))
		done <- err
	}()
	for waits := int64(0); waits == 0; {
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Millisecond):
		}
		const text = "SELECT count(*) FROM information_schema.processlist WHERE id = ? AND state LIKE 'Waiting%'"
		if waits, err = sqlengine.QueryNumber(ctx, s.pool, text, id); err != nil {
			return err
		}
	}
	if _, err := locks.ExecContext(ctx, "UNLOCK TABLES"); err != nil {
		return err
	}
	return <-done
}

// Forget drops the tables that an adoption kept, if verify and compareObjects find no loss.
func (a *openArchive) Forget(ctx context.Context, subset string, verify func(archive.Archive) error) error {
	name := oldPrefix + a.database(subset)
	originals, err := a.columns(ctx, name)
	if err == nil && len(originals) == 0 {
		return &fault.Error{
			Setting: "database " + name, Problem: "does not exist: no adoption has kept tables",
			Cure: "barograph adopt … --repair keeps the original tables",
		}
	}
	opened, openErr := a.db.Open(ctx, a.Design)
	if err = cmp.Or(err, openErr); err != nil {
		return err
	}
	own := opened.(*openArchive) //nolint:forcetypeassert // Open returns only this type
	// the catalog of another program's database counts what is found, so it proves nothing
	own.ForeignCatalog, own.RowFilter = nil, func(t *record.LineType) string { return ownColumn(t) + " IS NOT NULL" }
	if err := cmp.Or(verify(own), a.compareObjects(ctx, subset, name, originals)); err != nil {
		return err
	}
	return drop(func(statement string) error { return a.exec(ctx, statement) }, name)
}

// compareObjects returns an error if the archive lacks a row that another program had loaded into METviewer's tables of
// objects and cyclones before the adoption. No catalog counts these rows.
func (a *openArchive) compareObjects(ctx context.Context, subset, original string, tables map[string][]string) error {
	for _, t := range metviewerObjects {
		if tables[t.name] == nil {
			continue
		}
		rows, names := foreignObjects(original, t.name, tables)
		both := "SELECT *, 1 AS lost FROM (" + rows + ") o UNION ALL SELECT " + names + ", -1 FROM " + a.table(subset, t.name)
		n, err := sqlengine.QueryNumber(ctx, a.Pool, "SELECT count(*) FROM (SELECT 1 FROM ("+both+") b GROUP BY "+names+" HAVING sum(lost) > 0) l")
		if err != nil || n > 0 {
			return cmp.Or[error](err, &fault.Status{Code: fault.Differs, Err: &fault.Error{
				Setting: "--forget", Problem: fmt.Sprintf("nothing was dropped: table %s lacks %d rows of the original table", t.name, n),
				Cure: "if they were deleted on purpose, drop the database " + original + " yourself",
			}})
		}
	}
	return nil
}
