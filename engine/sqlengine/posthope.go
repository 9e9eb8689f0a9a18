package sqlengine

import "context"

// hope says whether the keys of the next rows may all be new, as most values of
// a feed are. A merge looks every key up before it inserts, and once more when
// it does; an insert looks it up once. An insert that fails has been in vain,
// up to the first key that is taken: after each failure it is left for twice as
// many times.
type hope struct {
	skip, failed int
}

// mostSkipped is how many merges may pass until an insert is tried again.
const mostSkipped = 255

func (h *hope) dares() bool {
	if h.skip > 0 {
		h.skip--
		return false
	}
	return true
}

func (h *hope) told(isNew bool) {
	if isNew {
		h.failed = 0
		return
	}
	h.failed = min(2*h.failed+1, mostSkipped)
	h.skip = h.failed
}

// insertNew inserts the rows of a temporary table, if none of their keys is
// taken; done is false where one is, and nothing is inserted.
func (p *poster) insertNew(ctx context.Context, t *PostTable, source string) (done bool, err error) {
	st, err := p.statement(ctx, p.Dialect.insertFrom(t, source))
	if err != nil {
		return false, err
	}
	if err := p.c.Run(ctx, "SAVEPOINT hope"); err != nil {
		return false, err
	}
	err = st.Exec(ctx, nil)
	switch {
	case err == nil:
		p.hope.told(true)
		return true, p.c.Run(ctx, "RELEASE SAVEPOINT hope")
	case !p.c.Taken(err):
		return false, err
	}
	p.hope.told(false)
	return false, p.c.Run(ctx, "ROLLBACK TO SAVEPOINT hope; RELEASE SAVEPOINT hope")
}
