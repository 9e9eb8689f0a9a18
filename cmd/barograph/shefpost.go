package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"

	"github.com/spf13/cobra"
)

// riverFlags has the flags of the commands that open a river database.
type riverFlags struct {
	env                                                     *env
	input                                                   shefInput
	url, schema, design, policy                             string
	tokensFile                                              string
	createTables, archiveData, waitForDatabase, learnIngest bool
	logFile                                                 river.LogFile
}

// checkSchema refuses flags that apply only to the tables of the other --schema.
func (p *riverFlags) checkSchema(c *cobra.Command) error {
	schemas := map[string]string{
		"apps-defaults": "ihfs", "archive-data": "ihfs", "learn-ingest": "ihfs", "design": "barograph", "make": "barograph",
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		other := schemas[name]
		if f := c.Flags().Lookup(name); f != nil && f.Changed && p.schema != other && slices.Contains(riverSchemas(), p.schema) {
			return fault.Misuse("--"+name, "applies only to --schema "+other, "add --schema "+other+", or omit --"+name)
		}
	}
	return nil
}

// riverSchemas returns the values of --schema.
func riverSchemas() []string { return []string{"ihfs", "barograph"} }

// databaseFlags adds the flags that name a database's tables.
func (p *riverFlags) databaseFlags(c *cobra.Command, what string) {
	f := c.Flags()
	f.StringVar(&p.url, engineFlag, "", "URL of the database "+what+", e.g. postgres://awips@dx1:5432/hd_ob8krf")
	f.StringVar(&p.schema, "schema", "ihfs", "ihfs: the tables of the Weather Service, which must exist; or barograph: tables of Barograph's own")
	f.StringVar(&p.design, "design", string(posts.Single), "with --schema barograph: array96 or array24: a row for each station, "+
		"parameter and day, with 96 or 24 values; single: a row for each value")
	p.env.prepareEngineFlag(c, "db")
	complete(c, "schema", riverSchemas)
	complete(c, "design", func() []string { return toStrings(posts.Designs()) })
}

func (p *riverFlags) flags(c *cobra.Command) {
	p.databaseFlags(c, "(required)")
	f := c.Flags()
	f.StringVar(&p.tokensFile, "apps-defaults", "", "AWIPS's file of settings, called tokens (shef_winpast : 10 …), such as .Apps_defaults_site")
	f.StringVar(&p.policy, "policy", string(posts.GoodStays), "when an incoming value replaces the one with its key: always (overwrite), "+
		"in a revision (revised), if it differs (different), in either case (different-or-revised), in both (different-and-revised), "+
		"unless it is missing and no revision (good-stays-unless-revised); overrides the token shef_duplicate")
	f.BoolVar(&p.learnIngest, "learn-ingest", false, "admit a series that ingestfilter does not have, and add its row")
	f.BoolVar(&p.archiveData, "archive-data", false, "with --schema ihfs: center the time window on the product's time instead of now")
	f.BoolVar(&p.createTables, "make", false, "with --schema barograph: create missing tables")
	required(c, engineFlag)
	deprecate(c, "learn-ingest", "write shef_load_ingest : ON into the file of --apps-defaults")
	seldom(c, "archive-data", "policy")
	complete(c, "policy", func() []string { return toStrings(posts.Policies()) })
	p.input.flags(c)
	p.input.decodeFlags(c)
	f.Lookup("now").Usage = nowUsage + " (default: the time of the file)"
}

