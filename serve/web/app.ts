// The page: it shows the view that the URL names.
import { Explore, Home } from './explore';
import { Live, runs } from './runs';
import { Refused, get, h, say } from './dom';
import { loads } from './loads';
import { scorecard } from './scorecard';

const views: [string, string][] = [
  ['/explore', 'Explore'],
  ['/scorecard', 'Scorecard'],
  ['/runs', 'Runs'],
  ['/live', 'Live'],
  ['/loads', 'Loads'],
  ['/about', 'About'],
];
let current: { close(): void } | undefined; // the view that is shown
let home: Promise<Home> | undefined;

async function about(main: HTMLElement, home: Home, signal: AbortSignal) {
  const license = await (await fetch('/assets/uplot-licence.txt', { signal })).text();
  main.replaceChildren(
    h('h2', {}, 'About'),
    h(
      'p',
      {},
      `Barograph ${home.version}. uPlot draws the charts. It has the MIT license below. barograph version --licenses prints all other licenses.`,
    ),
    h('pre', { tabindex: 0 }, license),
  );
}

// show shows the view that the URL names. It stops the view that was shown before, even one that still waits for
// the server: otherwise its late answer would replace the new view.
async function show() {
  const main = document.getElementById('main')!,
    stop = new AbortController(),
    { signal } = stop;
  current?.close();
  current = { close: () => stop.abort() };
  say('');
  const view = location.pathname;
  document.title = `${views.find(([p]) => p === view)?.[1] ?? ''} · Barograph`;
  document.getElementById('nav')!.replaceChildren(
    ...views.map(([path, name]) =>
      h(
        'a',
        {
          href: path,
          'aria-current': path === view && 'page',
          click: (e: MouseEvent) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey) return;
            e.preventDefault();
            history.pushState(null, '', path);
            void show();
          },
        },
        name,
      ),
    ),
  );
  main.setAttribute('aria-busy', 'true');
  const begin = (view: { show(): Promise<void>; close(): void }) => {
    current = {
      close: () => {
        stop.abort();
        view.close();
      },
    };
    return view.show();
  };
  try {
    if (view === '/runs') await runs(main, signal);
    else if (view === '/live') await begin(new Live(main));
    else {
      const known = await (home ??= get<Home>('home'));
      if (signal.aborted) return;
      if (view === '/explore') await begin(new Explore(main, known));
      else if (view === '/scorecard') await scorecard(main, known, signal);
      else if (view === '/loads') await loads(main, known, signal);
      else await about(main, known, signal);
    }
  } catch (e) {
    if (signal.aborted || (e as Error).name === 'AbortError') return;
    home = undefined; // the next view requests it again
    main.replaceChildren(
      h('p', { class: 'none', id: 'none' }, (e as Error).message),
      (e instanceof Refused && e.choose) || '',
    );
    const again = e instanceof Refused ? e.again : 0;
    if (again) {
      say(`next try in ${again} s`);
      setTimeout(() => signal.aborted || void show(), again * 1000);
    }
  } finally {
    if (!signal.aborted) {
      main.removeAttribute('aria-busy');
      document.body.dataset['view'] = view; // tests wait for it
    }
  }
}

addEventListener('popstate', () => void show());
void show();
