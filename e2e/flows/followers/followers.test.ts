/** Servers without the store refuse a revoked token once its revocation is acknowledged (SECURITY.md). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { PairOptions } from '../../pair/pair.ts';
import { startRelay } from '../../parts/relay.ts';
import { STORE_KINDS } from '../flow.ts';
import { type FollowedFlow, revokeAll, startFollowed } from './followed.ts';

const REVOCATIONS = 100;
/** Half of the default lease, for tests that wait for its end. */
const SHORT = { revocations: { lease: 1, hold: 0.25 } };

/** Milliseconds: a verdict waits for the current poll, which times out after half of the default lease. */
const UNHEARD = 20_000;

/** Milliseconds that SQLite waits for a server that is writing. */
const BUSY = 10_000;

const far = () => Date.now() + 3_600_000;

describe.each(STORE_KINDS)('two authorization servers with four followers: %s', (kind) => {
  let followed: FollowedFlow;
  beforeAll(async () => {
    followed = await startFollowed(kind, { authz: 2, followers: 4 });
  });
  afterAll(async () => followed?.[Symbol.asyncDispose]());

  test('no follower accepts a token after its revocation was acknowledged, one at a time and eight at once', async () => {
    const calm = await revokeAll(followed, { revocations: REVOCATIONS });
    const busy = await revokeAll(followed, { revocations: REVOCATIONS, atOnce: 8 });
    const said = (status: number) => (calm.said[status] ?? 0) + (busy.said[status] ?? 0);
    // No answer (0) on a busy machine accepts nothing.
    expect(said(401) + said(503) + said(0)).toBe(2 * 4 * REVOCATIONS);
    // A slow follower may answer 503 for a moment, but not all followers all the time.
    expect(said(401)).toBeGreaterThan(4 * REVOCATIONS);
  });

  test('a revocation waits for followers, by the command line and directly in the store', async () => {
    const { flow, claims } = followed;
    const { pair, stores } = flow;
    const verdicts = (token: Parameters<typeof claims>[0]) => followed.verdicts(claims(token));
    const person = await pair.addPerson();
    const { id } = await pair.addClient();
    const [ofPerson, ofClient] = [{ sub: person.id, sub_gen: 0 }, { client_id: id }];
    for (const owner of [ofPerson, ofClient]) {
      await eventually(async () => expect(await verdicts(owner)).toEqual([200, 200, 200, 200]));
    }
    await pair.cli('user', 'end', person.name);
    expect(await verdicts(ofPerson)).not.toContain(200);
    await pair.cli('client', 'remove', id);
    expect(await verdicts(ofClient)).not.toContain(200);
    const kid = randomUUID();
    await stores.revocations.revoke('key', kid, far());
    expect(await verdicts({ kid })).not.toContain(200);
    await followed.settled();
  });

  test('killed or paused followers delay a revocation by a lease once, and accept no revoked token when they resume', async () => {
    const [first, second] = followed.flow.pair.authz;
    await using killed = await followed.follow(first?.url ?? '');
    await using paused = await followed.follow(second?.url ?? '');
    await followed.settled();
    await killed.process.kill();
    paused.process.signal('SIGSTOP');
    // The first revocations wait together; later revocations do not wait.
    await revokeAll(followed, { revocations: 5, atOnce: 3 });
    const { jti } = followed.claims();
    await followed.flow.stores.revocations.revoke('token', jti, far());
    paused.process.signal('SIGCONT');
    for (let n = 0; n < 20; n += 1) {
      expect(await paused.verdict(followed.claims({ jti }))).not.toBe(200);
      await sleep(5);
    }
    await killed[Symbol.asyncDispose]();
    await followed.settled();
    await followed.refused(followed.claims({ jti }));
  });

  test('if an authorization server is killed, no follower accepts a revoked token, and after a restart all followers work', async () => {
    const { flow, claims, verdicts } = followed;
    const [first, second] = flow.pair.authz;
    await second?.kill();
    for (let n = 0; n < 3; n += 1) {
      const { jti } = claims();
      await flow.stores.revocations.revoke('token', jti, far());
      expect(await verdicts(claims({ jti }))).not.toContain(200);
      const said = await verdicts(claims({ jti }), UNHEARD);
      expect([said[1], said[3]]).toEqual([503, 503]);
    }
    await first?.kill();
    await Promise.all([first?.start(), second?.start()]);
    await followed.settled();
    await revokeAll(followed, { revocations: 10 });
  });

  test('an authorization server that was paused for longer than a lease renews no lease with old data', async () => {
    const { flow, claims, verdicts } = followed;
    const [, second] = flow.pair.authz;
    second?.signal('SIGSTOP');
    const { jti } = claims();
    await flow.stores.revocations.revoke('token', jti, far());
    const ask = () => verdicts(claims({ jti }));
    expect(await ask()).not.toContain(200);
    second?.signal('SIGCONT');
    for (let n = 0; n < 50; n += 1) expect(await ask()).not.toContain(200);
    await followed.settled();
    await followed.refused(claims({ jti }));
  });

  test('followers cut off from the network accept nothing, and delay a revocation by a lease once', async () => {
    const { flow, claims } = followed;
    await using network = await startRelay(Number(new URL(flow.pair.issuer).port));
    await using divided = await followed.follow(network.url);
    await followed.settled();
    network.divide();
    const { jti } = claims();
    await flow.stores.revocations.revoke('token', jti, far());
    expect(await divided.verdict(claims({ jti }), UNHEARD)).toBe(503);
    expect(await divided.verdict(claims(), UNHEARD)).toBe(503);
    network.heal();
    for (let n = 0; n < 20; n += 1) expect(await divided.verdict(claims({ jti }))).not.toBe(200);
    await followed.settled();
    await followed.refused(claims({ jti }));
  });

  test('without followers a revocation does not wait, and the row of a dead follower delays it by a lease once', async () => {
    await using one = await startFollowed(kind, { authz: 1, followers: 1, settings: SHORT });
    const { flow, followers, claims } = one;
    for (const follower of followers) await follower.process.kill();
    await flow.pair.authz[0]?.kill();
    await flow.stores.revocations.revoke('token', claims().jti, far());
    expect((await flow.stores.followers.look()).processes).toEqual([]);
  });
});

