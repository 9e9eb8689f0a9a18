// The page: which view the URL names, and what they share.
import { Explore, Home } from './explore';
import { Live, runs } from './runs';
import { Refused, get, h, say } from './dom';
import { loads } from './loads';
import { scorecard } from './scorecard';

const views: [string, string][] = [['/explore', 'Explore'], ['/scorecard', 'Scorecard'], ['/runs', 'Runs'], ['/live', 'Live'], ['/loads', 'Loads'], ['/about', 'About']];
let now: { close(): void } | undefined;
let home: Promise<Home> | undefined;

async function about(main: HTMLElement, home: Home) {
  main.replaceChildren(h('h2', {}, 'About'), h('p', {}, `Barograph ${home.version}. Charts are drawn by uPlot (MIT), whose licence follows; barograph version --licenses prints all others.`),
    h('pre', { tabindex: 0 }, await (await fetch('/assets/uplot-licence.txt')).text()));
}

async function show() {
  const main = document.getElementById('main')!;
  now?.close();
  now = undefined;
  say('');
  const view = location.pathname;
  document.title = `${views.find(([p]) => p === view)?.[1] ?? ''} · Barograph`;
  document.getElementById('nav')!.replaceChildren(...views.map(([path, name]) => h('a', { href: path, 'aria-current': path === view && 'page', click: (e: MouseEvent) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    history.pushState(null, '', path);
    void show();
  } }, name)));
  main.setAttribute('aria-busy', 'true');
  const stop = new AbortController();
  try {
    if (view === '/runs') await runs(main);
    else if (view === '/live') await begin(new Live(main));
    else {
      const known = await (home ??= get<Home>('home'));
      if (view === '/explore') await begin(new Explore(main, known));
      else if (view === '/scorecard') { now = { close: () => stop.abort() }; await scorecard(main, known, stop.signal); }
      else if (view === '/loads') await loads(main, known);
      else await about(main, known);
    }
  } catch (e) {
    if (stop.signal.aborted || (e as Error).name === 'AbortError') return;
    home = undefined; // asked again next time
    main.replaceChildren(h('p', { class: 'none', id: 'none' }, (e as Error).message), (e instanceof Refused && e.choose) || '');
    const again = e instanceof Refused ? e.again : 0, here = location.href;
    if (again) { say(`next try in ${again} s`); setTimeout(() => here === location.href && void show(), again * 1000); }
  } finally {
    main.removeAttribute('aria-busy');
    document.body.dataset['view'] = view; // tests wait for it
  }
}

function begin(view: { show(): Promise<void>; close(): void }) { now = view; return view.show(); }

addEventListener('popstate', () => void show());
void show();
