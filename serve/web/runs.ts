// Runs: a table of run folders with data, machine and verdicts. Live: one run in progress.
import { count, get, go, h, say, several, state, table } from './dom';
import { ranked } from './cells';
import { charts, type Event_ } from './live';
import { marked } from './loads';

interface Run {
  folder: string;
  name: string;
  id: string;
  workload: string;
  started: string;
  ended?: string;
  state: string;
  at?: string;
  data: { source: string; digest: string; records: number };
  machine: { cpu: string; usable_cpus: number; memory_bytes: number };
  archives: string[] | null;
  equal: number;
  wrong: number;
  failed: number;
  warnings?: string[];
  problem?: string;
}

const at = (r: Run) => new URLSearchParams({ folder: r.folder, name: r.name });
const report = (r: Run) =>
  ['/runs', ...[r.folder, r.name].filter(p => p !== '.').map(encodeURIComponent), 'report.html'].join('/'); // browsers remove /./
const verdict = (r: Run) =>
  [r.equal && `${count(r.equal)} equal`, r.wrong && `${count(r.wrong)} WRONG`, r.failed && `${count(r.failed)} failed`]
    .filter(Boolean)
    .join(', ') || 'nothing proven yet';

export async function runs(main: HTMLElement, signal: AbortSignal) {
  const all = await get<Run[]>('runs', {}, signal),
    ticked = new Set<Run>(),
    link = h('a', { id: 'compare', href: '#', hidden: true }, '');
  const place = h('div', {}),
    key = (r: Run) => `${r.folder}/${r.name}`,
    named = state().getAll('run');
  for (const r of all) if (named.includes(key(r))) ticked.add(r);
  const show = async () => {
    // two or more are compared as barograph compare does, the oldest being the base
    const chosen = all.filter(r => ticked.has(r)).reverse(),
      shown = chosen.length
        ? chosen
        : [all.find(r => r.state === 'done' && r.equal) ?? all.find(r => r.equal)].filter(r => r != null),
      q = state();
    link.href = '/compare.html?' + new URLSearchParams(chosen.map(r => ['run', key(r)]));
    link.textContent = `compare ${chosen.map(r => r.id).join(' with ')}`;
    link.hidden = chosen.length < 2;
    q.delete('run');
    for (const r of chosen) q.append('run', key(r));
    go('/runs', q, true);
    const cells = shown.length
      ? await ranked(
          shown.map(key),
          shown.map(r => r.id),
          signal,
        ).catch(e => h('p', { class: 'none' }, e.message))
      : '';
    if (!signal.aborted && String(state()) === String(q)) place.replaceChildren(cells);
  };
  const tick = (r: Run, on: boolean) => {
    on ? ticked.add(r) : ticked.delete(r);
    void show();
  };
  main.replaceChildren(
    h('h2', {}, 'Runs'),
    h('p', {}, all.length > 1 ? 'Tick two runs to compare them. ' : '', link),
    all.length
      ? table(
          several(all.length, 'run folder'),
          ['run', 'started (UTC)', 'workload', 'state', 'results', 'data', 'digest', 'archives', 'machine', 'warnings'],
          all.map(r =>
            r.problem
              ? [r.name, '', '', h('span', { class: 'bad' }, r.problem)]
              : [
                  h(
                    'span',
                    { class: 'line' },
                    all.length > 1 &&
                      h('input', {
                        type: 'checkbox',
                        'aria-label': `compare ${r.id}`,
                        checked: ticked.has(r),
                        change: (e: any) => tick(r, e.target.checked),
                      }),
                    h('a', { href: report(r) }, r.id),
                    ' ',
                    h('a', { href: '/live?' + at(r), 'aria-label': `events of ${r.id}` }, 'events'),
                  ),
                  h('span', { class: 'line' }, r.started.slice(0, 16).replace('T', ' ')),
                  r.workload,
                  h(
                    'span',
                    { class: r.state === 'interrupted' && 'bad' },
                    r.state + (r.at ? ` at ${r.at.includes('?') ? words(r.at) : r.at}` : ''),
                  ),
                  h('span', { class: r.wrong || r.failed ? 'bad' : r.equal > 0 && 'good' }, verdict(r)),
                  r.data.source,
                  r.data.digest.slice(0, 8),
                  (r.archives ?? []).join(', '),
                  r.machine.cpu &&
                    `${r.machine.cpu}, ${several(r.machine.usable_cpus, 'core')}, ${(r.machine.memory_bytes / 2 ** 30).toFixed(0)} GiB`,
                  (r.warnings ?? []).join('; '),
                ],
          ),
        )
      : h('p', {}, 'No run folder is served: name one, or a folder of them: barograph serve runs'),
    place,
  );
  await show();
}

// words are a cell without its syntax: pebble keyvalue keys test_1.
function words(cell: string) {
  const [before, after] = cell.split('?');
  return [before!.split('/').slice(1).join('/'), ...new URLSearchParams(after).values()]
    .map(decodeURIComponent)
    .join(' ');
}

