import { expect, test } from '@jest/globals';
import { importsOf } from './imports.ts';
import { arrowsUpInside, type Orders } from './inside-rooms.ts';

const ROOM = {
  floors: [['words'], ['base.ts'], ['left', 'right'], ['.'], ['wire']],
  forTests: ['wire'],
};
const FILES = [
  'words/a.ts',
  'base.ts',
  'left/a.ts',
  'left/deep/a.ts',
  'right/a.ts',
  'a.ts',
  'wire/a.ts',
];

/** Built from parts, so that this file has no such import itself. */
const of = (target: string) => `from '${target}';`;

/** Returns the mistakes if one file imports another. */
function wrong(from: string, to: string, orders: Orders = { 'shared/room': ROOM }) {
  const sources = Object.fromEntries(FILES.map((path) => [`shared/room/${path}`, '']));
  const text = `import { a } ${of(`#shared/room/${to}`)}`;
  return arrowsUpInside(importsOf({ ...sources, [`shared/room/${from}`]: text }), orders);
}

test.each([
  ['a floor below', 'left/a.ts', 'words/a.ts'],
  ['a file of the top with a floor of its own', 'left/a.ts', 'base.ts'],
  ['the own folder', 'left/deep/a.ts', 'left/a.ts'],
  ['a folder, by the entry', 'a.ts', 'right/a.ts'],
  ['the entry, by what stands above it', 'wire/a.ts', 'a.ts'],
  ['another room, which has its own order', 'words/a.ts', '../other/a.ts'],
  ['what is for tests, by a test', 'words/a.test.ts', 'wire/a.ts'],
  ['the same by a fixture', 'words/a.fixture.ts', 'wire/a.ts'],
])('allows an import %s', (_, from, to) => {
  expect(wrong(from, to)).toEqual([]);
});

test.each([
  ['a floor above', 'words/a.ts', 'left/a.ts'],
  ['a folder beside', 'left/a.ts', 'right/a.ts'],
  ['the entry', 'left/deep/a.ts', 'a.ts'],
  ['a floor above, by a file of the top', 'base.ts', 'left/a.ts'],
  ['what is for tests, by what is shipped', 'left/a.ts', 'wire/a.ts'],
  ['a floor above, by a test', 'words/a.test.ts', 'left/a.ts'],
])('refuses an import %s', (_, from, to) => {
  expect(wrong(from, to)).toEqual([`shared/room/${from} -> shared/room/${to}`]);
});

test('a folder inside a folder may have its own order', () => {
  const orders = { 'shared/room': ROOM, 'shared/room/left': { floors: [['.'], ['deep']] } };
  expect(wrong('left/deep/a.ts', 'left/a.ts', orders)).toEqual([]);
  expect(wrong('left/a.ts', 'left/deep/a.ts', orders)).toHaveLength(1);
});

test('every file has a floor, and every name in an order exists', () => {
  const orders = { 'shared/room': { floors: [['words'], ['left', 'wrong', 'wire'], ['.']] } };
  expect(wrong('a.ts', 'words/a.ts', orders)).toEqual([
    'shared/room/wrong is not there',
    'shared/room/right/a.ts stands on no floor of shared/room',
  ]);
});
