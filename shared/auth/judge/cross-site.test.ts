import { describe, expect, test } from '@jest/globals';
import { requestOf } from './auth.fixture.ts';
import { schemeOf, spaceOf } from './judge.fixture.ts';
import { judge } from './judge.ts';
import { ORIGIN, PROXY } from '../scheme.ts';

describe('credentials that browsers send automatically', () => {
  const looked: string[] = [];
  const own = schemeOf('Own', {
    ambient: true,
    authenticate: ({ rest }) => {
      looked.push(rest);
      return { kind: 'granted', principal: { kind: 'anonymous' } };
    },
  });
  const space = spaceOf([own, schemeOf('One')], {
    corsOrigins: ['https://pages.example'],
    corsCredentials: true,
  });
  const sent = (
    method: string,
    fields: Record<string, string>,
    value = 'Own x',
    { at = ORIGIN, corsCredentials = true, handshake = false } = {},
  ) =>
    judge(
      { ...space, at, corsCredentials },
      requestOf([[at.answer, value], ...Object.entries(fields)], { at, method, handshake }),
    );
  const FOREIGN: Record<string, string>[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: '' },
    { Origin: 'http://rs.example' },
    { Origin: 'https://rs.example:8443' },
    { Origin: 'https://rs.example.evil.example' },
    { Origin: 'https://pages.example, https://evil.example' },
    { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ];

  test.each(FOREIGN)(
    'Fetch section 3.2: unsafe methods from %j get 403, before the credentials are checked',
    async (from) => {
      looked.length = 0;
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'LOCK', 'NOVEL']) {
        expect(await sent(method, from)).toMatchObject({ status: 403, fields: {}, scheme: 'Own' });
      }
      expect(looked).toEqual([]);
    },
  );

  test.each<Record<string, string>>([
    {},
    { Origin: 'https://rs.example' },
    { Origin: 'https://rs.example', 'Sec-Fetch-Site': 'same-origin' },
    { Origin: 'https://pages.example', 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
  ])('unsafe methods from %j pass', async (from) => {
    expect(await sent('POST', from)).toMatchObject({ kind: 'pass' });
  });

  describe('from an origin that is allowed without credentials', () => {
    const from = { Origin: 'https://pages.example' };
    const barred = { corsCredentials: false };

    test('POST is 403, since a form can send it without a preflight', async () => {
      looked.length = 0;
      expect(await sent('POST', from, 'Own x', barred)).toMatchObject({ status: 403 });
      expect(looked).toEqual([]);
    });

    test('methods that need a preflight are accepted, and so are other credentials', async () => {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'LOCK', 'NOVEL']) {
        expect(await sent(method, from, 'Own x', barred)).toMatchObject({ kind: 'pass' });
      }
      expect(await sent('POST', from, 'One good', barred)).toMatchObject({ kind: 'pass' });
    });
  });

  describe('RFC 6455 section 10.2: the handshake of a WebSocket', () => {
    const shaking = { handshake: true };

    test('a handshake from a page of another origin gets 403, although it is a GET, before the credentials are checked', async () => {
      looked.length = 0;
      for (const from of FOREIGN) {
        expect(await sent('GET', from, 'Own x', shaking)).toMatchObject({ status: 403 });
      }
      const listed = { Origin: 'https://pages.example' };
      const barred = { ...shaking, corsCredentials: false };
      expect(await sent('GET', listed, 'Own x', barred)).toMatchObject({ status: 403 });
      expect(looked).toEqual([]);
    });

    test('a handshake is accepted from the same origin, from an origin allowed with credentials, without Origin, and with other credentials', async () => {
      for (const origin of ['https://rs.example', 'https://pages.example']) {
        expect(await sent('GET', { Origin: origin }, 'Own x', shaking)).toMatchObject({
          kind: 'pass',
        });
      }
      expect(await sent('GET', {}, 'Own x', shaking)).toMatchObject({ kind: 'pass' });
      for (const from of FOREIGN) {
        expect(await sent('GET', from, 'One good', shaking)).toMatchObject({ kind: 'pass' });
      }
    });
  });

  test('safe methods are accepted from any origin (RFC 9110 section 9.2.1)', async () => {
    for (const from of FOREIGN) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY']) {
        expect(await sent(method, from)).toMatchObject({ kind: 'pass' });
      }
    }
  });

  test('other credentials are accepted from any origin, and at a proxy all credentials are', async () => {
    for (const from of FOREIGN) {
      expect(await sent('POST', from, 'One good')).toMatchObject({ kind: 'pass' });
      expect(await sent('POST', from, 'Own x', { at: PROXY })).toMatchObject({ kind: 'pass' });
    }
  });

  test('two Origin fields are 400', async () => {
    const fields = ['https://rs.example', 'https://evil.example'].map(
      (origin) => ['Origin', origin] as const,
    );
    const request = requestOf([['Authorization', 'Own x'], ...fields], { method: 'POST' });
    expect(await judge(space, request)).toMatchObject({ status: 400 });
  });
});
