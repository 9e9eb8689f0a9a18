// Draws the page from the data in it. All texts come from run folders: they enter the page as text nodes only.
'use strict';
const byId = id => document.getElementById(id);
const D = JSON.parse(byId('data').textContent);
const facets = ['engine', 'design', 'flavour', 'machine', 'run'];
const listed = [...facets, 'without', 'open'];
const results = new Map(); // configuration → question → result
for (const [c, q, value, low, high, n, verdict, proof, problem, unranked, text] of D.results) {
  if (!results.has(c)) results.set(c, new Map());
  results.get(c).set(q, { value, low, high, n, verdict: D.words[verdict], proof: D.words[proof], problem: D.words[problem], unranked: D.words[unranked], text });
}
D.configurations.forEach((c, i) => {
  c.at = i;
  c.folder = D.runs[c.run].folder;
  c.name = [c.engine, c.design, c.flavour, c.more].filter(Boolean).join(' · ');
  c.key = c.folder + ': ' + c.name;
  c.facet = { engine: c.engine, design: c.design || 'none', flavour: c.flavour || 'none', machine: 'M' + (D.runs[c.run].machine + 1), run: c.folder };
});

// el makes an element: its attributes, then its children. A text becomes a text node.
function el(name, attributes, ...children) {
  const e = name === 'svg' || el.svg.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes ?? {})) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== false) e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat(Infinity).filter(c => c !== undefined && c !== ''));
  return e;
}
el.svg = new Set(['circle', 'line', 'text', 'title', 'g']);

// The state of the page is in the fragment of its address.
let state;
function readState() {
  const p = new URLSearchParams(location.hash.slice(1));
  state = { study: p.get('workload') ?? '', group: p.get('data') ?? '', sort: p.get('sort') ?? 'mean', down: p.get('down') === '1', theme: p.get('theme') ?? '' };
  for (const f of listed) state[f] = p.getAll(f);
}
function address() {
  const p = new URLSearchParams();
  const put = (k, v) => v && p.append(k, v);
  put('workload', state.study);
  put('data', state.group);
  for (const f of listed) for (const v of state[f]) p.append(f, v);
  if (state.sort !== 'mean') put('sort', state.sort);
  put('down', state.down ? '1' : '');
  put('theme', state.theme);
  return '#' + p;
}
function change(to) {
  Object.assign(state, to);
  const kept = document.activeElement?.dataset?.focus;
  history.replaceState(null, '', address());
  draw();
  if (kept) [...document.querySelectorAll('[data-focus]')].find(e => e.dataset.focus === kept)?.focus();
}
const toggled = (all, v) => all.includes(v) ? all.filter(x => x !== v) : [...all, v];

// Numbers for people.
function number(v) {
  if (v >= 999.5) return Math.round(v).toLocaleString('en-US');
  return String(Number(v.toPrecision(3)));
}
const several = (n, noun) => n.toLocaleString('en-US') + ' ' + noun + (n === 1 ? '' : 's');
function bytes(v) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; v >= 1000 && i < 4; i++) v /= 1000;
  return number(v) + ' ' + units[i];
}
const amount = (v, unit) => number(v) + ' ' + unit.split(',')[0];

// verdictOf returns the verdict on a result, and what was compared.
function verdictOf(r) {
  if (r.verdict === 'equal') return r.proof ? '= ' + r.proof : 'equal';
  if (r.verdict === 'equal to rounding') return '≈ equal to rounding';
  return r.verdict;
}

