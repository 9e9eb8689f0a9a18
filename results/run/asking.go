package run

import (
	"context"
	"errors"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
)

// Asking is a number of clients who ask an engine at once; each holds its answers
// against those that are right.
type Asking struct {
	Workers []pace.Worker
	Pace    pace.Options // of its Kinds each is a question
	Place   string       // of the engine
	Server  Watch        // what is known of the engine's server

	// Proves makes the proof of the answers.
	Proves func(t answer.Tally, failed error) (answer.Proof, error)
}

// Ask lets them ask, and judges the sample by their answers.
func (f *Folder) Ask(ctx context.Context, out Sample, a Asking) (Sample, error) {
	if err := a.Server.Begin(ctx); err != nil { // it is gone
		return out.Judge(nil, answer.Proof{}, err), ctx.Err()
	}
	client, err := measure.StartClient()
	if err != nil {
		return out, err
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return out, err
	}
	res, failed := pace.Run(ctx, a.Workers, a.Pace)
	if res == nil {
		return out, failed
	}
	m := &Measured{
		Start: res.Began.Add(a.Pace.Warmup).Sub(f.Run.Started), Total: res.Elapsed, Used: &Used{},
		Mix: &Mix{Clients: 1, Place: a.Place, Ending: string(res.Ending), Interval: res.Interval, Unstarted: res.Unstarted},
	}
	if m.Client, err = client.Stop(); err != nil {
		return out, err
	}
	if m.Machine, err = machine.Stop(ctx); err != nil {
		return out, err
	}
	var unread error
	if m.Server, unread = a.Server.End(ctx); failed == nil {
		failed = unread
	}
	for _, s := range res.Series {
		m.Series = append(m.Series, Slice{Ended: s.Ended, Failed: s.Failed, Slow: s.Slow})
	}
	t, err := m.gather(res, a.Pace.Kinds)
	if err != nil {
		return out, err
	}
	if _, wrong := errors.AsType[*answer.Diff](failed); wrong {
		t.Wrong = 1
	}
	out.Answers = &t
	proof, failed := a.Proves(t, failed)
	return out.Judge(m, proof, failed), nil
}

// gather keeps what was measured of each question, and of all together.
func (m *Measured) gather(res *pace.Result, questions []string) (t answer.Tally, err error) {
	service, response := measure.NewHistogram(), measure.NewHistogram()
	for k := range questions {
		g := res.Groups[k][0]
		if g == nil {
			continue
		}
		one := Group{Operation: questions[k], Outcome: "OK", Count: g.Count, Records: g.Records, Whole: true}
		err = errors.Join(err, one.Times(g.Service, g.Response), service.Merge(g.Service), response.Merge(g.Response))
		m.Groups = append(m.Groups, one)
		t.Succeeded += g.Count
	}
	t.Found, t.Values = t.Succeeded, t.Succeeded
	m.Operations, m.Service, m.Response = t.Succeeded, Short(service), Short(response)
	if res.Elapsed > 0 {
		m.Throughput = float64(t.Succeeded) / res.Elapsed.Seconds()
	}
	return t, err
}
