import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { endGrant, findAccess } from '#shared/people/access/grants.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endSignIn, recordSignIn } from '#shared/people/access/sign-ins.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId } from '#shared/base/random.ts';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';
import { createProvider } from '../../engine/provider.ts';
import { tokenSteps } from '../../engine/token/token-request.ts';
import { createGiveGrant } from '../../consent/give-grant.ts';
import type { GrantDecision } from '../../consent/give-grant.ts';
import { DOCUMENTS, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const item = (scope: string, resource?: string) => ({
  id: scope,
  text: scope,
  scope,
  required: false,
  ...(resource !== undefined && { resource }),
});
const OPENID = item('openid');
const OFFLINE = item('offline_access');
const READ = item('documents:read', DOCUMENTS);
const WRITE = item('documents:write', DOCUMENTS);

/** Stands in place of the id of a grant. */
const NONE = 'none';

type When = 'before' | 'after';

/** Returns `giveGrant` with an action that runs before or after it has written an artefact of this kind. */
function giving(
  when: When = 'after',
  kind = '',
  happens: (artefact: Artefact) => Promise<unknown> = async () => {},
) {
  const { artefacts } = site.server.stores;
  const watched =
    <A extends [Artefact, ...unknown[]], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const concerned = args[0].kind === kind;
      if (concerned && when === 'before') await happens(args[0]);
      const written = await write(...args);
      if (concerned && when === 'after') await happens(args[0]);
      return written;
    };
  const stores = {
    ...site.server.stores,
    artefacts: {
      ...bound(artefacts),
      put: watched(artefacts.put.bind(artefacts)),
      replace: watched(artefacts.replace.bind(artefacts)),
    },
  };
  const server = { ...site.server, stores };
  const giveGrant = createGiveGrant(
    server,
    createProvider(server, site.ring.current, tokenSteps(server, silentLog)),
  );
  return async (decision: GrantDecision): Promise<string> => (await giveGrant(decision)) ?? NONE;
}

/** Returns the methods of the store, whether they are on the object or on its class. */
function bound(artefacts: TestSite['server']['stores']['artefacts']) {
  return {
    get: artefacts.get.bind(artefacts),
    getByUid: artefacts.getByUid.bind(artefacts),
    getByUserCode: artefacts.getByUserCode.bind(artefacts),
    consume: artefacts.consume.bind(artefacts),
    settle: artefacts.settle.bind(artefacts),
    countByAccount: artefacts.countByAccount.bind(artefacts),
    pageByClient: artefacts.pageByClient.bind(artefacts),
    listByAccount: artefacts.listByAccount.bind(artefacts),
    remove: artefacts.remove.bind(artefacts),
    removeByGrant: artefacts.removeByGrant.bind(artefacts),
  };
}

/** Returns a sign-in of a new person. */
async function signedIn(): Promise<SignIn> {
  const { random, clock } = site.server;
  const signIn = {
    uid: randomId(random),
    accountId: randomId(random),
    generation: 0,
    since: clock.now(),
    assurance: BY_PASSWORD,
  };
  await recordSignIn(site.server, signIn, 1000);
  return signIn;
}

const grantIn = (id: string) => site.server.stores.artefacts.get('Grant', id);
const DECISION = { clientId: 'web', allowed: [OPENID, READ] };