// view computes what the page shows for the state.
function view() {
  const studies = [...new Set(D.groups.map(g => g.study))];
  const sizes = D.groups.map((_, i) => D.configurations.filter(c => c.group === i).length);
  if (!studies.includes(state.study)) state.study = studies.includes('met') ? 'met' : studies[0];
  const groups = D.groups.map((g, i) => ({ ...g, at: i, size: sizes[i] })).filter(g => g.study === state.study).sort((a, b) => b.size - a.size);
  const group = groups.find(g => g.key === state.group) ?? groups[0];
  const all = D.configurations.filter(c => group && c.group === group.at);
  const matches = (c, besides) => facets.every(f => f === besides || !state[f].length || state[f].includes(c.facet[f]));
  const shown = all.filter(c => matches(c));
  const runs = new Set(shown.map(c => c.run));
  const questions = (group?.questions ?? []).map((q, i) => ({ ...q, at: i, count: q.runs.filter(r => runs.has(r)).length })).filter(q => q.count);
  const columns = questions.filter(q => !state.without.includes(q.name)).sort((a, b) => b.count - a.count); // those that count for the mean come first
  const most = Math.max(0, ...columns.map(q => q.count));
  const of = (c, q) => results.get(c.at)?.get(q.at);
  const ranked = (c, r) => r && r.value !== null && !c.unranked && !r.unranked;
  for (const q of columns) {
    q.common = q.count === most;
    const values = shown.filter(c => ranked(c, of(c, q))).map(c => of(c, q).value);
    q.best = values.length ? values.reduce((a, b) => (q.more ? a > b : a < b) ? a : b) : null;
  }
  const common = columns.filter(q => q.common);
  const ratio = (c, q) => ranked(c, of(c, q)) ? (q.more ? q.best / of(c, q).value : of(c, q).value / q.best) : null;
  const rows = shown.map(c => {
    const missing = common.find(q => ratio(c, q) === null);
    let why = c.unranked;
    if (!why && missing) {
      const r = of(c, missing);
      why = missing.name + (!r ? ': no result' : r.unranked ? ': ' + r.unranked : ' is ' + r.verdict);
    }
    if (!common.length) why ||= 'no question is selected';
    const mean = why ? null : Math.exp(common.reduce((s, q) => s + Math.log(ratio(c, q)), 0) / common.length);
    const weights = common.reduce((s, q) => s + q.weight, 0);
    const timed = !why && common.every(q => q.unit === common[0].unit && !q.more);
    const time = timed ? common.reduce((s, q) => s + q.weight * of(c, q).value, 0) / weights : null;
    return { c, why, mean, time, ratio: q => ratio(c, q), of: q => of(c, q) };
  });
  return { studies, groups, group, all, matches, shown, runs, questions, columns, common, most, rows };
}

function sorted(v) {
  const column = v.columns.find(q => q.name === state.sort);
  const key = r => state.sort === 'name' ? null : column ? r.ratio(column) : r.mean;
  const sign = state.down ? -1 : 1;
  return [...v.rows].sort((a, b) => {
    if (!a.why !== !b.why) return a.why ? 1 : -1; // unranked rows are last in every order
    const x = key(a), y = key(b);
    if (x === null && y === null || x === y) return sign * (a.c.name < b.c.name ? -1 : a.c.name > b.c.name ? 1 : a.c.at - b.c.at);
    return x === null ? 1 : y === null ? -1 : sign * (x - y);
  });
}

function drawChoices(v) {
  const option = (value, text, on) => el('option', { value, selected: on }, text);
  byId('study').replaceChildren(...v.studies.map(s => option(s, s + ' (' + D.configurations.filter(c => D.groups[c.group].study === s).length + ')', s === state.study)));
  byId('group').replaceChildren(...v.groups.map(g => option(g.key, g.name + ' (' + g.size + ')', g === v.group)));
  const active = facets.reduce((n, f) => n + state[f].length, 0);
  byId('filtered').textContent = active ? '(' + several(active, 'value') + ' selected)' : '(all)';
  byId('facets').replaceChildren(...facets.map(f => {
    const values = [...new Set(v.all.map(c => c.facet[f]).concat(state[f]))].sort();
    if (values.length < 2) return '';
    return el('fieldset', {}, el('legend', {}, f === 'run' ? 'run folder' : f), el('div', { class: 'chips' }, values.map(value => {
      const n = v.all.filter(c => c.facet[f] === value && v.matches(c, f)).length;
      const title = f === 'machine' ? D.machines[value.slice(1) - 1] : undefined;
      return el('label', { title }, el('input', { type: 'checkbox', 'data-focus': f + value, checked: state[f].includes(value), onchange: () => change({ [f]: toggled(state[f], value) }) }), value, ' ', el('i', {}, String(n)));
    })));
  }).filter(Boolean));
  byId('choose').replaceChildren(el('div', { class: 'chips' }, v.questions.map(q => el('label', { title: q.title || undefined },
    el('input', { type: 'checkbox', 'data-focus': 'q' + q.name, checked: !state.without.includes(q.name), onchange: () => change({ without: toggled(state.without, q.name) }) }), q.name, ' ', el('i', {}, q.count + (q.count === 1 ? ' run' : ' runs'))))));
  byId('counted').textContent = '(' + v.columns.length + ' of ' + v.questions.length + ', ' + v.common.length + ' common)';
}

