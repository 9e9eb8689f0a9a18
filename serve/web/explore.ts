// Explore: selectors from the inventory, a curve, and its query.
import { Chart, Curves, axisLabel, dash, hue, isTime } from './plot';
import { Refused, count, get, go, h, request, say, several, short, state, table, utc } from './dom';

export interface Holding {
  archive: string;
  engine: string;
  design?: string;
  subset?: string;
  records: number;
  digest?: string;
  problem?: string;
  rank?: number;
}
export interface Home {
  version: string;
  archives: Holding[];
  folders: string[] | null;
  cases: { name: string; title: string; line_type: string }[];
  stats: { name: string; line_type: string; summary: string }[];
  pictures: Record<string, string[] | null>;
}
interface Group {
  line_type: string;
  version: string;
  model: string;
  obtype: string;
  fcst_var: string;
  vx_mask: string[];
  fcst_lev: string[];
  fcst_thresh: string[] | null;
  fcst_lead: number[];
}
interface Type {
  line_type: string;
  records: number;
  fcst_lead: number[];
  fcst_valid_beg: string;
}
export interface Inventory {
  data: string;
  digest: string;
  line_types: Type[] | null;
  groups: Group[] | null;
}
interface Drawn {
  curves?: Curves;
  rows: number;
  question: Record<string, string[]>;
  absent?: string;
  data: string;
  stamp: string;
  ms: { open: number; derive: number; server: number; ask: number; curve: number; recalled: boolean };
  shown: number;
  points: number;
}

interface Access {
  object: string;
  method: string;
  index?: string;
  examined: number;
  kept: number;
  counted: boolean;
} // −1 = not reported
interface Query {
  text: string;
  args?: string[];
  keys?: string[];
  all_keys?: number;
  plan: string;
  access: Access[] | null;
  engine: string;
  design: string;
  flavour: string;
  flavours: string[];
  seed: number;
}
interface Alternative {
  archive: string;
  engine: string;
  design: string;
  flavour: string;
  ms: number;
  rows: number;
  problem?: string;
}

const fields = ['model', 'fcst_var', 'fcst_lev', 'vx_mask', 'obtype', 'fcst_thresh', 'version'] as const;
type Field = (typeof fields)[number];
const names: Record<Field, string> = {
  model: 'Model',
  fcst_var: 'Variable',
  fcst_lev: 'Level',
  vx_mask: 'Region',
  obtype: 'Observations',
  fcst_thresh: 'Threshold',
  version: 'Version',
};
const axes = ['fcst_lead', 'fcst_valid_beg', 'fcst_init_beg', 'valid_hour', 'init_hour', 'fcst_lev', 'fcst_thresh'];
const ofPage = ['hide', 'from', 'to', 'tab']; // the parameters of the URL that belong to the page, not to the question
const where = ['archive', 'design', 'subset', 'flavour']; // the parameters that name the archive and the configuration

// values are those of a field that a group has.
const values = (g: Group, f: Field): string[] => {
  const v = g[f];
  return Array.isArray(v) ? v : v ? [v] : [];
};

// asked is the part of the URL that the server answers.
export function asked(q: URLSearchParams) {
  const out = new URLSearchParams(q);
  for (const key of ofPage) out.delete(key);
  return out;
}

// times reads 1704067200+21600*4, see design.Moments.
export function times(text: string): number[] {
  return text
    .split(' ')
    .filter(Boolean)
    .flatMap(run => {
      const m = /^(-?\d+)(?:\+(\d+)\*(\d+))?$/.exec(run)!;
      return Array.from({ length: Number(m[3] ?? 1) }, (_, i) => Number(m[1]) + i * Number(m[2] ?? 0));
    });
}

// place chooses an archive that can be queried: one that fits the URL, the best one of the newest report first.
export function place(home: Home, q: URLSearchParams): Holding | undefined {
  const fits = (a: Holding) =>
    !a.problem && where.slice(0, 3).every(k => !q.get(k) || q.get(k) === a[k as keyof Holding]);
  const best = home.archives.filter(a => a.rank && fits(a)).sort((a, b) => a.rank! - b.rank!)[0]; // in the order of the newest report
  return (
    best ??
    home.archives.find(fits) ??
    home.archives.find(a => !a.problem && (!q.get('archive') || q.get('archive') === a.archive))
  ); // never another archive than the URL's
}

