import { describe, expect, test } from '@jest/globals';
import { VOPRF } from '#shared/private-token/token-types.ts';
import type { Recorded, Stores } from '../../stores.ts';
import {
  FAR,
  fresh,
  removeTokenKeys,
  someApiKey,
  someClient,
  someKey,
  someOutboxMessage,
  somePasskey,
  somePerson,
  somePublicKey,
  someSecondFactor,
  someTokenKey,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';
import { closeAll } from './close-all.ts';

/** Makes a change through a part of the stores. If it is made a second time, nothing changes. */
type Change<Part extends Recorded> = (part: Stores[Part], id: string) => Promise<unknown>;

/** A change for each part, which has an effect only once. */
const ONCE: { readonly [Part in Recorded]?: Change<Part> } = {
  apiKeys: (keys, id) => keys.add(someApiKey(id)),
  clients: (clients, id) => clients.add(someClient(id)),
  gatewayKeys: (keys, id) => keys.add(someKey(id, 'ES256')),
  keys: (keys, id) => keys.add(someKey(id, 'ES256')),
  outbox: (outbox, id) => outbox.add(someOutboxMessage(id)),
  passkeys: (passkeys, id) => passkeys.add(somePasskey(id), 9),
  people: (people, id) => people.add(somePerson(id)),
  publicKeys: (keys, id) => keys.add(somePublicKey(id), 9),
  secondFactors: (factors, id) => factors.add(someSecondFactor(id)),
};

/** A removal after the change above, for each part that has one. */
const REMOVED: { readonly [Part in Recorded]?: Change<Part> } = {
  apiKeys: (keys, id) => keys.remove(id),
  clients: (clients, id) => clients.remove(id),
  gatewayKeys: (keys, id) => keys.remove(id),
  keys: (keys, id) => keys.remove(id),
  passkeys: (passkeys, id) => passkeys.removeAll(`owner of ${id}`),
  publicKeys: (keys, id) => keys.remove(id),
  secondFactors: (factors, id) => factors.remove(id),
};

export function recordedContract(contract: () => Contract): void {
  const attempt = async <Part extends Recorded>(
    part: Part,
    change: Change<Part> | undefined,
    id: string,
    text: string,
  ) => change?.(contract().one.recorded(part, text), id);

  /** Returns what the attempts appended. */
  const appended = async (attempts: () => Promise<unknown>) => {
    await closeAll(contract().one);
    await attempts();
    return closeAll(contract().other);
  };

  describe('an entry that belongs to a change', () => {
    test.each(Object.keys(ONCE) as Recorded[])(
      '%s: an entry is appended only with a change',
      async (part) => {
        const id = fresh();
        const both = await appended(async () => {
          await attempt(part, ONCE[part] as never, id, '"first"');
          await attempt(part, ONCE[part] as never, id, '"second"');
        });
        expect(both).toEqual(['"first"']);
      },
    );

    test.each(Object.keys(REMOVED) as Recorded[])(
      '%s: an entry is appended only with a removal',
      async (part) => {
        const id = fresh();
        await attempt(part, ONCE[part] as never, id, '"made"');
        const both = await appended(async () => {
          await attempt(part, REMOVED[part] as never, id, '"first"');
          await attempt(part, REMOVED[part] as never, id, '"second"');
        });
        expect(both).toEqual(['"first"']);
      },
    );

    test('if ten callers add the same client, one succeeds, and only its entry is appended', async () => {
      const { one, other } = contract();
      const id = fresh();
      let added: readonly boolean[] = [];
      const texts = await appended(async () => {
        added = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 === 0 ? one : other).recorded('clients', `"${n}"`).add(someClient(id)),
          ),
        );
      });
      expect(texts).toEqual([`"${added.indexOf(true)}"`]);
    });

    test('people: an entry is appended with a replacement of the present version', async () => {
      const { one } = contract();
      const person = somePerson(fresh());
      await one.people.add(person);
      const replace = (version: number, text: string) =>
        one.recorded('people', text).replace({ ...person, disabled: true, version });
      const texts = await appended(async () => {
        expect(await replace(2, '"refused"')).toBe(false);
        expect(await replace(1, '"replaced"')).toBe(true);
        expect(await one.recorded('people', '"removed"').remove({ ...person, version: 1 })).toBe(
          true,
        );
        expect(await one.recorded('people', '"again"').remove({ ...person, version: 1 })).toBe(
          false,
        );
      });
      expect(texts).toEqual(['"replaced"', '"removed"']);
    });

    test('passkeys: no entry is appended if the last passkey must stay', async () => {
      const { one } = contract();
      const passkey = somePasskey(fresh());
      await one.passkeys.add(passkey, 9);
      const remove = (least: number, text: string) =>
        one.recorded('passkeys', text).remove(passkey.accountId, passkey.id, least);
      const texts = await appended(async () => {
        expect(await remove(1, '"last"')).toBe('last');
        expect(await remove(0, '"removed"')).toBe('removed');
        expect(await remove(0, '"gone"')).toBe('gone');
      });
      expect(texts).toEqual(['"removed"']);
    });

    test('second factors: an entry is appended only with a set-up or a use', async () => {
      const { one } = contract();
      const factor = someSecondFactor(fresh());
      const generation = 0;
      const until = FAR;
      const texts = await appended(async () => {
        const setUp = (text: string) =>
          one.recorded('secondFactors', text).setUp({ factor, generation, until });
        expect([await setUp('"set up"'), await setUp('"refused"')]).toEqual([1, undefined]);
        const use = (text: string) =>
          one.recorded('secondFactors', text).useRecovery(factor.accountId, 'mac 1', 1);
        expect([await use('"used"'), await use('"again"')]).toEqual([1, undefined]);
        const renew = (text: string) =>
          one.recorded('secondFactors', text).renewRecovery(factor, ['mac 3']);
        expect(await renew('"outdated"')).toBe(false);
      });
      expect(texts).toEqual(['"set up"', '"used"']);
    });

    test('revocations: an entry is appended with each revocation', async () => {
      const { one } = contract();
      const texts = await appended(async () => {
        await one.recorded('revocations', '"revoked"').revoke('token', fresh(), FAR);
        await one.recorded('revocations', '"raised"').raise('person', fresh(), FAR);
      });
      expect(texts).toEqual(['"revoked"', '"raised"']);
    });

    test('invalidations: an entry is appended with all of them, and not with a refused one', async () => {
      const { one } = contract();
      const some = (value: string) => ({ space: '/', kind: 'target', value, soft: false }) as const;
      const add = (text: string, ...values: readonly string[]) =>
        one.recorded('invalidations', text).add(values.map(some));
      const texts = await appended(async () => {
        await add('"purged"', '/a', '/b');
        await add('"nothing"');
        await expect(add('"too long"', 'x'.repeat(8_193))).rejects.toThrow(RangeError);
      });
      expect(texts).toEqual(['"purged"']);
    });

    test('token keys: an entry is appended with the change', async () => {
      const { one } = contract();
      await removeTokenKeys(one);
      const key = someTokenKey(VOPRF, 1);
      const texts = await appended(async () => {
        expect(await one.recorded('tokenKeys', '"late"').add(key, fresh())).toBe('late');
        await one.recorded('tokenKeys', '"added"').add(key, undefined);
        await one.recorded('tokenKeys', '"removed"').remove(key.type, key.id);
        await one.recorded('tokenKeys', '"gone"').remove(key.type, key.id);
        await one.recorded('tokenKeys', '"recalled"').recall();
      });
      expect(texts).toEqual(['"added"', '"removed"', '"recalled"']);
    });

    test.each(['SignIn', 'Access', 'Consent'])(
      'artefact %s: an entry is appended with a write, a replacement and a removal',
      async (kind) => {
        const { one } = contract();
        const id = fresh();
        const payload = { accountId: fresh(), grantId: fresh() };
        const artefact = { kind, id, payload, seconds: 60 };
        const texts = await appended(async () => {
          await one.recorded('artefacts', '"put"').put(artefact);
          const replace = (text: string) =>
            one
              .recorded('artefacts', text)
              .replace({ ...artefact, payload: { ...payload, more: 1 } }, payload);
          expect([await replace('"replaced"'), await replace('"refused"')]).toEqual([true, false]);
          await one.recorded('artefacts', '"removed"').remove(kind, id);
          await one.recorded('artefacts', '"gone"').remove(kind, id);
        });
        expect(texts).toEqual(['"put"', '"replaced"', '"removed"']);
      },
    );

    test('several entries are appended in their order, with the first change alone', async () => {
      const { one } = contract();
      const clients = one.recorded('clients', '"one"', '"two"');
      const texts = await appended(async () => {
        await clients.remove(fresh());
        await clients.add(someClient(fresh()));
        await clients.add(someClient(fresh()));
      });
      expect(texts).toEqual(['"one"', '"two"']);
    });
  });
}
