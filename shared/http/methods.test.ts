import { readFileSync } from 'node:fs';
import { METHODS as PARSED } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { allow, type MethodPolicy, METHODS, SERVED } from './methods.ts';

const having = (property: 'safe' | 'idempotent') =>
  [...METHODS].filter(([, policy]) => policy[property]).map(([method]) => method);

describe('RFC 9110 section 9.2: properties of methods', () => {
  test('the methods of the specification are known', () => {
    const named =
      'GET HEAD OPTIONS TRACE DELETE PUT POST PATCH CONNECT QUERY PRI PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK PURGE BAN';
    expect(named.split(' ').filter((method) => !METHODS.has(method))).toEqual([]);
  });

  test('all that is known comes through the parser, or is answered without it', () => {
    const refused = [...METHODS.keys()].filter((method) => !PARSED.includes(method));
    expect(refused).toEqual(['PRI', 'BAN']);
  });

  test('what the parser passes is served, or 501', () => {
    expect(PARSED.filter((method) => !SERVED.has(method))).toEqual([
      'ACL',
      'BIND',
      'CHECKOUT',
      'CONNECT',
      'LINK',
      'M-SEARCH',
      'MERGE',
      'MKACTIVITY',
      'MKCALENDAR',
      'NOTIFY',
      'PURGE',
      'REBIND',
      'REPORT',
      'SEARCH',
      'SOURCE',
      'SUBSCRIBE',
      'UNBIND',
      'UNLINK',
      'UNSUBSCRIBE',
    ]);
  });

  test.each(['FOO', 'get', 'M-SEARCH', 'constructor', ''])('%j is known nowhere', (method) => {
    expect(METHODS.has(method)).toBe(false);
  });

  test('RFC 9110 section 9.2.1: safe', () => {
    expect(having('safe')).toEqual([
      'GET',
      'HEAD',
      'OPTIONS',
      'QUERY',
      'TRACE',
      'PRI',
      'PROPFIND',
      'REPORT',
      'SEARCH',
    ]);
  });

  test('RFC 9110 section 9.2.2: every safe method is idempotent; four are not', () => {
    const idempotent = having('idempotent');
    expect(having('safe').filter((method) => !idempotent.includes(method))).toEqual([]);
    const others = [...METHODS.keys()].filter((method) => !idempotent.includes(method));
    expect(others).toEqual(['POST', 'PATCH', 'CONNECT', 'LOCK']);
  });

  test('RFC 9110 section 9.2.3: cacheable', () => {
    const cacheable = [...METHODS].filter(([, { cacheable: may }]) => may !== false);
    expect(cacheable.map(([method, { cacheable: may }]) => [method, may])).toEqual([
      ['GET', true],
      ['HEAD', true],
      ['POST', 'conditional'],
      ['PATCH', 'conditional'],
      ['QUERY', true],
    ]);
  });
});

describe('the table of the README', () => {
  const CACHEABLE = new Map<MethodPolicy['cacheable'], string>([
    [true, 'yes'],
    [false, 'no'],
    ['conditional', 'with `Content-Location`'],
  ]);
  const yesNo = (is: boolean) => (is ? 'yes' : 'no');
  const [, section = ''] = readFileSync('README.md', 'utf8').split('\n## Every method\n');
  const [table = ''] = /^\|.*?\n\n/ms.exec(section) ?? [];
  const rows = table
    .split('\n')
    .filter((line) => /^\| [A-Z]+ \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, method, safe, idempotent, cacheable, where, spec]) => {
      return { method, safe, idempotent, cacheable, where, spec };
    });

  test('is this one, of what is served and of the other methods of the specification', () => {
    const named = [...METHODS].filter(
      ([method, { served }]) => served || ['CONNECT', 'PRI', 'PURGE', 'BAN'].includes(method),
    );
    expect(rows).toEqual(
      named.map(([method, { safe, idempotent, cacheable, spec }]) => ({
        method,
        safe: yesNo(safe),
        idempotent: yesNo(idempotent),
        cacheable: CACHEABLE.get(cacheable),
        where: expect.any(String),
        spec,
      })),
    );
  });

  test('says where: 501 for what no listener takes', () => {
    const nowhere = rows.filter(({ where }) => where?.includes('501')).map(({ method }) => method);
    expect(nowhere).toEqual(['PURGE', 'BAN']);
  });
});

describe('RFC 9110 section 10.2.1: Allow', () => {
  test.each([
    [[], 'OPTIONS'],
    [['GET'], 'GET, HEAD, OPTIONS'],
    [['DELETE', 'PUT', 'HEAD', 'GET'], 'GET, HEAD, OPTIONS, PUT, DELETE'],
    [['POST', 'POST', 'OPTIONS'], 'OPTIONS, POST'],
  ])('%j', (methods, value) => {
    expect(allow(methods)).toBe(value);
  });
});
