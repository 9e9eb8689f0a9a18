package sqlengine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// PostConn is a connection for posting: a thin layer over an engine's driver. One goroutine uses it. Arguments are nil,
// string, int64 or float64; values of replies are these or []byte.
type PostConn struct {
	// Run runs a statement without arguments.
	Run func(ctx context.Context, text string) error
	// Direct lets the server parse, plan and run a statement, and passes each row of its reply to each. Values are
	// valid until each returns. It returns the number of rows that a writing statement changed or matched.
	Direct func(ctx context.Context, text string, args []any, each func(values []any) error) (int64, error)
	// Prepare prepares a text. The caller prepares each text once. The statement lasts as long as the connection.
	Prepare func(ctx context.Context, text string) (PostStatement, error)
	// Pipeline sends the statements of f without waiting for each reply; nil = not supported.
	Pipeline func(ctx context.Context, f func(send func(st PostStatement, args []any) error) error) error
	// Copy appends rows to a temporary table with the columns of t; nil = not supported.
	Copy func(ctx context.Context, name string, t *PostTable, rows []PostRow) error
	// Append appends rows directly to a table of values, whose quoted name is table; nil = not supported. An engine
	// offers it if a savepoint can undo it. The bulk method then tries it before a merge.
	Append func(ctx context.Context, table string, t *PostTable, rows []PostRow) error
	// IsDuplicateKey reports whether Append failed because a key exists already.
	IsDuplicateKey func(err error) bool
	// IsRetryable reports whether the caller may retry the transaction after an error.
	IsRetryable func(err error) bool
	Close       func() error
}

// PostStatement is a prepared statement.
type PostStatement interface {
	Exec(ctx context.Context, args []any) error
}

// PostEngine is an engine's part of OpenPosts.
type PostEngine struct {
	Dialect *PostDialect
	Methods []posts.Method
	Connect func(ctx context.Context) (*PostConn, error)
	// Begin is the statement that starts a writing transaction.
	Begin string
	// CreateLock has the statements that lock out other processes before tables are created.
	CreateLock []string
	// WriteLock is the lock of the only writer; nil = several may write at once.
	WriteLock *sync.Mutex
	ReadOnly  bool
	// MaxRows is the greatest number of rows of a multi-row upsert; 0 = the number of parameters limits it.
	MaxRows int
	// Size, LogPosition and Maintain are Size, Log and Maintain of posts.Store, for tables with these names. If
	// LogPosition is nil, the engine has no log position.
	Size        func(ctx context.Context, tables []string) (posts.Size, error)
	LogPosition func(ctx context.Context) (int64, error)
	Maintain    func(ctx context.Context, u posts.Maintenance, tables []string) error
}

// postStore is an open set of tables.
type postStore struct {
	*PostEngine
	layout *postLayout
	policy posts.Policy
}

// OpenPosts opens tables with an engine's connections.
func OpenPosts(ctx context.Context, e *PostEngine, t posts.Tables) (*posts.Store, error) {
	if t.Make && e.ReadOnly {
		return nil, engine.ErrReadOnly
	}
	if t.Policy == "" {
		t.Policy = posts.Overwrite
	}
	if !slices.Contains(posts.Policies(), t.Policy) {
		return nil, &fault.Error{
			Setting: "policy " + string(t.Policy), Problem: "is unknown",
			Cure: fmt.Sprintf("choose one of %q", posts.Policies()),
		}
	}
	l, err := newPostLayout(t)
	if err != nil {
		return nil, err
	}
	s := &postStore{PostEngine: e, layout: l, policy: t.Policy}
	if err := s.prepare(ctx, t.Make); err != nil {
		return nil, engine.CallError(ctx, err)
	}
	names := lists.Map(l.tables, func(t *PostTable) string { return t.Name })
	return &posts.Store{
		Poster: s.poster, Admit: s.admit, Values: s.allValues, Read: s.countValues, Rows: s.countRows, Delete: s.delete,
		Log: e.LogPosition,
		Size: func(ctx context.Context) (posts.Size, error) {
			size, err := e.Size(ctx, names)
			return size, engine.CallError(ctx, err)
		},
		Maintain: func(ctx context.Context, u posts.Maintenance) error {
			return s.withWriteLock(func() error { return engine.CallError(ctx, e.Maintain(ctx, u, names)) })
		},
		Close: func() error { return nil },
	}, nil
}

// withConn runs f on a separate connection.
func (s *postStore) withConn(ctx context.Context, f func(c *PostConn) error) error {
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	err = s.withWriteLock(func() error { return f(c) })
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	return err
}

