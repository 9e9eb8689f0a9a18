package couchbase

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/couchbase/gocbcore/v10"
	"github.com/couchbase/gocbcore/v10/memd"
	"github.com/tidwall/gjson"
)

// client makes synchronous calls of gocbcore, the asynchronous core of Couchbase's SDK. The SDK itself adds
// gRPC and OpenTelemetry, which the engine does not need.
type client struct {
	*settings
	agent *gocbcore.Agent
}

// dial connects to the bucket, and returns when its key-value service answers.
func (s *settings) dial(ctx context.Context) (*client, error) {
	config := gocbcore.AgentConfig{
		UserAgent: "barograph", BucketName: s.bucket, DefaultRetryStrategy: s.retry,
		SecurityConfig: gocbcore.SecurityConfig{Auth: s.auth},
		IoConfig: gocbcore.IoConfig{
			UseCollections: true, UseDurations: true, UseMutationTokens: true, UseOutOfOrderResponses: true,
			UseClusterMapNotifications: true,
		},
		KVConfig:             gocbcore.KVConfig{ConnectTimeout: s.connect},
		CircuitBreakerConfig: gocbcore.CircuitBreakerConfig{Enabled: true},
		CompressionConfig:    gocbcore.CompressionConfig{Enabled: true},
	}
	if err := config.FromConnStr(s.connection); err != nil {
		return nil, err
	}
	if config.SecurityConfig.UseTLS {
		config.SecurityConfig.TLSRootCAProvider = s.roots
	}
	agent, err := gocbcore.CreateAgent(&config)
	if err != nil {
		return nil, err
	}
	c := &client{s, agent}
	needed := gocbcore.WaitUntilReadyOptions{ServiceTypes: []gocbcore.ServiceType{gocbcore.MemdService}}
	_, err = wait(ctx, func(done func(*gocbcore.WaitUntilReadyResult, error)) (gocbcore.PendingOp, error) {
		return agent.WaitUntilReady(time.Now().Add(s.connect), needed, done)
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close closes the connections.
func (c *client) Close() error { return c.agent.Close() }

// wait sends one operation and returns its answer. The end of ctx cancels it.
func wait[R any](ctx context.Context, send func(func(R, error)) (gocbcore.PendingOp, error)) (result R, err error) {
	answered := make(chan struct{})
	op, refused := send(func(r R, e error) {
		result, err = r, e
		close(answered)
	})
	if refused != nil {
		return result, refused
	}
	select {
	case <-answered:
	case <-ctx.Done():
		op.Cancel()
		<-answered
	}
	return result, err
}

// sendAll sends n operations and returns when all are answered. The end of ctx cancels those in flight.
func sendAll(
	ctx context.Context, n int, send func(i int, done func()) (gocbcore.PendingOp, error),
) error {
	var unanswered sync.WaitGroup
	var refused error
	ops := make([]gocbcore.PendingOp, 0, n)
	for i := range n {
		unanswered.Add(1)
		op, err := send(i, unanswered.Done)
		if err != nil {
			refused = err
			unanswered.Done()
			break
		}
		ops = append(ops, op)
	}
	cancel := func() {
		for _, op := range ops {
			op.Cancel()
		}
	}
	if refused != nil {
		cancel()
	}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	unanswered.Wait()
	return errors.Join(refused, ctx.Err())
}

// jsonFlags returns the flags of a document that is JSON.
func jsonFlags() uint32 { return gocbcore.EncodeCommonFlags(gocbcore.JSONType, gocbcore.NoCompression) }

// leastDurable is the least time limit of a write that more than one node acknowledges.
const leastDurable = 1500 * time.Millisecond

// deadline returns the deadline of n operations that are sent together, and the time in which a server must make a
// write durable.
func (c *client) deadline(n int, durable memd.DurabilityLevel) (end time.Time, server time.Duration) {
	limit := c.kvTimeout * time.Duration(n)
	if durable != 0 {
		limit = max(limit, leastDurable)
		server = max(limit*9/10, leastDurable)
	}
	return time.Now().Add(limit), server
}

type document struct {
	text []byte
	cas  gocbcore.Cas
	err  error
}

func (c *client) get(ctx context.Context, key string) ([]byte, gocbcore.Cas, error) {
	end, _ := c.deadline(1, 0)
	got, err := wait(ctx, func(done func(*gocbcore.GetResult, error)) (gocbcore.PendingOp, error) {
		o := gocbcore.GetOptions{Key: []byte(key), ScopeName: c.scope, CollectionName: c.collection, Deadline: end}
		return c.agent.Get(o, done)
	})
	if err != nil {
		return nil, 0, err
	}
	return got.Value, got.Cas, nil
}

// gets reads several documents at once; each has its own error.
func (c *client) gets(ctx context.Context, keys []string) ([]document, error) {
	end, _ := c.deadline(len(keys), 0)
	all := make([]document, len(keys))
	return all, sendAll(ctx, len(keys), func(i int, done func()) (gocbcore.PendingOp, error) {
		o := gocbcore.GetOptions{Key: []byte(keys[i]), ScopeName: c.scope, CollectionName: c.collection, Deadline: end}
		return c.agent.Get(o, func(r *gocbcore.GetResult, err error) {
			if all[i].err = err; err == nil {
				all[i].text, all[i].cas = r.Value, r.Cas
			}
			done()
		})
	})
}

func (c *client) insert(ctx context.Context, key string, text []byte) (gocbcore.Cas, error) {
	end, server := c.deadline(1, c.durability)
	return casOf(wait(ctx, func(done func(*gocbcore.StoreResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.Add(gocbcore.AddOptions{
			Key: []byte(key), Value: text, Flags: jsonFlags(), ScopeName: c.scope, CollectionName: c.collection,
			DurabilityLevel: c.durability, DurabilityLevelTimeout: server, Deadline: end,
		}, done)
	}))
}

func (c *client) replace(ctx context.Context, key string, text []byte, cas gocbcore.Cas) (gocbcore.Cas, error) {
	end, server := c.deadline(1, c.durability)
	return casOf(wait(ctx, func(done func(*gocbcore.StoreResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.Replace(gocbcore.ReplaceOptions{
			Key: []byte(key), Value: text, Flags: jsonFlags(), Cas: cas, ScopeName: c.scope, CollectionName: c.collection,
			DurabilityLevel: c.durability, DurabilityLevelTimeout: server, Deadline: end,
		}, done)
	}))
}

func casOf(r *gocbcore.StoreResult, err error) (gocbcore.Cas, error) {
	if err != nil {
		return 0, err
	}
	return r.Cas, nil
}

// setOptions returns the options of a write that is one of n writes sent together.
func (c *client) setOptions(key string, text []byte, n int) gocbcore.SetOptions {
	end, server := c.deadline(n, c.durability)
	return gocbcore.SetOptions{
		Key: []byte(key), Value: text, Flags: jsonFlags(), ScopeName: c.scope, CollectionName: c.collection,
		DurabilityLevel: c.durability, DurabilityLevelTimeout: server, Deadline: end,
	}
}

func (c *client) upsert(ctx context.Context, key string, text []byte) error {
	_, err := wait(ctx, func(done func(*gocbcore.StoreResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.Set(c.setOptions(key, text, 1), done)
	})
	return err
}

func (c *client) remove(ctx context.Context, key string) error {
	end, server := c.deadline(1, c.durability)
	_, err := wait(ctx, func(done func(*gocbcore.DeleteResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.Delete(gocbcore.DeleteOptions{
			Key: []byte(key), ScopeName: c.scope, CollectionName: c.collection,
			DurabilityLevel: c.durability, DurabilityLevelTimeout: server, Deadline: end,
		}, done)
	})
	return err
}

// lookUp reads one value inside a document.
func (c *client) lookUp(ctx context.Context, key string, kind memd.SubDocOpType, path string) ([]byte, error) {
	end, _ := c.deadline(1, 0)
	found, err := wait(ctx, func(done func(*gocbcore.LookupInResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.LookupIn(gocbcore.LookupInOptions{
			Key: []byte(key), ScopeName: c.scope, CollectionName: c.collection, Deadline: end,
			Ops: []gocbcore.SubDocOp{{Op: kind, Path: path}},
		}, done)
	})
	if err != nil {
		return nil, err
	}
	return found.Ops[0].Value, found.Ops[0].Err
}

// mutate sets members of a document to texts.
func (c *client) mutate(ctx context.Context, key string, ops []gocbcore.SubDocOp) error {
	end, server := c.deadline(1, c.durability)
	_, err := wait(ctx, func(done func(*gocbcore.MutateInResult, error)) (gocbcore.PendingOp, error) {
		return c.agent.MutateIn(gocbcore.MutateInOptions{
			Key: []byte(key), Ops: ops, ScopeName: c.scope, CollectionName: c.collection,
			DurabilityLevel: c.durability, DurabilityLevelTimeout: server, Deadline: end,
		}, done)
	})
	return err
}

// setMember sets a member to a text.
func setMember(path, text string) gocbcore.SubDocOp {
	return gocbcore.SubDocOp{Op: memd.SubDocOpDictSet, Path: path, Value: []byte(literal(text))}
}

// consistency is the consistency of a statement's indexes.
type consistency string

const (
	requestPlus consistency = "request_plus"
	notBounded  consistency = "not_bounded"
	// once is Barograph's own consistency: requestPlus until the statement has been answered once, then
	// notBounded until this process writes again.
	once consistency = "once"
)

// statement is the set of options of a statement for the query service.
type statement struct {
	consistency consistency // "" = the service's default
	readOnly    bool        // the statement changes nothing; the SDK may repeat it
	prepare     bool        // the SDK prepares the statement, once
	keys        []string    // value of the parameter $keys
	retry       gocbcore.RetryStrategy
	timeout     time.Duration // 0 = the URL's timeout
}

// query sends a statement to the query service and passes its rows to each. It returns the time that the service
// reports; 0 = it reports none.
func (c *client) query(
	ctx context.Context, text string, o statement, each func(row []byte) error,
) (serverTime time.Duration, err error) {
	body := map[string]any{"statement": text, "client_context_id": rand.Text()}
	if o.consistency != "" {
		body["scan_consistency"] = o.consistency
	}
	if o.readOnly {
		body["readonly"] = true
	}
	if o.keys != nil {
		body["$keys"] = o.keys
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	limit := c.queryTimeout
	if o.timeout > 0 {
		limit = o.timeout
	}
	send := c.agent.N1QLQuery
	if o.prepare {
		send = c.agent.PreparedN1QLQuery
	}
	request := gocbcore.N1QLQueryOptions{Payload: payload, Deadline: time.Now().Add(limit), RetryStrategy: o.retry}
	limited, stop := context.WithDeadlineCause(ctx, request.Deadline, gocbcore.ErrTimeout)
	defer stop()
	var op gocbcore.PendingOp
	rows, err := wait(ctx, func(done func(*gocbcore.N1QLRowReader, error)) (_ gocbcore.PendingOp, err error) {
		op, err = send(request, done)
		return op, err
	})
	if err != nil {
		return 0, err
	}
	stopCancel := context.AfterFunc(limited, op.Cancel) // the SDK's deadline does not apply to the rows
	defer stopCancel()
	for row := rows.NextRow(); row != nil; row = rows.NextRow() {
		if err := each(bytes.TrimSpace(row)); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, errors.Join(context.Cause(limited), err)
	}
	if meta, err := rows.MetaData(); err == nil {
		serverTime, _ = time.ParseDuration(gjson.GetBytes(meta, "metrics.executionTime").Str) // an error: none is reported
	}
	return serverTime, nil
}

// certificateAuth identifies a client by a certificate instead of user and password.
type certificateAuth struct{ pair *tls.Certificate }

func (certificateAuth) SupportsTLS() bool    { return true }
func (certificateAuth) SupportsNonTLS() bool { return false }

func (a certificateAuth) Certificate(gocbcore.AuthCertRequest) (*tls.Certificate, error) {
	return a.pair, nil
}

func (certificateAuth) Credentials(gocbcore.AuthCredsRequest) ([]gocbcore.UserPassPair, error) {
	return []gocbcore.UserPassPair{{}}, nil
}

// failFast retries nothing.
type failFast struct{}

func (failFast) RetryAfter(gocbcore.RetryRequest, gocbcore.RetryReason) gocbcore.RetryAction {
	return &gocbcore.NoRetryRetryAction{}
}