// holdings is the selector of archives, of every view that has one.
export function holdings(home: Home, q: URLSearchParams, chosen: (q: URLSearchParams) => void) {
  const now = place(home, q),
    usable = home.archives.filter(a => !a.problem);
  return h(
    'label',
    { class: 'wide' },
    'Archive',
    h(
      'select',
      {
        id: 'archive',
        change: (e: any) => {
          const a = usable[e.target.selectedIndex]!,
            next = new URLSearchParams(q);
          next.delete('flavour');
          for (const k of where.slice(0, 3)) next.set(k, String(a[k as keyof Holding]));
          chosen(next);
        },
      },
      !now && h('option', { disabled: true, selected: true }, '(choose one)'),
      ...usable.map(a =>
        h(
          'option',
          { selected: a === now },
          `${a.archive} · ${a.engine} ${a.design} · ${a.subset} · ${several(a.records, 'record')}${a.rank === 1 ? ' · recommended' : ''}`,
        ),
      ),
    ),
  );
}

// lacking is the error of a URL whose archive cannot be queried, with a selector of the other archives.
export function lacking(home: Home, q: URLSearchParams, view: string) {
  const asked = q.get('archive'),
    usable = home.archives.some(a => !a.problem),
    known = home.archives.filter(a => a.problem && (!asked || a.archive === asked));
  const why =
    known.map(a => `${a.archive}: ${a.problem}`).join('; ') ||
    (asked
      ? `${asked} is not served here.`
      : 'No archive is served: name one, or a run folder that contains some: barograph serve archive.duckdb');
  return new Refused(
    why,
    known.length ? 2 : 0,
    usable
      ? holdings(home, q, n => go(view, new URLSearchParams(where.slice(0, 3).map(k => [k, n.get(k)!]))))
      : undefined,
  );
}

export class Explore {
  private abort = new AbortController();
  private timer?: number;
  private printing = new AbortController();
  private chart?: Chart | undefined;
  private inventory!: Inventory;
  private known = ''; // contents of the archive when the inventory was read
  private drawn?: Drawn;
  private form = h('form', { class: 'choices', 'aria-label': 'question', submit: (e: Event) => e.preventDefault() });
  private asks = h('p', { class: 'asks' });
  private plot = h('div', {
    id: 'plot',
    class: 'plot',
    tabindex: 0,
    role: 'group',
    'aria-label': 'the curves; arrow keys read their points',
  });
  private read = h('p', { class: 'read', id: 'read', 'aria-live': 'polite' });
  private legend = h('ul', { class: 'legend', 'aria-label': 'curves' });
  private below = h('section', { class: 'below', 'aria-label': 'more of this answer' });
  private foot = h('p', { class: 'foot', id: 'foot' });

  constructor(
    private main: HTMLElement,
    private home: Home,
  ) {
    for (const [event, on] of [
      ['beforeprint', true],
      ['afterprint', false],
    ] as const)
      // black on white, as wide as the paper
      addEventListener(
        event,
        () => {
          document.documentElement.classList.toggle('printing', on);
          if (this.drawn) this.paint(state(), this.drawn);
        },
        { signal: this.printing.signal },
      );
  }

  close() {
    this.printing.abort();
    clearInterval(this.timer);
    this.abort.abort();
    this.chart?.destroy();
  }

  // look asks the question again when the archive has changed, so the page shows no outdated answer.
  private async look() {
    const q = state(),
      asks = new URLSearchParams(where.slice(0, 3).flatMap(k => (q.has(k) ? [[k, q.get(k)!]] : [])));
    if (document.hidden || !this.drawn || this.main.hasAttribute('aria-busy')) return;
    const now = await get<{ stamp: string }>('state', asks).catch(() => undefined);
    if (now && now.stamp !== this.drawn.stamp && String(q) === String(state())) {
      this.drawn.stamp = now.stamp;
      await this.answer(q);
    }
  }

