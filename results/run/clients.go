package run

import (
	"context"
	"errors"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
)

// ConcurrentClients is a set of clients that query an engine at the same time. Each compares its
// answers with the correct ones.
type ConcurrentClients struct {
	Workers []pace.Worker
	Pace    pace.Options // Kinds are the names of the questions; Statuses is OK only
	Place   string       // where the engine runs, as in Archive.Place
	Server  ServerMeter  // counters of the engine's server

	// Prove proves the counted answers. failed is the error of the run; nil = all clients finished.
	Prove func(t answer.Tally, failed error) (answer.Proof, error)
}

// RunClients runs the clients, and returns the sample with its measurement and the verdict on all answers.
func (f *Folder) RunClients(ctx context.Context, sample Sample, clients ConcurrentClients) (Sample, error) {
	if err := clients.Server.Start(ctx); err != nil { // the server reports no counters, for example because it is down
		return sample.Judge(nil, answer.Proof{}, err), ctx.Err()
	}
	client, err := measure.StartClient()
	if err != nil {
		return sample, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return sample, err
	}
	res, failed := pace.Run(ctx, clients.Workers, clients.Pace)
	if res == nil {
		return sample, failed
	}
	m := &Measured{
		Start: res.Started.Add(clients.Pace.Warmup).Sub(f.Run.Started), Total: res.Elapsed, Usage: &Usage{},
		Mix: &Mix{
			LoadMachines: 1, Place: clients.Place, Ending: string(res.Ending), Interval: res.SeriesInterval, Unstarted: res.Unstarted,
		},
	}
	if m.Client, err = client.Stop(); err != nil {
		return sample, err
	}
	if m.Machine, err = machine.Stop(ctx); err != nil {
		return sample, err
	}
	var unreadable error // of the server's counters
	if m.Server, unreadable = clients.Server.Stop(ctx); failed == nil {
		failed = unreadable
	}
	for _, s := range res.Series {
		m.Series = append(m.Series, SeriesInterval{Completed: s.Finished, Failed: s.Failed, Slowest: s.Slowest})
	}
	t, err := m.addResult(res, clients.Pace.Kinds)
	if err != nil {
		return sample, err
	}
	if _, wrong := errors.AsType[*answer.Diff](failed); wrong {
		t.Wrong = 1 // a client stops at its first wrong answer, and pace.Run returns the first error
	}
	sample.Answers = &t
	proof, failed := clients.Prove(t, failed)
	return sample.Judge(m, proof, failed), nil
}

// addResult adds the measurements of each question and of all together. Its tally counts every recorded answer as
// correct and compared value by value; RunClients then adds a wrong one.
func (m *Measured) addResult(res *pace.Result, questions []string) (t answer.Tally, err error) {
	service, response := measure.NewHistogram(), measure.NewHistogram()
	for k := range questions {
		g := res.Groups[k][0] // 0 = OK, the only status of the clients
		if g == nil {
			continue
		}
		one := Group{Operation: questions[k], Outcome: "OK", Count: g.Count, Records: g.RecordCount, InTotal: true}
		err = errors.Join(err, one.SetTimes(g.Service, g.Response), service.Merge(g.Service), response.Merge(g.Response))
		m.Groups = append(m.Groups, one)
		t.Succeeded += g.Count
	}
	t.Found, t.Values = t.Succeeded, t.Succeeded
	m.Operations, m.Service, m.Response = t.Succeeded, Summarize(service), Summarize(response)
	if res.Elapsed > 0 {
		m.Throughput = float64(t.Succeeded) / res.Elapsed.Seconds()
	}
	return t, err
}
