import { describe, expect, test } from '@jest/globals';
import { atTurnsEnd } from '#shared/base/turn.ts';
import {
  edit,
  fresh,
  move,
  puts,
  someApiKey,
  someClient,
  someDocument,
  somePerson,
  somePublicKey,
  someVerifier,
} from './samples.ts';
import type { Contract } from './store-under-test.ts';

type Step = readonly [change: () => Promise<unknown>, is: unknown];

/** Asks as a request does: together with other requests, after all of them have arrived. */
const handled = <T>(ask: () => T | Promise<T>) =>
  new Promise<T>((resolve, reject) => {
    atTurnsEnd(() => void Promise.resolve().then(ask).then(resolve, reject));
  });

/** Queries before and after each change, with one query and with several at a time. */
async function follow(ask: () => Promise<unknown>, steps: readonly Step[]): Promise<void> {
  for (const [change, is] of steps) {
    await change();
    const several = await Promise.all([1, 2, 3].map(() => handled(ask)));
    expect([await ask(), ...several, await ask()]).toEqual(Array(5).fill(is));
  }
}

/** Each process sees an acknowledged change in its next query, whatever it has read before. */
export function rereadingContract(contract: () => Contract): void {
  describe.each(['one', 'other'] as const)(
    'if connection one has read a row and connection %s changes it, the next query sees',
    (who) => {
      const reader = () => contract().one;
      const writer = () => contract()[who];

      test('an API key that is added, used, ended and removed', async () => {
        const key = someApiKey(fresh());
        const { apiKeys } = writer();
        await follow(
          () => reader().apiKeys.get(key.id),
          [
            [async () => {}, undefined],
            [() => apiKeys.add(key), key],
            [() => apiKeys.touch(key.id, 5), { ...key, used_at: 5 }],
            [() => apiKeys.expire(key.id, 7), { ...key, used_at: 5, expires_at: 7, planned: {} }],
            [() => apiKeys.remove(key.id), undefined],
            [() => apiKeys.add(key), key],
          ],
        );
      });

      test('a public key that is added, used, signed out and removed', async () => {
        const key = somePublicKey(fresh());
        const { publicKeys } = writer();
        await follow(
          () => reader().publicKeys.get(key.id),
          [
            [async () => {}, undefined],
            [() => publicKeys.add(key, 1), key],
            [() => publicKeys.touch(key.id, 5), { ...key, used_at: 5 }],
            [() => publicKeys.signOut(key.id, 7), { ...key, used_at: 5, signed_out_at: 7 }],
            [() => publicKeys.remove(key.id), undefined],
            [() => publicKeys.add(key, 1), key],
          ],
        );
      });

      test('a client that is added, replaced and removed', async () => {
        const client = someClient(fresh());
        const { clients } = writer();
        await follow(
          () => reader().clients.get(client.client_id),
          [
            [async () => {}, undefined],
            [() => clients.add(client), client],
            [() => clients.replace({ ...client, scope: 'less' }), { ...client, scope: 'less' }],
            [() => clients.remove(client.client_id), undefined],
          ],
        );
      });

      test('a verifier that is added and replaced, and whose person is disabled', async () => {
        const person = somePerson(fresh());
        const [first, second] = [someVerifier('a'), someVerifier('a')];
        const disabled = { ...person, disabled: true, version: 1 };
        const again = { ...person, version: 2 };
        const { people } = writer();
        for (const asked of [{ name: person.name }, { handle: first.handle }]) {
          expect(await reader().people.getVerifier(first.kind, 'a', asked)).toBeUndefined();
        }
        await follow(
          () => reader().people.getVerifier(first.kind, 'a', { name: person.name }),
          [
            [() => people.add(person, [first]), { person, value: first.value }],
            [() => people.replace(disabled), { person: disabled, value: first.value }],
            [() => people.replace(again, [second]), { person: again, value: second.value }],
          ],
        );
        const byHandle = (handle: string) =>
          reader().people.getVerifier(first.kind, 'a', { handle });
        expect(await byHandle(first.handle)).toBeUndefined();
        expect(await byHandle(second.handle)).toEqual({ person: again, value: second.value });
      });

      test('a document that is put, replaced, moved and removed', async () => {
        const tree = fresh();
        const [first, second, odd] = [
          someDocument('a'),
          someDocument('a'),
          someDocument('a', { properties: { '{urn:x}y': '<y/>'.repeat(1000) } }),
        ];
        const change =
          (...edits: Parameters<typeof edit>[2]) =>
          () =>
            edit(writer(), tree, edits);
        await follow(
          () => reader().trees.get(tree, 'a'),
          [
            [async () => {}, undefined],
            [change(...puts(first)), first],
            [change(...puts(second)), second],
            [change(...puts(odd)), odd],
            [change({ kind: 'remove', path: 'a' }, ...puts(someDocument('b'))), undefined],
            [change(...puts(first)), first],
            [change(move('a', 'c')), undefined],
          ],
        );
      });

      test('revocations, however many are asked for at a time', async () => {
        await reader().revocations.epoch(true);
        const until = contract().store.clock.now() + 3_600_000;
        await using feed = await reader().revocations.feed();
        const generation = async (id: string) =>
          (await handled(() => feed.latest())).generation(id);
        const raiseAndAsk = async () => {
          const id = fresh();
          for (let turn = 0; turn < 20; turn += 1) {
            expect(await generation(id)).toBe(turn);
            await writer().revocations.raise('person', id, until);
          }
        };
        await Promise.all(Array.from({ length: 8 }, raiseAndAsk));
      });
    },
  );
}
