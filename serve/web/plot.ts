// The only file that knows uPlot.
import uPlot from './vendor/uplot/uPlot.esm.js';

export interface Series {
  name: string;
  x: number[];
  n: number[];
  y: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}
export interface Curves {
  case: string;
  title: string;
  stat: string;
  unit: string;
  axis: string;
  picture?: string;
  minus?: string;
  note: string;
  x_label?: string;
  y_label?: string;
  series: Series[] | null;
}

// Hues that people with deuteranopia can distinguish, and dashes for people who see no colors.
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [12, 6]];
export const hue = (i: number) =>
  getComputedStyle(document.documentElement)
    .getPropertyValue(`--hue${i % 8}`)
    .trim();
export const dash = (i: number) => dashes[(i + Math.floor(i / 8)) % dashes.length]!;

const labels: Record<string, string> = {
  fcst_lead: 'forecast lead (h)',
  fcst_lev: 'pressure (hPa)',
  fcst_valid_beg: 'valid time (UTC)',
  fcst_init_beg: 'initial time (UTC)',
  valid_hour: 'hour of the valid time (UTC)',
  init_hour: 'hour of the initial time (UTC)',
  fcst_thresh: 'threshold (unit of the variable)',
};
export const isTime = (axis: string) => axis === 'fcst_valid_beg' || axis === 'fcst_init_beg';
// moments labels a time axis in UTC, as precisely as the distance of two labels requires.
const moments = (_: uPlot, at: number[], __: number, ___: number, apart: number) =>
  at.map(x => {
    const t = new Date(x * 1000).toISOString();
    return apart >= 86400
      ? t.slice(0, 10)
      : apart >= 3600
        ? `${t.slice(5, 10)} ${t.slice(11, 13)}Z`
        : apart >= 60
          ? t.slice(11, 16)
          : t.slice(11, 19);
  });
const timed = { values: moments, space: 90 };

// room is the width in px that the labels of a vertical axis need.
const room = (_: uPlot, values: string[] | null) => 14 + 7 * Math.max(4, ...(values ?? []).map(v => v?.length ?? 0));
export const axisLabel = (axis: string) => labels[axis] ?? axis;

export interface Options {
  hidden: string[];
  zoom: [number, number] | null;
  zoomed(range: [number, number] | null): void;
  read(text: string): void;
  at(axis: string, x: number): string;
}

// Chart draws curves into an element. The arrow keys move to the next point and read it.
export class Chart {
  private u: uPlot | null = null;
  private watch: ResizeObserver;
  constructor(
    private place: HTMLElement,
    private c: Curves,
    private o: Options,
  ) {
    this.draw();
    this.watch = new ResizeObserver(() => this.u?.setSize(this.size()));
    this.watch.observe(place);
    place.onkeydown = e => this.key(e);
  }

  destroy() {
    this.watch.disconnect();
    this.u?.destroy();
    this.place.onkeydown = null;
  }

  private size() {
    return { width: Math.max(this.place.clientWidth, 240), height: Math.min(Math.max(innerHeight * 0.5, 260), 460) };
  }

  private draw() {
    const { c, o } = this,
      all = c.series ?? [];
    const xs = [...new Set(all.flatMap(s => s.x))].sort((a, b) => a - b),
      at = new Map(xs.map((x, i) => [x, i]));
    const column = (s: Series, v: (number | null)[]) => {
      const out: (number | null)[] = Array(xs.length).fill(null);
      s.x.forEach((x, i) => {
        out[at.get(x)!] = v[i] ?? null;
      });
      return out;
    };
    const data: any[] = [xs],
      series: uPlot.Series[] = [{}],
      bands: uPlot.Band[] = [];
    all.forEach((s, i) => {
      const show = !o.hidden.includes(s.name),
        stroke = hue(i),
        k = series.length;
      data.push(column(s, s.y));
      series.push({
        label: s.name,
        show,
        stroke,
        width: 2,
        dash: dash(i),
        spanGaps: true,
        points: { show: xs.length < 80, size: 5 },
      });
      if (!s.low.some(v => v != null)) return; // no interval, or none yet
      data.push(column(s, s.high), column(s, s.low));
      series.push(
        { show, stroke: 'transparent', points: { show: false } },
        { show, stroke: 'transparent', points: { show: false } },
      );
      bands.push({ series: [k + 1, k + 2], fill: stroke + '28' });
    });
    const css = getComputedStyle(document.documentElement),
      ink = css.getPropertyValue('--ink').trim(),
      grid = { stroke: css.getPropertyValue('--line').trim(), width: 1 };
    const upright = c.axis === 'fcst_lev',
      value =
        c.y_label ||
        c.stat + (c.unit && c.unit !== '1' ? ` (${c.unit})` : '') + (c.minus ? ` minus that of ${c.minus}` : '');
    this.u?.destroy();
    this.u = new uPlot(
      {
        ...this.size(),
        series,
        bands,
        tzDate: ts => uPlot.tzDate(new Date(ts * 1e3), 'Etc/UTC'),
        legend: { show: false },
        cursor: { drag: { x: !upright, y: upright, setScale: true } },
        scales: {
          x: { time: isTime(c.axis), ...(upright && { ori: 1, dir: -1, distr: 3 }) },
          y: upright ? { ori: 0 } : {},
        },
        axes: [
          {
            stroke: ink,
            grid,
            label: c.x_label || axisLabel(c.axis),
            labelSize: 22,
            size: 36,
            ...(isTime(c.axis) && timed),
            ...(upright && { side: 3, size: 60, splits: () => xs, filter: (_: uPlot, at: number[]) => at }),
          },
          { stroke: ink, grid, label: value, labelSize: 22, size: room, ...(upright && { side: 2, size: 50 }) },
        ],
        hooks: {
          setCursor: [u => o.read(this.words(u.cursor.idx))],
          setScale: [
            (u, key) => {
              if (key !== 'x' || !xs.length) return;
              const { min, max } = u.scales['x']!,
                complete = min == null || max == null || (min <= xs[0]! && max >= xs[xs.length - 1]!);
              o.zoomed(complete ? null : [min!, max!]);
            },
          ],
        },
      } as uPlot.Options,
      data as any,
      this.place,
    );
    if (o.zoom) this.u.setScale('x', { min: o.zoom[0], max: o.zoom[1] });
  }

