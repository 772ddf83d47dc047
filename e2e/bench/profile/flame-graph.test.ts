import { expect, test } from '@jest/globals';
import { SaxesParser } from 'saxes';
import { flameGraph } from './flame-graph.ts';
import type { Frame } from './fold.ts';

const frame = (name: string, self: number, ...called: readonly Frame[]): Frame => ({
  name,
  self,
  total: called.reduce((sum, { total }) => sum + total, self),
  called: new Map(called.map((one) => [one.name, one])),
});

/** Parses the SVG: texts, titles, and frames by their position. Throws if it is not well-formed. */
function read(svg: string) {
  const texts: string[] = [];
  const titles: string[] = [];
  const frames: { x: number; y: number; width: number }[] = [];
  const open: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    open.push(name);
    const [x, y, width] = ['x', 'y', 'width'].map((one) => Number(attributes[one]));
    if (name === 'rect' && open.at(-2) === 'g') frames.push({ x, y, width } as (typeof frames)[0]);
  });
  parser.on('closetag', () => void open.pop());
  parser.on('text', (content) => {
    if (open.at(-1) === 'text') texts.push(content);
    if (open.at(-1) === 'title') titles.push(content);
  });
  parser.write(svg).close();
  return { texts, titles, frames };
}

const ALL = frame(
  '(all)',
  0,
  frame('serve a.ts:1', 1000, frame('<T & "U"> b.ts:2', 3000)),
  frame('(program)', 4000),
);

test('each frame shows its total and self share, and names may contain any character', () => {
  const { titles } = read(flameGraph(ALL, 'a <work>'));
  expect(titles).toEqual([
    '(all): total 100.00 %, self 0.00 %, 8.0 ms',
    'serve a.ts:1: total 50.00 %, self 12.50 %, 4.0 ms',
    '<T & "U"> b.ts:2: total 37.50 %, self 37.50 %, 3.0 ms',
    '(program): total 50.00 %, self 50.00 %, 4.0 ms',
  ]);
});

test('colours show the origin of a function, even of an anonymous function', () => {
  const names = ['(anonymous) shared/a.ts:1', 'f node_modules/koa/b.js:2', 'g node:http:3', 'all'];
  const others = ['(garbage collector)', '(program)'];
  const all = frame('(all)', 0, ...[...names, ...others].map((name) => frame(name, 10)));
  const colours = [...flameGraph(all, '').matchAll(/ fill="(#\w{6})"/g)].map(
    ([, colour]) => colour,
  );
  expect(colours.slice(0, 1)).toEqual(colours.slice(-1));
  expect(new Set(colours).size).toBe(6);
});

test('a called function is drawn within its caller, one row further down', () => {
  const [all, serve, called, program] = read(flameGraph(ALL, '')).frames;
  expect([serve, called, program].map((one) => (one?.width ?? 0) / (all?.width ?? 1))).toEqual([
    0.5, 0.375, 0.5,
  ]);
  expect([serve?.x, called?.x, program?.x]).toEqual([0, 0, 800]);
  expect(called?.y).toBeGreaterThan(serve?.y ?? Infinity);
  expect(program?.y).toBe(serve?.y);
});

test('the longest self times are listed, and the picture loads nothing', () => {
  const svg = flameGraph(ALL, 'a <work>');
  const { texts } = read(svg);
  expect(texts).toContain('a <work>');
  expect(texts).toContain(' 50.00 %  (program)');
  expect(svg).not.toMatch(/<script|href|url\(|@import/);
});
