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
    ['a method that the address supports is allowed', 'GET', { methods: ['GET'] }, undefined],
    [
      'a method that the server knows is allowed, before the server looks at the address',
      'PUT',
      { known: KNOWN },
      undefined,
    ],
    ['a method that no address supports is 501', 'BREW', { known: KNOWN }, 501],
    [
      'a method that no address supports is 501, also at an unused address',
      'BREW',
      { known: KNOWN, ...NOTHING },
      501,
    ],
    ['an address where nothing can be is 404', 'GET', NOTHING, 404],
    [
      'a method that creates a resource at an unused address is allowed',
      'PUT',
      { methods: ['PUT'], missing: true },
      undefined,
    ],
    ['another method at an unused address is 404', 'GET', { methods: ['PUT'], missing: true }, 404],
    [
      'a method that the resource does not support is 405',
      'DELETE',
      { methods: ['GET', 'PUT'] },
      405,
    ],
    ['a method in small letters is 501 (section 9.1)', 'get', { known: KNOWN }, 501],
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
