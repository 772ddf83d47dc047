import { expect, test } from '@jest/globals';
import { table } from './table.ts';

test('puts headings over the columns', () => {
  expect(table(['id', 'name'], [['1', 'Alice']])).toEqual(['ID  NAME', '1   Alice']);
});

test('puts headings over the first slice of a long list alone', () => {
  const widths: number[] = [];
  expect(table(['id', 'name'], [['long', 'a']], widths)).toEqual(['ID    NAME', 'long  a']);
  expect(table(['id', 'name'], [['b', 'c']], widths)).toEqual(['b     c']);
});
