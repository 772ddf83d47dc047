import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DigestClient } from 'digest-fetch';
import { ONE_STORE } from '../flows/flow.ts';
import { curl, python, wget } from './programs.ts';
import type { Journey } from './programs.ts';
import { ALICE, identity, JASON, startSite } from './site.ts';
import type { Site } from './site.ts';

/** Digest (RFC 7616) with third-party clients, including faulty clients. */
const offering = (...algorithms: readonly string[]) => ({
  schemes: ['Digest'],
  digest: { algorithms },
});
const SPACES = {
  md5: offering('MD5'),
  'md5-sess': offering('MD5-sess'),
  'sha-256': offering('SHA-256'),
  'sha-256-sess': offering('SHA-256-sess'),
  'sha-512-256': offering('SHA-512-256'),
  'sha-512-256-sess': offering('SHA-512-256-sess'),
  'sha-256-or-md5': offering('SHA-256', 'MD5'),
  'three-algorithms': offering('SHA-512-256', 'SHA-256', 'MD5'),
  'auth-int': { schemes: ['Digest'], digest: { qop: ['auth-int'] } },
  'auth-or-auth-int': { schemes: ['Digest'], digest: { qop: ['auth', 'auth-int'] } },
  userhash: { schemes: ['Digest'], digest: { userhash: true } },
};

const WRONG = { ...ALICE, password: 'wrong' };