// withWriteLock runs f under the lock of the only writer, if the engine has one.
func (s *postStore) withWriteLock(f func() error) error {
	if s.WriteLock != nil {
		s.WriteLock.Lock()
		defer s.WriteLock.Unlock()
	}
	return f()
}

// prepare creates the tables and procedures if create is set. Otherwise it checks that the tables exist.
func (s *postStore) prepare(ctx context.Context, create bool) error {
	return s.withConn(ctx, func(c *PostConn) error {
		if create {
			texts := append(slices.Clone(s.CreateLock), s.Dialect.create(s.layout)...)
			if slices.Contains(s.Methods, posts.Procedure) {
				for _, t := range s.layout.tables {
					for _, r := range s.rules() {
						create, _ := s.Dialect.procedure(t, r)
						texts = append(texts, create...)
					}
				}
			}
			for _, text := range texts {
				if err := c.Run(ctx, text); err != nil {
					return fmt.Errorf("%.60s…: %w", text, err)
				}
			}
			return nil
		}
		for _, t := range s.layout.tables {
			noRows := s.Dialect.selectAll(t) + " WHERE 1 = 0"
			if _, err := c.Direct(ctx, noRows, nil, func([]any) error { return nil }); err != nil {
				return &fault.Error{
					Setting: "table " + t.Name, Err: err, Cure: "create it: barograph shef post --make",
					Problem: "does not exist, or does not have the layout " + string(s.layout.design),
				}
			}
		}
		return nil
	})
}

// rules lists the rules of the policy: for values that are no revisions, and for revisions if that rule differs.
func (s *postStore) rules() []posts.Rule {
	out := []posts.Rule{s.policy.Rule(false)}
	if r := s.policy.Rule(true); r != out[0] {
		out = append(out, r)
	}
	return out
}

// poster posts with one method.
type poster struct {
	*postStore
	c      *PostConn
	method posts.Method
	plan   postPlan
	result posts.PostResult // of the current attempt

	stations    map[record.ID]bool     // those with an admitted location
	series      map[posts.Series]int32 // the rank of each series in the ingest filter
	lastSeries  posts.Series           // the series of the last lookup, and what it found
	lastRank    int32
	lastVerdict verdict

	prepared map[string]PostStatement
	upserts  map[upsertKey]PostStatement
	staging  map[*PostTable]bool // tables that have a temporary table
	nonEmpty map[*PostTable]bool // tables whose temporary table has rows of this transaction
	appendBackoff
	args []any // buffer for the arguments of a statement
}

// verdict is whether the tables location and ingestfilter admit a value.
type verdict byte

const (
	admitted verdict = iota
	unknown          // the station has no location
	filtered         // the ingest filter does not have the series
)

