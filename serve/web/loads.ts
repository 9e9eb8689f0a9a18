// Loads: for each file, read = stored + replaced + quarantined; the coverage; the quarantine.
import { count, get, go, h, several, state, table, utc } from './dom';
import { Home, Inventory, holdings, lacking, place, times } from './explore';

interface Mark {
  path: string;
  bytes: number;
  read: number;
  stored: number;
  replaced: number;
  quarantined: number;
  loaded: string;
}
interface Loads {
  files: Mark[] | null;
  line_types: Inventory['line_types'];
  quarantine:
    { file: string; lines: number; reasons: { reason: string; lines: number; first_line: number }[] }[] | null;
  conflicts:
    | {
        stands: { file: string; line: number };
        dropped: { file: string; line: number };
        what: string;
        kept?: boolean;
      }[]
    | null;
}
const mostFiles = 500;
const mostMonths = 600;

export async function loads(main: HTMLElement, home: Home, signal: AbortSignal) {
  const q = state(),
    at = place(home, q);
  if (!at) throw lacking(home, q, '/loads');
  const d = await get<Loads>('loads', { archive: at.archive, design: at.design!, subset: at.subset! }, signal),
    files = d.files ?? [];
  const sum = (f: (m: Mark) => number) => files.reduce((a, m) => a + f(m), 0),
    root = folder(files.map(f => f.path)),
    ticked = (m: Mark) => m.read === m.stored + m.replaced + m.quarantined;
  main.replaceChildren(
    h('h2', {}, 'Loads'),
    holdings(home, q, n => go('/loads', n)),
    h(
      'p',
      { id: 'sum' },
      `${count(sum(m => m.read))} lines read = ${count(sum(m => m.stored))} stored + ${count(sum(m => m.replaced))} replaced + ${count(sum(m => m.quarantined))} quarantined${files.every(ticked) ? ' ✓' : ' — DOES NOT ADD UP'}, of ${several(files.length, 'file')}`,
    ),
    ...(d.line_types ?? []).map(t => coverage(t.line_type, t.fcst_valid_beg)),
    h('h3', {}, 'Quarantine'),
    d.quarantine?.some(f => f.lines)
      ? table(
          'lines that could not be read',
          ['reason', 'lines', 'first at'],
          d.quarantine.flatMap(f => f.reasons.map(r => [marked(r.reason), r.lines, `${f.file}:${r.first_line}`])),
        )
      : h('p', {}, 'No line was quarantined.'),
    d.conflicts?.length
      ? table(
          'conflicts: lines with the identity of an existing record and different values',
          ['record', 'existing line', 'other line', 'the other line is'],
          d.conflicts.map(c => [
            c.what,
            `${c.stands.file}:${c.stands.line}`,
            `${c.dropped.file}:${c.dropped.line}`,
            c.kept ? 'stored' : 'not stored',
          ]),
        )
      : '',
    h('h3', {}, 'Files'),
    table(
      `${several(files.length, 'file')}${root && ` in ${root}`}${files.length > mostFiles ? `, the last ${mostFiles}` : ''}`,
      ['file', 'loaded (UTC)', 'read', 'stored', 'replaced', 'quarantined', 'adds up'],
      files
        .slice(-mostFiles)
        .map(m => [
          h('span', { class: 'path' }, m.path.slice(root.length)),
          h('span', { class: 'line' }, m.loaded.slice(0, 19).replace('T', ' ')),
          count(m.read),
          count(m.stored),
          count(m.replaced),
          count(m.quarantined),
          ticked(m) ? '✓' : 'NO',
        ]),
    ),
  );
}

// folder is the folder that contains all files.
function folder(paths: string[]) {
  let root = paths[0]?.replace(/[^/]*$/, '') ?? '';
  while (root && !paths.every(p => p.startsWith(root))) root = root.replace(/[^/]*\/$/, '');
  return root;
}

// marked highlights the quoted text of a reason, which is the invalid token.
export function marked(reason: string) {
  const parts = reason.split(/("[^"]*")/);
  return h('span', {}, ...parts.map((p, i) => (i % 2 ? h('mark', {}, p) : p)));
}

// coverage is a calendar: how many valid times of each day there are.
function coverage(type: string, moments: string) {
  const days = new Map<string, number>();
  for (const t of times(moments)) {
    const d = utc(t).slice(0, 10);
    days.set(d, (days.get(d) ?? 0) + 1);
  }
  if (!days.size) return '';
  const most = Math.max(...days.values()),
    all = [...days.keys()].sort(),
    first = all[0]!,
    last = all[all.length - 1]!;
  const within = (d: string) => d >= first && d <= last && new Date(d).getUTCDate() === Number(d.slice(8)); // February has no 30th
  let months: string[] = []; // also those without a day, unless there are very many
  for (
    const d = new Date(first.slice(0, 7));
    months.length <= mostMonths && d <= new Date(last);
    d.setUTCMonth(d.getUTCMonth() + 1)
  )
    months.push(d.toISOString().slice(0, 7));
  if (months.length > mostMonths) months = [...new Set(all.map(d => d.slice(0, 7)))];
  const holes = [...days].filter(([, n]) => n < most).length;
  return h(
    'section',
    {},
    h('h3', {}, type),
    h(
      'div',
      { class: 'coverage' },
      table(
        `${type}: valid times a day, up to ${most}; ${several(holes, 'day')} with fewer; – is a day without`,
        ['month', ...Array.from({ length: 31 }, (_, i) => String(i + 1))],
        months.map(m => [
          h('span', { class: 'line' }, m),
          ...Array.from({ length: 31 }, (_, i) => {
            const d = `${m}-${String(i + 1).padStart(2, '0')}`;
            return days.has(d)
              ? days.get(d)! < most
                ? h('strong', { class: 'bad' }, days.get(d)!)
                : days.get(d)!
              : within(d)
                ? '–'
                : '';
          }),
        ]),
      ),
    ),
  );
}
