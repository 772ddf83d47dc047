import { METHODS as PARSED } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { allow, METHODS, SERVED } from './methods.ts';

const having = (property: 'safe' | 'idempotent') =>
  [...METHODS].filter(([, policy]) => policy[property]).map(([method]) => method);

describe('RFC 9110 section 9.2: properties of methods', () => {
  test('the methods of the specification are known', () => {
    const named =
      'GET HEAD OPTIONS TRACE DELETE PUT POST PATCH CONNECT QUERY PRI PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK PURGE BAN';
    expect(named.split(' ').filter((method) => !METHODS.has(method))).toEqual([]);
  });

  test('every known method is accepted by the parser, or is answered without it', () => {
    const refused = [...METHODS.keys()].filter((method) => !PARSED.includes(method));
    expect(refused).toEqual(['PRI', 'BAN']);
  });

  test('a method that the parser accepts is served, or gets 501', () => {
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

  test.each(['FOO', 'get', 'M-SEARCH', 'constructor', ''])(
    'the method %j is unknown everywhere',
    (method) => {
      expect(METHODS.has(method)).toBe(false);
    },
  );

  test('RFC 9110 section 9.2.1: these methods are safe', () => {
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

  test('RFC 9110 section 9.2.2: every safe method is idempotent, and four methods are not', () => {
    const idempotent = having('idempotent');
    expect(having('safe').filter((method) => !idempotent.includes(method))).toEqual([]);
    const others = [...METHODS.keys()].filter((method) => !idempotent.includes(method));
    expect(others).toEqual(['POST', 'PATCH', 'CONNECT', 'LOCK']);
  });

  test('RFC 9110 section 9.2.3: these methods are cacheable', () => {
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

describe('RFC 9110 section 10.2.1: Allow', () => {
  test.each([
    [[], 'OPTIONS'],
    [['GET'], 'GET, HEAD, OPTIONS'],
    [['DELETE', 'PUT', 'HEAD', 'GET'], 'GET, HEAD, OPTIONS, PUT, DELETE'],
    [['POST', 'POST', 'OPTIONS'], 'OPTIONS, POST'],
  ])('Allow for %j is written in the right order', (methods, value) => {
    expect(allow(methods)).toBe(value);
  });
});
