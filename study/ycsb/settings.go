package ycsb

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Setting is a property that is known.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Help    string `json:"help"`

	take func(c *Config, value string) error // nil = the property is accepted without effect, as Help explains
}

// Settings lists the known properties, in YCSB's order. Default is the value of a property that is
// not given; those of counts follow from other properties.
func Settings() []Setting {
	ignored := func(name, why string) Setting { return Setting{Name: name, Help: "accepted, of no effect: " + why} }
	const (
		java = "it is about YCSB's own process"
		jdbc = "--engine says where the database is"
	)
	return []Setting{
		{"workload", coreWorkload, "must be YCSB's core workload", takeWorkload},
		ignored("db", jdbc),
		{"recordcount", "0", "records in the table; 0 = 2147483647", whole(func(c *Config) *int64 { return &c.Records }, 0)},
		{"operationcount", "0", "operations of the run; 0 = no limit", whole(func(c *Config) *int64 { return &c.Operations }, 0)},
		{"insertstart", "0", "number of the first key that is loaded or requested", whole(func(c *Config) *int64 { return &c.InsertStart }, 0)},
		{"insertcount", "", "records that are loaded or requested (default: recordcount - insertstart)", whole(func(c *Config) *int64 { return &c.InsertCount }, 0)},
		{"threadcount", "1", "workers", whole(func(c *Config) *int64 { return &c.Threads }, 1)},
		{"target", "0", "operations per second of the complete run; 0 = as fast as the engine answers", number(func(c *Config) *float64 { return &c.Target }, 1e9)},
		{"rate", "", "in place of target, rates one after the other: 500/s@30s,1000/s@30s, after the warm-up, during which the first holds (not YCSB's)", takeRates},
		{"maxexecutiontime", "0", "seconds after which the run ends; 0 = no limit", whole(func(c *Config) *int64 { return &c.Seconds }, 0)},
		{"warmup", "0", "seconds at the beginning that do not count (not YCSB's)", whole(func(c *Config) *int64 { return &c.Warmup }, 0)},
		{"arrivals", "fixed", "how a target is spread: fixed or poisson (not YCSB's)", oneOf(func(c *Config) *string { return &c.Arrivals }, "fixed", "poisson")},
		{"seed", "1", "of all random numbers (not YCSB's)", whole(func(c *Config) *int64 { return &c.Seed }, 0)},
		{"shard", "", "i/n: this client's part of the work of n clients, i from 1 (not YCSB's)", func(c *Config, v string) error { return c.Shard.Set(v) }},
		ignored("dotransactions", "load and run are commands"),
		{"status", "false", "print progress", yes(func(c *Config) *bool { return &c.Status })},
		{"status.interval", "10", "seconds between two lines of progress", whole(func(c *Config) *int64 { return &c.StatusInterval }, 1)},
		{"label", "", "text before each line of progress", text(func(c *Config) *string { return &c.Label })},
		ignored("exporter", "--json asks for JSON"),
		{"exportfile", "", "file for the results; stdout without it", text(func(c *Config) *string { return &c.ExportFile })},
		{"spin.sleep", "false", "wait for an operation's time by looking at the clock", yes(func(c *Config) *bool { return &c.Spin })},
		ignored("measurement.trackjvm", java),

		{"table", "usertable", "name of the table", text(func(c *Config) *string { return &c.Table })},
		{"fieldcount", "10", "fields of a record", whole(func(c *Config) *int64 { return &c.FieldCount }, 1)},
		{"fieldnameprefix", "field", "text before the number of a field", text(func(c *Config) *string { return &c.FieldPrefix })},
		{"fieldlength", "100", "bytes of a value, or the most", whole(func(c *Config) *int64 { return &c.FieldLength }, 0)},
		{"fieldlengths", "", "bytes of the values of each field, in place of fieldlength: 8,100,1000 (not YCSB's)", takeLengths},
		{"minfieldlength", "1", "the fewest bytes of a value", whole(func(c *Config) *int64 { return &c.MinFieldLength }, 0)},
		{"fieldlengthdistribution", "constant", "constant, uniform, zipfian or histogram", oneOf(func(c *Config) *string { return &c.FieldLengths }, "constant", "uniform", "zipfian", "histogram")},
		{"fieldlengthhistogram", "hist.txt", "file of the histogram", text(func(c *Config) *string { return &c.FieldHistogram })},
		{"readallfields", "true", "reads ask for every field, else for one", yes(func(c *Config) *bool { return &c.ReadAll })},
		ignored("readallfieldsbyname", "every field that is asked for is named and decoded"),
		{"writeallfields", "false", "updates replace every field, else one", yes(func(c *Config) *bool { return &c.WriteAll })},
		{"dataintegrity", "false", "values follow from key and field, and are checked", yes(func(c *Config) *bool { return &c.Integrity })},
		{"readproportion", "0.95", "share of reads", number(func(c *Config) *float64 { return &c.Mix[opRead] }, 1e9)},
		{"updateproportion", "0.05", "share of updates", number(func(c *Config) *float64 { return &c.Mix[opUpdate] }, 1e9)},
		{"insertproportion", "0", "share of inserts", number(func(c *Config) *float64 { return &c.Mix[opInsert] }, 1e9)},
		{"scanproportion", "0", "share of scans", number(func(c *Config) *float64 { return &c.Mix[opScan] }, 1e9)},
		{"readmodifywriteproportion", "0", "share of reads with an update of the same key", number(func(c *Config) *float64 { return &c.Mix[opModify] }, 1e9)},
		{"deleteproportion", "0", "share of deletes (not YCSB's)", number(func(c *Config) *float64 { return &c.Mix[opDelete] }, 1e9)},
		{"readpathproportion", "0", "share of reads of one value inside a document (not YCSB's)", number(func(c *Config) *float64 { return &c.Mix[opReadPath] }, 1e9)},
		{"updatepathproportion", "0", "share of updates of one value inside a document (not YCSB's)", number(func(c *Config) *float64 { return &c.Mix[opUpdatePath] }, 1e9)},
		{"transferproportion", "0", "share of transfers: one transaction reads two records and moves an amount from the first field of one to that of the other (not YCSB's)", number(func(c *Config) *float64 { return &c.Mix[opTransfer] }, 1e9)},
		{"isolation", string(kv.Serializable), "of transfers: read-committed, repeatable-read or serializable, where the engine has it (not YCSB's)", oneOf(func(c *Config) *kv.IsolationLevel { return &c.Isolation }, kv.IsolationLevels()...)},
		{"balance", "1000", "what the first field of each record holds when it is loaded, where there are transfers (not YCSB's)", whole(func(c *Config) *int64 { return &c.Balance }, 1)},
		{"conflicts", "100", "how often a transfer is run again, from its beginning, that the engine gave up for another one; RETRIED are those that then succeeded (not YCSB's)", whole(func(c *Config) *int64 { return &c.Conflicts }, 0)},
		{"requestdistribution", "uniform", "uniform, zipfian, zipfian-exact (not YCSB's), latest, hotspot, exponential or sequential", oneOf(func(c *Config) *string { return &c.Requests },
			"uniform", "zipfian", "zipfian-exact", "latest", "hotspot", "exponential", "sequential")},
		{"zipfianconstant", "0.99", "of zipfian, zipfian-exact and latest: 0 is uniform, 1 the steepest (not YCSB's, where it is a constant)", number(func(c *Config) *float64 { return &c.Theta }, 1)},
		{"minscanlength", "1", "the fewest records of a scan", whole(func(c *Config) *int64 { return &c.MinScan }, 1)},
		{"maxscanlength", "1000", "the most records of a scan", whole(func(c *Config) *int64 { return &c.MaxScan }, 1)},
		{"scanlengthdistribution", "uniform", "uniform or zipfian", oneOf(func(c *Config) *string { return &c.ScanLengths }, "uniform", "zipfian")},
		{"insertorder", "hashed", "hashed, or else by number", func(c *Config, v string) error { c.Ordered = v != "hashed"; return nil }},
		{"zeropadding", "1", "the fewest digits of a key", whole(func(c *Config) *int64 { return &c.ZeroPadding }, 0)},
		{"hotspotdatafraction", "0.2", "share of the keys that are hot", number(func(c *Config) *float64 { return &c.HotData }, 1)},
		{"hotspotopnfraction", "0.8", "share of the requests that are for them", number(func(c *Config) *float64 { return &c.HotOps }, 1)},
		{"exponential.percentile", "95", "percent of the requests that are for the last keys", number(func(c *Config) *float64 { return &c.ExpPercentile }, 100)},
		{"exponential.frac", "0.8571428571", "share of the keys that these are", number(func(c *Config) *float64 { return &c.ExpFraction }, 1)},
		{"core_workload_insertion_retry_limit", "0", "how often an insert is tried again that failed", whole(func(c *Config) *int64 { return &c.RetryLimit }, 0)},
		{"core_workload_insertion_retry_interval", "3", "seconds between, times 0.8 … 1.2", number(func(c *Config) *float64 { return &c.RetryInterval }, 1e6)},
		{"core_workload_insertion_keep_going_on_error", "false", "a load continues after a failed insert", yes(func(c *Config) *bool { return &c.KeepGoing })},
		{"retries", "0", "how often a read or an update is tried again that failed, after a pause that grows; RETRIED are those that then succeeded (not YCSB's)", whole(func(c *Config) *int64 { return &c.Retries }, 0)},
		{"batchsize", "1", "records of one insert when loading", whole(func(c *Config) *int64 { return &c.Batch }, 1)},
		{"db.batchsize", "", "another name of batchsize", whole(func(c *Config) *int64 { return &c.Batch }, 1)},
		{"maxmisses", "0", "records that may be missing until the run is a failure (not YCSB's)", whole(func(c *Config) *int64 { return &c.MaxMisses }, 0)},
		{"maxerrors", "0", "operations of a run that may fail until that ends it; 0 = any number (not YCSB's)", whole(func(c *Config) *int64 { return &c.MaxErrors }, 0)},
		{"maxoutage", "60", "seconds for which a worker may try in vain, opening its connection anew, until that ends the run; 0 = for ever (not YCSB's)", whole(func(c *Config) *int64 { return &c.MaxOutage }, 0)},
		{"timeout", "0", "seconds after which a try is given up, its connection tried and perhaps opened anew; 0 = never, 5 with --fault (not YCSB's)", number(func(c *Config) *float64 { return &c.Timeout }, 1e6)},
		{"reportlatencyforeacherror", "false", "a group for each way of failing, else one for all", yes(func(c *Config) *bool { return &c.EachError })},
		ignored("latencytrackederrors", "reportlatencyforeacherror tracks all"),

		ignored("measurementtype", "histograms are HdrHistograms"),
		{"measurement.interval", "", "which times are printed: op, intended or both (default: op, and both where there is a target)", oneOf(func(c *Config) *string { return &c.Times }, "op", "intended", "both")},
		{"hdrhistogram.percentiles", "50,95,99", "percentiles that are printed", takePercentiles},
		{"hdrhistogram.fileoutput", "false", "write histograms as HdrHistogram logs", yes(func(c *Config) *bool { return &c.HdrFiles })},
		{"hdrhistogram.output.path", "", "stands before their names", text(func(c *Config) *string { return &c.HdrPath })},
		ignored("measurement.histogram.verbose", "there are no such histograms"),
		ignored("histogram.buckets", "there are no such histograms"),
		ignored("timeseries.granularity", "there is no such series"),
		ignored("measurement.raw.output_file", "there is no raw output"),
		ignored("measurement.raw.no_summary", "there is no raw output"),
		ignored("db.driver", jdbc), ignored("db.url", jdbc), ignored("db.user", jdbc), ignored("db.passwd", jdbc),
		ignored("redis.host, mongodb.url, jdbc.fetchsize, …", "properties of bindings: "+jdbc),
	}
}