describe('grants that `giveGrant` writes', () => {
  test('a grant holds the allowed items, and rejects the refused ones', async () => {
    const signIn = await signedIn();
    const id = await giving()({ ...DECISION, signIn, refused: [WRITE, OFFLINE] });
    expect(await grantIn(id)).toMatchObject({
      accountId: signIn.accountId,
      clientId: 'web',
      openid: { scope: 'openid' },
      resources: { [DOCUMENTS]: 'documents:read' },
      rejected: {
        openid: { scope: 'offline_access' },
        resources: { [DOCUMENTS]: 'documents:write' },
      },
    });
    expect(await findAccess(site.server, id)).toMatchObject({ signIn: signIn.uid, generation: 0 });
  });

  test('a grant for another description of the client is replaced, and the application is not told of its end', async () => {
    const { stores } = site.server;
    const web = await stores.clients.get('web');
    if (web === undefined) throw new Error('there is no client');
    await stores.clients.replace({ ...web, backchannel_logout_uri: 'https://app.example/logout' });
    const signIn = await signedIn();
    const redirectUri = 'https://app.example/callback';
    const old = await giving()({ ...DECISION, signIn, redirectUri, describedSince: 1 });
    expect(await findAccess(site.server, old)).toMatchObject({ uid: signIn.uid });
    const decision = { ...DECISION, signIn, redirectUri, describedSince: 2, extend: old };
    const id = await giving()(decision);
    await stores.clients.replace(web);
    expect(id).not.toBe(old);
    expect(await findAccess(site.server, old)).toBeUndefined();
    expect(await grantIn(old)).toBeUndefined();
    expect(await stores.logouts.waiting(signIn.accountId)).toEqual([]);
    await endGrant(site.server, id);
    expect(await stores.logouts.waiting(signIn.accountId)).toEqual(['web']);
  });

  test('a device gets a new grant each time, which outlives the sign-in', async () => {
    const signIn = await signedIn();
    const device = { address: '192.0.2.1', agent: 'TV' };
    const give = giving();
    const [one, two] = [
      await give({ ...DECISION, signIn, device }),
      await give({ ...DECISION, signIn, device }),
    ];
    expect(one).not.toBe(two);
    await endSignIn(site.server, signIn);
    expect(await findAccess(site.server, one)).toMatchObject({ device });
    await endGrant(site.server, one);
    expect(await findAccess(site.server, two)).toBeDefined();
  });

  test.each([
    ['ends with the sign-in', { ...DECISION }, 100],
    [
      'with offline_access lives as long as the grant',
      { ...DECISION, allowed: [OPENID, OFFLINE, READ] },
      undefined,
    ],
    [
      'of a device lives as long as the grant',
      { ...DECISION, device: { address: '192.0.2.1', agent: 'TV' } },
      undefined,
    ],
  ])('the Access of a grant %s, also late in the session', async (_what, decision, seconds) => {
    const { config, clock } = site.server;
    const late = await signedIn();
    const since = clock.now() - (config.people.session - 100) * 1000;
    let kept: Artefact | undefined;
    const give = giving('before', 'Access', async (artefact) => (kept = artefact));
    await give({ ...decision, signIn: { ...late, since } });
    const expected = seconds ?? config.people.grant;
    expect(kept?.seconds).toBeGreaterThan(expected - 10);
    expect(kept?.seconds).toBeLessThan(expected + 2); // the clock counts whole seconds
  });

  test('a grant grows: a person can later allow what the person refused', async () => {
    const signIn = await signedIn();
    const give = giving();
    const id = await give({ ...DECISION, signIn, refused: [WRITE, OFFLINE] });
    expect(await give({ ...DECISION, allowed: [WRITE, OFFLINE], signIn, extend: id })).toBe(id);
    const grant = await grantIn(id);
    expect(grant).toMatchObject({ resources: { [DOCUMENTS]: 'documents:read documents:write' } });
    expect(grant?.['rejected']).toEqual({});
    expect(await findAccess(site.server, id)).not.toHaveProperty('signIn');
  });

  test.each([
    ['of another person', async () => giving()({ ...DECISION, signIn: await signedIn() })],
    ['that is not known', async () => 'unknown'],
    ['that is empty', async () => ''],
  ])('a grant %s is not extended', async (_what, other) => {
    const extend = await other();
    expect(await giving()({ ...DECISION, signIn: await signedIn(), extend })).not.toBe(extend);
  });

  test('a grant of another client is not extended', async () => {
    const signIn = await signedIn();
    const extend = await giving()({ ...DECISION, signIn });
    expect(await giving()({ ...DECISION, clientId: 'other', signIn, extend })).not.toBe(extend);
  });
});

describe('a grant that ends at the moment of its writing stays ended', () => {
  const MOMENTS = [
    ['before', 'Grant'],
    ['after', 'Grant'],
    ['before', 'Access'],
    ['after', 'Access'],
  ] as const;

  test.each(MOMENTS)('the sign-in ends %s the %s is written', async (when, kind) => {
    const signIn = await signedIn();
    const written: string[] = [];
    const give = giving(when, kind, async ({ id }) => {
      written.push(id);
      await endSignIn(site.server, signIn);
    });
    expect(await give({ ...DECISION, signIn })).toBe(NONE);
    const [id = ''] = written;
    expect(await grantIn(id)).toBeUndefined();
    expect(await findAccess(site.server, id)).toBeUndefined();
  });

  test.each(MOMENTS)('all access ends %s the %s is written', async (when, kind) => {
    const signIn = await signedIn();
    const give = giving(when, kind, () => endEverything(site.server, signIn.accountId));
    expect(await give({ ...DECISION, allowed: [OFFLINE], signIn })).toBe(NONE);
  });

  test.each(MOMENTS)('the grant that is extended ends %s its %s is written', async (when, kind) => {
    const signIn = await signedIn();
    const id = await giving()({ ...DECISION, signIn });
    const give = giving(when, kind, () => endGrant(site.server, id));
    await give({ ...DECISION, allowed: [WRITE], signIn, extend: id }).catch(() => {});
    expect(await findAccess(site.server, id)).toBeUndefined();
    expect(await grantIn(id)).toBeUndefined();
  });
});
