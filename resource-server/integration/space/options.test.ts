import { describe, expect, test } from '@jest/globals';
import { METHODS } from '#shared/http/methods.ts';
import { accepted, optionsFields } from '../../space/options.ts';
import { METHODS_OF } from '../../resources/place/kinds.ts';

const narrowed = (methods: string[]) => ({ methods: new Set(methods), trace: undefined });

describe('the methods of a resource that its space lets through', () => {
  test('a space without a list of methods lets all methods through, and OPTIONS', () => {
    const all = accepted({ trace: undefined }, ['GET', 'HEAD', 'PUT']);
    expect(all).toEqual(['GET', 'HEAD', 'PUT', 'OPTIONS']);
    expect(accepted({ trace: undefined }, [])).toEqual(['OPTIONS']);
  });

  test('RFC 9110 section 9.1: HEAD is allowed exactly if GET is', () => {
    expect(accepted(narrowed(['GET']), ['GET', 'HEAD', 'PUT'])).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(accepted(narrowed(['HEAD', 'PUT']), ['GET', 'HEAD', 'PUT'])).toEqual(['PUT', 'OPTIONS']);
  });

  test('a listed method that the resource lacks is not allowed', () => {
    expect(accepted(narrowed(['PUT', 'LOCK', 'TRACE']), ['GET', 'PUT'])).toEqual([
      'PUT',
      'OPTIONS',
    ]);
    expect(accepted(narrowed([]), ['GET', 'PUT'])).toEqual(['OPTIONS']);
  });

  test('TRACE is allowed if the space enables it', () => {
    expect(accepted({ trace: { hide: [] } }, ['GET'])).toEqual(['GET', 'OPTIONS', 'TRACE']);
  });
});

describe('RFC 9110 section 9.3.7: the answer to OPTIONS', () => {
  test('Allow names the methods in the order of the table', () => {
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
  ])('RFC 4918 section 10.1: the methods %j give the DAV classes %j', (methods, classes) => {
    const { DAV, 'MS-Author-Via': author } = optionsFields(methods);
    expect(DAV).toBe(classes);
    expect(author).toBe(classes && 'DAV');
  });

  test('RFC 10008 section 3, RFC 5789 section 3.1: Accept-Query and Accept-Patch are left out without their method', () => {
    const own = { 'Accept-Query': 'application/json', 'Accept-Patch': 'application/json', X: 'y' };
    expect(optionsFields(['GET'], own)).toEqual({ Allow: 'GET, HEAD, OPTIONS', X: 'y' });
    expect(Object.keys(optionsFields(['PATCH'], own))).toEqual(['Allow', 'Accept-Patch', 'X']);
  });

  test('the answer to OPTIONS has the fields of the resource', () => {
    expect(optionsFields(['QUERY'], { 'Accept-Query': 'application/json' })).toEqual({
      Allow: 'OPTIONS, QUERY',
      'Accept-Query': 'application/json',
    });
  });
});

test('RFC 9110 section 9.1: documents and collections accept only methods that the server implements', () => {
  const unserved = Object.values(METHODS_OF)
    .flat()
    .filter((method) => !METHODS.get(method)?.served);
  expect(unserved).toEqual([]);
});