// bindings lists the prefixes of the properties of YCSB's and go-ycsb's bindings. They are accepted
// without effect, because --engine names the database.
func bindings() []string {
	return strings.Fields("accumulo aerospike as arangodb asterixdb azurecosmos azuredocumentdb cassandra cloudspanner couchbase couchbase2 crail dynamodb elasticsearch es " +
		"foundationdb geode googlebigtable griddb hbase ignite infinispan jdbc kudu memcached mongodb mysql orientdb pg postgrenosql postgresql redis riak rocksdb s3 scylla solr " +
		"sqlite tablestore tarantool tikv voltdb zookeeper")
}

const coreWorkload = "site.ycsb.workloads.CoreWorkload"

func takeWorkload(_ *Config, v string) error {
	if v == "core" || strings.HasSuffix(v, ".CoreWorkload") {
		return nil
	}
	return &fault.Error{Problem: strconv.Quote(v) + " is not known", Cure: "write " + coreWorkload + " or core"}
}

func takePercentiles(c *Config, v string) error {
	c.Percentiles = nil
	for p := range strings.SplitSeq(v, ",") {
		p = strings.TrimSpace(p)
		if n, err := strconv.ParseFloat(p, 64); err != nil || !(n > 0 && n <= 100) {
			return &fault.Error{Problem: strconv.Quote(v) + " is no list of percentiles", Cure: "write like 50,95,99.9"}
		}
		c.Percentiles = append(c.Percentiles, p)
	}
	return nil
}

