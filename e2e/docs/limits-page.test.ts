import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { configJsonSchema } from '#shared/config/json-schema.ts';
import { PAGE_ENTRIES } from '#shared/guard/revocation-page.ts';
import { MOST_CONSENTS } from '#shared/people/access/consents.ts';
import { MOST_GRANTS } from '#shared/people/access/grants.ts';
import { MOST_SIGN_INS } from '#shared/people/access/sign-ins.ts';
import { MOST_KEYS } from '#shared/people/key-purposes.ts';
import { LONGEST_PASSKEY_ID, MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { LONGEST_INVALIDATION, MOST_INVALIDATIONS } from '#shared/stores/cache/invalidations.ts';
import { MOST_WAITING } from '#shared/stores/outage/waiting.ts';
import { MOST_FOLLOWERS } from '../../authz-server/revocations/register.ts';
import { LONGEST_TARGET } from '../../resource-server/cache/key-of.ts';
import { MOST_VARIANTS } from '../../resource-server/cache/store/shelf.ts';
import { MAX_VALUES } from '../../resource-server/resources/json/parse.ts';
import { MAX_RESULT } from '../../resource-server/resources/query/results.ts';
import { LONGEST_PATH } from '../../resource-server/resources/resource/path.ts';
import { limitsPage } from './limits-page.ts';
import type { Schema } from './setting-type.ts';

const page = limitsPage();
const documents = readFileSync(
  fileURLToPath(new URL('../../docs/reference/documents.md', import.meta.url)),
  'utf8',
);
const rowOf = (what: string) =>
  page.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? '';
const count = (value: number) => value.toLocaleString('en');

describe('docs/reference/limits.md has the limits that the code has', () => {
  test.each<[string, readonly number[]]>([
    ['public keys of one person or application', [MOST_KEYS]],
    ['passkeys of one person', [MOST_PASSKEYS, LONGEST_PASSKEY_ID]],
    ['grants of a person', [MOST_GRANTS]],
    ['sign-ins of a person, with their sessions', [MOST_SIGN_INS]],
    ['consents of a person', [MOST_CONSENTS]],
    [
      'servers that follow the revocations',
      [MOST_FOLLOWERS.client, MOST_FOLLOWERS.all, PAGE_ENTRIES],
    ],
    [
      'the list of answers that caches must remove',
      [MOST_INVALIDATIONS, Math.floor(LONGEST_INVALIDATION / 1024)],
    ],
    ['requests that wait for Redis, also if their clients have left', [MOST_WAITING]],
    ['answers in a cache', [MOST_VARIANTS, LONGEST_TARGET / 1024]],
  ])('the row has the numbers of the code: %s', (what, numbers) => {
    for (const number of numbers) expect(rowOf(what)).toContain(count(number));
  });

  test.each(['limits', 'server'])('the page has every number in `%s`', (name) => {
    const group = (configJsonSchema() as Schema).properties?.[name]?.properties ?? {};
    const missing = Object.keys(group).filter((key) => !page.includes(`\`${name}.${key}`));
    expect(missing).toEqual([]);
  });
});

test('docs/reference/documents.md has the limits that the code has', () => {
  expect(documents).toContain(`${count(MAX_VALUES)} values`);
  expect(documents).toContain(`result ${MAX_RESULT / 1024 ** 2} MiB`);
  expect(documents).toContain(`a path ${count(LONGEST_PATH)}`);
});
