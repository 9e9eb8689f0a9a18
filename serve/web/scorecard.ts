// Scorecard: a candidate compared with a baseline. Each cell is a symbol and a link to its curve.
import { Refused, count, get, go, h, request, say, state } from './dom';
import { Home, Inventory, holdings, lacking, place } from './explore';

interface Cell {
  lead: number;
  n: number;
  value: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  untested?: string; // why p is null
  better: number;
}
interface Row {
  model?: string;
  fcst_var: string;
  fcst_lev: string;
  vx_mask: string;
  obtype?: string; // of both models or versions; none = each model is verified against its own analysis
  stat: string;
  cells: Cell[];
}

// Rows are grouped by one of these. If there are more than mostOpen rows, the groups are closed at first.
const groups: Record<string, 'vx_mask' | 'fcst_lev' | 'fcst_var'> = {
  region: 'vx_mask',
  level: 'fcst_lev',
  variable: 'fcst_var',
};
const mostOpen = 60;

// symbol shows direction and significance without color: ▲ better, ▼ worse, ◆ neither because the statistic has no
// best value. Significant symbols are filled.
function symbol(c: Cell, alpha: number): [string, string] {
  if (c.value == null || c.p == null) return ['·', `not tested: ${c.untested ?? 'no value'}`];
  if (c.value === 0) return ['=', 'no difference'];
  const sure = c.p < alpha,
    [filled, empty, word] =
      c.better > 0 ? ['▲', '△', 'better'] : c.better < 0 ? ['▼', '▽', 'worse'] : ['◆', '◇', 'different'];
  return [sure ? filled! : empty!, `${word}, ${sure ? 'significant' : 'within noise'}`];
}

// numbers describes the value of a cell, its interval and the number of cases.
function numbers(c: Cell): string {
  const interval = c.low == null || c.high == null ? '' : ` (${c.low.toPrecision(3)} … ${c.high.toPrecision(3)})`;
  return `${c.value?.toPrecision(4) ?? '—'}${interval}, n ${c.n}`;
}

// series identifies the rows that only their observations distinguish.
const series = (r: Row) => [r.model, r.fcst_var, r.fcst_lev, r.vx_mask].join('|');

