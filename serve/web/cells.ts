// Cells: the results of runs, ranked. Values that the user switched off do not count, and wrong results have no time.
import { get, go, h, several, state, table } from './dom';

interface Cell {
  engine: string;
  axes: Record<string, string>;
  phase?: string;
  quantity: string;
  unit: string;
  more_is_better?: boolean;
  client_overhead?: boolean;
  state: string;
  problem?: string;
  median: { value: number | null };
}
interface Placed extends Cell {
  at: Record<string, string>;
  configuration: string;
  column: string;
}

const columns = ['case', 'mix', 'method', 'query']; // the axes that name a question
const most = 12; // a toggle with more values is closed at first

// ranked shows the cells of runs, which are named folder/name. The URL contains the values that are switched off.
export async function ranked(runs: string[], names: string[], signal: AbortSignal) {
  const all = await get<(Cell[] | null)[]>('cells', new URLSearchParams(runs.map(r => ['run', r])), signal);
  const first = all.flatMap(cells => cells ?? [])[0],
    body = h('div', { id: 'ranking' }),
    toggles = h('div', { class: 'band' });
  if (!first) return h('p', {}, 'Nothing was measured in this run yet.');
  const cells: Placed[] = all.flatMap((cells, i) =>
    (cells ?? [])
      .filter(c => c.quantity === first.quantity && !c.client_overhead)
      .map(c => {
        const at: Record<string, string> = {
          ...(runs.length > 1 && { run: names[i]! }),
          engine: c.engine,
          ...c.axes,
          phase: c.phase ?? 'warm',
        };
        const of = (pick: (k: string) => boolean) =>
            Object.entries(at)
              .filter(([k]) => pick(k))
              .map(([, v]) => v)
              .join(' · '),
          asked = (k: string) => columns.includes(k) || k === 'phase';
        return { ...c, at, configuration: of(k => !asked(k)), column: of(asked) };
      }),
  );
  const values = new Map<string, Set<string>>();
  for (const c of cells)
    for (const [k, v] of Object.entries(c.at)) (values.get(k) ?? values.set(k, new Set()).get(k)!).add(v);
  toggles.append(
    ...[...values]
      .filter(([, vs]) => vs.size > 1)
      .map(([axis, vs]) =>
        h(
          'fieldset',
          { 'data-axis': axis },
          h('legend', {}, axis),
          h(
            'details',
            { open: vs.size <= most },
            h('summary', {}, several(vs.size, 'value')),
            ...[...vs].map(v =>
              h(
                'label',
                {},
                h('input', {
                  type: 'checkbox',
                  id: `on-${axis}-${v}`,
                  checked: !state().getAll('off').includes(`${axis}:${v}`),
                  change: (e: any) => {
                    const q = state(),
                      off = q
                        .getAll('off')
                        .filter(o => o !== `${axis}:${v}`)
                        .concat(e.target.checked ? [] : [`${axis}:${v}`]);
                    q.delete('off');
                    for (const o of off) q.append('off', o);
                    go('/runs', q, true);
                    rank(new Set(off));
                  },
                }),
                v,
              ),
            ),
          ),
        ),
      ),
  );
  rank(new Set(state().getAll('off')));
  return h(
    'section',
    { 'aria-label': 'cells' },
    h('h3', {}, `Cells of ${names.join(', ')}`),
    toggles.children.length > 0 && toggles,
    h(
      'p',
      {},
      'Mean: the geometric mean of the ratios of the cells to the best one of their columns. Wrong and failed cells have no time: they are left out and counted, and their configurations come last.',
    ),
    body,
  );

  function rank(off: Set<string>) {
    const on = cells.filter(c => !Object.entries(c.at).some(([k, v]) => off.has(`${k}:${v}`))),
      more = first!.more_is_better;
    const asked = [...new Set(on.map(c => c.column))],
      best = new Map<string, number>(),
      by = new Map<string, Map<string, Placed>>();
    for (const c of on) {
      (by.get(c.configuration) ?? by.set(c.configuration, new Map()).get(c.configuration)!).set(c.column, c);
      const v = c.median.value,
        b = best.get(c.column);
      if (c.state === 'right' && v != null && (b == null || (more ? v > b : v < b))) best.set(c.column, v);
    }
    const configurations = [...by]
      .map(([configuration, has]) => {
        const right = asked
          .map(a => has.get(a))
          .filter(c => c?.state === 'right' && c.median.value != null) as Placed[];
        const logs = right.map(c => Math.log(c.median.value! / best.get(c.column)!) * (more ? -1 : 1));
        const bad = (state: string) => [...has.values()].filter(c => c.state === state).length;
        const out = [
          bad('wrong') && `${bad('wrong')} WRONG`,
          bad('failed') && `${bad('failed')} failed`,
          bad('not timed') && `${bad('not timed')} not timed`,
          asked.length - has.size && `${asked.length - has.size} not queried`,
        ]
          .filter(Boolean)
          .join(', ');
        return {
          configuration,
          has,
          out,
          bad: bad('wrong') + bad('failed'),
          wrong: bad('wrong'),
          n: right.length,
          mean: logs.length ? Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length) : Infinity,
        };
      })
      .sort((a, b) => a.wrong - b.wrong || a.bad - b.bad || a.mean - b.mean);
    body.replaceChildren(
      table(
        `median ${first!.quantity}, ${first!.unit}: ${more ? 'more' : 'less'} is better`,
        ['configuration', 'mean', 'cells', 'left out', ...asked],
        configurations.map(w => [
          w.configuration,
          isFinite(w.mean) ? `${w.mean.toFixed(2)}` : '–',
          w.n,
          w.out ? h('span', { class: w.bad && 'bad' }, w.out) : 'none',
          ...asked.map(a => {
            const c = w.has.get(a);
            return !c
              ? ''
              : c.state === 'right'
                ? c.median.value?.toPrecision(3)
                : h('span', { class: 'bad', title: c.problem }, c.state);
          }),
        ]),
      ),
    );
  }
}