func newShefPost(e *env) *cobra.Command {
	p := &riverFlags{env: e}
	c := &cobra.Command{
		Use:   "post --engine URL FILES…|-",
		Short: "Post SHEF products into a database: IHFS or Barograph's own tables",
		Long: `Post writes SHEF products into existing tables. It never empties a table, and creates tables only with --make.
The file name - is standard input. Rerun an interrupted post: it stores what is missing.

With --schema ihfs each value passes the steps of AWIPS (docs/reference/river.md lists the differences):
  checks  location.post, ingestfilter, time window, adjustfactor, gross and reasonable ranges
  tables  height, discharge, rawpp and the other value tables; with the tokens of --apps-defaults
          also latestobsvalue, rejecteddata, unkstn, commentvalue and others
If two values have the same key, that of the product with the later time of issue stays. But a missing value replaces a
good one only in a revision (the SHEF manual's rule 5.1.6). --policy selects one of AWIPS's modes.

With --policy overwrite (or its token), or --design array96 or array24, the value that arrives last wins: an old post
that you rerun replaces the values of products that were posted after it.

Post prints how many values it stored, and how many it did not store, by reason.`,
		Example: `  barograph shef post --engine postgres://awips@dx1:5432/hd_ob8krf --apps-defaults .Apps_defaults_site RR1LCH.txt
  barograph shef post --engine sqlite:river.db --schema barograph --make queue/
  ldm-feed | barograph shef post --engine $URL -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.post(c, args) },
	}
	p.flags(c)
	return c
}

// open opens the database.
func (p *riverFlags) open(ctx context.Context, policyNamed bool) (river.Poster, error) {
	switch policy := posts.Policy(p.policy); {
	case !slices.Contains(posts.Policies(), policy):
		return nil, usage(fault.Unknown("--policy", p.policy, posts.Policies()))
	case p.schema == "barograph":
		return p.openOwn(ctx, policy)
	case p.schema != "ihfs":
		return nil, usage(fault.Unknown("--schema", p.schema, riverSchemas()))
	}
	d, _, err := p.env.engines.Parse(p.url)
	if err == nil && d.Scheme != "postgres" {
		err = fault.Misuse("--schema ihfs", "needs a PostgreSQL database", "write --engine postgres://HOST/DATABASE, or add --schema barograph")
	}
	if err != nil {
		return nil, usage(err)
	}
	tokens, err := p.tokens(policyNamed)
	if err != nil {
		return nil, err
	}
	db, err := river.OpenIHFS(ctx, p.url, tokens)
	if err != nil {
		return nil, err
	}
	db.Archive = p.archiveData
	return db, nil
}

// tokens reads the tokens of the site. A policy that the command line names takes precedence.
func (p *riverFlags) tokens(policyNamed bool) (river.Tokens, error) {
	t := river.DefaultTokens()
	if p.tokensFile != "" {
		_, err := readTable(p.tokensFile, func(r io.Reader, file string) (any, error) { return nil, t.Read(r, file, p.env.reportError) })
		if err != nil {
			return t, err
		}
	}
	t.LearnIngest = t.LearnIngest || p.learnIngest
	if policyNamed {
		t.Policy = posts.Policy(p.policy)
	}
	return t, nil
}

// openOwn opens Barograph's own tables. It connects again after a connection was lost.
func (p *riverFlags) openOwn(ctx context.Context, policy posts.Policy) (river.Poster, error) {
	d, u, err := p.env.engines.Parse(p.url)
	if err == nil && len(posts.Methods(d)) == 0 {
		err = fault.Misuse("--engine "+d.Scheme, "does not post SHEF values", "choose an SQL engine")
	}
	if designs := posts.Designs(); err == nil && !slices.Contains(designs, posts.Design(p.design)) {
		err = fault.Unknown("--design", p.design, designs)
	}
	if err != nil {
		return nil, usage(err)
	}
	if _, err := os.Stat(engine.Path(u)); d.Place == engine.Embedded && !p.createTables && errors.Is(err, fs.ErrNotExist) {
		return nil, engine.UnreachableError(fault.Redact(p.url), err, "check the path; `barograph shef post --make` creates a database")
	}
	methods := posts.Methods(d)
	a := &river.Archive{Method: methods[len(methods)-1], Posters: river.Posters(d)}
	a.Open = func(ctx context.Context) (*posts.Store, error) {
		if a.Shut != nil { // the engine of a lost connection
			if err := a.Shut(); err != nil {
				return nil, err
			}
		}
		a.Shut = nil
		db, err := p.env.engines.Open(ctx, p.url, engine.Options{Log: p.env.log()}) // it reads the password of @FILE again
		if err != nil {
			return nil, err
		}
		a.Shut = db.Close
		return posts.DatabaseOf(db).Open(ctx, posts.Tables{Design: posts.Design(p.design), Policy: policy, Make: p.createTables})
	}
	if err := a.Reload(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// readOptions returns the options for reading products.
func (p *riverFlags) readOptions() (in river.Input, err error) {
	in.Options, err = p.input.read()
	in.Filter = p.input.filter
	if p.input.now == "" {
		in.Now = time.Time{} // zero = the time at which each product was received
	}
	return in, err
}

// postedTotal is the result that post prints.
type postedTotal struct {
	Products int64            `json:"products"`
	Values   int64            `json:"values"`
	Lost     int64            `json:"lost"`
	Excluded int64            `json:"left_out"`
	Outcomes map[string]int64 `json:"outcomes"`
}

func (p *riverFlags) post(c *cobra.Command, args []string) (err error) {
	if err := p.checkSchema(c); err != nil {
		return err
	}
	in, err := p.readOptions()
	if err != nil {
		return err
	}
	texts, err := formats.NewTexts(c.Context(), args, p.env.stdin, p.env.reportError)
	if err != nil {
		return err
	}
	to, err := p.open(c.Context(), c.Flags().Changed("policy"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if db, ok := to.(*river.IHFS); ok {
		in.KeepText = db.Tokens.StoreText
	}
	var total river.Tally
	var account shef.Account
	sum, env := postedTotal{Outcomes: map[string]int64{}}, p.env
	err = river.Post(c.Context(), texts, &in, to, func(p *river.Product, t river.Tally) error {
		total.Add(t)
		account.Add(&p.Account)
		sum.Products++
		sum.Excluded += int64(p.Left)
		for _, why := range p.Refusals {
			env.reportError(errors.New(why))
		}
		return nil
	})
	sum.Values, sum.Lost = total.Values(), account.Lost
	for i, name := range river.Fates() {
		if total[i] > 0 {
			sum.Outcomes[name] = total[i]
		}
	}
	err = errors.Join(err, p.env.print(&sum, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: %s, %s lost in decoding\n",
			run.CountOf(sum.Products, "product"), run.CountOf(sum.Values, "value"), run.FormatCount(sum.Lost))
		printExcluded(w, sum.Excluded)
		if account.Rescued > 0 {
			fmt.Fprintf(w, "%10d of them can be read only with --lenient\n", account.Rescued)
		}
		for i, name := range river.Fates() {
			if total[i] > 0 {
				fmt.Fprintf(w, "%10d %s\n", total[i], name)
			}
		}
		return nil
	}), texts.Incomplete())
	if total[river.Unknown]+total[river.Inactive]+total[river.Filtered] > 0 {
		p.env.info("`barograph shef filtered` lists the series that the database keeps out, and what admits each")
	}
	if total[river.Outside] > 0 {
		p.env.info("outside: of the time window around the present (shef_winpast, shef_winfuture); " +
			"for old products add --archive-data and --now DATE")
	}
	switch {
	case err != nil:
	case sum.Products == 0:
		err = incomplete(errors.New("the input contains no product; check that it is SHEF"))
	case total[river.Refused] > 0:
		err = incomplete(fmt.Errorf("the database refused %s; all others were posted", run.CountOf(total[river.Refused], "value")))
	case account.Lost > 0:
		err = incomplete(fmt.Errorf("%s could not be decoded; `barograph shef decode --problems FILE` lists the errors",
			run.CountOf(account.Lost, "value")))
	}
	return err
}

func newShefServe(e *env) *cobra.Command {
	p := &riverFlags{env: e}
	var spool, listen string
	var settle, keep time.Duration
	c := &cobra.Command{
		Use:   "serve --spool DIR --engine URL [-]",
		Short: "Post SHEF products as they arrive: a service",
		Long: `Until SIGTERM, serve posts products as they arrive in a folder. On SIGTERM it finishes the current transaction.

It reads a file when the file has not changed for --settle; renaming a complete file into the folder is always safe. It
moves posted files to DIR/done/YYYYMMDD and failed ones to DIR/failed with the reason, ignores hidden files, *.tmp and
*.part, and skips a product whose text it posted already in the last four hours. Products wait in the folder while the
database is unreachable or full, or lacks a column or a basic table. With "-" as its argument, serve also reads standard input
(pqact's PIPE). It writes each product into the folder before it reads the next, so the pipe never waits for the database.
At the end of the input, serve posts what is left in the folder and exits.

SIGHUP reloads stations, filters, limits and tokens. If shef_storetext has changed, SIGHUP reloads nothing: restart the
service. Every twelve hours serve reloads stations, filters and limits by itself. Standard output has one line of JSON per
product. --metrics serves Prometheus metrics at /metrics.`,
		Example: `  barograph shef serve --spool /data/shef --engine postgres://awips@dx1:5432/hd_ob8krf --metrics 127.0.0.1:9464
  barograph shef serve - --spool /data/shef --engine $URL --schema barograph --make`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.serve(c, &river.Spool{Dir: spool, Settling: river.Settling{Settle: settle}, Keep: keep}, listen, args)
		},
	}
	f := c.Flags()
	f.StringVar(&spool, "spool", "", "folder of the products (required)")
	f.DurationVar(&settle, "settle", 200*time.Millisecond, "read a file when it has not changed for this long")
	f.DurationVar(&keep, "keep", 0, "how long to keep posted files in done/, e.g. 168h (default: no limit)")
	f.BoolVar(&p.waitForDatabase, "wait-for-database", true, "wait if the database is unreachable at the start; with =false exit with status 5")
	f.StringVar(&p.logFile.Name, "log-file", "", "also write the lines of standard output to this file")
	f.Int64Var(&p.logFile.Most, "log-size", 64<<20, "rotate the log file to FILE.1 when it has this many bytes")
	f.IntVar(&p.logFile.Keep, "log-keep", 5, "number of old log files to keep")
	f.StringVar(&listen, "metrics", "", "address for Prometheus metrics: :9464 (this machine only) or HOST:9464")
	required(c, "spool")
	p.flags(c)
	seldom(c, "keep", "log-file", "log-keep", "log-size", "settle", "wait-for-database")
	return c
}

func (p *riverFlags) serve(c *cobra.Command, s *river.Spool, listen string, args []string) (err error) {
	if len(args) > 0 && args[0] != formats.Stdin {
		return usage(fault.Misuse(args[0], "is not accepted", "put files into the folder of --spool, or write - for standard input"))
	}
	if err := p.checkSchema(c); err != nil {
		return err
	}
	in, err := p.readOptions()
	if err != nil {
		return err
	}
	if p.logFile.Most < 1<<12 || p.logFile.Keep < 0 {
		return fault.Misuse("--log-size, --log-keep", "are out of range", "write at least 4096 bytes and 0 files")
	}
	lines := p.env.stdout
	if p.logFile.Name != "" {
		if err := p.env.mayWrite("--log-file", p.logFile.Name, []string{p.input.shefparm, p.input.stations, p.tokensFile}); err != nil {
			return err
		}
		lines = io.MultiWriter(lines, &p.logFile)
		defer func() { err = errors.Join(err, p.logFile.Close()) }()
	}
	log := slog.New(slog.NewJSONHandler(lines, nil))
	if err := s.Open(); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" { // a service trades processor time for memory (docs/results/shef.md)
		debug.SetGCPercent(50)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	var inputDone chan struct{}
	if len(args) > 0 {
		inputDone = make(chan struct{})
		texts, err := formats.NewTexts(ctx, args, p.env.stdin, p.env.reportError)
		if err != nil {
			return err
		}
		go func() {
			defer close(inputDone)
			for _, r := range texts.All() {
				if err := s.Take(r, time.Now()); err != nil {
					cancel(err) // the spool cannot store the product
				}
			}
		}()
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := river.NewMetrics(registry)
	river.RegisterBacklog(registry, s)
	if listen != "" { // before serve opens the database, so that an alarm can detect that it is unreachable
		stop, err := p.env.metrics(ctx, registry, listen)
		if err != nil {
			return err
		}
		defer stop()
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	if p.waitForDatabase {
		notify("READY=1\nSTATUS=waits for the database") // systemd stops a service that is not ready in 90 s
	}
	policyNamed := c.Flags().Changed("policy")
	to, err := p.openWaiting(ctx, policyNamed, len(args) > 0, metrics, hangup, log)
	if cause := context.Cause(c.Context()); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
		notify("STOPPING=1")
		return nil // a signal ends the service without an error, also while it waits for the database
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if db, ok := to.(*river.IHFS); ok {
		log.Info("posts into IHFS", "not_filled", db.Tokens.Unfilled())
		in.KeepText = db.Tokens.StoreText
	}
	reread := p.tokenReloads(c.Context(), hangup, to, policyNamed)
	service := &river.Service{Spool: s, Poster: to, Input: in, Log: log, Metrics: metrics, Reread: reread, Ended: inputDone}
	notify("READY=1\nSTATUS=posts")
	err = service.Run(ctx)
	notify("STOPPING=1")
	if cause := context.Cause(ctx); err == nil && c.Context().Err() == nil && cause != nil {
		err = cause
	}
	return err
}

// openWaiting opens the database. With --wait-for-database it retries while the database is
// unreachable, and products stay in the spool; SIGHUP starts the next attempt immediately.
func (p *riverFlags) openWaiting(
	ctx context.Context, policyNamed, pipe bool, m *river.Metrics, hangup <-chan os.Signal, log *slog.Logger,
) (river.Poster, error) {
	waits := p.waitForDatabase
	if d, _, err := p.env.engines.Parse(p.url); err == nil && d.Place == engine.Embedded && !pipe {
		waits = false // waiting does not create the missing file of an embedded database
	}
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		to, err := p.open(ctx, policyNamed)
		if m.Up(err); !waits || !errors.Is(err, engine.ErrUnreachable) {
			return to, err
		}
		log.Warn("the database is unreachable", "error", err)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-hangup:
		case <-time.After(wait):
		}
	}
}

// tokenReloads sends, at each SIGHUP, a function that reads the tokens again.
func (p *riverFlags) tokenReloads(ctx context.Context, signals <-chan os.Signal, to river.Poster, policyNamed bool) <-chan func() error {
	out := make(chan func() error)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			reread := func() error {
				t, err := p.tokens(policyNamed)
				db, ok := to.(*river.IHFS)
				if !ok || err != nil {
					return err
				}
				old := db.Tokens
				if t.StoreText != old.StoreText { // the service has already read products with the old setting
					return &fault.Error{File: p.tokensFile, Problem: "shef_storetext has changed", Cure: "restart the service"}
				}
				db.Tokens = t
				db.Close()                            //nolint:errcheck,contextcheck // the next connection resolves the URL again
				if err = db.Reload(ctx); err != nil { // for example, the new tokens need a table that is missing
					db.Tokens = old
				}
				return err
			}
			select {
			case <-ctx.Done():
				return
			case out <- reread:
			}
		}
	}()
	return out
}

// notify reports a state to systemd, if systemd started the service.
func notify(state string) {
	if c, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET")); err == nil { //nolint:noctx // a local socket
		c.Write([]byte(state)) //nolint:errcheck // the service works without systemd
		c.Close()              //nolint:errcheck // the service works without systemd
	}
}

func newShefRetry(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "retry --spool DIR [NAMES…]",
		Short: "Return the failed files of a spool to the queue",
		Long: `Retry moves files from DIR/failed (those that you name, otherwise all) back into DIR, and deletes the files next to them
that contain the reason of the failure. The service on DIR posts them now or when it starts. Their values do not replace
those of products with a later time of issue. But if the service has --policy overwrite (token shef_duplicate), or
--design array96 or array24, the value that arrives last wins: these files replace values that were posted after them.`,
		Example: `  barograph shef retry --spool /data/shef
  barograph shef retry --spool /data/shef 20261126T050000-000017`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, names []string) error {
			if _, err := os.Stat(filepath.Join(dir, "failed")); err != nil {
				const problem, cure = "is not the spool of a service", "name the folder of barograph shef serve --spool"
				return &fault.Error{Setting: "--spool " + dir, Problem: problem, Cure: cure}
			}
			s := &river.Spool{Dir: dir}
			if err := s.Open(); err != nil {
				return err
			}
			requeued, err := s.Retry(names)
			if err != nil {
				return err
			}
			if len(requeued) == 0 {
				return incomplete(fmt.Errorf("%s: no file failed", dir))
			}
			return e.print(requeued, func(w io.Writer) error {
				for _, path := range requeued {
					fmt.Fprintln(w, path)
				}
				_, err := fmt.Fprintf(w, "%s in the queue again\n", run.CountOf(len(requeued), "file"))
				return err
			})
		},
	}
	c.Flags().StringVar(&dir, "spool", "", "folder of the service (required)")
	required(c, "spool")
	return c
}