function drawSummary(v) {
  const ranked = sorted(v).filter(r => !r.why), machines = new Set(v.shown.map(c => c.facet.machine));
  const scope = several(v.shown.length, 'configuration') + ' of ' + several(v.runs.size, 'run') + ' on ' + several(machines.size, 'machine') + '; ' +
    several(v.common.length, 'common question') + (v.runs.size > 1 ? ', which ' + v.most + ' of these ' + v.runs.size + ' runs asked' : '') + '. ' +
    ranked.length + ' ranked, ' + (v.rows.length - ranked.length) + ' not ranked.';
  const best = ranked.reduce((a, b) => !a || b.mean < a.mean ? b : a, null);
  byId('summary').textContent = best ? 'Fastest over the common questions: ' + best.c.name + (v.runs.size > 1 ? ' (' + best.c.folder + ')' : '') + '.' : 'No configuration has a rank, because none has a proven value for each of the ' + several(v.common.length, 'common question') + '. Omit questions, or filter.';
  const different = machines.size > 1 ? ' The configurations ran on different machines: their ratios compare the machines, too.' : '';
  byId('note').textContent = scope + different;
  byId('legend').textContent = 'Each cell: the ratio to the fastest of its column, the value, and how it was proven. “= every value”: each value equals the reference. ' +
    'A configuration that lacks a common question is not ranked. A column of a question that fewer runs have does not count for the mean.';
}

