import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { confirmAddress } from '#shared/people/address-links.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { importDirectory } from '#shared/people/file/import-directory.ts';
import { addPerson, type PeopleStore } from '#shared/people/people.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { judgeName, register } from '#shared/people/registration.ts';
import { removePerson } from '#shared/people/remove-person.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { openPostgres } from '#shared/stores/postgres/open.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { STORE_KINDS } from '../flows/flow.ts';

/**
 * Ten requests race for a verified address or a name. One account may own it, and no other account a
 * lookalike.
 */
const TEN = Array.from({ length: 10 }, (_, n) => n);

describe.each(STORE_KINDS)('claims of accounts, %s', (kind) => {
  const own = new AsyncDisposableStack();
  const clock = new ManualClock();
  let houses: readonly (PeopleStore & { readonly stores: Stores })[];
  let number = 0;

  beforeAll(async () => {
    const shared = kind === 'postgres' ? own.use(await startSharedStore()) : undefined;
    const folder = await storeFolder();
    const open = async () => {
      const stores = own.use(
        await (shared
          ? openPostgres(shared.store, { clock, random: systemRandom, log: silentLog, skew: 5 })
          : openSqlite({ folder, clock, random: systemRandom })),
      );
      const passwords = createPasswords(argon2Once);
      return { stores, clock, longestLife: 605, passwords, random: systemRandom, realms: [] };
    };
    houses = [await open(), await open()];
  });
  afterAll(() => own.disposeAsync());

  const house = (n = 0) => {
    const one = houses[n % 2];
    if (one === undefined) throw new Error('no store is open');
    return one;
  };
  /** A text that no earlier test used. Its letters have no lookalikes. */
  const fresh = () => {
    number += 1;
    return `${'abcdefgh'.charAt(number % 8)}${'tuxyz'.charAt(number % 5)}e${'abcdefgh'.charAt(number >> 3)}`;
  };
  const registration = (n: number, address: string) => ({
    id: `${address}${n}`,
    address,
    mailed: true,
  });
  const verified = (address: string) => ({ emails: [{ address, verified: true }] });
  const owners = async (address: string) => {
    const found = await house().stores.people.search(`email:${address}`);
    return found.filter(({ profile }) => profile?.emails?.some((email) => email.verified));
  };

  test('ten registration links to one address, used at once at two processes, make one account', async () => {
    const [name, address] = [fresh(), `${fresh()}@claims.example`];
    const outcomes = await Promise.all(
      TEN.map((n) =>
        register(house(n), registration(n, n % 2 ? address : address.toUpperCase()), {
          name: `${name}${'abcdefghkz'.charAt(n)}`,
        }),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['done', ...TEN.slice(1).map(() => 'gone')]);
    expect(await owners(address)).toHaveLength(1);
  });

  test('RFC 5891 section 5.5: a mailbox in another spelling of its domain is the same mailbox, and is taken', async () => {
    const [name, local] = [fresh(), fresh()];
    const [kept, typed] = [`${local}@bücher.example`, `${local}@xn--bcher-kva.example`];
    const holder = await addPerson(house(), { name, profile: verified(kept) });
    const outcomes = await Promise.all(
      TEN.map((n) =>
        register(house(n), registration(n, typed), { name: `${name}${'abcdefghkz'.charAt(n)}` }),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set(['gone']));
    expect(await owners(typed)).toMatchObject([{ id: holder.id }]);
    const other = await addPerson(house(1), { name: fresh() });
    await expect(
      setProfile(house(1), other.name, () => verified(`${local}@BÜCHER.example`)),
    ).rejects.toMatchObject({ message: expect.stringContaining(`address of ${holder.name}`) });
  });

  test('a new account cannot get a name that looks like the name of a removed person', async () => {
    const start = fresh();
    const person = await addPerson(house(), { name: `${start}bosa` });
    await removePerson(house(), person.name);
    const near = ['bosa', 'b0sa', 'b.o.sa', 'b-o-s-a', 'BOSA'];
    for (const [n, ending] of near.entries()) {
      const typed = `${start}${ending}`;
      expect(await judgeName(house(n), typed, [])).toEqual({ fault: 'taken' });
      // The server judges this name before the removal.
      const right = registration(n, `${start}${n}@former.example`);
      expect(await register(house(n), right, { name: typed.toLowerCase() })).toBe('taken');
    }
    const other = `${start}bozo`;
    expect(await judgeName(house(), other, [])).toEqual({ name: other });
  });

  test('if ten people choose lookalike names at once, one person gets the name', async () => {
    const start = fresh();
    const alike = ['il0rnw', '1lornw', '1lomvv', 'i.lo-mw', 'l-l0rnvv', 'i_lomw'];
    const chosen = TEN.map((n) => `${start}${alike[n % 6]}${'.-_'.charAt(n % 3)}x`);
    const outcomes = await Promise.all(
      chosen.map(async (typed, n) => {
        const judged = await judgeName(house(n), typed, []);
        if ('fault' in judged) return judged.fault;
        const right = registration(n, `${start}${n}@looks.example`);
        return register(house(n), right, { name: judged.name });
      }),
    );
    expect(outcomes.toSorted()).toEqual(['done', ...TEN.slice(1).map(() => 'taken')]);
  });

  test('if ten people confirm one address at once, it is verified for one person', async () => {
    const address = `${fresh()}@claims.example`;
    const name = fresh();
    const people = await Promise.all(
      TEN.map((n) =>
        addPerson(house(n), {
          name: `${name}${n}`,
          profile: { emails: [{ address, verified: false }] },
        }),
      ),
    );
    const outcomes = await Promise.allSettled(
      people.map((person, n) =>
        confirmAddress(house(n), person, { person: person.id, address, isNew: false }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await owners(address)).toHaveLength(1);
  });

  test('if eleven accounts register one passkey, one account is made, and a refused link works with another passkey', async () => {
    const [name, key] = [fresh(), fresh()];
    const passkeyOf = (accountId: string) => ({ ...somePasskey(key), accountId });
    const outcomes = await Promise.all(
      TEN.map((n) => {
        const right = registration(n, `${name}${n}@keys.example`);
        const chosen = `${name}${'abcdefghkz'.charAt(n)}`;
        return register(house(n), right, { name: chosen, passkey: passkeyOf(right.id) });
      }),
    );
    expect(outcomes.toSorted()).toEqual(['done', ...TEN.slice(1).map(() => 'passkey')]);
    const late = registration(10, `${name}10@keys.example`);
    const used = { name: `${name}y`, passkey: passkeyOf(late.id) };
    expect(await register(house(), late, used)).toBe('passkey');
    const { people, passkeys } = house(1).stores;
    const kept = await passkeys.get(key);
    const made = await Promise.all(
      [...TEN, 10].map((n) => people.get(registration(n, `${name}${n}@keys.example`).id)),
    );
    expect(made.filter((one) => one !== undefined)).toMatchObject([{ id: kept?.accountId }]);
    expect(await passkeys.of(kept?.accountId ?? '')).toEqual([kept]);
    // The refused registration still succeeds with a new passkey.
    const again = { name: `${name}y`, passkey: { ...passkeyOf(late.id), id: fresh() } };
    expect(await register(house(), late, again)).toBe('done');
  });

  test('an operator and an imported file cannot give a person an address that is verified for another person', async () => {
    const address = `${fresh()}@claims.example`;
    const holder = await addPerson(house(), { name: fresh(), profile: verified(address) });
    const other = await addPerson(house(1), { name: fresh() });
    const refused = {
      name: 'PeopleError',
      message: expect.stringContaining(`${address} is a verified address of ${holder.name}`),
    };
    const give = () => setProfile(house(1), other.name, () => verified(address));
    await expect(give()).rejects.toMatchObject(refused);
    const add = () => addPerson(house(1), { name: fresh(), profile: verified(address) });
    await expect(add()).rejects.toMatchObject(refused);
    const { aliases: _, search_keys: __, version: ___, ...record } = other;
    const file = {
      people: [{ ...record, profile: verified(address), verifiers: [] }],
      api_keys: [],
      public_keys: [],
      passkeys: [],
      second_factors: [],
    } as const;
    const load = () => importDirectory(house(1), file);
    await expect(load()).rejects.toMatchObject({ name: 'PeopleError' });
    // An unverified address does not make the person its owner.
    await setProfile(house(1), other.name, () => ({ emails: [{ address, verified: false }] }));
    expect(await owners(address)).toMatchObject([{ id: holder.id }]);
  });

  test.each(['removed', 'given another address'])(
    'an address is free again after its person is %s',
    async (how) => {
      const address = `${fresh()}@claims.example`;
      const holder = await addPerson(house(), { name: fresh(), profile: verified(address) });
      if (how === 'removed') await removePerson(house(), holder.name);
      else await setProfile(house(), holder.name, () => verified(`other-${address}`));
      const right = registration(0, address);
      const made = { name: fresh() };
      expect(await register(house(1), right, made)).toBe('done');
      expect(await owners(address)).toMatchObject([{ id: right.id }]);
    },
  );
});
