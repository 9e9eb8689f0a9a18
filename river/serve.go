package river

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // no secret: two copies of a product are alike
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/fsnotify/fsnotify"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// Service posts the products of a spool until its context ends.
type Service struct {
	Spool   *Spool
	Poster  Poster
	Input   Input
	Log     *slog.Logger // a line for each product
	Metrics *Metrics
	// Landed is called with each product whose rows are committed; nil = it is not called.
	Landed func(p *Product, latency time.Duration)
	// Reread requests that the poster read its tables and settings again; nil = never.
	Reread <-chan func() error
	// Ended is closed after the last product. Then the service ends when the spool is empty; nil = never.
	Ended <-chan struct{}

	pending     []*pendingProduct // the products of the next transaction
	values      int               // number of their values
	maxProducts int               // limit of the products of the next transaction
	interrupted atomic.Bool       // the transaction in flight was interrupted
	files       []*Waiting        // files that are not moved to done/ or failed/ yet
	inFlight    *transaction      // nil = none
	pinged      time.Time         // when ping last checked the database
}

// transaction is a transaction in flight. Meanwhile the service reads the next products.
type transaction struct {
	products []*pendingProduct
	memory   [][]record.Gauge // of their values
	began    time.Time
	tallies  chan []Tally
}

// pendingProduct is a product that is not posted yet.
type pendingProduct struct {
	*Product
	file *Waiting
}

// Limits of one transaction.
const (
	BatchProducts = 1000
	batchValues   = 30_000
)

const (
	poll           = 500 * time.Millisecond // interval at which the service reads the spool, because NFS reports no changes
	reloadInterval = 12 * time.Hour         // interval at which the poster reads its reference tables again
	attempts       = 2                      // how often the database must refuse a value before the value is Refused
	maxDelay       = 30 * time.Second       // between two attempts to reach the database
)

// acquireSpool waits until no other process posts from the spool. It returns false if the context has ended, or no
// product remains.
func (s *Service) acquireSpool(ctx context.Context) (bool, error) {
	for logged := false; ctx.Err() == nil; logged = true {
		if acquired, err := s.Spool.acquire(); acquired || err != nil {
			return acquired, err
		}
		if !logged {
			s.Log.Info("another process posts from the folder; this one waits until it ends", "folder", s.Spool.Dir)
		}
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
		select {
		case <-s.Ended:
			if _, files, err := s.Spool.Ready(); files == 0 || err != nil {
				return false, err
			}
		default:
		}
	}
	return false, nil
}