  async show() {
    let q = state();
    const at = place(this.home, q);
    if (!at) throw lacking(this.home, q, '/explore');
    for (const k of where.slice(0, 3)) q.set(k, String(at[k as keyof Holding]));
    this.main.replaceChildren(
      h(
        'div',
        { class: 'explore' },
        h('details', { class: 'sheet', open: innerWidth > 700 }, h('summary', {}, 'Question'), this.form),
        h('div', { class: 'answer' }, this.asks, this.plot, this.read, this.legend, this.below, this.foot),
      ),
    );
    this.inventory = await get<Inventory>(
      'inventory',
      { archive: q.get('archive')!, design: q.get('design')!, subset: q.get('subset')! },
      this.abort.signal,
    );
    if (!q.get('line_type') && !q.get('case')) q = this.first(q);
    go('/explore', q, true); // later questions take archive, design and subset from the URL
    this.timer = setInterval(() => void this.look(), 2000);
    await this.answer(q);
  }

  // first is the question of a first visit.
  private first(q: URLSearchParams) {
    const known = new Set(this.home.stats.map(s => s.line_type)),
      types = this.inventory.line_types ?? [];
    const t = types.find(t => t.line_type === 'SAL1L2') ?? types.find(t => known.has(t.line_type)) ?? types[0];
    if (!t) return q;
    const out = new URLSearchParams([
      ...where.slice(0, 3).map(k => [k, q.get(k)!] as [string, string]),
      ['line_type', t.line_type],
    ]);
    const g = (this.inventory.groups ?? [])
      .filter(g => g.line_type === t.line_type)
      .sort((a, b) => b.fcst_lead.length - a.fcst_lead.length)[0]!;
    for (const f of fields) {
      const all = values(g, f);
      if (all.length)
        out.append(
          f,
          (f === 'fcst_lev' && all.find(v => v === 'P500')) ||
            (f === 'vx_mask' && all.find(v => v === 'G2/NHX')) ||
            all[0]!,
        );
    }
    if (!this.needed(out)) out.set('axis', g.fcst_lead.length > 1 ? 'fcst_lead' : 'fcst_valid_beg');
    out.set('series', 'model,vx_mask,fcst_lev');
    return out;
  }

  // needed selects a picture for a line type without statistics: the first one that shows it completely. It returns
  // false if there is none, or if the line type has statistics.
  private needed(q: URLSearchParams) {
    const type = q.get('line_type')!,
      picture = this.home.stats.some(s => s.line_type === type)
        ? undefined
        : Object.entries(this.home.pictures).find(([, of]) => of?.includes(type))?.[0];
    if (picture) q.set('picture', picture);
    return !!picture;
  }

  // open returns '' if a value can be chosen together with the choices above it, otherwise the reason. It ignores the
  // choices below, because these follow the value.
  private open(q: URLSearchParams, f: Field, v: string): string {
    const above = fields.slice(0, fields.indexOf(f));
    const groups = (this.inventory.groups ?? []).filter(
      g => g.line_type === q.get('line_type') && values(g, f).includes(v),
    );
    for (const o of above) {
      if (!q.getAll(o).length) continue;
      if (!groups.some(g => q.getAll(o).some(c => values(g, o).includes(c)))) return `no ${q.getAll(o).join(', ')}`;
    }
    const together = groups.some(g =>
      above.every(o => !q.getAll(o).length || q.getAll(o).some(c => values(g, o).includes(c))),
    );
    return together ? '' : 'not with the other choices together';
  }

  // change asks another question. It removes choices that are no longer available, and names them.
  private change(edit: (q: URLSearchParams) => void, kept?: Field) {
    const q = this.question();
    edit(q);
    const removed: string[] = [];
    for (const f of fields) {
      if (f === kept || !q.getAll(f).length) continue;
      const lost = q.getAll(f).filter(v => this.open(q, f, v));
      if (!lost.length) continue;
      const stay = q.getAll(f).filter(v => !lost.includes(v)),
        near = this.every(q, f).filter(v => !this.open(q, f, v));
      q.delete(f);
      for (const v of stay.length ? stay : near.slice(0, 1)) q.append(f, v);
      removed.push(...lost.map(v => `${names[f]} ${v}`));
    }
    for (const k of ['hide', 'from', 'to']) q.delete(k);
    const focused = document.activeElement?.id;
    history.pushState(null, '', '/explore?' + q);
    say(removed.length ? `No longer available and left out: ${removed.join(', ')}` : '');
    void this.answer(q).then(() => focused && document.getElementById(focused)?.focus());
  }

