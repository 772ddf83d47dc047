import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endGrant, recordAccess } from '#shared/people/access/grants.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import type { SecondFactorRule } from '#shared/people/second-factor/need.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import type { Verdict } from '../../scheme.ts';
import { cookieName, isSignInCookie, setCookie } from './cookie.ts';
import { session } from './session.ts';
import { createSessions, type SessionRecord, type Sessions } from './sessions.ts';

const URL = 'https://app.example/';
const IDLE = 600;
const LIFE = 86_400;
const ALICE = { name: 'alice', groups: ['staff'] };

let parts: AsyncDisposableStack;
let clock: ManualClock;
let stores: Stores;
let feed: RevocationFeed;
let sessions: Sessions;
let people: Map<string, typeof ALICE>;
let epoch: string;
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  clock = new ManualClock();
  stores = parts.use(
    await openSqlite({ folder: await storeFolder(), clock, random: systemRandom }),
  );
  epoch = (await stores.revocations.epoch(true)) ?? '';
  feed = parts.use(await stores.revocations.feed());
  sessions = createSessions({ artefacts: stores.artefacts, clock, random: systemRandom });
  people = new Map([['a1', ALICE]]);
});
afterEach(async () => parts.disposeAsync());

const access = () => ({ stores, clock, longestLife: 600 });

async function begin(more: Partial<SessionRecord> = {}) {
  const grantId = randomId(systemRandom);
  const whose = { grantId, accountId: 'a1', clientId: 'c1' };
  const grant = { ...whose, generation: 0, clientGeneration: 0, since: clock.now() };
  await recordAccess(access(), grant, 1000);
  const claims = {
    jti: `t-${grantId}`,
    kid: 'k1',
    sub: 'a1',
    client_id: 'c1',
    grant_id: grantId,
    sub_gen: 0,
    client_gen: 0,
    epoch,
  };
  const until = clock.now() + LIFE * 1000;
  const record = { accountId: 'a1', grantId, space: URL, claims, until, ...more };
  return { secret: await sessions.begin(record, IDLE), grantId, claims };
}

const scheme = (url = URL, secondFactor: SecondFactorRule = 'optional') =>
  session({
    space: { url, realm: 'app', idle: IDLE },
    sessions,
    feed,
    about: async (id) => people.get(id),
    secondFactor,
  });
const shown = (...values: string[]) =>
  requestOf([
    ['Cookie', values.map((value) => `${cookieName(URL, 'session')}=${value}`).join('; ')],
  ]);
const judge = async (...values: string[]): Promise<Verdict> =>
  scheme().authenticate({ scheme: 'session', rest: '' }, shown(...values));

describe('the cookie', () => {
  test('RFC 6265bis section 4.1.3: only this host can set the cookie, and no script can read it', () => {
    expect(setCookie(URL, cookieName(URL, 'session'), 'x', 5)).toMatch(
      /^__Host-countersign-session-[\w-]{12}=x; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=5$/,
    );
  });

  test('over http the cookie has no prefix, and its name contains the port', () => {
    const [one, other] = ['http://localhost:1/', 'http://localhost:2/'].map((url) =>
      cookieName(url, 'session'),
    );
    expect(one).toMatch(/^countersign-session-/);
    expect(one).not.toBe(other);
    expect(setCookie('http://localhost:1/', 'x', 'y')).toBe('x=y; Path=/; HttpOnly; SameSite=Lax');
  });

  test.each([
    ['__Host-countersign-session-x', true],
    ['countersign-visit-x', true],
    ['__Host-session', false],
    ['x-countersign-session', false],
  ])('the name %s belongs to a sign-in cookie: %s', (name, ours) =>
    expect(isSignInCookie(name)).toBe(ours),
  );
});

