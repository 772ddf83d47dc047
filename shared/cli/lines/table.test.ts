import { expect, test } from '@jest/globals';
import { table } from './table.ts';

test('a table has headings above its columns', () => {
  expect(table(['id', 'name'], [['1', 'Alice']])).toEqual(['ID  NAME', '1   Alice']);
});

test('only the first slice of a long list has headings', () => {
  const widths: number[] = [];
  expect(table(['id', 'name'], [['long', 'a']], widths)).toEqual(['ID    NAME', 'long  a']);
  expect(table(['id', 'name'], [['b', 'c']], widths)).toEqual(['b     c']);
});
