package ycsb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// The test binary is an agent, too: envAgent makes it one, at that address.
const (
	envAgent   = "YCSB_TEST_AGENT"
	agentToken = "0123456789abcdef0123456789abcdef"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(envAgent); at != "" {
		v := &virtualClock{}
		a := &Agent{Engines: engine.Registry{delayedDriver(v)}, Token: agentToken, Print: func(string) {}, clock: v.clock()}
		fmt.Fprintln(os.Stderr, http.ListenAndServe(at, a.Handler())) //nolint:gosec // it ends with the test
		os.Exit(1)                                                    //nolint:forbidigo // a test binary ends so
	}
	os.Exit(m.Run()) //nolint:forbidigo // a test binary ends so
}

// virtualClock is a clock whose time passes only while every worker waits for the end of an update. A busy machine
// therefore changes no measured time.
type virtualClock struct {
	mu      sync.Mutex
	now     time.Duration
	awake   int // workers that do not wait
	waiting []waiter
}

type waiter struct {
	until time.Duration
	wake  chan struct{}
}

func (v *virtualClock) clock() *pace.Clock {
	return &pace.Clock{
		Now: func() time.Duration {
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.now
		},
		SleepUntil: func(time.Duration, <-chan struct{}) { panic("a closed loop does not sleep") },
		WorkerDone: func() { v.add(-1) },
	}
}

// add adds workers, and advances the clock if all others wait.
func (v *virtualClock) add(workers int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.awake += workers
	if v.awake > 0 || len(v.waiting) == 0 {
		return
	}
	first := 0
	for i := range v.waiting {
		if v.waiting[i].until < v.waiting[first].until {
			first = i
		}
	}
	v.now = v.waiting[first].until
	v.awake++
	close(v.waiting[first].wake)
	v.waiting = slices.Delete(v.waiting, first, first+1)
}

// pass has a worker wait for a duration.
func (v *virtualClock) pass(d time.Duration) {
	v.mu.Lock()
	w := waiter{v.now + d, make(chan struct{})}
	v.waiting = append(v.waiting, w)
	v.mu.Unlock()
	v.add(-1)
	<-w.wake
}

// levels are the durations of updates, and how many of a hundred have each: each percentile that is compared is in the
// middle of one of them.
var levels = []struct {
	holds time.Duration
	of100 int
}{{time.Second, 20}, {1400 * time.Millisecond, 60}, {1800 * time.Millisecond, 12}, {2400 * time.Millisecond, 6}, {4 * time.Second, 2}}

// stub is a server that answers each byte with the duration of an update: of each hundred updates each level has its
// share, in an order drawn from a seed.
type stub struct {
	at string

	mu   sync.Mutex
	rng  *rand.Rand
	next []time.Duration
	from map[string]int // updates by the client's address
}

func newStub(t *testing.T, host string) *stub {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0")) //nolint:noctx // does not wait
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &stub{at: l.Addr().String(), rng: rand.New(rand.NewPCG(18, 0)), from: map[string]int{}} //nolint:gosec // a test's
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *stub) serve(c net.Conn) {
	defer c.Close()
	host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		if err := binary.Write(c, binary.BigEndian, s.draw(host)); err != nil {
			return
		}
	}
}

func (s *stub) draw(host string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from[host]++; len(s.next) == 0 {
		for _, l := range levels {
			for range l.of100 {
				s.next = append(s.next, l.holds)
			}
		}
		s.rng.Shuffle(len(s.next), func(i, j int) { s.next[i], s.next[j] = s.next[j], s.next[i] })
	}
	last := len(s.next) - 1
	d := s.next[last]
	s.next = s.next[:last]
	return d
}

// initialRecords are in the table from the start.
const initialRecords = 500

// localDriver is of an engine that stores records here, and whose tables are changed.
func localDriver(scheme string, change func(u *url.URL, r *kv.Records) *kv.Records) engine.Driver {
	return engine.Driver{Scheme: scheme, Example: scheme + "://host:1", Offers: []any{kv.Offer{Layouts: []kv.Layout{kv.Pairs}}}, Place: engine.Remote, Open: func(ctx context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
		e, err := engine.Registry{dry.Driver()}.Open(ctx, "dry", engine.Options{})
		if err != nil {
			return nil, err
		}
		c, err := NewConfig(Properties{"recordcount": strconv.Itoa(initialRecords)})
		if err != nil {
			return nil, err
		}
		if r, err := Load(ctx, kv.DatabaseOf(e), c, Options{}); err != nil || r.Err() != nil {
			return nil, errors.Join(err, r.Err())
		}
		e.Abilities = []any{wrapped{kv.DatabaseOf(e), func(r *kv.Records) *kv.Records { return change(u, r) }}}
		return e, nil
	}}
}

// delayedDriver is of an engine whose updates take the time that the stub answers.
func delayedDriver(v *virtualClock) engine.Driver {
	return localDriver("delayed", func(u *url.URL, r *kv.Records) *kv.Records {
		out := *r
		out.Connect = func(ctx context.Context) (*kv.Conn, error) {
			c, err := r.Connect(ctx)
			if err != nil {
				return nil, err
			}
			delayed := *c
			return &delayed, hold(ctx, &delayed, u.Host, v)
		}
		return &out
	})
}

