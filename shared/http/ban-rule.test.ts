import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseBan, readRule, ruleText, toBan } from './ban-rule.ts';
import { BadRequest } from './fields.ts';

describe('the field Ban, a Dictionary (RFC 8941 section 3.2)', () => {
  test.each([
    [['path="/img/*"'], { rule: { path: '/img/*' }, soft: false }],
    [['path="*.png", soft'], { rule: { path: '*.png' }, soft: true }],
    [['tag="a"', 'status=404'], { rule: { tag: 'a', status: '404' }, soft: false }],
    [['status="5xx";q', 'status="5xx", soft=?0'], { rule: { status: '5xx' }, soft: false }],
  ])('the lines %j are read', (lines, ban) => {
    expect(parseBan(lines)).toEqual(ban);
  });

  test.each([
    '',
    'soft',
    'path=/img',
    'path=img',
    'path="img"',
    'path="/a#b"',
    'path="/a b"',
    'path="/a", host="b"',
    'path=("/a" "/b")',
    'path="/a";not',
    'path',
    'tag=""',
    'tag="a b"',
    'status=99',
    'status=600',
    'status=404.5',
    'status="4x"',
    'status="6xx"',
    'path="/a", soft="yes"',
    'path="/a",',
    'req.url ~ /a',
    `path="/${'a'.repeat(2048)}"`,
    `path="/${'*'.repeat(17)}"`,
    `tag="${'a'.repeat(257)}"`,
  ])('%j is no ban', (line) => {
    expect(() => parseBan([line])).toThrow(BadRequest);
  });
});

describe('in JSON', () => {
  test('a ban in JSON has the same members as in the field', () => {
    const members = { path: '/a', tag: 'b', status: 200, soft: true };
    const ban = { rule: { path: '/a', tag: 'b', status: '200' }, soft: true };
    expect(toBan(members)).toEqual(ban);
  });

  test.each([null, [], 'path', { soft: true }, { path: '/a', paths: [] }, { path: ['/a'] }])(
    '%j is refused as a ban, with the reason for the client',
    (members) => {
      expect(() => toBan(members)).toThrow(/^The ban /);
    },
  );

  test.each([
    [{ colour: 'red' }, 'The ban has the unknown member "colour", and needs path, tag or status.'],
    [{ path: '/a', host: 'b' }, 'The ban has the unknown member "host".'],
    [{ tag: '' }, 'The ban tag must be 1 to 256 visible characters.'],
    [{ tag: 'a', soft: 'yes' }, 'The ban soft must be true or false.'],
  ])('%j: the message of the error is a sentence', (members, message) => {
    expect(() => toBan(members)).toThrow(message);
  });

  test('any JSON gives a ban or a BadRequest', () => {
    fc.assert(
      fc.property(fc.anything(), (members) => {
        try {
          toBan(members);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequest);
        }
      }),
    );
  });
});

test('a stored rule is read again', () => {
  const { rule } = toBan({ path: '/a/*', status: 404 });
  expect(readRule(JSON.stringify(rule))).toEqual(rule);
});

test.each(['', '{}', 'null', '{"path":"/a","host":"b"}'])(
  'a stored rule is ignored if it is unknown: %j',
  (value) => {
    expect(readRule(value)).toBeUndefined();
  },
);

test('ruleText gives the text of a rule for people', () => {
  expect(ruleText({ path: '/a*', status: '5xx' })).toBe('path=/a* status=5xx');
});