  // question is the question of the URL. It contains the conditions of a case instead of its name, and the variables
  // that match a pattern instead of the pattern.
  private question() {
    const q = state();
    if (!this.drawn) return q;
    if (!q.get('case')) {
      if (!q.getAll('fcst_var').some(v => v.startsWith('PROB(') && v.includes('*'))) return q;
      q.delete('fcst_var');
      for (const v of this.drawn.question.fcst_var ?? []) q.append('fcst_var', v);
      return q;
    }
    const out = new URLSearchParams();
    for (const k of where) if (q.get(k)) out.set(k, q.get(k)!);
    for (const [k, vs] of Object.entries(this.drawn.question))
      for (const v of vs) if (!['name', 'title', 'subset'].includes(k)) out.append(k, v);
    this.along(out);
    return out;
  }

  private every(q: URLSearchParams, f: Field) {
    return [
      ...new Set(
        (this.inventory.groups ?? []).filter(g => g.line_type === q.get('line_type')).flatMap(g => values(g, f)),
      ),
    ].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  private async answer(q: URLSearchParams) {
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    if (!q.get('case')) this.fill(q); // the choices do not depend on the answer
    this.main.setAttribute('aria-busy', 'true');
    try {
      const query = asked(q);
      const picture = q.get('picture');
      if (picture) query.set('intervals', '1'); // the server draws it with its intervals
      const first = await get<Drawn>('curve', query, signal);
      this.paint(q, first);
      this.fill(this.question());
      if (first.curves && !picture) {
        // first the values, then their intervals
        query.set('intervals', '1');
        const complete = await get<Drawn>('curve', query, signal);
        this.paint(q, { ...complete, ms: { ...first.ms, curve: complete.ms.curve } });
      }
    } catch (e) {
      if (signal.aborted) return;
      this.chart?.destroy();
      this.chart = undefined;
      for (const old of [this.asks, this.read, this.legend, this.below, this.foot]) old.replaceChildren(); // of the previous answer
      this.plot.replaceChildren(h('p', { class: 'none', id: 'none' }, (e as Error).message));
      const again = e instanceof Refused ? e.again : 0;
      if (again) {
        say(`next try in ${again} s`);
        setTimeout(() => signal.aborted || void this.answer(q), again * 1000);
      }
      if (!this.form.children.length) this.fill(q);
    } finally {
      if (!signal.aborted) this.main.removeAttribute('aria-busy');
    }
  }

  private paint(q: URLSearchParams, d: Drawn) {
    const news = this.known && this.known !== d.data;
    this.known = d.data;
    this.drawn = d;
    this.chart?.destroy();
    this.chart = undefined;
    this.plot.replaceChildren();
    this.legend.replaceChildren();
    const c = d.curves,
      picture = c?.picture && c.series?.length ? c.picture : '',
      at = (axis: string, x: number) => (isTime(axis) ? utc(x) : axis === 'fcst_lead' ? `${x} h` : String(x));
    this.read.hidden = !!picture;
    this.asks.textContent =
      c && picture
        ? `${named(picture)}: ${c.title}`
        : c
          ? `${c.stat}${c.minus ? ` minus that of ${c.minus},` : ''} along the ${axisLabel(c.axis)}: ${c.title}`
          : sentence(q);
    const foot = () =>
      [
        several(d.rows, 'row'),
        d.ms.recalled
          ? 'rows recalled'
          : `queried in ${d.ms.ask} ms (engine ${d.ms.server || 'not reported'}, keys ${d.ms.derive})`,
        `opened in ${d.ms.open} ms`,
        `curve ${d.ms.curve} ms`,
        c?.note ?? '',
        d.shown < d.points
          ? `shown ${count(d.shown)} of ${several(d.points, 'point')}: of each stretch the lowest and the highest`
          : '',
        `data ${this.inventory.digest}`,
      ]
        .filter(Boolean)
        .join(' · ');
    this.foot.textContent = foot();
    if (news) {
      say('New data: the archive was loaded again since.');
      void this.reload(q).then(() => this.foot.replaceChildren(foot()));
    }
    if (!c?.series?.length) {
      this.plot.append(
        h(
          'p',
          { class: 'none', id: 'none' },
          d.absent ? `No record: ${d.absent}` : 'No curve: no cases are common to all curves.',
        ),
      );
      this.tabs(q);
      return;
    }
    if (picture) {
      // the file that Download offers; its address changes with the data
      this.plot.append(
        h('img', {
          src: `/api/v1/curve.svg?${asked(q)}#${d.data}`,
          alt: `${named(picture)} of ${c.title}; the table has its numbers`,
        }),
      );
      this.tabs(q);
      return;
    }
    const hidden = q.getAll('hide'),
      keep = (edit: (q: URLSearchParams) => void) => {
        const now = state();
        edit(now);
        go('/explore', now, true);
      };
    this.chart = new Chart(this.plot, c, {
      hidden,
      at,
      zoom: q.get('from') ? [Number(q.get('from')), Number(q.get('to'))] : null,
      read: t => {
        this.read.textContent = t;
      },
      zoomed: range =>
        keep(now => {
          now.delete('from');
          now.delete('to');
          if (range) {
            now.set('from', String(range[0]));
            now.set('to', String(range[1]));
          }
        }),
    });
    this.legend.replaceChildren(
      ...c.series.map((s, i) =>
        h(
          'li',
          {},
          h(
            'label',
            {},
            h('input', {
              type: 'checkbox',
              checked: !hidden.includes(s.name),
              change: (e: any) => {
                keep(now => {
                  const off = now.getAll('hide').filter(n => n !== s.name);
                  now.delete('hide');
                  for (const n of off) now.append('hide', n);
                  if (!e.target.checked) now.append('hide', s.name);
                });
                this.paint(state(), this.drawn!);
              },
            }),
            swatch(i),
            s.name,
          ),
          c.series!.length > 1 &&
            h(
              'button',
              {
                type: 'button',
                click: () =>
                  this.change(n => {
                    this.drawing(n);
                    n.set('minus', s.name);
                  }),
              },
              `others minus ${s.name}`,
            ),
        ),
      ),
    );
    if (c.minus)
      this.legend.append(
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', click: () => this.change(n => n.delete('minus')) },
            'show the curves themselves',
          ),
        ),
      );
    this.tabs(q);
  }

  private async reload(q: URLSearchParams) {
    this.inventory = await get<Inventory>('inventory', {
      archive: q.get('archive')!,
      design: q.get('design')!,
      subset: q.get('subset')!,
    });
    this.fill(this.question());
  }

  // along writes the axis of the answer into a question that has none, unless it is the axis of a picture.
  private along(q: URLSearchParams) {
    const axis = this.drawn?.curves?.axis;
    if (axis && axes.includes(axis) && !q.get('axis')) q.set('axis', axis);
  }

  // drawing writes the axis and the curves of the answer into a question.
  private drawing(q: URLSearchParams) {
    this.along(q);
    if (!q.get('series')) q.set('series', 'model,vx_mask');
  }

  private fill(q: URLSearchParams) {
    const select = (id: string, label: string, options: [string, string][], now: string, set: (v: string) => void) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { id, change: (e: any) => set(e.target.value) },
          ...options.map(([v, text]) => h('option', { value: v, selected: v === now }, text)),
        ),
      );
    const put = (key: string) => (v: string) =>
      this.change(n => {
        if (key !== 'stat' && key !== 'line_type') this.drawing(n);
        v ? n.set(key, v) : n.delete(key);
      });
    const text = (id: string, label: string, example: string) =>
      h(
        'label',
        {},
        label,
        h('input', {
          id,
          value: q.get(id) ?? '',
          placeholder: example,
          change: (e: any) => this.change(n => (e.target.value ? n.set(id, e.target.value) : n.delete(id))),
        }),
      );
    const type = (this.inventory.line_types ?? []).find(t => t.line_type === q.get('line_type')),
      moments = times(type?.fcst_valid_beg ?? '');
    const equal = q.get('equal_places') ? 'all' : q.get('event_equal') ? 'places' : '';
    const parts = (q.get('series') ?? '').split(',').filter(Boolean);
    this.form.replaceChildren(
      holdings(this.home, q, n => {
        go('/explore', n);
      }),
      select(
        'case',
        'Case',
        [
          ['', '(a question of your own)'],
          ...this.home.cases.map(c => [c.name, `${c.name}: ${c.title}`] as [string, string]),
        ],
        state().get('case') ?? '',
        v => {
          const n = new URLSearchParams([
            ...where.map(k => [k, q.get(k) ?? ''] as [string, string]).filter(([, x]) => x),
            ...(v ? [['case', v] as [string, string]] : []),
          ]);
          go('/explore', n);
        },
      ),
      select(
        'line_type',
        'Line type',
        (this.inventory.line_types ?? []).map(t => [t.line_type, `${t.line_type} (${count(t.records)})`]),
        q.get('line_type') ?? '',
        v =>
          this.change(n => {
            n.set('line_type', v);
            n.delete('stat');
            n.delete('picture');
            this.needed(n);
          }),
      ),
      this.home.pictures[q.get('picture') ?? '']
        ? ''
        : select(
            'stat',
            'Statistic',
            [
              ['', `usual: ${this.drawn?.curves?.stat ?? ''}`],
              ...this.home.stats
                .filter(s => s.line_type === q.get('line_type'))
                .map(s => [s.name, `${s.name}: ${s.summary}`] as [string, string]),
            ],
            q.get('stat') ?? '',
            put('stat'),
          ),
      select(
        'picture',
        'Picture',
        [
          ['', 'curves'],
          ...Object.entries(this.home.pictures)
            .filter(([p, of]) => p !== 'scorecard' && (of?.includes(q.get('line_type')!) ?? true))
            .map(([p]) => [p, named(p)] as [string, string]),
        ],
        q.get('picture') ?? '',
        v =>
          this.change(n => {
            this.drawing(n);
            n.delete('minus');
            if (this.home.pictures[v]) n.delete('stat'); // the picture shows the complete line type
            v ? n.set('picture', v) : n.delete('picture');
            if (v === 'revision') n.set('axis', 'fcst_valid_beg');
          }),
      ),
      ...fields.map(f => this.choice(q, f) ?? ''),
      text('fcst_lead', 'Leads (h)', type ? span(type.fcst_lead.map(s => s / 3600)) : '0-240/6'),
      text(
        'fcst_valid_beg',
        'Valid (UTC)',
        moments.length
          ? `${utc(moments[0]!).slice(0, 10)}..${utc(moments[moments.length - 1]!).slice(0, 10)}`
          : '2019-01-01..2019-01-31/6h',
      ),
      text('valid_hour', 'Hours of the day', '0,6,12,18'),
      select(
        'axis',
        'Along',
        [['', 'as the answer suggests'], ...axes.map(a => [a, axisLabel(a)] as [string, string])],
        q.get('axis') ?? '',
        put('axis'),
      ),
      h(
        'fieldset',
        {},
        h('legend', {}, 'A curve for each'),
        ...['model', 'vx_mask', 'fcst_lev', 'fcst_var', 'fcst_lead', 'valid_hour', 'version', 'fcst_thresh'].map(f =>
          h(
            'label',
            {},
            h('input', {
              id: 'series-' + f,
              type: 'checkbox',
              checked: parts.includes(f),
              change: (e: any) =>
                this.change(n => {
                  this.drawing(n);
                  const now = n
                    .get('series')!
                    .split(',')
                    .filter(p => p && p !== f)
                    .concat(e.target.checked ? [f] : []);
                  now.length ? n.set('series', now.join(',')) : n.delete('series');
                }),
            }),
            names[f as Field] ?? axisLabel(f),
          ),
        ),
      ),
      select(
        'equal',
        'Equal cases',
        [
          ['', 'off: each curve has its own'],
          ['places', 'at each place of the axis'],
          ['all', 'the same at all places'],
        ],
        equal,
        v =>
          this.change(n => {
            this.drawing(n);
            n.delete('event_equal');
            n.delete('equal_places');
            if (v) n.set('event_equal', 'true');
            if (v === 'all') n.set('equal_places', 'true');
          }),
      ),
    );
  }

  private choice(q: URLSearchParams, f: Field): HTMLElement | null {
    const all = this.every(q, f),
      chosen = q.getAll(f);
    if (all.length < 2 && !chosen.length) return null;
    const set = (vs: string[]) =>
      this.change(n => {
        n.delete(f);
        for (const v of vs) n.append(f, v);
      }, f);
    return h(
      'fieldset',
      {},
      h(
        'legend',
        {},
        `${names[f]} (${chosen.filter(v => all.includes(v)).length || 'all'} of ${all.length}) `,
        chosen.length > 0 &&
          h(
            'button',
            { type: 'button', id: 'all-' + f, click: () => set([]), 'aria-label': `all of ${names[f]}` },
            'all',
          ),
        chosen.length !== 1 &&
          h(
            'button',
            {
              type: 'button',
              id: 'one-' + f,
              click: () => set((chosen.length ? chosen : all).slice(0, 1)),
              'aria-label': `one of ${names[f]}`,
            },
            'one',
          ),
      ),
      h(
        'div',
        { class: 'values' },
        ...all.map(v => {
          const why = chosen.includes(v) ? '' : this.open(q, f, v);
          return h(
            'label',
            { class: why && 'shut', title: why },
            h('input', {
              id: `${f}-${v}`,
              type: 'checkbox',
              checked: chosen.includes(v),
              disabled: !!why,
              change: (e: any) => set(e.target.checked ? [...chosen, v] : chosen.filter(c => c !== v)),
            }),
            v,
            why && h('small', {}, ` (${why})`),
          );
        }),
      ),
    );
  }

  private tabs(q: URLSearchParams) {
    const now = q.get('tab') ?? 'table',
      c = this.drawn?.curves,
      body = h('div', { class: 'tab' });
    const show: Record<string, [string, () => void | Promise<void>]> = {
      table: ['Table', () => body.append(c?.series?.length ? points(c) : h('p', {}, 'Nothing to show.'))],
      asked: [
        'Query',
        async () => {
          body.append(await how(q));
        },
      ],
      faster: [
        'Faster?',
        async () => {
          body.append(await faster(q));
        },
      ],
      download: ['Download', () => body.append(...files(q))],
    };
    this.below.replaceChildren(
      h(
        'div',
        { class: 'tabs' },
        ...Object.entries(show).map(([key, [title]]) =>
          h(
            'button',
            {
              type: 'button',
              id: 'tab-' + key,
              'aria-pressed': String(key === now),
              click: () => {
                const n = state();
                n.set('tab', key);
                go('/explore', n, true);
                this.tabs(n);
                document.getElementById('tab-' + key)?.focus();
              },
            },
            title,
          ),
        ),
      ),
      body,
    );
    Promise.resolve(show[now]?.[1]()).catch(e => body.replaceChildren(h('p', { class: 'none' }, e.message)));
  }
}

