import { expect, test } from '@jest/globals';
import { inFileOrder } from './file-order.ts';

const FILE = {
  spaces: [{ url: 'x', cache: { 'a.b': 1, z: 2 } }, { url: 'y' }],
  issuer: 'https://auth.example',
  limits: {},
};

test('sorts mistakes as the file has the settings; missing ones come last beside their neighbours', () => {
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

test('names each mistake once', () => {
  const one = { path: 'issuer', message: 'is wrong' };
  expect(inFileOrder([one, { ...one }, { ...one, message: 'is http' }], FILE)).toEqual([
    one,
    { path: 'issuer', message: 'is http' },
  ]);
});

test('keys with names of every object are no settings of the file', () => {
  const mistakes = ['constructor', 'issuer'].map((path) => ({ path, message: 'is wrong' }));
  expect(inFileOrder(mistakes, FILE).map(({ path }) => path)).toEqual(['issuer', 'constructor']);
});