export async function scorecard(main: HTMLElement, home: Home, signal: AbortSignal) {
  const q = state(),
    at = place(home, q);
  if (!at) throw lacking(home, q, '/scorecard');
  const where = { archive: at.archive, design: at.design!, subset: at.subset! },
    inventory = await get<Inventory>('inventory', where, signal);
  const valuesOf = (k: 'model' | 'version') => [...new Set((inventory.groups ?? []).map(g => g[k]))],
    by =
      q.get('by') === 'version' || (valuesOf('model').length < 2 && valuesOf('version').length > 1)
        ? 'version'
        : 'model';
  const models = valuesOf(by),
    types = [...new Set((inventory.groups ?? []).map(g => g.line_type))].filter(t =>
      home.stats.some(s => s.line_type === t),
    );
  const type = q.get('line_type') ?? types[0] ?? '',
    candidate = q.get('candidate') ?? models[0] ?? '',
    baseline = q.get('baseline') ?? models[1] ?? '',
    only = q.has('significant');
  const pick = (key: string, label: string, of: string[], now: string) =>
    h(
      'label',
      { class: 'wide' },
      label,
      h(
        'select',
        {
          id: key,
          change: (e: any) => {
            const n = state();
            n.set(key, e.target.value);
            if (key === 'by') {
              n.delete('candidate');
              n.delete('baseline');
            }
            if (key === 'line_type') n.delete('stat');
            go('/scorecard', n);
          },
        },
        ...of.map(v => h('option', { selected: v === now }, v)),
      ),
    );
  const legend = h(
      'ul',
      { class: 'keys' },
      ...[
        '▲ better, significant',
        '△ better, within noise',
        '▽ worse, within noise',
        '▼ worse, significant',
        '◆ ◇ different, without a best value',
        '= no difference',
        '· not tested: too few cases, no interval or no value',
      ].map(k => h('li', {}, k)),
    ),
    note = h('p', { id: 'note' }),
    body = h('div', { class: 'card' });
  const group = groups[q.get('group') ?? ''] ? q.get('group')! : 'region',
    stats = home.stats.filter(s => s.line_type === type).map(s => s.name),
    turned = new Set<string>(); // groups that were opened or closed by hand
  main.replaceChildren(
    h('h2', {}, 'Scorecard'),
    h(
      'div',
      { class: 'band' },
      holdings(home, q, n => go('/scorecard', n)),
      pick('line_type', 'Line type', types, type),
      valuesOf('version').length > 1 && pick('by', 'Compare', ['model', 'version'], by),
      pick('candidate', 'Candidate', models, candidate),
      pick('baseline', 'Baseline', models, baseline),
      pick('stat', 'Statistic', stats, q.get('stat') ?? ''),
      pick('group', 'Group by', Object.keys(groups), group),
      h(
        'label',
        {},
        h('input', {
          type: 'checkbox',
          id: 'significant',
          checked: only,
          change: (e: any) => {
            const n = state();
            e.target.checked ? n.set('significant', '1') : n.delete('significant');
            go('/scorecard', n);
          },
        }),
        'only significant',
      ),
    ),
    legend,
    note,
    body,
  );
  if (models.length < 2) {
    note.textContent = `This archive has one model (${models.join('')}) and one version: there is nothing to compare it with. Serve an archive that has two.`;
    return;
  }
  const asks = new URLSearchParams({ ...where, line_type: type, by, candidate, baseline });
  for (const f of ['fcst_var', 'fcst_lev', 'vx_mask', 'stat']) for (const v of q.getAll(f)) asks.append(f, v);
  const rows: Row[] = [],
    r = await request('scorecard', asks, signal).catch(e => {
      if (!(e instanceof Refused) || e.again) throw e; // show of app.ts tries again
      note.textContent = e.message;
    });
  if (!r) return;
  const chosen = document.getElementById('stat') as HTMLSelectElement;
  const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = '', painted = 0; ;) {
    const { value, done } = await reader.read();
    const parts = (rest + (value ?? '')).split('\n');
    rest = parts.pop()!;
    for (const line of parts) {
      const row = JSON.parse(line);
      if (row.error) throw new Refused(row.error, 0);
      rows.push(row);
    }
    if (done || performance.now() - painted > 250) {
      paint();
      painted = performance.now();
    }
    if (done) break;
  }
  say(`${count(rows.length)} rows`);

  function paint() {
    const cells = rows.flatMap(r => r.cells),
      known = cells.filter(c => c.p != null).sort((a, b) => a.p! - b.p!);
    let alpha = 0; // Holm: the k-th smallest p is compared with 0.05 / (all - k), k from 0
    for (let k = 0; k < known.length && known[k]!.p! < 0.05 / (known.length - k); k++) alpha = 0.05 / (known.length - k);
    const leads = [...new Set(cells.map(c => c.lead))].sort((a, b) => a - b);
    note.textContent = `${candidate} minus ${baseline}, matched cases, paired bootstrap; ${count(known.length)} cells tested, 5 % over all of them together by Holm's correction (a single cell then needs p < ${alpha ? alpha.toPrecision(2) : (0.05 / Math.max(known.length, 1)).toPrecision(2)}); ${count(known.filter(c => c.p! < alpha).length)} are significant. Columns are leads in h.`;
    if (rows[0]) chosen.value = rows[0].stat; // the server chose it, if the URL names none
    const field = groups[group]!,
      others = Object.entries(groups).filter(([name]) => name !== group),
      parts = new Map<string, Row[]>();
    for (const r of rows) (parts.get(r[field]) ?? parts.set(r[field], []).get(r[field])!).push(r);
    body.replaceChildren(
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'scorecard' },
        h(
          'table',
          {},
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ...others.map(([name]) => h('th', { scope: 'col' }, name)),
              ...leads.map(l => h('th', { scope: 'col', 'aria-label': `${l} h` }, l)),
            ),
          ),
          ...[...parts].map(([name, of]) =>
            part(
              name,
              of,
              others.map(([, f]) => f),
              leads,
              alpha,
            ),
          ),
        ),
      ),
    );
  }

  // part is a group of rows below a line that counts its significant cells; the line opens and closes it.
  function part(name: string, of: Row[], columns: (keyof Row)[], leads: number[], alpha: number) {
    const counts = { better: 0, worse: 0, tested: 0 },
      open = rows.length <= mostOpen !== turned.has(name),
      namesObservations = new Set(rows.map(series)).size < rows.length;
    for (const r of of)
      for (const c of r.cells) {
        const words = symbol(c, alpha)[1];
        if (c.p != null) counts.tested++;
        if (words === 'better, significant') counts.better++;
        if (words === 'worse, significant') counts.worse++;
      }
    const head = h(
      'tr',
      {},
      h(
        'th',
        { class: 'group', scope: 'rowgroup', colspan: columns.length + leads.length },
        h(
          'button',
          {
            type: 'button',
            'aria-expanded': String(open),
            'data-group': name,
            click: () => {
              turned.has(name) ? turned.delete(name) : turned.add(name);
              paint();
              [...body.querySelectorAll<HTMLElement>('.group button')].find(b => b.dataset['group'] === name)?.focus();
            },
          },
          `${open ? '▾' : '▸'} ${name || '(none)'}`,
        ),
        ` ${of[0]!.stat}: `,
        h('span', { class: counts.better && 'good' }, `${count(counts.better)} better`),
        ', ',
        h('span', { class: counts.worse && 'bad' }, `${count(counts.worse)} worse`),
        ` of ${count(counts.tested)} cells`,
      ),
    );
    return h(
      'tbody',
      {},
      head,
      ...(open ? of : []).map(r =>
        h(
          'tr',
          {},
          ...columns.map(f =>
            h(
              'td',
              {},
              (f === 'fcst_var' && r.model ? r.model + ' ' : '') +
                String(r[f] ?? '') +
                (f === columns[0] && namesObservations ? ` (${r.obtype ?? 'own analysis'})` : ''),
            ),
          ),
          ...leads.map(l => {
            const c = r.cells.find(c => c.lead === l);
            if (!c || (only && !(c.p != null && c.p < alpha))) return h('td', {});
            const [sign, words] = symbol(c, alpha),
              link = new URLSearchParams([
                ...Object.entries(where),
                ['line_type', type],
                ['stat', r.stat],
                ...(r.model ? [['model', r.model]] : []),
                [by, candidate],
                [by, baseline],
                ['fcst_var', r.fcst_var],
                ['fcst_lev', r.fcst_lev],
                ['vx_mask', r.vx_mask],
                ...(r.obtype ? [['obtype', r.obtype]] : []),
                ['axis', 'fcst_lead'],
                ['series', by],
                ['minus', baseline],
              ]);
            return h(
              'td',
              {},
              h(
                'a',
                {
                  href: '/explore?' + link,
                  class:
                    words.includes('significant') &&
                    (words.startsWith('better') ? 'good' : words.startsWith('worse') && 'bad'),
                  title: `${words}: ${numbers(c)}`,
                  'aria-label': `${r.fcst_var} ${r.fcst_lev} ${r.vx_mask} at ${l} h: ${words}`,
                },
                sign,
              ),
            );
          }),
        ),
      ),
    );
  }
}
