package ycsb

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// Agents are agents that run a workload together.
type Agents struct {
	Addresses []string // host:port
	Token     string
	TLS       *tls.Config // nil = no encryption, which only an agent on loopback accepts
}

const (
	// startsIn is the time between sending the start time to the agents and the start. It must reach all of them before.
	startsIn = 500 * time.Millisecond
	// releaseWait is the longest time for which Run waits for agents to end runs that it does not start.
	releaseWait = 5 * time.Second
)

// Check refuses agents that would receive the token and the URL unencrypted.
func (a *Agents) Check() error {
	for i, at := range a.Addresses {
		host, _, err := net.SplitHostPort(at)
		if err != nil {
			return fault.Misuse("--agents "+at, "is no host:port", "write like --agents 127.0.0.1:7707,127.0.0.1:7708")
		}
		if ip := net.ParseIP(host); a.TLS == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fault.Misuse("--agents "+at, "would receive the token and the engine's URL unencrypted",
				"give the agent a certificate (--tls-cert), and --agents-ca here")
		}
		if slices.Contains(a.Addresses[:i], at) {
			return fault.Misuse("--agents "+at, "is given twice", "name each agent once")
		}
	}
	if a.Token == "" {
		return fault.Misuse("--agents", "need a token", "set BAROGRAPH_AGENT_TOKEN to the token of the agents")
	}
	return nil
}

// peer is one of the agents.
type peer struct {
	*Agents
	address string
	client  *http.Client
	ahead   time.Duration // its clock minus the clock of this machine
	hasTask bool          // the task was sent, so the agent may have prepared the run
}

// Run lets all agents run a workload at the same time, each with its share of the operations, the
// target and the new keys, and joins their measurements. The error names the agents whose part has
// an error and those that did not reply. If an agent did not reply, a warning of the sample names the agents
// whose operations the sample contains. since is the start of the sample's run folder.
func (a *Agents) Run(ctx context.Context, task Task, since time.Time) (run.Sample, error) {
	transport := &http.Transport{TLSClientConfig: a.TLS}
	defer transport.CloseIdleConnections()
	all := make([]*peer, len(a.Addresses))
	for i, at := range a.Addresses {
		all[i] = &peer{Agents: a, address: at, client: &http.Client{Transport: transport}}
	}
	task.Run = rand.Text()
	prepare := func(ctx context.Context, i int, p *peer) error {
		mine := task
		mine.Shard = Shard{int64(i), int64(len(all))}
		if err := p.readClock(ctx); err != nil {
			return err
		}
		p.hasTask = true
		return p.ask(ctx, preparePath, mine, nil)
	}
	var err error
	if task.Load { // the first agent creates the table
		for i := 0; i < len(all) && err == nil; i++ {
			err = prepare(ctx, i, all[i])
		}
	} else {
		err = together(ctx, all, prepare)
	}
	if err != nil {
		release(ctx, all, task.Run)
		return run.Sample{}, err
	}
	start, parts := time.Now().Add(startsIn), make([]Part, len(all))
	silent := make([]error, len(all)) // the error of one agent must not end the others' runs
	if err := together(ctx, all, func(ctx context.Context, i int, p *peer) error {
		silent[i] = p.ask(ctx, startPath, startRequest{task.Run, start.Add(p.ahead).UnixNano()}, &parts[i])
		return ctx.Err()
	}); err != nil {
		return run.Sample{}, err
	}
	return joinReplies(all, parts, silent, since)
}

// release ends a run that will not start, so that its agents need not wait for the start. An agent that runs the task of
// another client refuses the request, because it names the run.
func release(ctx context.Context, all []*peer, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer stop()
	_ = together(ctx, all, func(ctx context.Context, _ int, p *peer) error {
		if p.hasTask {
			_ = p.ask(ctx, startPath, startRequest{Run: id}, nil) // without it the agent waits for a minute
		}
		return nil
	})
}

// joinReplies joins the parts of the agents. silent has the errors of those that did not reply.
func joinReplies(all []*peer, parts []Part, silent []error, since time.Time) (run.Sample, error) {
	var joined []clientSample
	var answered, lost []string
	var worst error
	for i, p := range parts {
		address := all[i].address
		if silent[i] != nil {
			lost, worst = append(lost, address), errors.Join(worst, silent[i])
			continue
		}
		answered = append(answered, address)
		began := p.Began.Add(-all[i].ahead)
		joined = append(joined, clientSample{Sample: p.Sample, measured: p.Sample.Measured(), began: began})
		if err := p.err(address); fault.Code(err) == fault.Differs {
			worst = errors.Join(err, worst)
		} else {
			worst = errors.Join(worst, err)
		}
	}
	if len(joined) == 0 {
		return run.Sample{}, worst
	}
	s, failed := mergeParts(joined, since)
	s.Cell = cellOfAll(s.Cell, s.Cell.Number("target_ops_s")) // also if only one agent replied
	if len(lost) > 0 {
		const text = "the operations are those of %s; %s did not reply any more"
		s.Warnings = append(s.Warnings, fmt.Sprintf(text, strings.Join(answered, ", "), strings.Join(lost, ", ")))
		if fault.Code(worst) != fault.Differs {
			worst = &fault.Status{Code: fault.Incomplete, Err: worst}
		}
	}
	return s, errors.Join(worst, failed)
}

// together calls do for all agents at the same time, and returns the first error.
func together(ctx context.Context, all []*peer, do func(ctx context.Context, i int, p *peer) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, p := range all {
		g.Go(func() error { return do(ctx, i, p) })
	}
	return g.Wait()
}

// readClock measures how far the agent's clock is ahead. It uses the fastest of several requests.
func (p *peer) readClock(ctx context.Context) error {
	shortest := time.Duration(-1)
	for range 8 {
		began, theirs := time.Now(), int64(0)
		if err := p.ask(ctx, clockPath, nil, &theirs); err != nil {
			return err
		}
		if took := time.Since(began); shortest < 0 || took < shortest {
			shortest, p.ahead = took, time.Unix(0, theirs).Sub(began.Add(took/2))
		}
	}
	return nil
}

// ask posts a value, or sends a GET request if it is nil, and decodes the reply into a variable unless that is nil.
func (p *peer) ask(ctx context.Context, path string, value, into any) error {
	scheme, method, body := "http://", http.MethodGet, []byte(nil)
	if p.TLS != nil {
		scheme = "https://"
	}
	if value != nil {
		var err error
		if body, err = json.Marshal(value); err != nil {
			return err
		}
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, scheme+p.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	response, err := p.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &fault.Status{Code: fault.Unreachable, Err: &fault.Error{
			Setting: "agent " + p.address, Problem: "is not reached", Err: err,
			Cure: "start it: `barograph agent --listen " + p.address + "`",
		}}
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return fmt.Errorf("agent %s: %w", p.address, err)
	case response.StatusCode == http.StatusUnprocessableEntity:
		var failed Part
		return errors.Join(json.Unmarshal(text, &failed), failed.err(p.address))
	case p.TLS == nil && bytes.Contains(text, []byte("to an HTTPS server")): // the text of net/http
		return &fault.Error{
			Setting: "agent " + p.address, Problem: "has a certificate, and accepts only encrypted requests",
			Cure: "name the PEM file of the authority that signed it: --agents-ca FILE",
		}
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("agent %s: %s", p.address, strings.TrimSpace(string(text)))
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}
