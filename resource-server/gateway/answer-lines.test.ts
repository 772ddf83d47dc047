import { expect, test } from '@jest/globals';
import { clientLines } from './answer-lines.ts';
import { PathMap } from './paths.ts';

const OURS = 'https://rs.example';
const returned = {
  map: new PathMap('/', '/base/', true),
  hosts: new Set(['rs.example']),
  ours: OURS,
  methods: ['GET'],
  ownsCors: true,
  isOurs: (name: string) => name === 'countersign-session',
};
const given = (name: string, value: string) => clientLines([[name, value]], 200, returned);

// RFC 3986 section 4.2: a reference that begins with two slashes names a host.
test.each(['//evil.example/', '/\\evil.example/', '/\t/evil.example/', '//', '/\t\t\\'])(
  'Location /base%s leads to nobody else once it is mapped',
  (path) => {
    expect(given('Location', `/base${path}`)).toEqual([['Location', OURS + path]]);
    expect(new URL(given('Location', `/base${path}`)[0]?.[1] ?? '', OURS).origin).toBe(OURS);
  },
);

test.each(['/', '/a//b', '/?//a', '/a'])('Location /base%s stays a path', (path) => {
  expect(given('Location', `/base${path}`)).toEqual([['Location', path]]);
});

test.each([
  'countersign-session=a',
  ' countersign-session = a; Path=/',
  'countersign-session',
  '=countersign-session=a',
  ' = countersign-session=a; Path=/base/',
])('Set-Cookie %j would come back as one of ours (RFC 6265bis section 5.7)', (cookie) => {
  expect(given('Set-Cookie', cookie)).toEqual([]);
});

test.each([
  'countersign-sessions=a',
  'a=countersign-session=b',
  '==countersign-session=a',
  '=',
  '',
])('Set-Cookie %j would not', (cookie) => {
  expect(given('Set-Cookie', cookie)).toEqual([['Set-Cookie', cookie]]);
});
