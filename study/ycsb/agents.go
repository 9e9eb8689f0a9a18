package ycsb

import (
	"bytes"
	"cmp"
	"context"
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

// Agents are those that run a workload together.
type Agents struct {
	Addresses []string // host:port
	Token     string
	TLS       *tls.Config // nil = no encryption, which only an agent on loopback accepts
}

// startsIn is how long after all are ready they start: the word must reach all.
const startsIn = 500 * time.Millisecond

// Check refuses agents that would receive token and URL in the clear.
func (a *Agents) Check() error {
	for i, at := range a.Addresses {
		host, _, err := net.SplitHostPort(at)
		if err != nil {
			return fault.Misuse("--agents "+at, "is no host:port", "write like --agents 127.0.0.1:7707,127.0.0.1:7708")
		}
		if ip := net.ParseIP(host); a.TLS == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fault.Misuse("--agents "+at, "would receive the token and the engine's URL in the clear", "give the agent a certificate (--tls-cert), and --agents-ca here")
		}
		if slices.Contains(a.Addresses[:i], at) {
			return fault.Misuse("--agents "+at, "is there twice", "name each agent once")
		}
	}
	if a.Token == "" {
		return fault.Misuse("--agents", "have a token, which is not known", "set BAROGRAPH_AGENT_TOKEN to what the agents have")
	}
	return nil
}

// one is one agent.
type one struct {
	*Agents
	at     string
	client *http.Client
	ahead  time.Duration // of its clock before ours
}

// Run lets all agents run a workload at the same time, each with its share of the operations, the
// target and the new keys, and joins their measurements. The error names the agents whose part has
// a fault and those that no longer reply. For the latter, a warning of the sample names the agents
// whose operations the sample contains. since is the start of the sample's run folder.
func (a *Agents) Run(ctx context.Context, task Task, since time.Time) (run.Sample, error) {
	transport := &http.Transport{TLSClientConfig: a.TLS}
	defer transport.CloseIdleConnections()
	all := make([]*one, len(a.Addresses))
	for i, at := range a.Addresses {
		all[i] = &one{Agents: a, at: at, client: &http.Client{Transport: transport}}
	}
	prepare := func(ctx context.Context, i int, o *one) error {
		mine := task
		mine.Shard = Shard{int64(i), int64(len(all))}
		if err := o.look(ctx); err != nil {
			return err
		}
		return o.ask(ctx, preparePath, mine, nil)
	}
	var err error
	if task.Load { // the first makes the table
		for i, o := range all {
			err = cmp.Or(err, prepare(ctx, i, o))
		}
	} else {
		err = together(ctx, all, prepare)
	}
	if err != nil {
		_ = together(context.WithoutCancel(ctx), all, func(ctx context.Context, _ int, o *one) error {
			_ = o.ask(ctx, startPath, 0, nil) // whoever is ready need not wait
			return nil
		})
		return run.Sample{}, err
	}
	start, parts := time.Now().Add(startsIn), make([]Part, len(all))
	silent := make([]error, len(all)) // an agent that is killed does not end the others
	if err := together(ctx, all, func(ctx context.Context, i int, o *one) error {
		silent[i] = o.ask(ctx, startPath, start.Add(o.ahead).UnixNano(), &parts[i])
		return ctx.Err()
	}); err != nil {
		return run.Sample{}, err
	}
	var joined []part
	var answered, lost []string
	var worst error
	for i := range parts {
		p := &parts[i]
		if silent[i] != nil {
			lost, worst = append(lost, a.Addresses[i]), errors.Join(worst, silent[i])
			continue
		}
		answered = append(answered, a.Addresses[i])
		joined = append(joined, part{Sample: p.Sample, measured: p.Sample.Measured(), began: p.Began.Add(-all[i].ahead)})
		if err := p.err(a.Addresses[i]); err != nil && (worst == nil || fault.Code(err) == fault.Differs) {
			worst = errors.Join(err, worst)
		}
	}
	if len(joined) == 0 {
		return run.Sample{}, worst
	}
	s, failed := mergeParts(joined, since)
	if len(lost) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the operations are those of %s; %s did not answer any more", strings.Join(answered, ", "), strings.Join(lost, ", ")))
		worst = &fault.Status{Code: fault.Incomplete, Err: worst}
	}
	return s, errors.Join(worst, failed)
}

func together(ctx context.Context, all []*one, do func(ctx context.Context, i int, o *one) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, o := range all {
		g.Go(func() error { return do(ctx, i, o) })
	}
	return g.Wait()
}

// look reads its clock: of some looks the one that took the shortest.
func (o *one) look(ctx context.Context) error {
	shortest := time.Duration(-1)
	for range 8 {
		began, theirs := time.Now(), int64(0)
		if err := o.ask(ctx, clockPath, nil, &theirs); err != nil {
			return err
		}
		if took := time.Since(began); shortest < 0 || took < shortest {
			shortest, o.ahead = took, time.Unix(0, theirs).Sub(began.Add(took/2))
		}
	}
	return nil
}

// ask posts what, or gets it, and reads the reply.
func (o *one) ask(ctx context.Context, path string, what, into any) error {
	scheme, method, body := "http://", http.MethodGet, []byte(nil)
	if o.TLS != nil {
		scheme = "https://"
	}
	if what != nil {
		var err error
		if body, err = json.Marshal(what); err != nil {
			return err
		}
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, scheme+o.at+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+o.Token)
	answer, err := o.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &fault.Status{Code: fault.Unreachable, Err: &fault.Error{Setting: "agent " + o.at, Problem: "is not reached", Err: err, Cure: "start it: `barograph agent --listen " + o.at + "`"}}
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return fmt.Errorf("agent %s: %w", o.at, err)
	case answer.StatusCode == http.StatusUnprocessableEntity:
		var p Part
		return errors.Join(json.Unmarshal(text, &p), p.err(o.at))
	case o.TLS == nil && bytes.Contains(text, []byte("to an HTTPS server")): // net/http's words
		return &fault.Error{Setting: "agent " + o.at, Problem: "has a certificate, and hears nothing in the clear", Cure: "name what signs it: --agents-ca FILE"}
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("agent %s: %s", o.at, strings.TrimSpace(string(text)))
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}