describe('a session', () => {
  test("a session admits the person under the person's present name", async () => {
    const { secret, grantId } = await begin();
    expect(await judge(secret)).toMatchObject({
      kind: 'granted',
      principal: {
        kind: 'person',
        realm: 'app',
        name: 'alice',
        claims: { sub: 'a1', grant_id: grantId },
        about: ALICE,
      },
    });
  });

  test('a session shows how and when the person signed in, as far as this is known', async () => {
    const acr = 'urn:countersign:acr:passkey';
    const { secret } = await begin({ acr, auth_time: 1000 });
    expect(await judge(secret)).toMatchObject({
      principal: { authentication: { acr, authTime: 1000 } },
    });
    const other = await begin();
    expect(await judge(other.secret)).toHaveProperty('principal.authentication', {});
  });

  test('after a person must use a second factor, a session that began without one is refused', async () => {
    const rule = { required: ['staff'] };
    const judged = async (acr: string | undefined, groups: readonly string[]) => {
      people.set('a1', { ...ALICE, groups: [...groups] });
      const { secret } = await begin(acr === undefined ? {} : { acr });
      const credentials = { scheme: 'session', rest: '' };
      return (await scheme(URL, rule).authenticate(credentials, shown(secret))).kind;
    };
    for (const less of [undefined, 'urn:countersign:acr:password', 'urn:other']) {
      expect(await judged(less, ['staff'])).toBe('refused');
      expect(await judged(less, ['chess'])).toBe('granted');
    }
    expect(await judged('urn:countersign:acr:second-factor', ['staff'])).toBe('granted');
    expect(await judged('urn:countersign:acr:passkey', ['staff'])).toBe('granted');
  });

  test("the store contains only a hash of the session's secret", async () => {
    const { secret } = await begin();
    expect(await stores.artefacts.get('BrowserSession', secret)).toBeUndefined();
    const id = createHash('sha256').update(secret).digest('base64url');
    const record = await stores.artefacts.get('BrowserSession', id);
    expect(JSON.stringify(record)).not.toContain(secret);
  });

  test('no challenge names the session', async () => {
    expect(await scheme().challenge(shown())).toEqual([]);
  });

  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44), '\u0000', '__proto__'])(
    'an unknown secret is refused: %j',
    async (value) => expect(await judge(value)).toMatchObject({ kind: 'refused' }),
  );

  test("RFC 6265 section 8.6: two cookies with the session's name are both ignored, since one may be planted", async () => {
    const { secret } = await begin();
    expect(await judge(secret, secret)).toMatchObject({ kind: 'refused' });
    expect(await judge('x', secret)).toMatchObject({ kind: 'refused' });
  });

  test('a session is ignored in another space', async () => {
    const { secret } = await begin({ space: 'https://app.example/other/' });
    expect(await judge(secret)).toMatchObject({ kind: 'refused' });
  });

  test('a session ends when its person may no longer sign in', async () => {
    const { secret } = await begin();
    people.clear();
    expect(await judge(secret)).toMatchObject({ kind: 'refused' });
  });
});

describe('the end of a session', () => {
  test('a session ends after a time without use; each use extends it, and is written at most once a minute', async () => {
    const { secret } = await begin();
    for (let n = 0; n < 5; n += 1) {
      clock.advance(IDLE - 10);
      expect(await judge(secret)).toMatchObject({ kind: 'granted' });
    }
    const before = await sessions.find(secret);
    clock.advance(59);
    await judge(secret);
    expect(await sessions.find(secret)).toEqual(before);
    clock.advance(1);
    await judge(secret);
    expect((await sessions.find(secret))?.used).toBe(clock.now());
    clock.advance(IDLE + 1);
    expect(await judge(secret)).toMatchObject({ kind: 'refused' });
  });

  test('a session ends at its last moment, even if it is used', async () => {
    const { secret } = await begin({ until: clock.now() + 1000_000 });
    clock.advance(500);
    expect(await judge(secret)).toMatchObject({ kind: 'granted' });
    clock.advance(499);
    expect(await judge(secret)).toMatchObject({ kind: 'granted' });
    clock.advance(1);
    expect(await judge(secret)).toMatchObject({ kind: 'refused' });
  });

  const ENDS: Readonly<
    Record<string, (begun: Awaited<ReturnType<typeof begin>>) => Promise<unknown>>
  > = {
    'its grant': ({ grantId }) => endGrant(access(), grantId),
    'all of the person': () => endEverything(access(), 'a1'),
    'the token': ({ claims }) => stores.revocations.revoke('token', claims.jti, clock.now() + 1e6),
    'the key of the token': () => stores.revocations.revoke('key', 'k1', clock.now() + 1e6),
    'the client': () => stores.revocations.raise('client', 'c1', clock.now() + 1e6),
  };

  test.each(Object.entries(ENDS))(
    'ending %s ends the session at the next request, permanently',
    async (_what, end) => {
      const begun = await begin();
      expect(await judge(begun.secret)).toMatchObject({ kind: 'granted' });
      await end(begun);
      expect(await judge(begun.secret)).toMatchObject({ kind: 'refused' });
      expect(await sessions.find(begun.secret)).toBeUndefined();
    },
  );

  test('a session that is written while its grant is revoked is refused', async () => {
    const begun = await begin();
    const record = await sessions.find(begun.secret);
    await endGrant(access(), begun.grantId);
    if (record === undefined) throw new Error('no record');
    const late = await sessions.begin(record, IDLE);
    expect(await judge(late)).toMatchObject({ kind: 'refused', reason: 'revoked by grant' });
  });

  test("a late write of a session's use does not restore a session that has ended", async () => {
    const { secret, grantId } = await begin();
    const record = await sessions.find(secret);
    if (record === undefined) throw new Error('no record');
    clock.advance(120);
    await endGrant(access(), grantId);
    await sessions.touch(secret, record, IDLE);
    expect(await sessions.find(secret)).toBeUndefined();
  });

  test('a session ends when the store has lost its memory', async () => {
    const { secret, claims } = await begin();
    const record = await sessions.find(secret);
    if (record === undefined) throw new Error('no record');
    const other = await sessions.begin({ ...record, claims: { ...claims, epoch: 'other' } }, IDLE);
    expect(await judge(other)).toMatchObject({ kind: 'refused', reason: 'revoked by epoch' });
  });

  test('a connected client, as with a WebSocket, loses its access when the session ends', async () => {
    const { secret, grantId } = await begin();
    const verdict = await judge(secret);
    const end = verdict.kind === 'granted' ? verdict.grounds?.end : undefined;
    expect(await end?.()).toBeUndefined();
    await endGrant(access(), grantId);
    expect(await end?.()).toBe('revoked');
  });
});
