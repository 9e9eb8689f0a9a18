// The charts of a run in progress: throughput, response times and counters of servers, along one time axis.
import { count, h, short, table } from './dom';
import { lines } from './plot';

export interface Event_ {
  seq: number;
  time: string;
  kind: string;
  text?: string;
  cell?: string;
  done?: number;
  of?: number;
  failed?: number;
  pid?: number;
  times?: { p50_ns: number; p95_ns: number; p99_ns: number };
  counters?: { name: string; unit?: string; value: number }[];
  sample?: {
    cell: string;
    phase: string;
    rep: number;
    verdict: string;
    problem?: string;
    warnings?: string[];
    measured?: { total_ns: number };
  };
}

const most = 600; // points in a chart: the last ones
const mostCounters = 6; // of one unit in a chart
const listed = 60; // moments in the table of the numbers

interface Points {
  x: number[];
  lines: [string, (number | null)[]][];
}

// charts draws the charts that have data. Vertical lines mark kills, warnings and cold starts.
export function charts(place: HTMLElement, events: Event_[]): { destroy(): void }[] {
  const rates = events.filter(e => e.kind === 'rate').slice(-most),
    shown = rates.length > 1 ? rated(rates) : sampled(events);
  const parts: [string, Points][] = [
      ['operations a second', shown.speed],
      ['response times, ms', shown.times],
      ...counters(events),
    ],
    drawn = parts.filter(([, p]) => p.x.length > 1);
  place.replaceChildren();
  if (!drawn.length) return [];
  const all = drawn.flatMap(([, p]) => [p.x[0]!, p.x[p.x.length - 1]!]),
    within: [number, number] = [Math.min(...all), Math.max(...all)];
  const marked = events.filter(
    e => (e.kind === 'kill' || e.kind === 'warning' || e.sample?.phase === 'cold') && at(e) >= within[0],
  );
  const open = drawn.map(([title, p]) => {
    const plot = h('div', { class: 'plot small', role: 'img', 'aria-label': `${title}; the numbers follow` });
    place.append(h('h3', {}, title), plot);
    return lines(plot, p.x, p.lines, within, marked.map(at));
  });
  const numbers = drawn.flatMap(([, p]) =>
      p.lines.map(l => ({ name: l[0], of: new Map(p.x.map((x, i) => [x, l[1][i]])) })),
    ),
    xs = [...new Set(drawn.flatMap(([, p]) => p.x))].sort((a, b) => b - a).slice(0, listed);
  place.append(
    h('p', {}, marked.length ? 'Vertical lines mark kills, warnings and cold starts; Events lists them.' : ''),
    h(
      'details',
      { id: 'numbers' },
      h('summary', {}, 'The numbers of these charts'),
      table(
        `the last ${count(xs.length)} moments`,
        ['time (UTC)', ...numbers.map(n => n.name)],
        xs.map(x => [
          new Date(x * 1000).toISOString().slice(11, 19),
          ...numbers.map(n => (n.of.get(x) == null ? '' : short(n.of.get(x)))),
        ]),
      ),
    ),
  );
  return open;
}

const at = (e: Event_) => Date.parse(e.time) / 1000;

// rated returns the points of rate events, which a run under load writes about once a second. done counts the operations
// since the previous event, failed all failures of the repetition.
function rated(rates: Event_[]): { speed: Points; times: Points } {
  const x = rates.map(at),
    since = rates.map((e, i) => (i && rates[i - 1]!.cell === e.cell ? Math.max(x[i]! - x[i - 1]!, 0.001) : null)),
    failed = rates.map((e, i) =>
      since[i] == null ? null : Math.max((e.failed ?? 0) - (rates[i - 1]!.failed ?? 0), 0) / since[i]!,
    );
  const times = rates.filter(e => e.times),
    of = (key: 'p50_ns' | 'p95_ns' | 'p99_ns') => times.map(e => e.times![key] / 1e6);
  return {
    speed: {
      x,
      lines: [
        ['completed', rates.map((e, i) => (since[i] == null ? null : (e.done ?? 0) / since[i]!))],
        ['failed', failed],
      ],
    },
    times: {
      x: times.map(at),
      lines: [
        ['p50', of('p50_ns')],
        ['p95', of('p95_ns')],
        ['p99', of('p99_ns')],
      ],
    },
  };
}

// sampled returns the points of answers that are timed one by one, grouped by intervals of equal length.
function sampled(events: Event_[]): { speed: Points; times: Points } {
  const all = events.filter(e => e.sample?.measured),
    first = all[0],
    last = all[all.length - 1],
    none = { x: [], lines: [] };
  if (!first || !last) return { speed: none, times: none };
  const wide = Math.max(1, (at(last) - at(first)) / 200),
    by = new Map<number, number[]>();
  for (const e of all) {
    const k = Math.floor((at(e) - at(first)) / wide);
    (by.get(k) ?? by.set(k, []).get(k)!).push(e.sample!.measured!.total_ns / 1e6);
  }
  const x = [...by.keys()].map(k => at(first) + (k + 1) * wide),
    sorted = [...by.values()].map(v => v.sort((a, b) => a - b)),
    of = (p: number) => sorted.map(v => v[Math.min(v.length - 1, Math.floor(v.length * p))]!);
  return {
    speed: { x, lines: [['proven results', sorted.map(v => v.length / wide)]] },
    times: {
      x,
      lines: [
        ['p50', of(0.5)],
        ['p95', of(0.95)],
        ['p99', of(0.99)],
      ],
    },
  };
}

// counters returns the increments of servers' counters per second, by unit: those that grow most.
function counters(events: Event_[]): [string, Points][] {
  const all = events.filter(e => e.kind === 'server').slice(-most),
    x = all.map(at),
    sums = new Map<string, Map<string, number>>(),
    who = new Set(all.map(e => e.text));
  const name = (e: Event_, c: { name: string }) => (who.size > 1 ? `${e.text} ${c.name}` : c.name),
    before = new Map<string | undefined, number>();
  const since = all.map((e, i) => {
    const t = before.get(e.text);
    before.set(e.text, x[i]!);
    return t == null ? null : Math.max(x[i]! - t, 0.001);
  });
  for (const e of all)
    for (const c of e.counters ?? []) {
      const of = sums.get(c.unit ?? '') ?? sums.set(c.unit ?? '', new Map()).get(c.unit ?? '')!;
      of.set(name(e, c), (of.get(name(e, c)) ?? 0) + c.value);
    }
  return [...sums].map(([unit, of]) => {
    const largest = [...of]
      .sort((a, b) => b[1] - a[1])
      .slice(0, mostCounters)
      .map(([n]) => n);
    return [
      `${[...who].join(', ')}: ${unit || 'counts'} a second${of.size > mostCounters ? `, the ${mostCounters} that grow most of ${of.size}` : ''}`,
      {
        x,
        lines: largest.map(n => [
          n,
          all.map((e, i) => {
            const c = e.counters?.find(c => name(e, c) === n && (c.unit ?? '') === unit);
            return since[i] == null || (who.size > 1 && !n.startsWith(e.text + ' '))
              ? null
              : (c?.value ?? 0) / since[i]!;
          }),
        ]),
      },
    ] as [string, Points];
  });
}
