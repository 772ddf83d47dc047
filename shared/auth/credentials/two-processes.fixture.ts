import { afterAll } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { CountedArgon2 } from '#shared/people/directory.fixture.ts';
import { localDirectory } from '#shared/people/local.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson, disablePerson, type PeopleStore } from '#shared/people/people.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';

export const RIGHT = 'correct horse: battery staple';

const opened: AsyncDisposable[] = [];

afterAll(async () => {
  for (const one of opened.toReversed()) await one[Symbol.asyncDispose]();
});

/** Opens a process with the embedded store, and a directory that counts its password hashings. */
export async function processOn(data: string, clock: ManualClock) {
  const stores = await openSqlite({ folder: data, clock, random: systemRandom });
  opened.push(stores);
  await stores.revocations.epoch(true);
  const feed = await stores.revocations.feed();
  opened.push(feed);
  const argon2 = new CountedArgon2();
  const passwords = createPasswords(argon2);
  const { people, revocations } = stores;
  const directory = localDirectory({
    people,
    revocations,
    passwords,
    admitted: { demo: true, sources: new Set() },
  });
  const store: PeopleStore = {
    stores,
    clock,
    longestLife: 605,
    passwords,
    random: systemRandom,
    realms: [],
  };
  return { stores, feed, argon2, directory, store, clock };
}

/** Opens two processes on one store that has alice, and bob, who is disabled. */
export async function twoProcesses() {
  const clock = new ManualClock();
  const data = await storeFolder();
  const here = await processOn(data, clock);
  const alice = await addPerson(here.store, { name: 'alice', password: RIGHT });
  await addPerson(here.store, { name: 'bob', password: RIGHT });
  await disablePerson(here.store, 'bob');
  return { ...here, there: await processOn(data, clock), alice };
}
