import { describe, expect, test } from '@jest/globals';
import { METHODS } from '#shared/http/methods.ts';
import { accepted, optionsFields } from '../../space/options.ts';
import { METHODS_OF } from '../../resources/place/kinds.ts';

const narrowed = (methods: string[]) => ({ methods: new Set(methods), trace: undefined });

describe('the methods of a resource that its space lets through', () => {
  test('all, and OPTIONS', () => {
    const all = accepted({ trace: undefined }, ['GET', 'HEAD', 'PUT']);
    expect(all).toEqual(['GET', 'HEAD', 'PUT', 'OPTIONS']);
    expect(accepted({ trace: undefined }, [])).toEqual(['OPTIONS']);
  });

  test('RFC 9110 section 9.1: HEAD goes with GET, whatever the space says of it', () => {
    expect(accepted(narrowed(['GET']), ['GET', 'HEAD', 'PUT'])).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(accepted(narrowed(['HEAD', 'PUT']), ['GET', 'HEAD', 'PUT'])).toEqual(['PUT', 'OPTIONS']);
  });

  test('never what is not there', () => {
    expect(accepted(narrowed(['PUT', 'LOCK', 'TRACE']), ['GET', 'PUT'])).toEqual([
      'PUT',
      'OPTIONS',
    ]);
    expect(accepted(narrowed([]), ['GET', 'PUT'])).toEqual(['OPTIONS']);
  });

  test('TRACE where the space has it', () => {
    expect(accepted({ trace: { hide: [] } }, ['GET'])).toEqual(['GET', 'OPTIONS', 'TRACE']);
  });
});

describe('RFC 9110 section 9.3.7: the answer to OPTIONS', () => {
  test('Allow, in the order of the table', () => {
    expect(optionsFields(['PUT', 'GET', 'HEAD', 'OPTIONS'])).toEqual({
      Allow: 'GET, HEAD, OPTIONS, PUT',
    });
  });

  test.each([
    [['PROPFIND', 'LOCK', 'UNLOCK'], '1, 2, 3'],
    [['PROPFIND'], '1, 3'],
    [['PROPFIND', 'LOCK'], '1, 3'],
    [['PROPFIND', 'UNLOCK'], '1, 3'],
    [['LOCK', 'UNLOCK'], undefined],
    [['GET', 'PUT', 'MKCOL'], undefined],
  ])('RFC 4918 section 10.1: of %j the classes %j', (methods, classes) => {
    const { DAV, 'MS-Author-Via': author } = optionsFields(methods);
    expect(DAV).toBe(classes);
    expect(author).toBe(classes && 'DAV');
  });

  test('RFC 10008 section 3, RFC 5789 section 3.1: media types that no method takes are not offered', () => {
    const own = { 'Accept-Query': 'application/json', 'Accept-Patch': 'application/json', X: 'y' };
    expect(optionsFields(['GET'], own)).toEqual({ Allow: 'GET, HEAD, OPTIONS', X: 'y' });
    expect(Object.keys(optionsFields(['PATCH'], own))).toEqual(['Allow', 'Accept-Patch', 'X']);
  });

  test('and what the resource says of itself', () => {
    expect(optionsFields(['QUERY'], { 'Accept-Query': 'application/json' })).toEqual({
      Allow: 'OPTIONS, QUERY',
      'Accept-Query': 'application/json',
    });
  });
});

test('RFC 9110 section 9.1: documents and collections have only methods that are served', () => {
  const unserved = Object.values(METHODS_OF)
    .flat()
    .filter((method) => !METHODS.get(method)?.served);
  expect(unserved).toEqual([]);
});