/** Whether a challenge has stale=true, which only a right password with an old nonce gets (section 3.3). */
const stale = ({ fields }: Journey) => fields.get('www-authenticate')?.some((c) => /stale/.test(c));

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind, { spaces: SPACES });
  });
  afterAll(async () => site[Symbol.asyncDispose]());
  describe('curl', () => {
    const digest = ({ name, password }: typeof ALICE, ...args: readonly string[]) =>
      curl('--digest', '--user', `${name}:${password}`, ...args);

    test.each([
      'md5',
      'md5-sess',
      'sha-256',
      'sha-256-sess',
      'sha-256-or-md5',
      'auth-int',
      'auth-or-auth-int',
      'userhash',
    ])('%s: curl gets a challenge for each request of a connection', async (space) => {
      const told = await digest(ALICE, site.url(space), site.url(space));
      const statuses = [401, 200, 401, 200];
      expect(told).toMatchObject({ statuses, body: identity('Digest', space) });
      expect(told.fields.get('authentication-info')).toEqual([
        expect.stringMatching(/rspauth="[0-9a-f]+"/),
      ]);
    });

    test.each(['sha-256', 'userhash'])(
      '%s: section 4: a name in UTF-8 is admitted',
      async (space) => {
        const body = identity('Digest', space, JASON);
        expect(await digest(JASON, site.url(space))).toMatchObject({ statuses: [401, 200], body });
      },
    );

    test('HEAD, and POST with content, are admitted', async () => {
      const head = await digest(ALICE, '--head', site.url('sha-256'));
      expect(head).toMatchObject({ statuses: [401, 200], body: '' });
      const post = await digest(ALICE, '--data', 'content', site.url('auth-or-auth-int'));
      const body = identity('Digest', 'auth-or-auth-int');
      expect(post).toMatchObject({ statuses: [401, 200], body });
    });

    test('a query is part of uri (section 3.4.6)', async () => {
      const told = await digest(ALICE, `${site.url('sha-256')}?a=b%20c&d`);
      expect(told).toMatchObject({ statuses: [401, 200] });
    });

    test.each([
      ['a wrong password', WRONG, 'sha-256', []],
      ['a wrong password, the name hashed', WRONG, 'userhash', []],
      ['an unknown name', { ...ALICE, name: 'nobody' }, 'sha-256', []],
      ['auth-int and POST, for curl hashes empty content', ALICE, 'auth-int', ['--data', 'x']],
      ['what curl 7 calls SHA-512-256 and is SHA-256', ALICE, 'sha-512-256', []],
      ['the same where it could have chosen another', ALICE, 'three-algorithms', []],
    ])('%s is refused', async (_what, person, space, args) => {
      const told = await digest(person, ...args, site.url(space));
      expect(told.statuses).toEqual([401, 401]);
      expect(stale(told)).toBe(false);
    });
  });

  describe('wget', () => {
    const digest = ({ name, password }: typeof ALICE, space: string) =>
      wget(`--user=${name}`, `--password=${password}`, site.url(space));

    // With several long challenges wget 1.21 reads freed memory and aborts.
    test.each(['md5', 'md5-sess'])('%s is admitted', async (space) => {
      const body = identity('Digest', space);
      expect(await digest(ALICE, space)).toEqual({ statuses: [401, 200], body });
    });

    test.each([
      ['a wrong password', WRONG, 'md5'],
      ['MD5 for SHA-256, which wget does not know', ALICE, 'sha-256'],
    ])('%s is refused', async (_what, person, space) => {
      expect(await digest(person, space)).toMatchObject({ statuses: [401, 401] });
    });
  });

  describe('python: requests', () => {
    const digest = (person: typeof ALICE, space: string) => {
      const url = site.url(space);
      const requests: [string, string, string?][] = [
        ['GET', url],
        ['GET', `${url}?a=b`],
        ['POST', url, 'content'],
      ];
      return python('requests', { scheme: 'digest', ...person, requests });
    };

    test.each(['md5', 'sha-256', 'auth-or-auth-int', 'sha-256-or-md5'])(
      '%s: nc increases within a session',
      async (space) => {
        const body = identity('Digest', space);
        expect(await digest(ALICE, space)).toEqual([
          { statuses: [401, 200], body, nc: '00000001' },
          { statuses: [200], body, nc: '00000002' },
          { statuses: [200], body, nc: '00000003' },
        ]);
      },
    );

    test('section 4: a name that requests sends in ISO-8859-1 and hashes in UTF-8 is admitted', async () => {
      const [first] = await digest(JASON, 'sha-256');
      expect(first).toMatchObject({
        statuses: [401, 200],
        body: identity('Digest', 'sha-256', JASON),
      });
    });

    test.each([
      ['a wrong password', WRONG, 'sha-256'],
      ['a wrong password for MD5', WRONG, 'md5'],
    ])('%s is refused', async (_what, person, space) => {
      const [first] = await digest(person, space);
      expect(first).toMatchObject({ statuses: [401, 401] });
    });
  });

  describe('python: httpx', () => {
    const digest = (person: typeof ALICE, space: string) => {
      const url = site.url(space);
      const requests: [string, string, string?][] = [
        ['GET', `${url}?a=b`],
        ['POST', url, 'content'],
      ];
      return python('httpx', { scheme: 'digest', ...person, requests });
    };

    test.each(['md5', 'md5-sess', 'sha-256', 'sha-256-sess', 'sha-256-or-md5', 'auth-or-auth-int'])(
      '%s is admitted',
      async (space) => {
        const body = identity('Digest', space);
        expect(await digest(ALICE, space)).toEqual([
          { statuses: [401, 200], body, nc: '00000001' },
          { statuses: [200], body, nc: '00000002' },
        ]);
      },
    );

    test.each([
      ['a wrong password', WRONG, 'sha-256'],
      ['a wrong password for a session', WRONG, 'sha-256-sess'],
    ])('%s is refused', async (_what, person, space) => {
      const [first] = await digest(person, space);
      expect(first).toMatchObject({ statuses: [401, 401] });
    });
  });

  describe('digest-fetch', () => {
    const digest = ({ name, password }: typeof ALICE, algorithm?: string) => {
      const client = new DigestClient(name, password, { ...(algorithm && { algorithm }) });
      return async (space: string, method = 'GET') => {
        const answer = await client.fetch(site.url(space), { method });
        return { status: answer.status, body: await answer.text() };
      };
    };

    test.each([
      ['MD5', 'md5'],
      ['MD5-sess', 'md5-sess'],
      ['SHA-256', 'sha-256'],
      ['SHA-256', 'sha-256-or-md5'],
      ['SHA-256-sess', 'sha-256-sess'],
      ['SHA-512-256', 'sha-512-256'],
      ['SHA-512-256', 'three-algorithms'],
      ['SHA-512-256-sess', 'sha-512-256-sess'],
    ])('%s in %s is admitted', async (algorithm, space) => {
      const ask = digest(ALICE, algorithm);
      const body = identity('Digest', space);
      expect(await ask(space)).toEqual({ status: 200, body });
      expect(await ask(space, 'POST')).toEqual({ status: 200, body });
    });

    test.each([
      ['MD5, which it takes unless told otherwise, for SHA-256', ALICE, undefined, 'sha-256'],
      ['MD5 with the nonce that was for SHA-256', ALICE, 'MD5', 'sha-256-or-md5'],
      ['SHA-256 for SHA-512-256', ALICE, 'SHA-256', 'sha-512-256'],
      ['SHA-256 for SHA-256-sess', ALICE, 'SHA-256', 'sha-256-sess'],
      ['auth-int, which it only claims to do', ALICE, 'SHA-256', 'auth-int'],
      ['a wrong password', WRONG, 'SHA-256', 'sha-256'],
    ])('%s is refused', async (_what, person, algorithm, space) => {
      expect(await digest(person, algorithm)(space)).toMatchObject({ status: 401 });
    });
  });
});
