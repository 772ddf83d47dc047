import { describe, expect, test } from '@jest/globals';
import { KINDS_BY_ACCOUNT } from '../../oauth/artefacts.ts';
import { fresh, onceFor } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** The number of rows of a test: several batches of a sweep. */
const MANY = 300;

/** The models of oidc-provider 9. */
const KINDS = [
  'AccessToken',
  'AuthorizationCode',
  'BackchannelAuthenticationRequest',
  'Client',
  'ClientCredentials',
  'DeviceCode',
  'Grant',
  'InitialAccessToken',
  'Interaction',
  'PreAuthorizedCode',
  'PushedAuthorizationRequest',
  'RefreshToken',
  'RegistrationAccessToken',
  'ReplayDetection',
  'Session',
];

/** Checks that expired rows are removed: afterwards the store has as many rows as before. */
export function growthContract(contract: () => Contract): void {
  describe('growth', () => {
    const sweepAll = async () => {
      while ((await contract().one.sweep()) > 0);
    };

    /** Makes many rows, lets them expire, and compares the number of rows with the number before. */
    const comesBack = async (make: (n: number) => Promise<unknown>) => {
      const { store } = contract();
      await store.passSeconds(100_000);
      await sweepAll();
      const before = await store.countAll();
      for (let n = 0; n < MANY; n += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, k) => make(n + k)));
      }
      expect(await store.countAll()).toBeGreaterThanOrEqual(before + MANY);
      await sweepAll();
      expect(await store.countAll()).toBeGreaterThanOrEqual(before + MANY);
      await store.passSeconds(100_000);
      await sweepAll();
      expect(await store.countAll()).toBe(before);
    };

    test.each([...KINDS, ...KINDS_BY_ACCOUNT])(
      'a sweep removes hundreds of expired artefacts of kind %s',
      async (kind) => {
        const { one } = contract();
        await comesBack(async (n) => {
          const id = fresh();
          const payload = {
            grantId: `grant-${n % 50}`,
            accountId: `account-${n % 50}`,
            uid: fresh(),
            userCode: fresh(),
          };
          await one.artefacts.put({ kind, id, payload, seconds: 10_000 });
          if (n % 5 === 0) {
            const replacement = { ...payload, grantId: `another-${n % 50}` };
            await one.artefacts.replace(
              { kind, id, payload: replacement, seconds: 10_000 },
              payload,
            );
          }
          if (n % 2 === 0) await one.artefacts.consume(kind, id);
        });
      },
    );

    test('a sweep removes hundreds of expired single-use keys', async () => {
      const { one } = contract();
      await comesBack(() => one.replay.unique('growth', fresh(), 10_000));
    });

    test('a sweep removes hundreds of expired proofs', async () => {
      const { one } = contract();
      await comesBack(() => one.proofs.spend('dpop', fresh(), onceFor(10_000)));
    });

    test('a sweep removes hundreds of expired spent tokens', async () => {
      const { one, store } = contract();
      const until = store.clock.now() + 150_000_000;
      await comesBack(() => one.spentTokens.spend(Buffer.from(fresh()), until));
    });

    test('a sweep removes hundreds of expired sessions', async () => {
      const { one } = contract();
      await comesBack(() => one.sessions.put({ leg: 1 }, 10_000));
    });

    test('a sweep removes hundreds of expired stored values', async () => {
      const { one } = contract();
      await comesBack((n) =>
        one.kept.put(`growth-${n % 50}`, 'value', { seconds: 10_000, most: 100 }),
      );
    });

    test('a sweep removes hundreds of full buckets', async () => {
      const { one } = contract();
      await comesBack(async () =>
        one.limits.spend('sign-in-name', fresh(), { burst: 2, per: 10_000 }),
      );
    });

    test('a sweep removes hundreds of expired nonce counts', async () => {
      const { one } = contract();
      await comesBack(async () => {
        const key = fresh();
        for (const count of [1, 300, 299]) {
          await one.useCounts.use('growth', key, count, onceFor(10_000));
        }
      });
    });

    test('removing or taking an artefact leaves no row behind', async () => {
      const { one, store } = contract();
      await store.passSeconds(100_000);
      await sweepAll();
      const before = await store.countAll();
      const grantId = fresh();
      for (let n = 0; n < 20; n++) {
        const payload = { grantId, uid: fresh(), userCode: fresh() };
        await one.artefacts.put({ kind: 'Grant', id: `growth-${n}`, payload, seconds: 10_000 });
        await one.sessions.take(await one.sessions.put(n, 10_000));
      }
      await one.artefacts.remove('Grant', 'growth-0');
      await one.artefacts.removeByGrant(grantId);
      await store.passSeconds(100_000);
      await sweepAll();
      expect(await store.countAll()).toBe(before);
    });
  });
}