  // words describes the values of all curves at point i of the axis.
  private words(i: number | null | undefined) {
    if (i == null || !this.u) return '';
    const x = this.u.data[0][i]!,
      parts: string[] = [];
    for (const s of this.c.series ?? []) {
      const k = s.x.indexOf(x);
      if (k < 0 || this.o.hidden.includes(s.name)) continue;
      const low = s.low?.[k],
        high = s.high?.[k];
      parts.push(
        `${s.name} ${s.y[k] == null ? 'undefined' : Number(s.y[k]!.toPrecision(6))}${low == null || high == null ? '' : ` (${Number(low.toPrecision(4))} … ${Number(high.toPrecision(4))})`}, n ${s.n[k]}`,
      );
    }
    return parts.length ? `${this.o.at(this.c.axis, x)}: ${parts.join('; ')}` : '';
  }

  private key(e: KeyboardEvent) {
    const u = this.u,
      last = (u?.data[0].length ?? 0) - 1;
    if (!u || last < 0) return;
    const now = u.cursor.idx ?? -1,
      next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[e.key];
    if (e.key === 'Escape') {
      u.setScale('x', { min: u.data[0][0]!, max: u.data[0][last]! });
      return;
    }
    if (next == null) return;
    e.preventDefault();
    const i = Math.min(Math.max(next, 0), last),
      at = u.valToPos(u.data[0][i]!, 'x');
    u.setCursor(
      this.c.axis === 'fcst_lev'
        ? { left: u.bbox.width / devicePixelRatio / 2, top: at }
        : { left: at, top: u.bbox.height / devicePixelRatio / 2 },
    );
  }
}

// lines draws series over an interval of time, with vertical lines at the times in marks.
export function lines(
  place: HTMLElement,
  xs: number[],
  named: [string, (number | null)[]][],
  within: [number, number],
  marks: number[],
) {
  const css = getComputedStyle(document.documentElement),
    of = (name: string) => css.getPropertyValue(name).trim(),
    ink = of('--ink'),
    grid = { stroke: of('--line'), width: 1 };
  const size = () => ({ width: Math.max(place.clientWidth, 240), height: 180 });
  const u = new uPlot(
    {
      ...size(),
      padding: [null, 36, null, null],
      tzDate: ts => uPlot.tzDate(new Date(ts * 1e3), 'Etc/UTC'),
      scales: { x: { range: within } },
      series: [
        { value: (_: uPlot, x: number | null) => (x == null ? '–' : new Date(x * 1000).toISOString().slice(11, 19)) },
        ...named.map(([label], i) => ({
          label,
          stroke: hue(i),
          width: 2,
          dash: dash(i),
          points: { show: xs.length < 80, size: 5 },
          value: (_: uPlot, v: number | null) => (v == null ? '–' : String(Number(v.toPrecision(4)))),
        })),
      ],
      axes: [
        { stroke: ink, grid, size: 30, ...timed },
        { stroke: ink, grid, size: room },
      ],
      hooks: {
        draw: [
          u => {
            u.ctx.save();
            u.ctx.strokeStyle = of('--bad');
            for (const x of marks) {
              if (x < within[0] || x > within[1]) continue;
              const left = Math.round(u.valToPos(x, 'x', true));
              u.ctx.beginPath();
              u.ctx.moveTo(left, u.bbox.top);
              u.ctx.lineTo(left, u.bbox.top + u.bbox.height);
              u.ctx.stroke();
            }
            u.ctx.restore();
          },
        ],
      },
    } as uPlot.Options,
    [xs, ...named.map(n => n[1])] as any,
    place,
  );
  const watch = new ResizeObserver(() => u.setSize(size()));
  watch.observe(place);
  return {
    destroy() {
      watch.disconnect();
      u.destroy();
    },
  };
}