// drawDots draws each engine and design with its fastest flavour, as the first picture of a report.
function drawDots(v) {
  const best = new Map();
  for (const r of v.rows) {
    const key = [r.c.run, r.c.engine, r.c.design, r.c.more].join('\n');
    if (r.time && r.c.load && !(best.get(key)?.time <= r.time)) best.set(key, r);
  }
  const dots = [...best.values()].sort((a, b) => (b.c.bytes ?? 0) - (a.c.bytes ?? 0));
  byId('picture').hidden = !v.group?.load;
  byId('dots').replaceChildren();
  if (!dots.length) {
    byId('dotsnote').textContent = 'No ranked configuration has both a time and a measured load.';
    return;
  }
  const W = Math.max(340, Math.min(1176, byId('dots').clientWidth || 1000)), H = W < 600 ? 340 : 400, left = 58, right = 12, top = 10, bottom = 44;
  const scale = (values, from, to) => {
    const lo = Math.log10(Math.min(...values) / 1.4), hi = Math.log10(Math.max(...values) * 1.4);
    const at = x => from + (Math.log10(x) - lo) / (hi - lo) * (to - from);
    const steps = hi - lo > 2.2 ? [1] : hi - lo > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    at.ticks = [];
    for (let e = Math.floor(lo); e <= hi; e++) for (const s of steps) if (Math.log10(s) + e >= lo && Math.log10(s) + e <= hi) at.ticks.push(s * 10 ** e);
    return at;
  };
  const x = scale(dots.map(r => r.c.load), left, W - right), y = scale(dots.map(r => r.time), H - bottom, top);
  const write = (tx, ty, text, more) => el('text', { x: tx, y: ty, ...more }, text);
  const svg = el('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'Query time against load time of ' + several(dots.length, 'configuration') });
  for (const t of x.ticks) svg.append(el('line', { class: 'grid', x1: x(t), x2: x(t), y1: top, y2: H - bottom }), write(x(t), H - bottom + 16, number(t), { 'text-anchor': 'middle', class: 'soft' }));
  for (const t of y.ticks) svg.append(el('line', { class: 'grid', x1: left, x2: W - right, y1: y(t), y2: y(t) }), write(left - 6, y(t) + 4, number(t), { 'text-anchor': 'end', class: 'soft' }));
  svg.append(write((left + W - right) / 2, H - 8, v.group.load, { 'text-anchor': 'middle', class: 'soft' }),
    write(14, (H - bottom) / 2, 'mean query time (' + v.common[0].unit + ')', { 'text-anchor': 'middle', class: 'soft', transform: `rotate(-90 14 ${(H - bottom) / 2})` }),
    write(left + 8, H - bottom - 8, '← ↓ better', { class: 'better' }));
  const most = Math.max(...dots.map(r => r.c.bytes ?? 0)), radius = r => most && r.c.bytes ? Math.max(4, 26 * Math.sqrt(r.c.bytes / most)) : 4;
  const taken = [[left, H - bottom - 22, left + 86, H - bottom]], labels = [];
  for (const r of dots) {
    const at = [x(r.c.load), y(r.time)], d = radius(r) * .8, color = D.colors[r.c.engine] ?? '#888888';
    taken.push([at[0] - d, at[1] - d, at[0] + d, at[1] + d]);
    svg.append(el('circle', { cx: at[0], cy: at[1], r: radius(r), fill: color, 'fill-opacity': .45, stroke: color, 'stroke-width': 1.5, 'data-key': r.c.key, 'data-query': r.time, 'data-load': r.c.load, 'data-bytes': r.c.bytes ?? 0 },
      el('title', {}, `${r.c.key}: query ${amount(r.time, v.common[0].unit)}, load ${number(r.c.load)} s, ${r.c.bytes ? bytes(r.c.bytes) : 'size not recorded'}`)));
  }
  let left_out = 0;
  for (const r of dots) {
    const text = [r.c.engine, r.c.design, v.runs.size > 1 ? r.c.folder.slice(0, 16) : ''].filter(Boolean).join(' · '), w = text.length * 6.4, cx = x(r.c.load), cy = y(r.time), d = radius(r);
    const places = [0, 15, 30, 45].flatMap(a => [[d + 4, a], [-d - 4 - w, a], [d + 4, -a], [-d - 4 - w, -a], [-w / 2, d + a + 10], [-w / 2, -d - a - 10]]).map(([dx, dy]) => [cx + dx, cy + dy - 7, cx + dx + w, cy + dy + 7]);
    const free = places.find(p => p[0] >= left && p[2] <= W && p[1] >= 0 && p[3] <= H - bottom && !taken.some(t => t[0] < p[2] && p[0] < t[2] && t[1] < p[3] && p[1] < t[3]));
    if (!free) { left_out++; continue; }
    taken.push(free);
    labels.push(write(free[0], free[3] - 3, text));
  }
  svg.append(...labels);
  byId('dots').append(svg);
  byId('dotsnote').textContent = 'Each engine and design with its fastest flavour; both axes are logarithmic. The area of a dot is the size on disk. ' + (left_out ? several(left_out, 'label') + ' did not fit: point at the dot. ' : '') +
    'Only ranked configurations with a measured load are in the picture.';
}

const heat = q => q === null ? '' : q <= 1.05 ? 'h0' : q <= 1.5 ? 'h1' : q <= 3 ? 'h2' : q <= 10 ? 'h3' : 'h4';

function drawTable(v) {
  const head = (key, text, small) => el('th', { scope: 'col', 'aria-sort': state.sort === key ? (state.down ? 'descending' : 'ascending') : undefined },
    el('button', { type: 'button', 'data-focus': 'sort' + key, onclick: () => change({ sort: key, down: state.sort === key && !state.down }) }, text), el('small', {}, small));
  const rows = sorted(v).flatMap(r => {
    const open = state.open.includes(r.c.key);
    const where = (v.runs.size > 1 ? r.c.folder + ' · ' + r.c.facet.machine + ' · ' : '') + r.c.product + (D.runs[r.c.run].finished ? '' : ' · interrupted');
    const row = el('tr', { class: r.why ? 'off' : undefined, 'data-key': r.c.key, 'data-ranked': String(!r.why) },
      el('th', { scope: 'row' }, el('button', { class: 'open', type: 'button', 'aria-expanded': String(open), 'data-focus': 'open' + r.c.key, onclick: () => change({ open: toggled(state.open, r.c.key) }) }, r.c.name), el('small', {}, where)),
      r.why ? el('td', { class: 'w' }, 'not ranked', el('small', {}, r.why)) : el('td', { class: 'mean ' + heat(r.mean), 'data-v': r.mean }, number(r.mean)),
      v.columns.map(q => {
        const a = r.of(q), ratio = r.ratio(q);
        if (!a) return el('td', { class: 'off' }, '–', el('small', {}, 'no result'));
        if (a.value === null) return el('td', { class: ['wrong', 'failed', 'incomplete'].includes(a.verdict) ? 'bad' : 'off', title: a.problem || undefined }, a.verdict);
        return el('td', { class: heat(ratio), 'data-v': ratio ?? '' }, ratio === null ? amount(a.value, q.unit) : number(ratio), el('small', {}, ratio === null ? 'not ranked' : amount(a.value, q.unit)), el('small', {}, verdictOf(a)));
      }));
    return open ? [row, el('tr', { class: 'detail' }, el('td', { colspan: v.columns.length + 2 }, about(r, v)))] : [row];
  });
  byId('ratios').replaceChildren(
    el('thead', {}, el('tr', {}, head('name', 'configuration', 'engine · design · flavour'), head('mean', 'geometric mean', several(v.common.length, 'question')),
      v.columns.map(q => head(q.name, q.name, q.unit + (q.common ? '' : ' · does not count: ' + several(q.count, 'run')))))), el('tbody', {}, rows));
}

// about lists the facts about a configuration.
function about(r, v) {
  const c = r.c, of = D.runs[c.run];
  const facts = [['Rank', r.why ? 'not ranked: ' + r.why : 'geometric mean ' + number(r.mean) + ' over ' + several(v.common.length, 'question')], ['Product', c.product], ['Place', c.place],
    ['Load', c.load ? number(c.load) + ' s' : 'not measured'], ['On disk', c.bytes ? bytes(c.bytes) : 'not recorded'], ['Run folder', of.folder + ', ' + of.started + ' UTC, Barograph ' + of.version + (of.finished ? '' : ', interrupted')], ['Machine', c.facet.machine + ': ' + D.machines[of.machine]]];
  return el('div', { class: 'about' }, el('dl', {}, facts.filter(f => f[1]).map(([k, x]) => [el('dt', {}, k), el('dd', {}, x)])), folded('Settings', c.text),
    v.columns.filter(q => r.of(q)).map(q => {
      const a = r.of(q);
      const value = a.value === null ? '' : amount(a.value, q.unit) + (a.low === null || a.high === null ? ', no interval' : ', 95 % interval ' + number(a.low) + ' to ' + number(a.high)) + ', ' + several(a.n, 'repetition') + '; ';
      return el('article', {}, el('b', {}, q.name), value, el('span', { class: a.value === null ? 'bad' : '' }, verdictOf(a)), a.unranked ? '; not ranked: ' + a.unranked : '', a.problem ? el('pre', {}, a.problem) : '', folded('Query and plan', a.text));
    }));
}

// folded shows a stored text when a reader opens it.
function folded(title, text) {
  if (text < 0) return el('p', { class: 'note' }, title + ': not recorded.');
  const body = el('pre', { tabindex: '0', 'aria-label': title }, 'loading …');
  return el('details', { ontoggle: async () => { body.textContent = (await texts())[text]; } }, el('summary', {}, title), body);
}
let unpacked;
function texts() {
  unpacked ??= (async () => {
    const packed = Uint8Array.from(atob(byId('texts').textContent.trim()), c => c.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text());
  })();
  return unpacked;
}

function drawRuns() {
  byId('foldercount').textContent = '(' + several(D.runs.length, 'run folder') + ')';
  const cells = r => [r.folder, r.study, 'M' + (r.machine + 1), r.started, r.version, r.finished ? 'finished' : 'interrupted'];
  byId('folders').replaceChildren(el('thead', {}, el('tr', {}, ['run folder', 'workload', 'machine', 'started (UTC)', 'Barograph', 'state', 'warnings and skipped engines'].map(t => el('th', { scope: 'col' }, t)))),
    el('tbody', {}, D.runs.map(r => el('tr', {}, cells(r).map(t => el('td', {}, t)), el('td', { class: 'w' }, (r.notes ?? []).map(n => el('div', {}, n)))))));
}

const dark = matchMedia('(prefers-color-scheme: dark)');
function draw() {
  document.documentElement.dataset.theme = state.theme || (dark.matches ? 'dark' : 'light');
  byId('theme').value = state.theme;
  const v = view();
  drawChoices(v);
  drawSummary(v);
  drawDots(v);
  drawTable(v);
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
}
byId('made').textContent = several(D.runs.length, 'run folder') + ' · made by Barograph ' + D.version;
if (innerWidth < 700) byId('filters').open = false;
byId('study').addEventListener('change', e => change({ study: e.target.value, group: '', engine: [], design: [], flavour: [], machine: [], run: [], without: [], open: [], sort: 'mean', down: false }));
byId('group').addEventListener('change', e => change({ group: e.target.value, without: [], open: [] }));
byId('theme').addEventListener('change', e => change({ theme: e.target.value }));
addEventListener('hashchange', () => { readState(); draw(); });
dark.addEventListener('change', draw);
let width = innerWidth;
addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
readState();
drawRuns();
draw();