const named = (picture: string) =>
  ({
    roc: 'ROC',
    reliability: 'reliability and sharpness',
    performance: 'performance diagram',
    taylor: 'Taylor diagram',
    rank_histogram: 'rank histogram',
    eclv: 'economic value',
    spread_skill: 'spread and skill',
  })[picture] ?? picture;

const sentence = (q: URLSearchParams) =>
  q.get('case') ??
  [q.get('stat'), q.get('line_type'), ...fields.map(f => q.getAll(f).join(', '))].filter(Boolean).join(' · ');

// span abbreviates numbers with a constant step: 0-240/6. Of other numbers it writes the first and the last.
const span = (v: number[]) =>
  v.length < 3
    ? v.join(',')
    : v.every((x, i) => !i || x - v[i - 1]! === v[1]! - v[0]!)
      ? `${v[0]}-${v[v.length - 1]}/${v[1]! - v[0]!}`
      : `${v[0]},…,${v[v.length - 1]}`;

function swatch(i: number) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'),
    line = document.createElementNS(svg.namespaceURI, 'line');
  for (const [k, v] of Object.entries({ width: 28, height: 10, 'aria-hidden': 'true' })) svg.setAttribute(k, String(v));
  for (const [k, v] of Object.entries({
    x1: 0,
    x2: 28,
    y1: 5,
    y2: 5,
    stroke: hue(i),
    'stroke-width': 3,
    'stroke-dasharray': dash(i).join(' '),
  }))
    line.setAttribute(k, String(v));
  svg.append(line);
  return svg;
}