// Run posts until the context ends, and finishes the current transaction. It returns an error of
// the spool; faults of a database or a product are not errors.
func (s *Service) Run(ctx context.Context) error {
	if acquired, err := s.acquireSpool(ctx); !acquired || err != nil {
		return err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close() //nolint:errcheck // it only reported
	if err := watcher.Add(s.Spool.Dir); err != nil {
		return err
	}
	// After a kill the first transaction has one product, and each later transaction twice as many as the one before.
	// Thus even a service that is killed repeatedly makes progress with its backlog.
	if s.maxProducts = BatchProducts; s.Spool.killed {
		s.maxProducts = 1
		s.Log.Warn("the previous service was killed: the first transactions are small")
	}
	tick := time.NewTicker(min(poll, max(s.Spool.Settle, 50*time.Millisecond)))
	defer tick.Stop()
	reloadedAt := time.Now()
	for ctx.Err() == nil {
		if time.Since(reloadedAt) > reloadInterval {
			reloadedAt = time.Now()
			s.reload(ctx, func() error { return nil })
		}
		select { // the service does not reach the select below while files arrive
		case readSettings := <-s.Reread:
			reloadedAt = time.Now()
			s.reload(ctx, readSettings)
		default:
		}
		ready, files, err := s.Spool.Ready()
		if err != nil {
			return err
		}
		for _, path := range s.Spool.newNotFiles() {
			s.Log.Warn("ignored: neither a file nor a link to a file", "path", path)
		}
		if err := s.postFiles(ctx, ready); err != nil && ctx.Err() == nil {
			return err
		}
		ended := s.Ended
		if len(ready) > 0 {
			continue
		}
		if files > 0 {
			ended = nil
		}
		select {
		case <-ctx.Done():
		case <-watcher.Events:
			drain(watcher.Events)
		case <-watcher.Errors: //nolint:errcheck // too many events were lost: the next pass finds the files
		case <-tick.C:
			s.ping(ctx)
		case readSettings := <-s.Reread:
			reloadedAt = time.Now()
			s.reload(ctx, readSettings)
		case <-ended:
			if _, files, err := s.Spool.Ready(); files == 0 || err != nil {
				return err
			}
		}
	}
	return nil
}

// pingInterval is the interval at which an idle service checks its database.
const pingInterval = 15 * time.Second

// ping checks whether the database of an idle service is reachable.
func (s *Service) ping(ctx context.Context) {
	p, ok := s.Poster.(interface {
		Ping(ctx context.Context) error
	})
	if !ok || s.inFlight != nil || time.Since(s.pinged) < pingInterval {
		return
	}
	limited, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	s.Metrics.Up(p.Ping(limited))
	s.pinged = time.Now()
}

// drain receives everything that waits in a channel.
func drain[T any](c <-chan T) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

// reload reads the settings, and then the reference tables, again.
func (s *Service) reload(ctx context.Context, readSettings func() error) {
	err := readSettings()
	if err == nil {
		err = s.Poster.Reload(ctx)
	}
	if setSuccess(s.Metrics.reloaded, err); err != nil {
		s.Log.Error("the reference tables and settings could not be read again; "+
			"the service continues with the earlier ones", "error", err)
		return
	}
	s.Log.Info("the reference tables and settings were read again")
}

// postFiles posts the ready files. If the context ends, the other files remain in the spool.
func (s *Service) postFiles(ctx context.Context, ready []*Waiting) error {
	s.pending, s.files, s.values = nil, nil, 0
	for _, w := range ready {
		s.files = append(s.files, w)
		if err := errors.Join(ctx.Err(), s.readFile(ctx, w)); err != nil {
			return errors.Join(err, s.awaitTransaction(ctx))
		}
	}
	if err := s.post(ctx); err != nil {
		return err
	}
	return s.awaitTransaction(ctx)
}

// readFile reads the products of a file, and posts products when they fill a transaction.
func (s *Service) readFile(ctx context.Context, w *Waiting) error {
	var readErr error
	texts, err := formats.NewTexts(ctx, []string{w.Path}, nil, func(err error) { readErr = err })
	if err != nil {
		return nil //nolint:nilerr // somebody removed the file
	}
	products := 0
	for name, text := range texts.All() {
		err = s.Input.Read(text, name, w.Received, func(p *Product) error {
			products++
			if s.Spool.Doubled(p) || s.isPending(p) {
				s.Metrics.Doubled.Inc()
				s.Log.Info("product", "id", p.ID, "issued", p.Issued, "file", w.Path, "doubled", true)
				return nil
			}
			w.unposted++
			s.pending, s.values = append(s.pending, &pendingProduct{Product: p, file: w}), s.values+len(p.Values)
			if len(s.pending) < s.maxProducts && s.values < batchValues {
				return nil
			}
			return s.post(ctx)
		})
	}
	w.isRead = true
	if readErr = errors.Join(readErr, texts.Incomplete()); err == nil && (readErr != nil || products == 0) {
		if w.failure = "the file contains no product"; readErr != nil {
			w.failure = readErr.Error()
		}
		s.Metrics.Failed.Inc()
		s.Log.Error("file", "file", w.Path, "error", w.failure)
	}
	return err
}

// isPending reports whether the same product is pending or in flight.
func (s *Service) isPending(p *Product) bool {
	isSame := func(o *pendingProduct) bool { return o.Sum == p.Sum }
	return slices.ContainsFunc(s.pending, isSame) ||
		s.inFlight != nil && slices.ContainsFunc(s.inFlight.products, isSame)
}

// post waits for the transaction in flight, and then starts to post the pending products.
func (s *Service) post(ctx context.Context) error {
	if err := s.awaitTransaction(ctx); err != nil {
		return err
	}
	t := &transaction{
		products: s.pending, memory: s.Input.takeMemory(), began: time.Now(), tallies: make(chan []Tally, 1),
	}
	s.pending, s.values, s.inFlight = nil, 0, t
	if len(t.products) == 0 {
		t.tallies <- []Tally{}
		return nil
	}
	go func() { t.tallies <- s.postUntilDone(ctx, t.products) }()
	return nil
}

// awaitTransaction waits for the transaction in flight, and moves the files whose products are all posted.
func (s *Service) awaitTransaction(ctx context.Context) error {
	t := s.inFlight
	if t == nil {
		return nil
	}
	tallies := <-t.tallies
	if s.inFlight = nil; tallies == nil {
		return ctx.Err()
	}
	if len(t.products) > 0 {
		if s.maxProducts = min(2*s.maxProducts, BatchProducts); s.interrupted.Swap(false) {
			s.maxProducts = 1
		}
		s.Metrics.countCommit(time.Since(t.began))
		var posted []*Product
		for i, p := range t.products {
			p.file.unposted--
			s.report(p, tallies[i], time.Since(t.began)/time.Duration(len(t.products)))
			if len(p.Refusals) == 0 {
				posted = append(posted, p.Product)
			}
		}
		if err := s.Spool.Posted(posted); err != nil { // without the list, a repeated product is posted again, which changes nothing
			s.Log.Error("the list of posted products cannot be written", "error", err)
		}
	}
	s.Input.recycle(t.memory)
	var unfinished []*Waiting
	for _, w := range s.files {
		if !w.isRead || w.unposted > 0 {
			unfinished = append(unfinished, w)
		} else if err := s.Spool.Done(w); err != nil {
			return err
		}
	}
	s.files = unfinished
	return nil
}

// report counts a product in the metrics and writes its line of the log.
func (s *Service) report(p *pendingProduct, t Tally, postTime time.Duration) {
	args := []any{
		"id", p.ID, "issued", p.Issued, "file", p.file.Path, "values", len(p.Values), "lost", p.Account.Lost,
		"parse", p.Parse.Seconds(), "post", postTime.Seconds(), "latency", time.Since(p.file.Received).Seconds(),
	}
	if p.Account.Rescued > 0 {
		args = append(args, "rescued", p.Account.Rescued)
	}
	for i, name := range Fates() {
		if t[i] > 0 {
			args = append(args, name, t[i])
		}
	}
	s.Metrics.countProduct(p, t)
	if len(p.Refusals) > 0 {
		refusal := p.refusal(&t)
		p.file.failure = strings.TrimPrefix(p.file.failure+"\n"+refusal, "\n")
		s.Metrics.Failed.Inc()
		s.Log.Error("product", append(args, "error", refusal)...)
		return
	}
	s.Log.Info("product", args...)
	if s.Landed != nil {
		s.Landed(p.Product, time.Since(p.file.Received))
	}
}

// postUntilDone posts products. It waits for a database that is unreachable, and finds the values that the database
// refuses. It returns nil if the context ends before.
func (s *Service) postUntilDone(ctx context.Context, all []*pendingProduct) []Tally {
	products := make([]*Product, len(all))
	for i, p := range all {
		products[i] = p.Product
	}
	delay := 50 * time.Millisecond
	x := bisector{poster: s.Poster}
	x.post = func(products []*Product) ([]Tally, error) {
		// The service finishes a transaction that has started, even if ctx ends, unless it takes five minutes.
		limited, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
		defer stop()
		tallies, err := s.Poster.Post(limited, products)
		if s.Metrics.Up(err); err == nil {
			delay = 50 * time.Millisecond
		}
		return tallies, err
	}
	x.wait = func(err error, refused bool) error {
		s.Metrics.Retries.Inc()
		if refused {
			return nil
		}
		message := "the database is unreachable"
		if !errors.Is(err, engine.ErrUnreachable) {
			message = "the database refuses"
			s.interrupted.Store(true)
		}
		s.Log.Warn(message, "products", len(all), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case readSettings := <-s.Reread:
			s.reload(ctx, readSettings)
		case <-time.After(delay/2 + rand.N(delay)): //nolint:gosec // no secret
		}
		delay = min(2*delay, maxDelay)
		return nil
	}
	tallies, err := x.postAccepted(ctx, products)
	if err != nil {
		return nil
	}
	return tallies
}

// Product is a decoded product to be posted.
type Product struct {
	ID       string    // CCCC and AWIPS id in the form of the IHFS, at most 10 characters
	Issued   time.Time // the time of its heading; without a heading, Received
	Received time.Time
	Parse    time.Duration // time for decoding its text
	Values   []record.Gauge
	Account  shef.Account   // of its text
	Text     []byte         // its text, if Input.KeepText is set
	Left     int            // number of values that Input.Filter omitted
	Sum      [md5.Size]byte // of its text without the differences between two transmissions, see normalize
	// Refusals are the first maxRefusals reasons why the database refuses values of this product, even if each is posted
	// by itself.
	Refusals []string
}

// refusal describes the refused values of a product in one line.
func (p *Product) refusal(t *Tally) string {
	return fmt.Sprintf("product %s of %s: %d of %s refused, the others posted: %s",
		p.ID, p.Issued.Format(time.RFC3339), t[Refused], english.Plural(len(p.Values), "value", ""), strings.Join(p.Refusals, "; "))
}

// noHeading is what AWIPS calls a product without a WMO heading.
const noHeading = "MSGPRODID"

// Input reads the products of texts.
type Input struct {
	shef.Options
	Filter shef.Filter
	// KeepText sets Product.Text, which shef_storetext needs.
	KeepText bool

	split shef.Splitter // reused for each text
	out   shef.Result

	// The memory of the products' values, in pieces of pieceValues or more. used are the pieces of the products since
	// the last takeMemory; only the last piece may have unused capacity. free are empty pieces for later products.
	used, free [][]record.Gauge
}

// pieceValues is the number of values in a piece of memory.
const pieceValues = 8 << 10

// add appends values to those of a product, which are at the end of the last piece. It returns all values of the
// product.
func (in *Input) add(before, values []record.Gauge) []record.Gauge {
	n, total := len(in.used), len(before)+len(values)
	if n == 0 || cap(in.used[n-1])-len(in.used[n-1]) < len(values) {
		next := make([]record.Gauge, 0, max(pieceValues, 2*total))
		if k := len(in.free); k > 0 && total <= pieceValues {
			next, in.free = in.free[k-1], in.free[:k-1]
		}
		in.used, n = append(in.used, append(next, before...)), n+1
	}
	last := &in.used[n-1]
	*last = append(*last, values...)
	return (*last)[len(*last)-total : len(*last) : len(*last)]
}

// takeMemory returns the memory of the products since the last call.
func (in *Input) takeMemory() [][]record.Gauge {
	used := in.used
	in.used = nil
	return used
}

// recycle keeps memory of posted products for later products.
func (in *Input) recycle(used [][]record.Gauge) {
	for _, u := range used {
		if clear(u); cap(u) == pieceValues && len(in.free) < 2*batchValues/pieceValues {
			in.free = append(in.free, u[:0])
		}
	}
}

// Read calls each with every product of a text; each may keep the product. A text without a heading and without a
// SHEF message is not a product. received is the time of a product without a heading, and decides its years if
// Options.Now is zero.
func (in *Input) Read(r io.Reader, name string, received time.Time, each func(*Product) error) error {
	o := in.Options
	if o.Now.IsZero() {
		o.Now = received
	}
	split, out, decoder, sum := &in.split, &in.out, shef.NewDecoder(o), md5.New() //nolint:gosec // no secret
	split.Reset(r, name, o.Now)
	var text shef.Product
	var p *Product
	send := func() error {
		if p == nil {
			return nil
		}
		product := p
		if p = nil; product.ID == noHeading && product.Account.Messages == 0 { // not SHEF
			return nil
		}
		product.Left = in.Filter.Apply(&product.Values)
		sum.Sum(product.Sum[:0])
		return each(product)
	}
	for {
		began := time.Now()
		if err := split.Next(&text); errors.Is(err, io.EOF) {
			return send()
		} else if err != nil {
			return errors.Join(err, send())
		}
		normalized := normalize(&text)
		if p == nil && len(normalized) == 0 { // blanks and line ends after a product
			continue
		}
		if p == nil {
			p = &Product{ID: productID(&text), Issued: received.UTC().Truncate(time.Second), Received: received}
			if text.Issued != record.NoTime {
				p.Issued = time.Unix(text.Issued, 0).UTC()
			}
			sum.Reset()
		}
		decoder.Decode(&text, out)
		if len(out.Values) > 0 {
			p.Values = in.add(p.Values, out.Values)
		}
		p.Account.Add(&out.Account)
		p.Parse += time.Since(began)
		sum.Write(normalized)
		if in.KeepText {
			p.Text = append(p.Text, text.Text...)
		}
		if text.Last {
			if err := send(); err != nil {
				return err
			}
		}
	}
}

// TextSum returns the Product.Sum of a text that is one product.
func (in *Input) TextSum(text []byte) (sum [md5.Size]byte, err error) {
	hash := md5.New() //nolint:gosec // no secret
	in.split.Reset(bytes.NewReader(text), "", in.Now)
	for {
		var part shef.Product
		if err := in.split.Next(&part); errors.Is(err, io.EOF) {
			hash.Sum(sum[:0])
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		hash.Write(normalize(&part))
	}
}

// normalize removes from a text the differences between two transmissions of one product: the bytes before its heading,
// control characters, empty lines, and blanks at the ends of lines. The other blanks and the line ends stay, because a
// correction may differ in nothing else.
func normalize(p *shef.Product) []byte {
	text := p.Text
	if i := bytes.Index(text, []byte(p.Heading)); i >= 0 && p.Part == 1 {
		text = text[i:]
	}
	out := make([]byte, 0, len(text)+1)
	for line := range bytes.Lines(text) {
		start := len(out)
		for _, c := range line {
			if c >= ' ' || c == '\t' {
				out = append(out, c)
			}
		}
		if out = bytes.TrimRight(out, " \t"); len(out) > start {
			out = append(out, '\n')
		}
	}
	return out
}

// productID returns the id of a product in the form of the IHFS.
func productID(p *shef.Product) string {
	if p.Heading == "" {
		return noHeading
	}
	id := p.Heading[7:11] + p.AWIPS
	return id[:min(len(id), 10)]
}
