// Elements, requests and the URL's state, for all views.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((e: any) => void)>;

// h makes an element; attributes that are functions listen to events.
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') e.addEventListener(name, value);
    else if (value === true) e.setAttribute(name, '');
    else if (value !== false && value != null) e.setAttribute(name, String(value));
  }
  e.append(
    ...children
      .filter((c): c is Node | string | number => c != null && c !== false)
      .map(c => (typeof c === 'number' ? String(c) : c)),
  );
  return e;
}

// table makes a table that scrolls in itself, below a caption that is as wide as the page.
export function table(caption: string, head: string[], rows: Child[][]): HTMLElement {
  const number = (c: Child) =>
    typeof c === 'number' || (typeof c === 'string' && /^[-−~]?[\d.,]+(e[-+]?\d+)?$/.test(c));
  const numbers = head.map(
    (_, i) =>
      rows.some(r => number(r[i])) &&
      rows.every(r => number(r[i]) || r[i] === '–' || r[i] === '' || typeof r[i] === 'object'),
  ); // a heading is aligned as its numbers are
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h('p', { class: 'caption' }, caption),
    h(
      'table',
      { 'aria-label': caption },
      h('thead', {}, h('tr', {}, ...head.map((t, i) => h('th', { scope: 'col', class: numbers[i] && 'number' }, t)))),
      h('tbody', {}, ...rows.map(r => h('tr', {}, ...r.map((c, i) => h('td', { class: numbers[i] && 'number' }, c))))),
    ),
  );
}

// say shows a text at the foot of the page, which screen readers read aloud.
export function say(text: string) {
  document.getElementById('said')!.textContent = text;
}

// Refused is an error that the page shows. again is the time until the next try in s; 0 = none. choose is an
// element by which the user can choose something else.
export class Refused extends Error {
  constructor(
    message: string,
    readonly again: number,
    readonly choose?: HTMLElement,
  ) {
    super(message);
  }
}

// request asks the server. An error contains the text of the server, or the cure if it does not answer.
export async function request(
  path: string,
  query: URLSearchParams | Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const text = new URLSearchParams(query).toString();
  const r = await fetch('/api/v1/' + path + (text && '?' + text), signal ? { signal } : {}).catch(e => {
    throw (e as Error).name === 'AbortError'
      ? e
      : new Refused('barograph serve does not answer; start it again and open the URL that it prints', 0);
  });
  if (r.ok) return r;
  const body = await r.text().catch(() => '');
  let error = body.trim() || `${r.status} ${r.statusText}`;
  try {
    error = JSON.parse(body).error ?? error;
  } catch {
    /* the server sends some errors as text */
  }
  throw new Refused(error, Number(r.headers.get('Retry-After')));
}

// get returns the JSON of a response.
export async function get<T>(
  path: string,
  query: URLSearchParams | Record<string, string> = {},
  signal?: AbortSignal,
): Promise<T> {
  return (await (await request(path, query, signal)).json()) as T;
}

export const state = () => new URLSearchParams(location.search);

// go shows another view or state, and adds it to the browser's history or replaces the current entry.
export function go(view: string, query: URLSearchParams, replace = false) {
  const url = view + (query.size ? '?' + query : '');
  if (url === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  if (!replace) dispatchEvent(new PopStateEvent('popstate'));
}

export const utc = (seconds: number) =>
  new Date(seconds * 1000).toISOString().replace(':00.000Z', 'Z').replace('T', ' ');
export const count = (n: number) => n.toLocaleString('en-GB');
export const short = (v: number | null | undefined) => (v == null ? '–' : Number(v.toPrecision(6)).toString());
export function several(n: number, what: string) {
  return `${count(n)} ${what}${n === 1 ? '' : 's'}`;
}