/** Starts a store. Writes wait from `begin` until `end`. */
const PAUSES = {
  async SQLite() {
    let database: DatabaseSync | undefined;
    return {
      begin({ flow }: FollowedFlow) {
        database = new DatabaseSync(join(flow.pair.data, 'state.db'), { timeout: BUSY });
        database.exec('BEGIN IMMEDIATE');
      },
      end: () => database?.close(),
      [Symbol.asyncDispose]: async () => {},
    };
  },
  async PostgreSQL() {
    const shared = await startSharedStore({ deadline: 4 });
    const { postgres } = shared;
    return { ...shared, begin: () => postgres.hang(), end: () => postgres.wake() };
  },
  async 'Redis beside PostgreSQL'() {
    const shared = await startSharedStore({ deadline: 4 });
    const { redis } = shared;
    return { ...shared, begin: () => redis.hang(), end: () => redis.wake() };
  },
} satisfies Record<string, () => Promise<Pause>>;

interface Pause extends AsyncDisposable, Pick<PairOptions, 'store'> {
  begin(followed: FollowedFlow): unknown;
  end(): unknown;
}

describe('a store that pauses', () => {
  test.each(Object.entries<() => Promise<Pause>>(PAUSES))(
    '%s: no revocation is acknowledged, no token is accepted, and afterwards everything works',
    async (_, start) => {
      await using pause = await start();
      const { store } = pause;
      await using followed = await startFollowed('sqlite', {
        authz: 2,
        followers: 2,
        settings: SHORT,
        ...(store && { store }),
      });
      const { flow, claims } = followed;
      const { jti } = claims();
      await pause.begin(followed);
      await expect(flow.stores.revocations.revoke('token', jti, far())).rejects.toThrow(
        StoreUnavailable,
      );
      const ask = (token: Parameters<typeof claims>[0]) => followed.verdicts(claims(token));
      await eventually(async () => expect(await ask({})).toEqual([503, 503]));
      await pause.end();
      await followed.settled();
      await flow.stores.revocations.revoke('token', jti, far());
      expect(await ask({ jti })).not.toContain(200);
      await revokeAll(followed, { revocations: 10 });
    },
  );
});
