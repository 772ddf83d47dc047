import { describe, expect, test } from '@jest/globals';
import { clientLines } from './answer-lines.ts';
import { PathMap } from './paths.ts';

const OURS = 'https://rs.example';
const returned = {
  map: new PathMap('/', '/base/', true),
  hosts: new Set(['rs.example']),
  ours: OURS,
  atRoot: true,
  methods: ['GET'],
  ownsCors: true,
  isOurs: (name: string) => name === 'countersign-session',
};
const given = (name: string, value: string) => clientLines([[name, value]], 200, returned);

// A reference that begins with two slashes names a host (RFC 3986 section 4.2).
test.each(['//evil.example/', '/\\evil.example/', '/\t/evil.example/', '//', '/\t\t\\'])(
  'Location /base%s does not lead to another host after mapping',
  (path) => {
    expect(given('Location', `/base${path}`)).toEqual([['Location', OURS + path]]);
    expect(new URL(given('Location', `/base${path}`)[0]?.[1] ?? '', OURS).origin).toBe(OURS);
  },
);

test.each(['/', '/a//b', '/?//a', '/a'])('Location /base%s stays a path after mapping', (path) => {
  expect(given('Location', `/base${path}`)).toEqual([['Location', path]]);
});

test.each([
  'countersign-session=a',
  ' countersign-session = a; Path=/',
  'countersign-session',
  '=countersign-session=a',
  ' = countersign-session=a; Path=/base/',
])(
  "Set-Cookie %j is removed, since it would come back as the server's own (RFC 6265bis section 5.7)",
  (cookie) => {
    expect(given('Set-Cookie', cookie)).toEqual([]);
  },
);

test.each([
  'countersign-sessions=a',
  'a=countersign-session=b',
  '==countersign-session=a',
  '=',
  '',
])('Set-Cookie %j passes unchanged', (cookie) => {
  expect(given('Set-Cookie', cookie)).toEqual([['Set-Cookie', cookie]]);
});

describe.each([
  ['Strict-Transport-Security', 'max-age=0'],
  ['Public-Key-Pins', 'max-age=1; pin-sha256="a"'],
  ['Expect-CT', 'max-age=0'],
  ['NEL', '{"report_to":"a","max_age":1}'],
  ['Report-To', '{"group":"a","max_age":1,"endpoints":[{"url":"https://a.example/"}]}'],
  ['Clear-Site-Data', '"*"'],
  ['Service-Worker-Allowed', '/'],
  ['Accept-CH', 'Sec-CH-UA-Model'],
  ['Critical-CH', 'Sec-CH-UA-Model'],
  ['Origin-Agent-Cluster', '?0'],
  ['Set-Login', 'logged-out'],
  ['Use-As-Dictionary', 'match="/*"'],
])('%s is stored by browsers for the whole origin', (name, value) => {
  const at = (atRoot: boolean, spelled: string) =>
    clientLines([[spelled, value]], 200, { ...returned, atRoot });

  test.each([name, name.toLowerCase(), name.toUpperCase()])(
    '%s passes only from a space at the root',
    (spelled) => {
      expect(at(true, spelled)).toEqual([[spelled, value]]);
      expect(at(false, spelled)).toEqual([]);
    },
  );
});

test.each(['Reporting-Endpoints', 'Content-Security-Policy', 'Referrer-Policy', 'Link'])(
  '%s applies to one document, and passes',
  (name) => {
    expect(clientLines([[name, 'a']], 200, { ...returned, atRoot: false })).toEqual([[name, 'a']]);
  },
);

describe('RFC 9110 section 10.2.1: Allow is reduced to the methods of the space', () => {
  const allowed = (methods: readonly string[], ...values: readonly string[]) =>
    clientLines(
      values.map((value) => ['Allow', value]),
      200,
      { ...returned, methods },
    );

  test.each([
    ['GET, FROB', 'GET'],
    ['PUT,GET , DELETE', 'PUT, GET'],
    ['GET, GET', 'GET'],
    ['FROB', ''],
    ['', ''],
    ['get', ''],
  ])('Allow: %j becomes %j', (theirs, expected) => {
    expect(allowed(['GET', 'HEAD', 'PUT', 'OPTIONS'], theirs)).toEqual([['Allow', expected]]);
  });

  test('several lines of Allow become one line', () => {
    expect(allowed(['GET', 'PUT'], 'GET', 'PUT, X')).toEqual([['Allow', 'GET, PUT']]);
  });
});

describe('fields that name the application by its own host or path', () => {
  const behind = {
    ...returned,
    map: new PathMap('/app/', '/base/', true),
    hosts: new Set(['rs.example', 'internal.example:3000', '10.0.0.7']),
  };
  const mapped = (name: string, value: string) => clientLines([[name, value]], 200, behind)[0]?.[1];

  test.each([
    ['a=1; Domain=internal.example', 'a=1'],
    ['a=1; domain = internal.example ; Path = /base/x', 'a=1; Path=/app/x'],
    ['a=1; DOMAIN=.Internal.Example; Path=/base/; Secure', 'a=1; Path=/app/; Secure'],
    ['a=1;Domain=10.0.0.7;HttpOnly', 'a=1;HttpOnly'],
    ['a=1; Domain=internal.example; Domain=internal.example', 'a=1'],
    ['a=1; Domain=rs.example', 'a=1; Domain=rs.example'],
    ['a=1; Domain=example', 'a=1; Domain=example'],
    ['a=1; Domain=other.example', 'a=1; Domain=other.example'],
    ['a="x"; Domain=', 'a="x"; Domain='],
  ])('Set-Cookie: %s is mapped to the space (RFC 6265 section 5.2.3)', (cookie, expected) => {
    expect(mapped('Set-Cookie', cookie)).toBe(expected);
  });

  test.each([
    ['0; url=/base/z', '0; url=/app/z'],
    ['0;URL = "/base/z"', '0;URL = "/app/z"'],
    ["1.5, url='/base/z?a=b;c'", "1.5, url='/app/z?a=b;c'"],
    ['0 /base/z', '0 /app/z'],
    ['0; /base/z', '0; /app/z'],
    ['0; url=http://internal.example:3000/base/z', `0; url=${OURS}/app/z`],
    ['0; url=/base//evil.example/', `0; url=/app//evil.example/`],
    ['0; url=z', '0; url=z'],
    ['0; url=https://other.example/base/', '0; url=https://other.example/base/'],
    ['5', '5'],
    ['5;', '5;'],
    ['', ''],
  ])(
    'Refresh: %s is mapped to the space (HTML, shared declarative refresh steps)',
    (value, expected) => {
      expect(mapped('Refresh', value)).toBe(expected);
    },
  );
});