// hold has the updates of a connection wait for as long as the stub answers. Each connection is a worker of the clock.
func hold(ctx context.Context, c *kv.Conn, at string, v *virtualClock) error {
	peer, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return err
	}
	v.add(1)
	update, end, b := c.Update, c.Close, []byte{1}
	c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
		if _, err := peer.Write(b); err != nil {
			return err
		}
		var d time.Duration
		if err := binary.Read(peer, binary.BigEndian, &d); err != nil {
			return err
		}
		v.pass(d)
		return update(ctx, key, r)
	}
	c.Close = func() error {
		_ = peer.Close()
		if end == nil {
			return nil
		}
		return end()
	}
	return nil
}

// agentDriver is of a server whose nodes are agents.
func agentDriver() *engine.Driver {
	self, _ := filepath.Abs(os.Args[0])
	at := func(n *launch.Node) string { return net.JoinHostPort(n.Host, strconv.Itoa(n.Ports["agent"])) }
	return &engine.Driver{Scheme: "agent", Example: "agent://host", Server: &launch.Server{
		Nodes: []int{1, 2}, Ports: []string{"agent"}, Stop: syscall.SIGTERM, Profiles: []launch.Profile{{Name: "default"}},
		Find:    func() error { return nil },
		Prepare: func(*launch.Cluster, *launch.Node) ([]launch.Command, error) { return nil, nil },
		Start: func(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			return []launch.Command{{Args: []string{self}, Env: []string{envAgent + "=" + at(n)}}}, nil
		},
		Ready: func(ctx context.Context, _ *launch.Cluster, n *launch.Node) error {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", at(n))
			if err != nil {
				return err
			}
			return c.Close()
		},
		URL: func(c *launch.Cluster) string { return "agent://" + at(&c.Nodes[0]) },
	}}
}

// apart starts two agents, each in a network namespace of its own.
func apart(t *testing.T) *launch.Cluster {
	t.Helper()
	skip := t.Skipf
	if strings.Contains(","+os.Getenv("BAROGRAPH_REQUIRE")+",", ",isolation,") {
		skip = t.Fatalf
	}
	if os.Geteuid() != 0 {
		skip("NOT TESTED: network namespaces need root")
	}
	dir := filepath.Join(t.TempDir(), "lab")
	l, err := lab.Up(t.Context(), agentDriver(), lab.Options{Dir: dir, Nodes: 2, Isolate: &lab.Isolate{}})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
		skip("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	})
	s, err := lab.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &s.Cluster
}

// percentiles are those of a sample's updates, as they are reported.
func percentiles(t *testing.T, s run.Sample) []time.Duration {
	t.Helper()
	m := s.Measured()
	if m == nil {
		t.Fatalf("it has no times: %+v", s)
	}
	for _, g := range m.Groups {
		if g.Operation == "UPDATE" && g.Outcome == "OK" {
			h, err := g.ServiceTimes.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			p := h.Percentiles()
			return []time.Duration{p.P50, p.P95, p.P99}
		}
	}
	t.Fatalf("it has no updates: %+v", m.Groups)
	return nil
}

// TestAgentsInNamespaces: two agents, each in a network of its own, measure together what one client does.
func TestAgentsInNamespaces(t *testing.T) {
	c := apart(t)
	_, subnet, err := net.ParseCIDR(c.Isolation.Subnet)
	if err != nil {
		t.Fatal(err)
	}
	ip := subnet.IP.To4()
	s := newStub(t, net.IPv4(ip[0], ip[1], ip[2], 254).String()) // this machine, as the namespaces see it
	const operations, workers = 1200, 240
	properties := func(threads int) Properties {
		return Properties{"recordcount": strconv.Itoa(initialRecords), "operationcount": strconv.Itoa(operations), "readproportion": "0", "updateproportion": "1", "threadcount": strconv.Itoa(threads)}
	}
	one, err := NewConfig(properties(workers))
	if err != nil {
		t.Fatal(err)
	}
	v := &virtualClock{}
	target, err := Open(t.Context(), engine.Registry{delayedDriver(v)}, "delayed://"+s.at, Form{Layout: kv.Pairs}, "",
		engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer CloseAll([]*Target{target})
	o := target.Options()
	o.clock = v.clock()
	alone, _, err := target.Measure(t.Context(), one, o, "updates", 1)
	if err != nil {
		t.Fatal(err)
	}
	s.from = map[string]int{} // nobody is served now
	agents := &Agents{Token: agentToken}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		agents.Addresses = append(agents.Addresses, net.JoinHostPort(n.Host, strconv.Itoa(n.Ports["agent"])))
	}
	both, err := agents.Run(t.Context(), Task{
		Engine: "delayed://" + s.at, Form: Form{Layout: kv.Pairs}, Mix: "updates",
		Properties: properties(workers / 2),
	}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Nodes {
		if n := s.from[c.Nodes[i].Host]; n != operations/2 {
			t.Errorf("from the namespace at %s came %d updates, not %d: %v", c.Nodes[i].Host, n, operations/2, s.from)
		}
	}
	if m := both.Measured(); m == nil || m.LoadMachines != 2 || m.Operations != operations {
		t.Fatalf("%+v", m)
	}
	want, got := percentiles(t, alone), percentiles(t, both)
	t.Logf("p50, p95, p99 of one client %v, of two agents %v", want, got)
	for i, q := range []string{"p50", "p95", "p99"} {
		if got[i] != want[i] {
			t.Errorf("%s: one client %s, two agents %s", q, want[i], got[i])
		}
		held := levels[[]int{1, 3, 4}[i]].holds                                  // else the two might agree in what is wrong
		if off := math.Abs(float64(want[i]-held)) / float64(held); off > 0.002 { // three significant digits
			t.Errorf("%s is %s, and the stub answered %s", q, want[i], held)
		}
	}
}
