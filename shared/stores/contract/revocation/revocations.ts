import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { RevocationFeed, RevokedBy } from '../../revocation/revocations.ts';
import { eventually } from '../eventually.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const HOUR = 3_600_000;

export function revocationsContract(contract: () => Contract): void {
  const until = () => contract().store.clock.now() + HOUR;

  /** Returns the claims of a new token of the store's epoch. */
  const claims = async (changes: Partial<RevocableClaims> = {}): Promise<RevocableClaims> => ({
    jti: fresh(),
    kid: fresh(),
    sub: fresh(),
    client_id: fresh(),
    grant_id: fresh(),
    sub_gen: 0,
    client_gen: 0,
    epoch: (await contract().one.revocations.epoch(true)) ?? '',
    ...changes,
  });

  /** Waits until the feed gives the expected answer. A feed that gets pushes may need a moment. */
  const answers = (feed: RevocationFeed, token: RevocableClaims, expected: RevokedBy | undefined) =>
    eventually(() => expect(feed.current().revokedBy(token)).toBe(expected));

  /** Returns a view for a verdict. If the store is slow for a moment and gives none (503), it is asked again. */
  const viewOf = (feed: RevocationFeed) => eventually(() => feed.latest());

  /** Waits until the feed has seen all earlier revocations. */
  const caughtUp = async (feed: RevocationFeed) => {
    const marker = await claims();
    await contract().one.revocations.revoke('token', marker.jti, until());
    await answers(feed, marker, 'token');
  };

  describe('revocations', () => {
    test.each(['token', 'grant', 'key'] as const)(
      'a revoked %s is refused through every feed, and no other token is',
      async (kind) => {
        const { one, other } = contract();
        const [token, bystander] = [await claims(), await claims()];
        await using early = await other.revocations.feed();
        await answers(early, token, undefined);
        const id = { token: token.jti, grant: token.grant_id ?? '', key: token.kid }[kind];
        await one.revocations.revoke(kind, id, until());
        await answers(early, token, kind);
        expect(early.current().revokedBy(bystander)).toBeUndefined();
        await using late = await one.revocations.feed();
        await answers(late, token, kind);
        expect(late.current().revokedBy(bystander)).toBeUndefined();
      },
    );

    test('every feed has an acknowledged revocation at its next verdict, with eight callers at a time', async () => {
      const { one, other } = contract();
      await using first = await one.revocations.feed();
      await using second = await other.revocations.feed();
      const template = await claims();
      await answers(first, template, undefined);
      await answers(second, template, undefined);
      const revokeAndAsk = async () => {
        for (let turn = 0; turn < 50; turn += 1) {
          const token = { ...template, jti: fresh() };
          expect((await viewOf(second)).revokedBy(token)).toBeUndefined();
          await one.revocations.revoke('token', token.jti, until());
          const views = await Promise.all([first, second].map(viewOf));
          expect(views.map((view) => view.revokedBy(token))).toEqual(['token', 'token']);
        }
      };
      await Promise.all(Array.from({ length: 8 }, revokeAndAsk));
    });

    test('a verdict gets StoreUnavailable after the store lost its data, until the store has a new epoch', async () => {
      const { one, store } = contract();
      await using feed = await one.revocations.feed();
      await eventually(() => feed.current());
      await store.forget();
      await eventually(() => expect(async () => feed.latest()).rejects.toThrow(StoreUnavailable));
      await one.revocations.epoch(true);
      await eventually(async () => feed.latest());
    });

    test('an id revokes only things of its kind', async () => {
      const { one } = contract();
      const id = fresh();
      await using feed = await one.revocations.feed();
      await one.revocations.revoke('token', id, until());
      await caughtUp(feed);
      const token = await claims({ kid: id, grant_id: id, sub: id, client_id: id });
      expect(feed.current().revokedBy(token)).toBeUndefined();
    });

    test.each(['person', 'client'] as const)(
      'the revocation of a %s refuses all earlier tokens, and no token issued later in the same second',
      async (kind) => {
        const { one, other } = contract();
        await using feed = await other.revocations.feed();
        const id = fresh();
        const issue = async () => {
          const generation = await one.revocations.generation(kind, id);
          return kind === 'person'
            ? claims({ sub: id, sub_gen: generation })
            : claims({ client_id: id, client_gen: generation });
        };
        const before = await issue();
        await answers(feed, before, undefined);
        expect(await other.revocations.raise(kind, id, until())).toBe(1);
        const after = await issue();
        await answers(feed, before, kind);
        expect(feed.current().revokedBy(after)).toBeUndefined();
        expect(await one.revocations.raise(kind, id, until())).toBe(2);
        await answers(feed, after, kind);
        expect(feed.current().revokedBy(await issue())).toBeUndefined();
      },
    );

    test('the revocation of a person does not revoke a token with the id of this person but no generation', async () => {
      const { one } = contract();
      const { sub_gen: _, ...token } = await claims();
      await using feed = await one.revocations.feed();
      await one.revocations.raise('person', token.sub, until());
      await caughtUp(feed);
      expect(feed.current().revokedBy(token)).toBeUndefined();
    });

    test('generations begin at 0, separately for people and clients', async () => {
      const { one, other } = contract();
      const id = fresh();
      expect(await one.revocations.generation('person', id)).toBe(0);
      await one.revocations.raise('person', id, until());
      expect(await other.revocations.generation('person', id)).toBe(1);
      expect(await other.revocations.generation('client', id)).toBe(0);
    });

    test('50 simultaneous revocations of a person get the generations 1 to 50, and the feed ends at 50', async () => {
      const { one, other } = contract();
      const sub = fresh();
      await using feed = await one.revocations.feed();
      const given = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          (n % 2 === 0 ? one : other).revocations.raise('person', sub, until()),
        ),
      );
      expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      await answers(feed, await claims({ sub, sub_gen: 49 }), 'person');
      expect(feed.current().revokedBy(await claims({ sub, sub_gen: 50 }))).toBeUndefined();
    });

    test('a feed that is opened late reads 2,500 entries', async () => {
      const { one, other } = contract();
      const alike = await claims();
      const tokens = Array.from({ length: 2_500 }, () => ({ ...alike, jti: fresh() }));
      for (let n = 0; n < tokens.length; n += 100) {
        await Promise.all(
          tokens.slice(n, n + 100).map(({ jti }) => one.revocations.revoke('token', jti, until())),
        );
      }
      await using feed = await other.revocations.feed();
      await eventually(() => feed.current());
      const view = feed.current();
      expect(tokens.filter((token) => view.revokedBy(token) !== 'token')).toEqual([]);
    });

    test('listeners for keys hear of each compromised key, and not of a revoked token', async () => {
      const { one, other } = contract();
      await one.revocations.epoch(true);
      await using feed = await other.revocations.feed();
      const heard: string[] = [];
      feed.onKeyRevoked((kid) => heard.push(kid));
      const [jti, kid] = [fresh(), fresh()];
      await one.revocations.revoke('token', jti, until());
      await one.revocations.revoke('key', kid, until());
      await answers(feed, await claims({ kid }), 'key');
      expect(heard).toContain(kid);
      expect(heard).not.toContain(jti);
    });

    test('entries past their end are forgotten; entries after the sweep are still seen', async () => {
      const { one, other, store } = contract();
      const old = await claims();
      await using feed = await other.revocations.feed();
      await one.revocations.revoke('token', old.jti, until());
      await answers(feed, old, 'token');
      await store.passSeconds(3 * 3_600);
      while ((await one.sweep()) > 0);
      // A feed checks some of its entries each second.
      const forgotten = async (by: RevocationFeed) => {
        await store.passSeconds(1);
        expect((await viewOf(by)).revokedBy(old)).toBeUndefined();
      };
      await eventually(() => forgotten(feed));
      const token = await claims();
      await one.revocations.revoke('token', token.jti, until());
      await answers(feed, token, 'token');
      await using late = await one.revocations.feed();
      await answers(late, token, 'token');
      await eventually(() => forgotten(late));
    });

    test('generations are never forgotten', async () => {
      const { one, store } = contract();
      const id = fresh();
      await one.revocations.raise('client', id, until());
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.revocations.generation('client', id)).toBe(1);
      expect(await one.revocations.raise('client', id, until())).toBe(2);
    });

    test('status shows the state of the feed', async () => {
      const { one } = contract();
      const epoch = await one.revocations.epoch(true);
      await using feed = await one.revocations.feed();
      await caughtUp(feed);
      expect(feed.status()).toEqual({
        entries: expect.any(Number),
        epoch,
        cursor: expect.stringMatching(/^\d/),
        silence: expect.any(Number),
        trusted: true,
      });
      expect(feed.status().entries).toBeGreaterThanOrEqual(1);
    });

    test('a feed that was disposed of is not trusted', async () => {
      const { one } = contract();
      await one.revocations.epoch(true);
      const feed = await one.revocations.feed();
      await eventually(() => feed.current());
      await feed[Symbol.asyncDispose]();
      expect(() => feed.current()).toThrow(StoreUnavailable);
      expect(feed.status().trusted).toBe(false);
    });
  });

  describe('the epoch', () => {
    test('there is no epoch until an authorization server makes it, and until then a feed is not trusted', async () => {
      const { one, other, store } = contract();
      await store.forget();
      expect(await one.revocations.epoch(false)).toBeUndefined();
      await using feed = await other.revocations.feed();
      expect(() => feed.current()).toThrow(StoreUnavailable);
      expect(feed.status()).toMatchObject({ trusted: false, epoch: undefined });
      const epoch = await one.revocations.epoch(true);
      expect(epoch).toEqual(expect.stringMatching(/^[\w-]{22,}$/));
      await store.passSeconds(2);
      await eventually(() => expect(feed.status()).toMatchObject({ trusted: true, epoch }));
    });

    test('the epoch is the same for all processes, and survives a restart', async () => {
      const { one, other, store } = contract();
      await store.forget();
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other).revocations.epoch(true)),
      );
      expect(new Set(made).size).toBe(1);
      await using reopened = await store.open();
      expect(await reopened.revocations.epoch(false)).toBe(made[0]);
      expect(await reopened.revocations.epoch(true)).toBe(made[0]);
    });

    test('a token of another epoch is refused', async () => {
      const { one } = contract();
      await one.revocations.epoch(true);
      await using feed = await one.revocations.feed();
      await answers(feed, await claims(), undefined);
      expect(feed.current().revokedBy(await claims({ epoch: fresh() }))).toBe('epoch');
      expect(feed.current().revokedBy(await claims({ epoch: '' }))).toBe('epoch');
    });

    test('after the store lost its data, a running feed is not trusted until the new epoch, and never accepts an old token', async () => {
      const { one, other, store } = contract();
      await using feed = await other.revocations.feed();
      const sub = fresh();
      await one.revocations.raise('person', sub, until());
      await one.revocations.raise('person', sub, until());
      const old = await claims({ sub, sub_gen: 2 });
      const revoked = await claims();
      await one.revocations.revoke('token', revoked.jti, until());
      await answers(feed, old, undefined);
      await answers(feed, revoked, 'token');

      await store.forget();
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      expect(feed.status().trusted).toBe(false);

      expect(await one.revocations.raise('person', sub, until())).toBe(1);
      const renewed = await claims({ sub, sub_gen: 1 });
      expect(renewed.epoch).not.toBe(old.epoch);
      await store.passSeconds(2);
      await answers(feed, renewed, undefined);
      expect(feed.current().revokedBy(old)).toBe('epoch');
      expect(feed.current().revokedBy(revoked)).toBe('epoch');
      expect(feed.current().revokedBy({ ...renewed, sub_gen: 0 })).toBe('person');
      expect(feed.current().revokedBy({ ...revoked, epoch: renewed.epoch })).toBe('token');
      await one.revocations.raise('person', sub, until());
      await answers(feed, renewed, 'person');
    });
  });
}
