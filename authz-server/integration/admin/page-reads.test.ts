import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { somePasskey, somePublicKey } from '#shared/stores/contract/samples.ts';
import { houseOf } from '../../base/house.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { ALICE } from '../pages/at-consent.fixture.ts';
import { withSecondFactor } from '../second-factor.fixture.ts';
import { testSite, type TestSite } from '../site.fixture.ts';

let site: TestSite;
let browser: TestBrowser;
let bob = '';
beforeEach(async () => {
  const often = { burst: 100_000, per: 1 };
  site = await testSite({ limits: { address: often } }, systemClock);
  const { stores } = site.server;
  await perform(setUser, { name: 'alice', admin: true }, houseOf(site.server));
  ({ id: bob } = await withSecondFactor(site.server, 'bob'));
  await stores.passkeys.add({ ...somePasskey('passkey'), accountId: bob }, 9);
  const owner = { kind: 'person', id: bob } as const;
  await stores.publicKeys.add({ ...somePublicKey('fingerprint'), owner, name: 'alice' }, 9);
  browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
});
afterEach(async () => site[Symbol.asyncDispose]());

/**
 * Rows that may differ: the limits of requests, which every request changes, and the reserved mebibyte for a full disk.
 */
const LEFT_OUT = new Set(['bucket', 'room']);

/** Returns all rows of all tables on the disk. */
async function rows(): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { data } = site.server.config;
  const files = (await readdir(data)).filter((name) => /\.(?:db|sqlite)$/.test(name));
  const tables = files.flatMap((file) => {
    using database = new DatabaseSync(join(data, file), { readOnly: true });
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return names
      .map(({ name }) => String(name))
      .filter((name) => !LEFT_OUT.has(name) && !name.startsWith('sqlite_'))
      .map((name): [string, unknown[]] => [
        `${file} ${name}`,
        database.prepare(`SELECT * FROM "${name}"`).all(),
      ]);
  });
  return new Map(tables);
}

test('RFC 9110 section 9.2.1: GET and HEAD of any operation change nothing, whatever is in the query', async () => {
  const given: Readonly<Record<string, string>> = {
    name: 'bob',
    client_id: 'web',
    fingerprint: 'fingerprint',
    id: 'passkey',
    principals: 'bob@EXAMPLE.COM',
    removed: 'true',
    last: 'true',
  };
  await browser.open('/admin');
  const before = await rows();
  expect([...before.keys()].some((name) => name.endsWith(' person'))).toBe(true);
  for (const { name, input } of OPERATIONS) {
    const members = Object.entries(given).filter(([member]) => member in input.shape);
    const path = `/admin/${name.replaceAll(' ', '-')}`;
    for (const query of [new URLSearchParams(members).toString(), 'removed=true&remove=on']) {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await browser.request(method, `${path}?${query}`);
        expect([name, query, [200, 404, 409, 422].includes(status)]).toEqual([name, query, true]);
      }
    }
    expect([name, await rows()]).toEqual([name, before]);
  }
});

test('a key with the name of another person leads to its owner', async () => {
  const list = await browser.open('/admin/user-key-list');
  expect(list.text).toContain('/admin/user-key-remove?name=bob&amp;fingerprint=fingerprint');
  expect(list.text).not.toContain('name=alice');
  const shown = await browser.open('/admin/user-show?name=bob');
  expect(shown.text).toContain('/admin/user-key-list?name=bob');
  expect(shown.text).toContain('/admin/user-passkey-remove?name=bob&amp;id=passkey');
  expect(shown.text).not.toContain('name=alice');
});

test('a passkey is removed through its link in the list', async () => {
  const list = await browser.open('/admin/user-passkey-list?name=bob');
  const [, href = ''] = /href="(\/admin\/user-passkey-remove[^"]+)"/.exec(list.text) ?? [];
  const asked = await browser.open(href.replaceAll('&amp;', '&'));
  expect((await browser.submit(asked)).status).toBe(200);
  expect(await site.server.stores.passkeys.of(bob)).toEqual([]);
});

test('times are shown in words, whether they count seconds or milliseconds', async () => {
  const asked = await browser.open('/admin/user-recover?name=bob');
  const { text } = await browser.submit(asked);
  const year = new Date().getUTCFullYear();
  expect(text).toMatch(new RegExp(`<dt>Valid until</dt>\\s*<dd>[\\s\\S]{0,80}${year}`));
});