const mostRows = 1000;

function points(c: Curves) {
  const n = c.series!.reduce((sum, s) => sum + s.x.length, 0),
    rows: (string | number)[][] = [];
  for (const s of c.series!)
    for (let i = 0; i < s.x.length && rows.length < mostRows; i++)
      rows.push([
        s.name,
        isTime(c.axis) ? utc(s.x[i]!) : s.x[i]!,
        s.n[i]!,
        short(s.y[i]),
        short(s.low[i]),
        short(s.high[i]),
      ]);
  return table(
    `${c.stat}: ${several(n, 'point')}${n > mostRows ? `, the first ${count(mostRows)}; Download has all` : ''}`,
    ['curve', axisLabel(c.axis), 'n', c.stat, 'low', 'high'],
    rows,
  );
}

async function how(q: URLSearchParams) {
  const a = await get<Query>('asked', asked(q)),
    command = await (await request('question.sh', asked(q))).text();
  return h(
    'div',
    {},
    h(
      'p',
      {},
      `${a.engine} · ${a.design} · ${a.flavour}${a.all_keys ? `, by ${several(a.all_keys, 'key')}` : ''}; seed ${a.seed}`,
    ),
    h(
      'p',
      {},
      'Flavour: ',
      ...a.flavours.map(f =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(f === a.flavour),
            click: () => {
              const n = state();
              n.set('flavour', f);
              go('/explore', n);
            },
          },
          f,
        ),
      ),
    ),
    h('h3', {}, 'Text'),
    h('pre', { tabindex: 0 }, a.text + (a.args?.length ? `\n\n-- ${a.args.join(', ')}` : '')),
    a.keys?.length && h('pre', { tabindex: 0 }, a.keys.join('\n') + (a.all_keys! > a.keys.length ? '\n…' : '')),
    table(
      'access paths',
      ['method', 'object', 'index', 'rows examined', 'rows kept'],
      (a.access ?? []).map(x => [
        x.method,
        x.object,
        x.index ?? '–',
        x.examined < 0 ? 'not reported' : (x.counted ? '' : '~') + count(x.examined),
        x.kept < 0 ? 'not reported' : (x.counted ? '' : '~') + count(x.kept),
      ]),
    ),
    h('h3', {}, 'Plan'),
    h('pre', { tabindex: 0 }, a.plan),
    h('h3', {}, 'On the command line'),
    h('pre', { tabindex: 0, id: 'command' }, command),
  );
}

