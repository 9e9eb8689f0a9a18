package ycsb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

// Afflict has every later run on the target suffer faults: on the nodes of the
// lab that runs its server or, elsewhere, by a command of the user's, which gets
// action and node. What slows a server is a relay before it, whoever runs it. So
// many clients record a history next to it. What cannot be timed in one of the workloads
// is refused.
func (t *Target) Afflict(ctx context.Context, all []lab.Fault, command string, clients int, workloads ...*Config) error {
	for _, c := range workloads {
		if _, err := (&Faults{All: all}).settle(c); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(all, func(f lab.Fault) bool { return f.Action.Relayed() }) {
		if err := t.relay(); err != nil {
			return err
		}
	}
	about, _, err := t.about(ctx, workloads[0])
	if err != nil {
		return err
	}
	promises := about.Promises
	if !about.Flushed && slices.ContainsFunc(all, func(f lab.Fault) bool { return f.Action == lab.PowerOff }) {
		promises = nil
	}
	t.faults = &Faults{All: all, Clients: clients, Promises: promises, Acknowledged: about.Acknowledged}
	t.faults.Inflict, err = t.breaker(all, command)
	return err
}

// relay puts a relay before each node that the URL names, and opens the engine
// through them.
func (t *Target) relay() error {
	refused := func(problem, cure string) error {
		return &fault.Status{Code: fault.Usage, Err: &fault.Error{Setting: "--fault slow", Problem: problem, Cure: cure}}
	}
	hosts := strings.Split(t.at.Host, ",")
	switch {
	case t.d.Place != engine.Remote || t.at.Host == "":
		return refused(t.Scheme+" is not reached over a network", "choose an engine with a server")
	case t.d.Server != nil && t.d.Server.RedirectsClients && len(hosts) > 1:
		return refused("clients of this cluster find the nodes by themselves, past a relay", "give `barograph lab up` --isolate and --latency")
	}
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			return refused("the URL names no port for "+host, "write host:port")
		}
		r, err := lab.NewRelay("127.0.0.1", host)
		if err != nil {
			return err
		}
		t.relays, hosts[i] = append(t.relays, r), r.Addr()
	}
	through := *t.at
	through.Host = strings.Join(hosts, ",")
	if err := t.db.Close(); err != nil {
		return err
	}
	db, err := t.open(through.String())
	if err != nil {
		return err
	}
	t.db, t.KV, t.Server.Metrics, t.Server.Statements = db, kv.DatabaseOf(db), db.Metrics, db.Statements
	return nil
}

// breaker is what inflicts faults.
func (t *Target) breaker(all []lab.Fault, command string) (inflict, error) {
	nodes, err := t.nodeBreaker(slices.DeleteFunc(slices.Clone(all), func(f lab.Fault) bool { return f.Action.Relayed() }), command)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.Action.Relayed() && x.Node > len(t.relays) {
			return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{Setting: "--fault " + x.String(), Problem: fmt.Sprintf("the URL names %d node(s)", len(t.relays)), Cure: "name one of them"}}
		}
	}
	return func(ctx context.Context, x lab.Fault) (string, error) {
		if !x.Action.Relayed() {
			return nodes(ctx, x)
		}
		t.relays[x.Node-1].Delay(x.By)
		return "", nil
	}, nil
}

// nodeBreaker returns the function that injects faults into nodes, or nil if no fault names a node.
func (t *Target) nodeBreaker(all []lab.Fault, command string) (inflict, error) {
	switch {
	case len(all) == 0:
		return nil, nil //nolint:nilnil // there is nothing to do
	case command != "":
		return shell(command)
	case t.d.Server == nil:
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{
			Setting: "--fault", Problem: t.Scheme + " has no server, so no node can fail", Cure: "choose an engine with a server, or a --fault-command that causes the fault",
		}}
	case t.lab == nil:
		return nil, &fault.Status{Code: fault.Usage, Err: &fault.Error{
			Setting: "--fault", Problem: "no lab runs the server of " + t.Scheme, Cure: "start one (`barograph lab up " + t.Scheme + "`), name the folder of one that runs (--lab-dir), or give a --fault-command that does it",
		}}
	}
	l, err := t.lab.Lab(t.d)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if err := l.Check(x); err != nil {
			return nil, &fault.Status{Code: fault.Usage, Err: err}
		}
	}
	return func(ctx context.Context, f lab.Fault) (string, error) { return "", l.Inflict(ctx, f) }, nil
}
