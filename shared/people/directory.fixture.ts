import { afterAll } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { argon2Once } from './argon2.fixture.ts';
import { createPasswords } from './password.ts';
import type { Argon2 } from './password.ts';
import type { PeopleStore } from './people.ts';
import type { RealmNeeds } from './verifier-kind.ts';

const opened: Stores[] = [];

afterAll(async () => {
  for (const stores of opened) await stores[Symbol.asyncDispose]();
});

/** argon2 that counts its calls and, before each check of a password, waits for `gate`. */
export class CountedArgon2 implements Argon2 {
  hashes = 0;
  verifications = 0;
  gate: Promise<void> = Promise.resolve();

  readonly hash: Argon2['hash'] = (...args) => {
    this.hashes += 1;
    return argon2Once.hash(...args);
  };

  readonly verify: Argon2['verify'] = async (...args) => {
    this.verifications += 1;
    await this.gate;
    return argon2Once.verify(...args);
  };
}

/** Opens the embedded store, in a new folder or once more in `folder`. */
export async function testPeople(folder?: string, realms: readonly RealmNeeds[] = []) {
  const data = folder ?? (await storeFolder());
  const clock = new ManualClock();
  const stores = await openSqlite({ folder: data, clock, random: systemRandom });
  opened.push(stores);
  const argon2 = new CountedArgon2();
  const passwords = createPasswords(argon2);
  const parts = { stores, clock, longestLife: 605, passwords, random: systemRandom };
  const store: PeopleStore = { ...parts, realms };
  return { data, stores, argon2, passwords, store };
}