const shown = 200; // lines of the log
const mostRejected = 1000; // quarantined lines, as in loads.go
const correct = ['equal', 'equal to rounding', 'undetermined']; // verdicts, see run.Verdict

// Live follows the journal of a run: first its existing events, then the new ones.
export class Live {
  private source?: EventSource | undefined;
  private timer?: number;
  private events: Event_[] = [];
  private seen = new Set<number>();
  private beat = 0; // time of the last event, in ms
  private came = 0; // when the last event arrived, by the browser's clock
  private band = h('div', { class: 'band', id: 'band' });
  private grid = h('div', {});
  private charts = h('div', {});
  private log = h('div', {});
  private drawn: { destroy(): void }[] = [];
  private last?: string;

  constructor(private main: HTMLElement) {}

  async show() {
    const q = state(),
      all = (await get<Run[]>('runs')).filter(r => !r.problem);
    if (this.closed) return; // another view was chosen meanwhile
    const named = all.find(r => r.folder === q.get('folder') && r.name === q.get('name')),
      asked = q.get('folder') ?? q.get('name');
    const r = named ?? (asked ? undefined : (all.find(r => r.state === 'running') ?? all[0]));
    const choose =
      all.length > 0 &&
      h(
        'label',
        { class: 'wide' },
        'Run ',
        h(
          'select',
          {
            id: 'run',
            change: (e: any) => {
              const o = all[e.target.selectedIndex - (r ? 0 : 1)];
              if (o) go('/live', at(o));
            },
          },
          !r && h('option', {}, '(choose one)'),
          ...all.map(o => h('option', { selected: o === r }, `${o.id} (${o.state})`)),
        ),
      );
    if (!r) {
      this.main.replaceChildren(
        h('h2', {}, 'Live'),
        h(
          'p',
          { class: 'none', id: 'none' },
          asked
            ? `No run ${[q.get('folder'), q.get('name')].filter(Boolean).join('/')} is served here.`
            : 'No run folder is served: name one, or a folder of them: barograph serve runs',
        ),
        choose || '',
      );
      return;
    }
    this.main.replaceChildren(
      h('h2', {}, 'Live'),
      choose || '',
      this.band,
      this.charts,
      h('h3', {}, 'Cells'),
      this.grid,
      h('h3', {}, 'Events'),
      this.log,
    );
    const rejected = await get<{ file: string; line: string; reason: string; text: string }[]>(
      'quarantine',
      at(r),
    ).catch(() => []);
    if (this.closed) return; // another view was chosen meanwhile
    if (rejected.length)
      this.main.append(
        h('h3', {}, 'Quarantine'),
        table(
          `${rejected.length > mostRejected ? 'the first ' : ''}${several(Math.min(rejected.length, mostRejected), 'line')} that could not be read`,
          ['where', 'reason', 'text'],
          rejected.slice(0, mostRejected).map(l => [`${l.file}:${l.line}`, marked(l.reason), l.text]),
        ),
      );
    const key = String(at(r)),
      channel = new BroadcastChannel(key); // one stream per browser: the tab with the lock reads it and passes events on to the others
    let waiting: AbortController | undefined;
    channel.onmessage = ({ data }) => {
      if (data !== 'all?') this.take(data);
      else if (this.source) for (const e of this.events) channel.postMessage(e); // for a tab that was opened later
    };
    const listen = (why?: Event) => {
      waiting?.abort(); // a hidden tab needs no stream, nor does one that the browser keeps in its history
      this.source?.close();
      this.source = undefined;
      if (document.hidden || why?.type === 'pagehide') return;
      const { signal } = (waiting = new AbortController());
      channel.postMessage('all?');
      void navigator.locks
        .request(
          key,
          { signal },
          () =>
            new Promise<void>(done => {
              signal.addEventListener('abort', () => done());
              this.source = new EventSource('/api/v1/events?' + key);
              this.source.onmessage = m => {
                const e = JSON.parse(m.data);
                channel.postMessage(e);
                this.take(e);
              };
            }),
        )
        .catch(() => {}); // the tab was hidden or closed before its turn
    };
    document.addEventListener('visibilitychange', listen);
    addEventListener('pagehide', listen);
    addEventListener('pageshow', listen);
    this.stop = () => {
      document.removeEventListener('visibilitychange', listen);
      removeEventListener('pagehide', listen);
      removeEventListener('pageshow', listen);
      waiting?.abort();
      channel.close();
    };
    listen();
    this.timer = setInterval(() => this.paint(), 1000);
  }

  private stop = () => {};
  private closed = false;

  close() {
    this.closed = true;
    this.stop();
    this.source?.close();
    clearInterval(this.timer);
    for (const d of this.drawn) d.destroy();
  }

