import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { createRecorder } from '#shared/audit/recorder.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import { makeAdministratorLink } from '#shared/operations/people/first-administrator.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import {
  createRegistrationLinks,
  FIRST_ADMINISTRATOR,
  register,
} from '#shared/people/registration.ts';
import { postgresUnderTest } from '#shared/stores/postgres/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { StoreUnderTest } from '#shared/stores/contract/store-under-test.ts';
import { type Postgres, startPostgres } from '../../e2e/parts/postgres.ts';
import { firstAdministrator } from './first-administrator.ts';

const LINK = /^ {2}https:\/\/auth\.example\/register\/([\w-]{22})$/m;
const COMMAND = 'admin link';
const NEW = { name: 'dora', password: 'another horse, another battery' };

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const STORES: Readonly<Record<string, () => Promise<StoreUnderTest>>> = {
  SQLite: sqliteUnderTest,
  PostgreSQL: () => postgresUnderTest(postgres),
};

describe.each(Object.entries(STORES))('on %s', (_name, create) => {
  const parts = new AsyncDisposableStack();
  let store: StoreUnderTest;
  beforeAll(async () => {
    store = await create();
    parts.defer(() => store.end());
  });
  afterAll(() => parts.disposeAsync());

  /** Returns the parts of a process, which opens the store itself. */
  async function house() {
    const stores = parts.use(await store.open());
    const config = configSchema.parse({
      issuer: 'https://auth.example',
      resource: 'https://api.example',
    });
    const { clock } = store;
    const by = { who: 'server', how: 'chore' } as const;
    return {
      config,
      stores,
      clock,
      random: systemRandom,
      recorder: createRecorder({ stores, clock, log: silentLog, config }, by),
      passwords: createPasswords(argon2Once),
      realms: [],
      longestLife: 605,
    };
  }

  test('ten processes that start at once make one link, another start makes none, and the link makes one administrator', async () => {
    const houses = await Promise.all(Array.from({ length: 10 }, house));
    const [one] = houses;
    if (one === undefined) throw new Error('no house');
    expect((await firstAdministrator(one, false)).join('\n')).toContain(COMMAND);
    const printed = await Promise.all(houses.map((each) => firstAdministrator(each, true)));
    const secrets = printed.flatMap((lines) => LINK.exec(lines.join('\n'))?.[1] ?? []);
    expect(secrets).toHaveLength(1);
    expect(printed.filter((lines) => lines.join('\n').includes(COMMAND))).toHaveLength(9);
    const [secret = ''] = secrets;
    expect((await firstAdministrator(one, true)).join('\n')).toContain(COMMAND);

    const links = createRegistrationLinks(one);
    const { link } = await makeAdministratorLink(one);
    expect(await links.find(secret)).toBeUndefined();
    await store.passSeconds(3590);
    const right = await links.find(link.split('/').at(-1) ?? '');
    if (right === undefined) throw new Error('the link is gone');
    const outcomes = await Promise.all(
      houses.map((each, n) => register(each, right, { ...NEW, name: `dora${n}` })),
    );
    expect(outcomes.toSorted()).toEqual(['done', ...Array.from({ length: 9 }, () => 'gone')]);
    const people = await one.stores.people.page({ list: { state: 'admin' }, limit: 20 });
    expect(people).toMatchObject([{ id: right.id, admin: true }]);
    expect(await firstAdministrator(one, true)).toEqual([]);
    const refused = 'is an administrator who can sign in';
    await expect(makeAdministratorLink(one)).rejects.toThrow(refused);
    const entries = (await one.stores.audit.open()).texts.map(entryOf);
    const about = { person: right.id, what: FIRST_ADMINISTRATOR };
    expect(entries.filter(({ kind }) => kind.startsWith('link.')).slice(-2)).toMatchObject([
      { kind: 'link.made', ...about },
      { kind: 'link.used', ...about },
    ]);
    for (const path of [secret, link]) {
      expect(JSON.stringify(entries)).not.toContain(path.split('/').at(-1));
    }
  });

  test('a link ends after an hour, and a start then makes another', async () => {
    await store.end();
    store = await create();
    const own = await house();
    const [first = ''] =
      LINK.exec((await firstAdministrator(own, true)).join('\n'))?.slice(1) ?? [];
    const links = createRegistrationLinks(own);
    expect(await links.find(first)).toBeDefined();
    await store.passSeconds(3601);
    expect(await links.find(first)).toBeUndefined();
    expect((await firstAdministrator(own, true)).join('\n')).toMatch(LINK);
  });

  test('a start does not replace a link of admin link, which an operator has just printed', async () => {
    await store.end();
    store = await create();
    const own = await house();
    const { link } = await makeAdministratorLink(own);
    expect((await firstAdministrator(own, true)).join('\n')).toContain(COMMAND);
    const secret = link.split('/').at(-1) ?? '';
    expect(await createRegistrationLinks(own).find(secret)).toBeDefined();
  });
});