async function faster(q: URLSearchParams) {
  const all = await get<Alternative[]>('faster', asked(q));
  return all.length < 2
    ? h('p', {}, 'No other archive that is served here contains the same records, and this one has no other flavour.')
    : table(
        'the same result, proven equal, queried in turn (median of 5)',
        ['archive', 'engine', 'design', 'flavour', 'ms', 'rows', 'verdict'],
        all.map(f => [
          f.archive,
          f.engine,
          f.design,
          f.flavour,
          f.problem ? '–' : f.ms.toFixed(2),
          f.rows,
          f.problem || 'equal',
        ]),
      );
}

function files(q: URLSearchParams) {
  const link = (path: string, text: string) =>
    h('li', {}, h('a', { href: `/api/v1/${path}?${asked(q)}`, download: true }, text));
  return [
    h(
      'ul',
      {},
      link('curve.svg', 'the curves as SVG'),
      link('curve.csv', 'the points with n, low and high as CSV'),
      link('curve.parquet', 'the points as Parquet'),
      link('curve', 'the points as JSON'),
      link('rows.csv', 'the rows as CSV'),
      link('rows.parquet', 'the rows as Parquet'),
      link('question.yaml', 'the question as YAML'),
      link('question.xml', 'the question as METviewer’s plot XML'),
      link('question.sh', 'the question as a shell command'),
    ),
  ];
}
