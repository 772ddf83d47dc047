import { expect, test } from '@jest/globals';
import { requestOf } from '../../judge/auth.fixture.ts';
import { isSameHost } from './signatures.ts';

const at = (origin: string, fields: [string, string][], more: object = {}) =>
  isSameHost(requestOf(fields, { origin, ...more }));

test.each<[string, [string, string][], object, boolean]>([
  ['the host', [['Host', 'rs.example']], {}, true],
  ['its port said', [['Host', 'rs.example:443']], {}, true],
  ['in capitals', [['Host', 'RS.example']], {}, true],
  ['HTTP/2', [[':authority', 'rs.example']], {}, true],
  [
    'HTTP/2, and a Host that says something else',
    [
      [':authority', 'rs.example'],
      ['host', 'x'],
    ],
    {},
    true,
  ],
  ['a whole URL, which wins', [['Host', 'x']], { target: 'https://rs.example/documents/' }, true],
  ['a trusted proxy', [['Host', 'inside:8080']], { peer: { trusted: true } }, true],
  ['another host', [['Host', 'other.example']], {}, false],
  ['another port', [['Host', 'rs.example:8443']], {}, false],
  ['the address', [['Host', '127.0.0.1']], {}, false],
  ['a name that begins so', [['Host', 'rs.example.evil']], {}, false],
  ['none', [], {}, false],
  [
    'HTTP/2, another',
    [
      [':authority', 'other.example'],
      ['host', 'rs.example'],
    ],
    {},
    false,
  ],
  ['a whole URL of another', [['Host', 'rs.example']], { target: 'https://other.example/' }, false],
])('RFC 7486 section 3, the URL that is accessed: %s', (_, fields, more, same) => {
  expect(at('https://rs.example', fields, more)).toBe(same);
});

test('the port in Host must be the port of the origin', () => {
  expect(at('https://rs.example:8443', [['Host', 'rs.example:8443']])).toBe(true);
  expect(at('https://rs.example:8443', [['Host', 'rs.example']])).toBe(false);
});
