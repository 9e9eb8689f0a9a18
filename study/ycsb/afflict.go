package ycsb

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
)

// Afflict makes every later run on the target inject faults. A command of the user's injects them or, if
// command is "", the lab that runs the target's server. The faults slow and fast need neither: a relay in
// front of the server performs them. clients is the number of clients that record a history during each
// run. Afflict refuses faults whose cost cannot be measured in one of the workloads.
func (t *Target) Afflict(
	ctx context.Context, all []lab.Fault, command string, clients int, workloads ...*Config,
) error {
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
		promises = nil // without a flush of each write, a server without power keeps none of them
	}
	t.faults = &Faults{All: all, Clients: clients, Promises: promises, Acknowledged: about.Acknowledged}
	t.faults.Inflict, err = t.injector(all, command)
	return err
}

// relay starts a relay in front of each node that the URL names, and opens the engine through the relays.
func (t *Target) relay() error {
	refused := func(problem, cure string) error { return fault.Misuse("--fault slow", problem, cure) }
	hosts := strings.Split(t.url.Host, ",")
	switch {
	case t.d.Place != engine.Remote || t.url.Host == "":
		return refused(t.Scheme+" is not reached over a network", "choose an engine with a server")
	case t.d.Server != nil && t.d.Server.RedirectsClients && len(hosts) > 1:
		return refused("cannot delay this cluster, whose clients connect to the nodes directly and not to a relay",
			"start it by `barograph lab up` --isolate, and inject delay:5ms")
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
	through := *t.url
	through.Host = strings.Join(hosts, ",")
	db, err := t.open(through.String())
	if err != nil {
		return err // CloseAll closes t.db, the direct connection
	}
	direct := t.db
	t.db, t.KV, t.Server.Metrics, t.Server.Statements = db, kv.DatabaseOf(db), db.Metrics, db.Statements
	return direct.Close()
}

// injector returns the function that injects the faults.
func (t *Target) injector(all []lab.Fault, command string) (injectFunc, error) {
	isRelayed := func(f lab.Fault) bool { return f.Action.Relayed() }
	nodes, err := t.nodeInjector(slices.DeleteFunc(slices.Clone(all), isRelayed), command)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.Action.Relayed() && x.Node > len(t.relays) {
			problem := "names another node than the URL, which has " + run.CountOf(len(t.relays), "node")
			return nil, fault.Misuse("--fault "+x.String(), problem, "name a node of the URL, counted from 1")
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

// nodeInjector returns the function that injects faults into nodes; nil = there are none to inject.
func (t *Target) nodeInjector(all []lab.Fault, command string) (injectFunc, error) {
	switch {
	case len(all) == 0:
		return nil, nil //nolint:nilnil // there is nothing to do
	case command != "":
		return shell(command, commandLimit)
	case t.d.Server == nil:
		return nil, fault.Misuse("--fault", t.Scheme+" has no server, so no node can fail",
			"choose an engine with a server, or a --fault-command that causes the fault")
	case t.lab == nil:
		return nil, fault.Misuse("--fault", "no lab runs the server of "+t.Scheme, "start one (`barograph lab up "+t.Scheme+
			"`), name the folder of a running one (--lab-dir), or give a --fault-command that causes the fault")
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