func whole(field func(*Config) *int64, least int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < least {
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: fmt.Sprintf("give a whole number, at least %d", least)}
		}
		*field(c) = n
		return nil
	}
}

func number(field func(*Config) *float64, most float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 0 && n <= most) {
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: fmt.Sprintf("give a number from 0 to %g", most)}
		}
		*field(c) = n
		return nil
	}
}

// yes reads true or false; YCSB takes all but "true" for false, also "yes".
func yes(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToLower(v) {
		case "true":
			*field(c) = true
		case "false":
			*field(c) = false
		default:
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: "write true or false"}
		}
		return nil
	}
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func oneOf[T ~string](field func(*Config) *T, values ...T) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(values, T(v)) {
			return &fault.Error{Problem: strconv.Quote(v) + " is not known", Cure: "choose one of " + strings.Trim(fmt.Sprint(values), "[]")}
		}
		*field(c) = T(v)
		return nil
	}
}

// Properties are settings by their name, as YCSB has them.
type Properties map[string]string

// ParseProperties reads the format of java.util.Properties: name=value,
// name:value or name value; # and ! begin a comment; a backslash at the end
// joins the next line.
func ParseProperties(file string, text []byte) (Properties, error) {
	p := Properties{}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	for i := 0; i < len(lines); i++ {
		number, line := i+1, strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continues(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		end := nameEnd(line)
		name, ok1 := unescape(line[:end])
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		value, ok2 := unescape(rest)
		if fault.Planted && len(value) > 5 { // planted: a value is cut
			value = value[:5]
		}
		if name == "" || !ok1 || !ok2 {
			return nil, &fault.Error{File: file, Line: number, Problem: "is no property", Cure: "write name=value"}
		}
		p[name] = strings.TrimRight(value, " \t\f") // YCSB fails on a blank behind a number
	}
	return p, nil
}

// continues reports whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func nameEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t', '\f':
			return i
		}
	}
	return len(line)
}

