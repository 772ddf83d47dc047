import { describe, expect, test } from '@jest/globals';
import { statusMember, withStatus } from './cache-status.ts';

describe('RFC 9211 section 2: Cache-Status', () => {
  test.each([
    [{ hit: true } as const, 'here; hit'],
    [{ hit: true, ttl: -412 } as const, 'here; hit; ttl=-412'],
    [{ hit: false, fwd: 'uri-miss' } as const, 'here; fwd=uri-miss'],
    [
      { hit: false, fwd: 'stale', fwdStatus: 304, stored: true, collapsed: true, ttl: 5 } as const,
      'here; fwd=stale; fwd-status=304; stored; collapsed; ttl=5',
    ],
    [
      { hit: false, fwd: 'vary-miss', stored: false, collapsed: false, detail: 'vary' } as const,
      'here; fwd=vary-miss; collapsed=?0; detail=vary',
    ],
  ])('Cache-Status is written as %j', (handling, member) => {
    expect(statusMember('here', handling)).toBe(member);
  });

  test('Cache-Status comes after the members of caches before', () => {
    expect(withStatus([['Cache-Status', 'a; hit']], 'here; hit')).toEqual([
      ['Cache-Status', 'a; hit'],
      ['Cache-Status', 'here; hit'],
    ]);
  });
});