func (s *postStore) poster(ctx context.Context, m posts.Method) (posts.Poster, error) {
	if !slices.Contains(s.Methods, m) {
		return nil, &fault.Error{
			Setting: "method " + string(m), Problem: "is not offered by this engine",
			Cure: fmt.Sprintf("choose one of %q", s.Methods),
		}
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &poster{
		postStore: s, c: c, method: m, plan: postPlan{layout: s.layout, policy: s.policy},
		prepared: map[string]PostStatement{}, upserts: map[upsertKey]PostStatement{},
		staging: map[*PostTable]bool{}, nonEmpty: map[*PostTable]bool{},
		stations: map[record.ID]bool{}, lastVerdict: unknown,
	}
	if err := p.readFilters(ctx); err != nil {
		c.Close() //nolint:errcheck // the first error is more specific
		return nil, err
	}
	return p, nil
}

// Close closes the connection.
func (p *poster) Close() error { return p.c.Close() }

// admits looks up the series of a value in location and ingest filter, and counts the value in the result. rank is the
// rank of an admitted series.
func (p *poster) admits(g *record.Gauge) (rank int32, ok bool) {
	s := posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
	if s != p.lastSeries {
		rank, ok := p.series[s]
		p.lastSeries, p.lastRank, p.lastVerdict = s, rank, admitted
		switch {
		case ok && p.stations[g.Station]:
		case p.stations[g.Station]:
			p.lastVerdict = filtered
		default:
			p.lastVerdict = unknown
		}
	}
	switch p.lastVerdict {
	case unknown:
		p.result.Unknown++
	case filtered:
		p.result.Filtered++
	default:
		p.result.Values++
	}
	return p.lastRank, p.lastVerdict == admitted
}

// maxAttempts is the greatest number of attempts for a transaction.
const maxAttempts = 100

// Post posts the messages in one transaction, and retries it after an error that the engine regards as retryable.
func (p *poster) Post(ctx context.Context, messages []posts.Message) (posts.PostResult, error) {
	retries := int64(0)
	for {
		p.result = posts.PostResult{Retries: retries}
		err := p.withWriteLock(func() error { return p.attempt(ctx, messages) })
		if err == nil {
			return p.result, nil
		}
		if ctx.Err() != nil {
			return posts.PostResult{}, ctx.Err()
		}
		if retries++; retries == maxAttempts || !p.c.IsRetryable(err) {
			return posts.PostResult{}, err
		}
		time.Sleep(time.Duration(rand.Int64N(min(retries, 20)+1)) * time.Millisecond) //nolint:gosec // not for secrets
	}
}

// attempt makes one attempt to post the messages.
func (p *poster) attempt(ctx context.Context, messages []posts.Message) error {
	posted := time.Now().Unix()
	switch p.method {
	case posts.Row2006:
		return p.postLike2006(ctx, messages, posted)
	case posts.Procedure:
		return p.callProcedures(ctx, messages, posted)
	}
	var units []PostUnit
	if p.method != posts.Row2006Message {
		units = p.plan.build(messages, p.admits, posted)
	}
	if p.method == posts.Bulk {
		if err := p.prepareStaging(ctx, units); err != nil {
			return err
		}
	}
	err := p.c.Run(ctx, p.Begin)
	switch {
	case err != nil:
	case p.method == posts.Row2006Message:
		err = p.postLike2006(ctx, messages, posted)
	default:
		err = p.write(ctx, units)
	}
	if err == nil {
		err = p.c.Run(ctx, "COMMIT")
	}
	if err != nil {
		rollbackCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = p.c.Run(rollbackCtx, "ROLLBACK") // the first error is more specific; a lost connection has rolled back
	}
	return err
}

// write upserts the units with the poster's method.
func (p *poster) write(ctx context.Context, units []PostUnit) error {
	if p.method == posts.PreparedRows {
		return p.writeRows(ctx, units)
	}
	for i := range units {
		u := &units[i]
		if len(u.Rows) == 0 {
			continue
		}
		p.result.Merged += int64(len(u.Rows))
		var err error
		if p.method == posts.Bulk {
			err = p.writeBulk(ctx, u)
		} else {
			err = p.writeBatches(ctx, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// statement returns the prepared statement of a text, and prepares it if that is necessary.
func (p *poster) statement(ctx context.Context, text string) (PostStatement, error) {
	if st := p.prepared[text]; st != nil {
		return st, nil
	}
	st, err := p.c.Prepare(ctx, text)
	if err == nil {
		p.prepared[text] = st
	}
	return st, err
}

// upsertKey identifies an upsert. It is a shorter key of a map than the statement's text.
type upsertKey struct {
	t    *PostTable
	rows int
	rule posts.Rule
}

func (p *poster) upsertStatement(ctx context.Context, u upsertKey) (PostStatement, error) {
	if st := p.upserts[u]; st != nil {
		return st, nil
	}
	st, err := p.statement(ctx, p.Dialect.upsert(u.t, u.rows, u.rule))
	if err == nil {
		p.upserts[u] = st
	}
	return st, err
}

// writeRows upserts one row after the other, in a pipeline if the engine has one.
func (p *poster) writeRows(ctx context.Context, units []PostUnit) error {
	// Prepare all statements first, because a pipeline cannot do that.
	statements := make([]PostStatement, len(units))
	for i := range units {
		if len(units[i].Rows) == 0 {
			continue
		}
		var err error
		if statements[i], err = p.upsertStatement(ctx, upsertKey{units[i].Table, 1, units[i].Rule}); err != nil {
			return err
		}
	}
	sendAll := func(send func(st PostStatement, args []any) error) error {
		for i := range units {
			u := &units[i]
			p.result.Merged += int64(len(u.Rows))
			for k := range u.Rows {
				p.args = appendArgs(p.args[:0], &u.Rows[k], u.Table.Columns)
				if err := send(statements[i], p.args); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if p.c.Pipeline != nil {
		return p.c.Pipeline(ctx, sendAll)
	}
	return sendAll(func(st PostStatement, args []any) error { return st.Exec(ctx, args) })
}

// writeBatches upserts many rows with each statement. Their number is a power of two, which keeps the number of
// prepared statements small.
func (p *poster) writeBatches(ctx context.Context, u *PostUnit) error {
	limit := p.Dialect.MaxParams / len(u.Table.Columns)
	if p.MaxRows > 0 {
		limit = min(limit, p.MaxRows)
	}
	for rows := u.Rows; len(rows) > 0; {
		n := 1
		for 2*n <= min(limit, len(rows)) {
			n *= 2
		}
		st, err := p.upsertStatement(ctx, upsertKey{u.Table, n, u.Rule})
		if err != nil {
			return err
		}
		p.args = p.args[:0]
		for i := range rows[:n] {
			p.args = appendArgs(p.args, &rows[i], u.Table.Columns)
		}
		if err := st.Exec(ctx, p.args); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// prepareStaging creates or empties the temporary tables that the units need. It runs outside the transaction, because
// not every engine can do it inside.
func (p *poster) prepareStaging(ctx context.Context, units []PostUnit) error {
	used := map[*PostTable]bool{}
	for i := range units {
		t := units[i].Table
		if len(units[i].Rows) == 0 || used[t] {
			continue
		}
		used[t] = true
		var text string
		switch {
		case !p.staging[t]:
			text = p.Dialect.staging(t)
		case p.Dialect.EmptyTemporary != "":
			text = p.Dialect.EmptyTemporary + " " + p.Dialect.stagingTable(t)
		default:
			continue
		}
		if err := p.c.Run(ctx, text); err != nil {
			return err
		}
		p.staging[t] = true
	}
	clear(p.nonEmpty)
	return nil
}

// writeBulk tries to append the rows. If it cannot, it copies them into a temporary table and merges that table.
func (p *poster) writeBulk(ctx context.Context, u *PostUnit) error {
	if p.c.Append != nil && p.worthTrying() {
		if done, err := p.tryAppend(ctx, u); done || err != nil {
			return err
		}
	}
	name := p.Dialect.stagingTable(u.Table)
	if p.nonEmpty[u.Table] { // an earlier unit of this transaction has filled it
		if err := p.c.Run(ctx, "DELETE FROM "+name); err != nil {
			return err
		}
	}
	p.nonEmpty[u.Table] = true
	if err := p.c.Copy(ctx, stagingName(u.Table), u.Table, u.Rows); err != nil {
		return err
	}
	st, err := p.statement(ctx, p.Dialect.mergeFrom(u.Table, name, u.Rule))
	if err != nil {
		return err
	}
	return st.Exec(ctx, nil)
}

// callProcedures calls a stored procedure for every value.
func (p *poster) callProcedures(ctx context.Context, messages []posts.Message, posted int64) error {
	for m := range messages {
		msg := &messages[m]
		row := PostRow{product: []byte(msg.Product), issued: msg.Issued, posted: posted}
		superseded := p.plan.superseded(msg)
		for i := range msg.Values {
			g := &msg.Values[i]
			rank, ok := p.admits(g)
			if !ok || superseded[g] {
				continue
			}
			row.gauge = g
			row.position = p.layout.locate(g, rank)
			t := p.layout.tables[row.table]
			_, text := p.Dialect.procedure(t, p.policy.Rule(g.Revised))
			st, err := p.statement(ctx, text)
			if err != nil {
				return err
			}
			p.args = p.args[:0]
			for k := range t.Columns {
				c := &t.Columns[k]
				switch {
				case c.from != fromSlot:
					cell := row.Cell(c)
					p.args = append(p.args, cell.argument(c.Type))
				case c.slot == 0:
					p.args = append(p.args, int64(row.slot), g.Value)
				}
			}
			if err := st.Exec(ctx, p.args); err != nil {
				return err
			}
			p.result.Merged++
		}
	}
	return nil
}

// appendArgs appends a row as arguments of a statement.
func appendArgs(args []any, r *PostRow, cols []PostColumn) []any {
	for i := range cols {
		cell := r.Cell(&cols[i])
		args = append(args, cell.argument(cols[i].Type))
	}
	return args
}

// argument returns the cell as an argument of a statement.
func (c *PostCell) argument(t PostType) any {
	switch {
	case c.Null:
		return nil
	case t == PostText:
		return textArgument(c.Text)
	case t == PostFloat:
		return c.Float
	case t == PostTime:
		return string(AppendMoment(nil, c.Int))
	case t == PostDate:
		return string(AppendDate(nil, c.Int))
	}
	return c.Int
}

// letterArguments has the texts of one character. Most texts are among them, and their conversion to any would
// allocate.
var letterArguments = func() (out [128]any) { //nolint:gochecknoglobals // a constant table
	for i := range out {
		out[i] = string(rune(i))
	}
	return out
}()

func textArgument(text []byte) any {
	if len(text) == 1 && text[0] < 128 {
		return letterArguments[text[0]]
	}
	return string(text)
}

// AppendMoment appends Unix seconds as 2006-01-02 15:04:05.
func AppendMoment(b []byte, unix int64) []byte {
	return time.Unix(unix, 0).UTC().AppendFormat(b, time.DateTime)
}

// AppendDate appends days since 1970 as 2006-01-02.
func AppendDate(b []byte, days int64) []byte {
	return time.Unix(days*secondsPerDay, 0).UTC().AppendFormat(b, time.DateOnly)
}
