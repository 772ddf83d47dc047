import { expect, test } from '@jest/globals';
import { inFileOrder } from './file-order.ts';

const FILE = {
  spaces: [{ url: 'x', cache: { 'a.b': 1, z: 2 } }, { url: 'y' }],
  issuer: 'https://auth.example',
  limits: {},
};

test("mistakes are in the file's order of settings, and missing settings come last in their object", () => {
  const paths = [
    'COUNTERSIGN_SECRET',
    'limits.nothing',
    'issuer',
    'spaces.1.url',
    'spaces.0.realm',
    'spaces.0.cache.z',
    'spaces.0.cache.a.b',
    'spaces',
  ];
  const mistakes = paths.map((path) => ({ path, message: 'is wrong' }));
  expect(inFileOrder(mistakes, FILE).map(({ path }) => path)).toEqual([
    'spaces',
    'spaces.0.cache.a.b',
    'spaces.0.cache.z',
    'spaces.0.realm',
    'spaces.1.url',
    'issuer',
    'limits.nothing',
    'COUNTERSIGN_SECRET',
  ]);
});

test('each mistake is named once', () => {
  const one = { path: 'issuer', message: 'is wrong' };
  expect(inFileOrder([one, { ...one }, { ...one, message: 'is http' }], FILE)).toEqual([
    one,
    { path: 'issuer', message: 'is http' },
  ]);
});

test('names of Object.prototype are no settings of the file', () => {
  const mistakes = ['constructor', 'issuer'].map((path) => ({ path, message: 'is wrong' }));
  expect(inFileOrder(mistakes, FILE).map(({ path }) => path)).toEqual(['issuer', 'constructor']);
});