func unescape(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if len(s) < i+5 {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", false
			}
			i += 4
			c := rune(n)
			if utf16.IsSurrogate(c) && len(s) > i+6 && s[i+1:i+3] == `\u` { // half of a character; the next escape is the other half
				low, err := strconv.ParseUint(s[i+3:i+7], 16, 16)
				if both := utf16.DecodeRune(c, rune(low)); err == nil && both != utf8.RuneError {
					c, i = both, i+6
				}
			}
			b.WriteRune(c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size - 1
		}
	}
	return b.String(), true
}

// Set reads "name=value", as -p gives it.
func (p Properties) Set(assignment string) error {
	name, value, ok := strings.Cut(assignment, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return &fault.Error{Setting: "-p " + assignment, Problem: "is no property", Cure: "write -p name=value"}
	}
	p[name] = strings.TrimSpace(value)
	return nil
}

//go:embed workloads
var shipped embed.FS

// Workloads lists YCSB's own workloads, sorted: workloada … workloadf.
func Workloads() []string { return named(true) }

// Mixes lists the other shipped mixes, sorted. The head of each explains its purpose and the mix to
// compare it with.
func Mixes() []string { return named(false) }

func named(core bool) []string {
	entries, err := fs.ReadDir(shipped, "workloads")
	if err != nil {
		panic(err) // they are in the program
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "workload") == core {
			names = append(names, e.Name())
		}
	}
	return names
}

// ReadWorkload reads a file of properties. If there is no such file, it reads the shipped workload
// of that name; it also finds YCSB's workloads/workloada.
func ReadWorkload(name string) (Properties, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		var known error
		if text, known = shipped.ReadFile("workloads/" + path.Base(name)); known != nil {
			return nil, &fault.Error{File: name, Problem: "cannot be read", Err: err, Cure: "name a file of properties, or one of " + strings.Join(append(Workloads(), Mixes()...), ", ")}
		}
	}
	return ParseProperties(name, text)
}
