import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { PASSING_TABLES, STATE_TABLES } from '#shared/stores/sql/tables.ts';
import { DATA_MEMBERS } from '../../pages/own-data/data-of.ts';

const TECHNICAL = 'of servers, tokens or applications, not of people';
const SEARCH = 'finds a row by what the row says';

/** The member of the file, or why the file has none of it. */
type Place = { readonly in: string } | { readonly not: string };

/** Where the file has the rows of each table. */
const TABLES: Readonly<Record<string, Place>> = {
  person: { in: 'person' },
  person_alias: { not: SEARCH },
  person_search_key: { not: SEARCH },
  person_list: { not: SEARCH },
  person_verifier: { in: 'verifiers' },
  former_name: { not: 'of people who were removed, as a hash' },
  generation: { in: 'generation' },
  revocation: { not: 'says the generation again, until the tokens before it have expired' },
  passkey: { in: 'passkeys' },
  second_factor: { in: 'second_factor' },
  public_key: { in: 'public_keys' },
  api_key: { not: TECHNICAL },
  artefact: { in: 'grants' },
  passing_artefact: { not: 'a step of a sign-in, for minutes' },
  push_subscription: { in: 'push_subscriptions' },
  push_message: { not: 'what an application sent, which only the browser can decrypt' },
  push_receipts: { not: TECHNICAL },
  push_receipt: { not: TECHNICAL },
  push_news: { not: TECHNICAL },
  outbox: { in: 'messages' },
  logout: { in: 'applications_to_tell' },
  audit: { in: 'events' },
  audit_open: { not: 'becomes part of `audit` within seconds' },
  audit_key: { not: SEARCH },
  audit_link: { not: TECHNICAL },
  audit_refusal: { not: 'becomes part of `audit` within the hour' },
  resource: { in: 'documents' },
  collection: { not: 'sizes of `resource`' },
  tree: { not: 'sizes of `resource`' },
  tree_lock: { not: TECHNICAL },
  tree_lock_change: { not: TECHNICAL },
  tree_copy: { not: TECHNICAL },
  content: { not: 'the documents, which the person reads at their addresses' },
  client: { not: TECHNICAL },
  client_search_key: { not: SEARCH },
  declared: { not: TECHNICAL },
  key: { not: TECHNICAL },
  gateway_key: { not: TECHNICAL },
  token_key: { not: TECHNICAL },
  spent_token: { not: 'tokens without a person' },
  epoch: { not: TECHNICAL },
  followed: { not: TECHNICAL },
  settled: { not: TECHNICAL },
  last_backup: { not: TECHNICAL },
  invalidation: { not: TECHNICAL },
  cache_report: { not: TECHNICAL },
  replay: { not: 'hashes without a person, for minutes' },
  session: { not: 'a step of a scheme, for minutes' },
  bucket: { not: 'hashes without a person, for minutes' },
  use_count: { not: 'hashes without a person, for minutes' },
  kept: { not: 'an answer that is sealed for a browser, for minutes' },
};

const STEP = 'a step of a request, for minutes';
const OF_GRANT = 'a part of a grant, which `grants` lists with its scopes and its last token';

/** Where the file has each kind of artefact. */
const ARTEFACTS: Readonly<Record<string, Place>> = {
  Access: { in: 'grants' },
  AccessToken: { not: OF_GRANT },
  AuthorizationCode: { not: STEP },
  BrowserSession: { not: 'a session at a space, which belongs to a grant' },
  Client: { not: TECHNICAL },
  ClientDocument: { not: TECHNICAL },
  Consent: { in: 'consents' },
  DeviceCode: { not: STEP },
  FormAnswer: { not: STEP },
  GnapGrant: { not: OF_GRANT },
  GnapRequest: { not: STEP },
  GnapRights: { in: 'grants' },
  Grant: { in: 'grants' },
  Interaction: { not: STEP },
  LastIssue: { in: 'grants' },
  LastSeen: { in: 'sign_ins' },
  Link: { in: 'address_to_confirm' },
  PushedAuthorizationRequest: { not: STEP },
  RefreshToken: { not: OF_GRANT },
  ReplayDetection: { not: STEP },
  Session: { not: 'the sign-in of the engine, beside that in `sign_ins`' },
  SignIn: { in: 'sign_ins' },
  Visit: { not: STEP },
};

const SOURCES = ['shared/**/*.ts', 'authz-server/**/*.ts', 'resource-server/**/*.ts'];
const IS_TEST = /\.(?:test|fixture)\.ts$|\/contract\//;

/** How code names a kind of artefact: in a record, in a constant, or for the engine. */
const NAMINGS = [
  /\bkind: '([A-Z][a-z]\w+)'/g,
  /^(?:export )?const [A-Z_]+ = '([A-Z][a-z]\w+)';/gm,
  /\b\w+Adapter\(store, '([A-Z][a-z]\w+)'/g,
  /^ {4}([A-Z][a-z]\w+): \(\) =>/gm,
];

async function kindsInCode(): Promise<ReadonlySet<string>> {
  const kinds = new Set<string>();
  for await (const file of glob(SOURCES)) {
    const text = IS_TEST.test(file) ? '' : await readFile(file, 'utf8');
    if (!/artefact/i.test(text)) continue;
    for (const naming of NAMINGS)
      for (const [, kind = ''] of text.matchAll(naming)) kinds.add(kind);
  }
  return kinds;
}

test('each table has a member of the file, or a reason to have none', () => {
  const tables = [...(STATE_TABLES + PASSING_TABLES).matchAll(/CREATE TABLE (\w+)/g)];
  expect(Object.keys(TABLES).toSorted()).toEqual(tables.map(([, name = '']) => name).toSorted());
});

test('each kind of artefact has a member of the file, or a reason to have none', async () => {
  expect(Object.keys(ARTEFACTS)).toEqual([...(await kindsInCode())].toSorted());
});

test('each member of the file has a table or a kind of artefact', () => {
  const places = [...Object.values(TABLES), ...Object.values(ARTEFACTS)];
  const members = places.flatMap((place) => ('in' in place ? [place.in] : []));
  expect([...new Set(members)].toSorted()).toEqual(DATA_MEMBERS.toSorted());
});
