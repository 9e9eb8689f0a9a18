package sqlengine

import "context"

// insertFirst decides whether a plain insert is tried before a merge. Most values
// of a feed have new keys, which an insert looks up once and a merge twice; but
// an insert that meets a taken key was work for nothing. After each failure the
// next attempt waits for twice as many merges.
type insertFirst struct {
	skip, failed int
}

// mostSkipped is how many merges may pass until an insert is tried again.
const mostSkipped = 255

// worthTrying reports whether to try the insert now.
func (i *insertFirst) worthTrying() bool {
	if i.skip > 0 {
		i.skip--
		return false
	}
	return true
}

// record notes whether an insert went through.
func (i *insertFirst) record(ok bool) {
	if ok {
		i.failed = 0
		return
	}
	i.failed = min(2*i.failed+1, mostSkipped)
	i.skip = i.failed
}

// insertNew inserts the rows of a temporary table, if none of their keys is
// taken; done is false where one is, and nothing is inserted.
func (p *poster) insertNew(ctx context.Context, t *PostTable, source string) (done bool, err error) {
	st, err := p.statement(ctx, p.Dialect.insertFrom(t, source))
	if err != nil {
		return false, err
	}
	if err := p.c.Run(ctx, "SAVEPOINT before_insert"); err != nil {
		return false, err
	}
	err = st.Exec(ctx, nil)
	switch {
	case err == nil:
		p.record(true)
		return true, p.c.Run(ctx, "RELEASE SAVEPOINT before_insert")
	case !p.c.Taken(err):
		return false, err
	}
	p.record(false)
	return false, p.c.Run(ctx, "ROLLBACK TO SAVEPOINT before_insert; RELEASE SAVEPOINT before_insert")
}
