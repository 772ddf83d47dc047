import { type Frame, selfTimes } from './fold.ts';

const WIDTH = 1600;
const ROW = 18;
/** The width of a letter. */
const LETTER = 6.6;
/** Narrower frames are omitted. */
const LEAST = 0.4;
const HEAD = 48;
const LISTED = 25;

/** Colours by the origin of a function; the first match is used. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^\(garbage collector\)$/, '#d9a0a0'],
  [/^\([^)]*\)$/, '#cfcfcf'],
  [/ node:/, '#a8c7e8'],
  [/ node_modules\//, '#e8d59a'],
  [/ \S+:\d+$/, '#a9d8a4'],
  [/./, '#d5c2e6'],
];

const LEGEND =
  'Green: ours; yellow: packages; blue: Node; violet: native; red: garbage; grey: the rest.';

/**
 * A self-contained picture of a profile: each row is called by the row above it, and is as wide as its
 * total time. Pointing at a frame shows its times. Below is a list of the longest self times.
 */
export function flameGraph(all: Frame, title: string): string {
  const rows = depth(all);
  const share = (time: number) => `${((100 * time) / Math.max(1, all.total)).toFixed(2)} %`;
  const scale = WIDTH / Math.max(1, all.total);

  function draw(one: Frame, from: number, row: number): string {
    const width = one.total * scale;
    if (width < LEAST) return '';
    const [x, y] = [from * scale, HEAD + row * ROW];
    const says = `${one.name}: total ${share(one.total)}, self ${share(one.self)}, ${milliseconds(one.total)}`;
    const letters = Math.floor((width - 6) / LETTER);
    const label = letters < 3 ? '' : text(x + 3, y + 13, one.name.slice(0, letters));
    const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colourOf(one.name)}"/>`;
    let at = from;
    const below = [...one.called.values()]
      .toSorted((a, b) => b.total - a.total)
      .map((called) => {
        const drawn = draw(called, at, row + 1);
        at += called.total;
        return drawn;
      });
    return `<g><title>${escaped(says)}</title>${rect}${label}</g>\n${below.join('')}`;
  }

  const listAt = HEAD + rows * ROW + 30;
  const list = selfTimes(all)
    .slice(0, LISTED)
    .map(([name, self], at) =>
      text(8, listAt + (at + 1) * ROW, `${share(self).padStart(8)}  ${name}`),
    );
  const height = listAt + (LISTED + 2) * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
<style>text { font: 11px monospace; white-space: pre } rect { stroke: #fff; stroke-width: 0.5 } g:hover rect { stroke: #000 }</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${text(8, 18, title)}
${text(8, 36, `${milliseconds(all.total)} by the clock on the wall. ${LEGEND}`)}
${draw(all, 0, 0)}${text(8, listAt, 'Self time, wherever it was called from:')}
${list.join('\n')}
</svg>
`;
}

const depth = ({ called }: Frame): number =>
  1 + Math.max(0, ...[...called.values()].map((one) => depth(one)));

const milliseconds = (time: number) => `${(time / 1000).toFixed(1)} ms`;

const colourOf = (name: string) => COLOURS.find(([where]) => where.test(name))?.[1] ?? '';

const text = (x: number, y: number, content: string) =>
  `<text x="${x.toFixed(1)}" y="${y}">${escaped(content)}</text>`;

/** Escapes text for XML. */
const escaped = (content: string) =>
  content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
