import { describe, expect, test } from '@jest/globals';
import { checkMethod, type MethodsThere } from './method-rules.ts';

const NOTHING = { methods: [], missing: true };
const KNOWN = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

function statusOf(method: string, there: MethodsThere): unknown {
  try {
    checkMethod(method, there);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('RFC 9110 sections 15.5.5, 15.5.6, 15.6.2', () => {
  test.each<[string, string, MethodsThere, number | undefined]>([
    ['a method that the address has', 'GET', { methods: ['GET'] }, undefined],
    ['a method of the server, before the address is looked at', 'PUT', { known: KNOWN }, undefined],
    ['a method of no address', 'BREW', { known: KNOWN }, 501],
    ['a method of no address, where nothing is', 'BREW', { known: KNOWN, ...NOTHING }, 501],
    ['nothing is there, nothing can be', 'GET', NOTHING, 404],
    [
      'nothing is there, and the method makes something',
      'PUT',
      { methods: ['PUT'], missing: true },
      undefined,
    ],
    [
      'nothing is there, and the method makes nothing',
      'GET',
      { methods: ['PUT'], missing: true },
      404,
    ],
    ['what is there has other methods', 'DELETE', { methods: ['GET', 'PUT'] }, 405],
    ['methods are compared with case (section 9.1)', 'get', { known: KNOWN }, 501],
  ])('%s', (_what, method, there, status) => {
    expect(statusOf(method, there)).toEqual(
      status === undefined ? undefined : expect.objectContaining({ status }),
    );
  });
});

test('405 names the methods of the resource, in the words of the part that refuses', () => {
  const told = (allowed: string) => `Ask for ${allowed}.`;
  expect(statusOf('PUT', { methods: ['GET'], told })).toMatchObject({
    status: 405,
    message: 'Ask for GET, HEAD, OPTIONS.',
    fields: { Allow: 'GET, HEAD, OPTIONS' },
  });
});