  private take(e: Event_) {
    this.beat = Math.max(this.beat, Date.parse(e.time));
    if (e.kind === 'beat' || this.seen.has(e.seq)) return;
    this.seen.add(e.seq);
    this.events.push(e);
    this.came = Date.now();
    if (this.events.length > 1 && this.events[this.events.length - 2]!.seq > e.seq)
      this.events.sort((a, b) => a.seq - b.seq);
    if (this.events.length === 1) requestAnimationFrame(() => this.paint());
    if (['kill', 'warning', 'end'].includes(e.kind) && Date.now() - Date.parse(e.time) < 10_000)
      say(e.kind + (e.text ? `: ${e.text}` : ''));
  }

  private paint() {
    const { events } = this,
      last = events[events.length - 1];
    if (!last) {
      this.band.textContent = 'no event yet';
      return;
    }
    const step = events.findLast(e => e.kind === 'step'),
      sample = events.findLast(e => e.sample),
      ended = last.kind === 'end',
      silent = (Date.now() - this.beat) / 1000;
    const standing = ended
      ? 'done'
      : last.kind === 'stop' || (silent > 9 && Date.now() - this.came > 1500)
        ? `interrupted at ${sample?.sample ? words(sample.sample.cell) : (step?.text ?? 'its beginning')}`
        : silent > 9
          ? 'reading' // the events of an old run arrive one after the other, and the next one may be its end
          : 'running';
    const key = `${last.seq} ${standing}`;
    if (key === this.last) return;
    this.last = key;
    this.band.replaceChildren(
      h('strong', { class: standing.startsWith('i') && 'bad', id: 'standing' }, standing),
      step?.text
        ? h(
            'span',
            {},
            step.done || step.of
              ? `${step.text}: ${count(step.done ?? 0)}${step.of ? ` of ${count(step.of)}${standing === 'running' ? left(events, step) : ''}` : ''}`
              : step.text, // a message without a size
          )
        : '',
      h('span', {}, several(events.filter(e => e.sample).length, 'sample')),
      sample?.sample ? h('span', {}, `last: ${words(sample.sample.cell)}`) : '',
    );
    this.cells(events);
    for (const d of this.drawn) d.destroy();
    this.drawn = charts(this.charts, events);
    const list = events
      .filter(e => e.kind !== 'rate' && e.kind !== 'server')
      .slice(-shown)
      .reverse();
    this.log.replaceChildren(
      table(
        `the last ${several(list.length, 'event')} of ${count(last.seq)}`,
        ['time (UTC)', 'event', 'details'],
        list.map(e => [
          e.time.slice(11, 19),
          e.kind,
          e.sample
            ? `${words(e.sample.cell)} #${e.sample.rep} ${e.sample.verdict}${[
                e.sample.problem,
                ...(e.sample.warnings ?? []),
              ]
                .filter(Boolean)
                .map(t => `: ${t}`)
                .join('')}`
            : [e.text, e.done && `${count(e.done)}${e.of ? ` of ${count(e.of)}` : ''}`].filter(Boolean).join(' '),
        ]),
      ),
    );
  }

  // cells is the grid of medians, configuration × case. Wrong and failed results have none.
  private cells(events: Event_[]) {
    const ms = new Map<string, Map<string, number[]>>(),
      bad = new Set<string>(),
      columns = new Set<string>();
    for (const e of events) {
      if (!e.sample) continue;
      const [before, after] = e.sample.cell.split('?'),
        axes = new URLSearchParams(after),
        column = axes.get('case') ?? axes.get('mix') ?? axes.get('method') ?? axes.get('query') ?? '–';
      axes.delete('case');
      axes.delete('mix');
      axes.delete('method');
      axes.delete('query');
      const row = [before!.split('/').slice(1).join('/'), ...axes.values()].join(' '),
        cells = ms.get(row) ?? ms.set(row, new Map()).get(row)!,
        all = cells.get(column) ?? cells.set(column, []).get(column)!;
      columns.add(column);
      if (!correct.includes(e.sample.verdict)) bad.add(row + '\n' + column);
      else if (e.sample.measured) all.push(e.sample.measured.total_ns / 1e6);
    }
    const median = (v: number[]) => v.sort((a, b) => a - b)[Math.floor(v.length / 2)];
    this.grid.replaceChildren(
      table(
        'medians of proven results, ms; wrong and failed results have no time',
        ['configuration', ...columns],
        [...ms].map(([row, cells]) => [
          row,
          ...[...columns].map(c =>
            bad.has(row + '\n' + c)
              ? h('span', { class: 'bad' }, 'wrong or failed')
              : (median(cells.get(c) ?? [])?.toFixed(2) ?? ''),
          ),
        ]),
      ),
    );
  }
}

// left is the projection of a step's remaining time, at its present rate.
function left(events: Event_[], step: Event_) {
  const first = events.find(e => e.kind === 'step' && e.text === step.text)!,
    took = Date.parse(step.time) - Date.parse(first.time),
    did = (step.done ?? 0) - (first.done ?? 0);
  if (did <= 0 || !step.of || step.done! >= step.of) return '';
  return `, about ${Math.ceil(((took / did) * (step.of - step.done!)) / 1000)} s left`;
}
