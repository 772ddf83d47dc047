import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { STATE } from './state.ts';
import { ALL_REALMS, type PeopleList, type PersonRecord } from '../../people/people.ts';
import { listening } from '../../contract/cache/invalidations.ts';
import {
  copy,
  edit,
  everybodyIn,
  NO_QUOTA,
  passkeysIn,
  publicKeysIn,
  secondFactorsIn,
  putWith,
  someApiKey,
  someClient,
  someInvalidation,
  someKey,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
} from '../../contract/samples.ts';
import { sqliteUnderTest } from '../under-test.ts';

/** Migrations before the one that makes trees of documents that had a path only. */
const BEFORE_TREES = 3;
/** Before the one that counts dead properties apart. */
const BEFORE_PROPERTIES = 4;
/** Before the one that gives what Digest keeps of people rows of its own. */
const BEFORE_DIGESTS = 9;
/** Before the one that gives what all schemes keep of people rows of their own. */
const BEFORE_VERIFIERS = 10;
/** Before the one that has a table for short content. */
const BEFORE_CONTENT = 11;
/** Before the one that has public keys. */
const BEFORE_PUBLIC_KEYS = 12;
/** Before the one that has keys of the gateway. */
const BEFORE_GATEWAY_KEYS = 13;
/** Before the one that has invalidations. */
const BEFORE_INVALIDATIONS = 14;
/** Before the one that has versions of trees. */
const BEFORE_VERSIONS = 15;
/** Before the one that has passkeys. */
const BEFORE_PASSKEYS = 20;
/** Before the one that has second factors. */
const BEFORE_SECOND_FACTORS = 21;
/** Before the one that has mail. */
const BEFORE_MAIL = 22;
/** Before the one by which people are found by addresses and the looks of names. */
const BEFORE_SEARCH_KEYS = 23;
/** Before the one by which a verified address is that of one person. */
const BEFORE_VERIFIED_ADDRESSES = 25;
/** Before the one that has the keys of clients. */
const BEFORE_CLIENT_KEYS = 32;
/** Before the one by which one mailbox is one alias. */
const BEFORE_MAILBOXES = 29;

interface Former extends PersonRecord {
  readonly scram?: Readonly<Record<string, { salt: string }>>;
  readonly digest_set?: string;
}

/** Keys of SCRAM as they were in a record, and the value that is to come of them. */
const keys = (salt: string) => ({ salt, iterations: 4096, stored_key: 's', server_key: 'k' });
const valueOf = (hash: string, salt: string) => `SCRAM-${hash}$4096:${salt}$s:k`;

test('documents of before there were trees are in them, below collections', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_TREES)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_TREES}`);
    const insert = old.prepare('INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const [n, path] of ['a/b/c', 'a/b/d', 'a', 'a b/x', 'é/ü', 'x'].entries()) {
      insert.run('/documents', path, `etag${n}`, 'text/plain', 10, 1000 + n, `file${n}`);
    }
    insert.run('/hidden', 'z/z/z', 'etag', 'text/plain', 3, 5, 'file0');
  }
  await using stores = await store.open();
  const below = await stores.trees.below('/documents', '', 99);
  expect(below.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'collection a',
    'collection a b',
    // There was a document a, too.
    'document a.file2',
    'document x',
    'collection é',
    'collection a/b',
    'document a b/x',
    'document a/b/c',
    'document a/b/d',
    'document é/ü',
  ]);
  expect(await stores.trees.get('/documents', 'a/b/d')).toEqual({
    path: 'a/b/d',
    kind: 'document',
    revision: expect.stringMatching(/^[0-9a-f]{32}$/),
    etag: 'etag1',
    type: 'text/plain',
    length: 10,
    created: 1001,
    modified: 1001,
    file: 'file1',
    properties: {},
  });
  expect(await stores.trees.get('/documents', 'a')).toMatchObject({
    created: 1000,
    modified: 1001,
  });
  expect(new Set(below.map(({ revision }) => revision)).size).toBe(below.length);
  expect((await stores.trees.look('/documents', [])).usage).toEqual({ bytes: 60, entries: 10 });
  expect((await stores.trees.look('/hidden', [])).usage).toEqual({ bytes: 3, entries: 3 });
  expect(await stores.trees.files('/hidden')).toEqual(new Set(['file0']));
  await edit(stores, '/hidden', [{ kind: 'remove', path: 'z' }]);
  expect((await stores.trees.look('/hidden', [])).usage).toEqual({ bytes: 0, entries: 0 });
  await store.end();
});

test('dead properties of before they were counted apart count', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_PROPERTIES)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_PROPERTIES}`);
    old.exec(`
      INSERT INTO resource VALUES
        ('t', '', 'a', 'document', 'r', 'e', 'text/plain', 7, 1, 1, 'f', '{"{}b":"<b/>"}', 14),
        ('t', '', 'c', 'collection', 'r', NULL, NULL, NULL, 1, 1, NULL, '{"{}b":"<b/>"}', 7);
      INSERT INTO tree VALUES ('t', 0, 21, 2), ('empty', 1, 0, 0);
    `);
  }
  await using stores = await store.open();
  const copied = (properties: number) =>
    edit(stores, 't', [copy('a', 'b')], {}, { ...NO_QUOTA, properties });
  expect(await copied(20)).toEqual({ kind: 'full' });
  expect(await copied(21)).toMatchObject({ kind: 'done' });
  expect(await edit(stores, 'empty', [], {})).toMatchObject({ kind: 'done' });
  await store.end();
});

test('content of before the store kept any is in files, until something else is put there', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_CONTENT)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_CONTENT}`);
    old.exec(`
      INSERT INTO resource VALUES
        ('t', '', 'a', 'document', 'r', 'e', 'text/plain', 7, 1, 1, 'former', '{}', 7),
        ('t', '', 'b', 'document', 'r', 'e', 'text/plain', 7, 1, 1, 'former', '{}', 7);
      INSERT INTO tree VALUES ('t', 0, 14, 2, 0);
    `);
  }
  await using stores = await store.open();
  const { trees } = stores;
  expect(await trees.content('t', 'former')).toBeUndefined();
  expect(await trees.files('t')).toEqual(new Set(['former']));
  const put = (path: string) =>
    edit(stores, 't', [putWith(path, Buffer.from(path), { file: path })]);
  expect(await put('a')).toEqual({ kind: 'done', released: [] });
  expect(await trees.files('t')).toEqual(new Set(['former']));
  expect(await put('b')).toEqual({ kind: 'done', released: ['former'] });
  expect(await trees.files('t')).toEqual(new Set());
  for (const path of ['a', 'b']) expect(await trees.content('t', path)).toEqual(Buffer.from(path));
  expect((await trees.look('t', [])).usage).toEqual({ bytes: 2, entries: 2 });
  await store.end();
});

test('people whose records held everything have a row for each verifier, and one of SCRAM for each hash', async () => {
  const former = {
    ...somePerson('alice'),
    verifiers: {
      // In the order of JavaScript, not of SQLite.
      10: { digest: { MD5: 'ha0' }, scram: { 'SHA-1': keys('ten') } },
      "a: b'[0]": { digest: { MD5: 'ha1', 'SHA-256': 'ha2' }, scram: { 'SHA-1': keys('ten') } },
      none: { digest: {}, scram: {} },
      c: { digest: { MD5: 'ha3' }, scram: { 'SHA-256': keys('two') } },
    },
    kerberos: ['alice@A'],
    aliases: [
      'digest:MD5:u0',
      'digest:MD5:u1',
      'digest:SHA-256:u2',
      'digest:MD5:u3',
      'kerberos:alice@A',
    ],
  };
  const alike = {
    ...former,
    ...somePerson('bob'),
    aliases: former.aliases.slice(0, 4).map((alias) => `${alias}0`),
  };
  const bare = somePerson('carol');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_DIGESTS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_DIGESTS}`);
    const insert = old.prepare('INSERT INTO person VALUES (?, ?, ?)');
    for (const each of [former, alike, bare]) {
      insert.run(each.id, each.name, JSON.stringify(each));
    }
    const alias = old.prepare('INSERT INTO person_alias VALUES (?, ?)');
    for (const each of former.aliases) alias.run(each, former.id);
  }
  await using stores = await store.open();
  const { people } = stores;
  const { verifiers: _, ...rest } = former;
  const person = {
    ...rest,
    verifier_set: expect.any(String),
    aliases: ['kerberos:alice@A'],
    search_keys: ['looks:allce'],
  };
  const [alice, bob, carol] = await everybodyIn(stores);
  expect(alice).toEqual(person);
  expect(bob?.verifier_set).toBe(alice?.verifier_set);
  expect(carol).toEqual({ ...bare, verifier_set: '', aliases: [], search_keys: ['looks:carol'] });
  const rows = [
    { kind: 'digest MD5', realm: '10', value: 'ha0', handle: 'u0' },
    { kind: 'digest MD5', realm: "a: b'[0]", value: 'ha1', handle: 'u1' },
    { kind: 'digest SHA-256', realm: "a: b'[0]", value: 'ha2', handle: 'u2' },
    { kind: 'digest MD5', realm: 'c', value: 'ha3', handle: 'u3' },
    { kind: 'scram SHA-1', realm: ALL_REALMS, value: valueOf('SHA-1', 'ten') },
    { kind: 'scram SHA-256', realm: ALL_REALMS, value: valueOf('SHA-256', 'two') },
  ];
  expect(new Set((await people.getWhole(former.id))?.verifiers)).toEqual(new Set(rows));
  for (const { kind, realm, value, handle } of rows) {
    expect(await people.getVerifier(kind, realm, { name: 'alice' })).toEqual({ person, value });
    if (handle === undefined) continue;
    expect(await people.getVerifier(kind, realm, { handle })).toEqual({ person, value });
  }
  expect(await people.getByAlias('kerberos:alice@A')).toEqual(person);
  expect(await people.getByAlias('digest:MD5:u1')).toBeUndefined();
  await store.end();
});

test('rows of Digest and keys of SCRAM in records are verifiers of one table', async () => {
  const scram = { 'SHA-256': keys('a+/='), 'SHA-1': keys('b') };
  const changed = { kerberos: ['x@A'], disabled: true, version: 7, created_at: 12 };
  const people = [
    { ...somePerson('alice'), scram, digest_set: 'of two', aliases: ['kerberos:x@A'], ...changed },
    { ...somePerson('bob'), scram, digest_set: 'of two', aliases: [] },
    { ...somePerson('carol'), scram: { 'SHA-1': keys('c') }, digest_set: 'of two', aliases: [] },
    { ...somePerson('dave'), scram: {}, digest_set: 'none', aliases: [] },
    somePerson('erin'),
  ];
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_VERIFIERS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_VERIFIERS}`);
    const person = old.prepare('INSERT INTO person VALUES (?, ?, ?)');
    const digest = old.prepare('INSERT INTO person_digest VALUES (?, ?, ?, ?, ?)');
    for (const each of people) {
      person.run(each.id, each.name, JSON.stringify(each));
      if (!('digest_set' in each) || each.digest_set !== 'of two') continue;
      for (const [realm, hash] of [
        ["a: b'[0]", 'MD5'],
        ['c', 'SHA-512-256'],
      ] as const) {
        digest.run(each.id, realm, hash, `ha1 of ${each.name}`, `${hash} of ${each.name}`);
      }
    }
  }
  await using stores = await store.open();
  const now = await everybodyIn(stores);
  expect(now).toEqual(
    people.map((person: Former) => {
      const { scram: _, digest_set: __, ...rest } = person;
      return Object.assign(rest, {
        verifier_set: expect.any(String),
        search_keys: [`looks:${person.name.replaceAll('i', 'l')}`],
      });
    }),
  );
  const sets = now.map(({ verifier_set }) => verifier_set);
  expect(sets[0]).toBe(sets[1]);
  expect(new Set(sets).size).toBe(4);
  const rowsOf = ({ name, scram: of = {} }: Former) =>
    new Set([
      ...Object.entries(of).map(([hash, { salt }]) => ({
        kind: `scram ${hash}`,
        realm: ALL_REALMS,
        value: valueOf(hash, salt),
      })),
      ...[
        ["a: b'[0]", 'MD5'],
        ['c', 'SHA-512-256'],
      ].map(([realm, hash]) => ({
        kind: `digest ${hash}`,
        realm,
        value: `ha1 of ${name}`,
        handle: `${hash} of ${name}`,
      })),
    ]);
  for (const each of people.slice(0, 3)) {
    expect(new Set((await stores.people.getWhole(each.id))?.verifiers)).toEqual(rowsOf(each));
  }
  for (const each of people.slice(3)) {
    expect((await stores.people.getWhole(each.id))?.verifiers).toEqual([]);
  }
  const handle = 'SHA-512-256 of bob';
  expect(await stores.people.getVerifier('digest SHA-512-256', 'c', { handle })).toMatchObject({
    person: { name: 'bob' },
  });
  await store.end();
});

test('a file of before there were public keys has none, and takes them', async () => {
  const apiKey = someApiKey('x');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_PUBLIC_KEYS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_PUBLIC_KEYS}`);
    old.prepare('INSERT INTO api_key VALUES (?, ?)').run(apiKey.id, JSON.stringify(apiKey));
  }
  await using stores = await store.open();
  expect(await publicKeysIn(stores)).toEqual([]);
  expect(await stores.apiKeys.list()).toEqual([apiKey]);
  expect(await stores.publicKeys.add(somePublicKey('x'), 1)).toBe('added');
  expect(await publicKeysIn(stores)).toEqual([somePublicKey('x')]);
  await store.end();
});

test('a file of before there were keys of the gateway has none, takes them, and keeps the others', async () => {
  const key = someKey('k1', 'ES256');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_GATEWAY_KEYS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_GATEWAY_KEYS}`);
    old.prepare('INSERT INTO key VALUES (?, ?, ?)').run(key.kid, key.alg, JSON.stringify(key));
  }
  await using stores = await store.open();
  expect(await stores.gatewayKeys.list()).toEqual([]);
  expect(await stores.gatewayKeys.add(someKey('g1', 'ES256'), 'ES256')).toBe(true);
  expect(await stores.gatewayKeys.list()).toEqual([someKey('g1', 'ES256')]);
  expect(await stores.keys.list()).toEqual([key]);
  await store.end();
});

test('a file of before there were invalidations has none, and takes and tells them', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_INVALIDATIONS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_INVALIDATIONS}`);
    old.exec("INSERT INTO epoch (one, id) VALUES (1, 'first')");
  }
  await using stores = await store.open();
  expect(await stores.invalidations.list('target', 10)).toEqual([]);
  await using listener = await listening(stores);
  await stores.invalidations.add([someInvalidation('x')]);
  expect(await listener.hear()).toMatchObject([{ value: 'x', position: 'first:1' }]);
  await store.end();
});

test('a file of before there were passkeys has none, takes them, and keeps public keys', async () => {
  const key = somePublicKey('k');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_PASSKEYS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_PASSKEYS}`);
    old
      .prepare('INSERT INTO public_key VALUES (?, ?, ?, ?)')
      .run(key.id, JSON.stringify(['person', key.owner.id]), key.created_at, JSON.stringify(key));
  }
  await using stores = await store.open();
  expect(await passkeysIn(stores)).toEqual([]);
  expect(await publicKeysIn(stores)).toEqual([key]);
  expect(await stores.passkeys.add(somePasskey('x'), 1)).toBe('added');
  expect(await passkeysIn(stores)).toEqual([somePasskey('x')]);
  await store.end();
});

test('a file of before there were second factors has none, takes them, and keeps passkeys', async () => {
  const passkey = somePasskey('k');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_SECOND_FACTORS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_SECOND_FACTORS}`);
    const { id, accountId, created_at } = passkey;
    old
      .prepare('INSERT INTO passkey VALUES (?, ?, ?, ?)')
      .run(id, JSON.stringify(accountId), created_at, JSON.stringify(passkey));
  }
  await using stores = await store.open();
  expect(await secondFactorsIn(stores)).toEqual([]);
  expect(await passkeysIn(stores)).toEqual([passkey]);
  expect(await stores.secondFactors.add(someSecondFactor('x'))).toBe(true);
  expect(await secondFactorsIn(stores)).toEqual([someSecondFactor('x')]);
  await store.end();
});

test('a file of before there was mail takes it, and keeps second factors', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  const factor = someSecondFactor('x');
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_MAIL)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_MAIL}`);
    old
      .prepare('INSERT INTO second_factor VALUES (?, ?)')
      .run(JSON.stringify(factor.accountId), JSON.stringify(factor));
  }
  await using stores = await store.open();
  expect(await secondFactorsIn(stores)).toEqual([factor]);
  const message = someOutboxMessage('m');
  expect(await stores.outbox.add(message)).toBe(true);
  expect(await stores.outbox.take(message.created_at, message.until, 10)).toEqual([
    { ...message, attempt: 1 },
  ]);
  await store.end();
});

test('passkeys, second factors, addresses and waiting mail stay as they are from the first file that has them all', async () => {
  const emails = [{ address: 'alice@example.com', verified: true }];
  const person = { ...somePerson('alice'), profile: { emails } };
  const passkey = { ...somePasskey('k'), accountId: person.id };
  const factor = someSecondFactor(person.id);
  const message = someOutboxMessage('m');
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_SEARCH_KEYS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_SEARCH_KEYS}`);
    const owner = JSON.stringify(person.id);
    old
      .prepare('INSERT INTO person VALUES (?, ?, ?)')
      .run(person.id, person.name, JSON.stringify(person));
    old
      .prepare('INSERT INTO passkey VALUES (?, ?, ?, ?)')
      .run(passkey.id, owner, passkey.created_at, JSON.stringify(passkey));
    old.prepare('INSERT INTO second_factor VALUES (?, ?)').run(owner, JSON.stringify(factor));
    old
      .prepare('INSERT INTO outbox VALUES (?, ?, 0, ?)')
      .run(message.id, message.created_at, JSON.stringify(message));
  }
  await using stores = await store.open();
  expect(await stores.people.getByName('alice')).toMatchObject(person);
  expect(await stores.passkeys.of(person.id)).toEqual([passkey]);
  expect(await stores.secondFactors.get(person.id)).toEqual(factor);
  const taken = await stores.outbox.take(message.created_at, message.until, 9);
  expect(taken).toEqual([{ ...message, attempt: 1 }]);
  await store.end();
});

test('people of before there were search keys and lists are found by them', async () => {
  const emails = ['Alice@Example.com', 'ÄB@x', 'alice@example.com', "a'b@x"].map((address) => ({
    address,
    verified: false,
  }));
  const former = [
    { ...somePerson('alice'), profile: { emails } },
    somePerson('rn.a-r_c0'),
    {
      ...somePerson('carol'),
      profile: { display_name: 'Carol', groups: ['staff', 'staff'] },
      disabled: true,
    },
  ];
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_SEARCH_KEYS)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_SEARCH_KEYS}`);
    const person = old.prepare('INSERT INTO person VALUES (?, ?, ?)');
    for (const each of former) person.run(each.id, each.name, JSON.stringify(each));
  }
  await using stores = await store.open();
  const now = await everybodyIn(stores);
  expect(now.map(({ name, search_keys }) => [name, search_keys])).toEqual([
    ['alice', ['email:alice@example.com', 'email:Äb@x', "email:a'b@x", 'looks:allce']],
    ['carol', ['looks:carol']],
    ['rn.a-r_c0', ['looks:marco']],
  ]);
  for (const person of now) {
    for (const key of person.search_keys ?? []) {
      expect(await stores.people.search(key)).toEqual([person]);
    }
  }
  const named = async (list: PeopleList) =>
    (await stores.people.page({ list, limit: 9 })).map(({ name }) => name);
  expect(await named({ group: 'staff' })).toEqual(['carol']);
  expect(await named({ state: 'disabled' })).toEqual(['carol']);
  expect(await named({ state: 'active' })).toEqual(['alice', 'rn.a-r_c0']);
  // An older process, which knows of no lists, goes on.
  using older = new DatabaseSync(store.statePath);
  older.exec(`UPDATE person SET record = json_remove(record, '$.disabled') WHERE name = 'carol'`);
  expect(await named({ state: 'disabled' })).toEqual([]);
  older.exec(`DELETE FROM person WHERE name = 'carol'`);
  expect(await named({ group: 'staff' })).toEqual([]);
  await store.end();
});

test('a verified address stays with the eldest account alone, and i looks like l', async () => {
  const verified = (...addresses: string[]) => ({
    profile: { emails: addresses.map((address) => ({ address, verified: true })) },
  });
  const former = [
    { ...somePerson('abe'), ...verified('SHARED@x.example'), created_at: 3 },
    { ...somePerson('ida'), ...verified('Shared@x.example'), created_at: 1 },
    {
      ...somePerson('zoe'),
      ...verified('own@x.example', 'shared@X.example'),
      aliases: ['kerberos:zoe@A'],
      created_at: 2,
    },
    somePerson('bare'),
  ];
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    const earlier = STATE.migrations.slice(0, BEFORE_VERIFIED_ADDRESSES);
    for (const migration of earlier) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_VERIFIED_ADDRESSES}`);
    for (const { ...person } of former) {
      const search_keys = ['email:shared@x.example', `looks:${person.name}`];
      old
        .prepare('INSERT INTO person VALUES (?, ?, ?)')
        .run(person.id, person.name, JSON.stringify({ ...person, search_keys }));
      for (const key of search_keys) {
        old.prepare('INSERT INTO person_search_key VALUES (?, ?)').run(key, person.id);
      }
    }
    old
      .prepare('INSERT INTO person_alias VALUES (?, ?)')
      .run('kerberos:zoe@A', former[2]?.id ?? '');
  }
  await using stores = await store.open();
  const { people } = stores;
  const now = await everybodyIn(stores);
  expect(
    now.map(({ name, aliases, profile }) => [
      name,
      aliases,
      profile?.emails?.map(({ verified: is }) => is),
    ]),
  ).toEqual([
    ['abe', undefined, [false]],
    ['bare', undefined, undefined],
    ['ida', ['address:shared@x.example'], [true]],
    ['zoe', ['kerberos:zoe@A', 'address:own@x.example'], [true, false]],
  ]);
  expect(await people.getByAlias('address:shared@x.example')).toEqual(now[2]);
  expect(await people.getByAlias('address:own@x.example')).toEqual(now[3]);
  expect(await people.search('looks:lda')).toEqual([now[2]]);
  expect(await people.search('looks:ida')).toEqual([]);
  expect(now[2]?.search_keys).toEqual(['email:shared@x.example', 'looks:lda']);
  await store.end();
});

test('a mailbox stays with the eldest account alone, whichever way its domain is written', async () => {
  const verified = (...addresses: string[]) => ({
    profile: { emails: addresses.map((address) => ({ address, verified: true })) },
  });
  const [early, late] = ['a@bücher.example', 'A@xn--bcher-kva.example'];
  const former = [
    {
      ...somePerson('newcomer5'),
      ...verified(late, 'own@x.example'),
      created_at: 2,
      aliases: ['address:a@xn--bcher-kva.example', 'address:own@x.example'],
      search_keys: ['email:a@xn--bcher-kva.example', 'email:own@x.example', 'looks:newcomer5'],
    },
    {
      ...somePerson('old'),
      ...verified(early),
      created_at: 1,
      aliases: ['kerberos:old@A', `address:${early}`],
      search_keys: [`email:${early}`, 'looks:old'],
    },
    { ...somePerson('plain'), aliases: [], search_keys: ['looks:plaln'] },
  ];
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_MAILBOXES)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_MAILBOXES}`);
    for (const person of former) {
      old
        .prepare('INSERT INTO person VALUES (?, ?, ?)')
        .run(person.id, person.name, JSON.stringify(person));
      for (const alias of person.aliases) {
        old.prepare('INSERT INTO person_alias VALUES (?, ?)').run(alias, person.id);
      }
      for (const key of person.search_keys) {
        old.prepare('INSERT INTO person_search_key VALUES (?, ?)').run(key, person.id);
      }
    }
  }
  await using stores = await store.open();
  const { people } = stores;
  const now = await everybodyIn(stores);
  expect(now).toMatchObject([
    {
      name: 'newcomer5',
      profile: { emails: [{ address: late, verified: false }, { verified: true }] },
      aliases: ['address:own@x.example'],
      search_keys: ['email:a@xn--bcher-kva.example', 'email:own@x.example', 'looks:newcomer5'],
    },
    {
      name: 'old',
      profile: { emails: [{ address: early, verified: true }] },
      aliases: ['kerberos:old@A', 'address:a@xn--bcher-kva.example'],
      search_keys: ['email:a@xn--bcher-kva.example', 'looks:old'],
    },
    { name: 'plain', search_keys: ['looks:plaln'] },
  ]);
  expect(await people.getByAlias('address:a@xn--bcher-kva.example')).toEqual(now[1]);
  expect(await people.getByAlias(`address:${early}`)).toBeUndefined();
  const found = await people.search('email:a@xn--bcher-kva.example');
  expect(found.map(({ name }) => name).toSorted()).toEqual(['newcomer5', 'old']);
  expect(await people.search('looks:newcomer5')).toEqual([now[0]]);
  await store.end();
});

test('a tree of an older schema gets a version, and loses it when an older process writes', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  using old = new DatabaseSync(store.statePath);
  for (const migration of STATE.migrations.slice(0, BEFORE_VERSIONS)) old.exec(migration);
  old.exec(`PRAGMA user_version = ${BEFORE_VERSIONS}`);
  const commit = old.prepare(
    'INSERT OR REPLACE INTO tree (name, locks_version, bytes, entries, properties) VALUES (?, 0, 0, 0, 0)',
  );
  commit.run('a');
  commit.run('b');
  await using stores = await store.open();
  const versions = [await stores.trees.version('a'), await stores.trees.version('b')];
  expect(versions).toEqual([expect.any(String), expect.any(String)]);
  expect(versions[0]).not.toBe(versions[1]);
  commit.run('a');
  expect(await stores.trees.version('a')).toBeUndefined();
  expect(await stores.trees.version('b')).toBe(versions[1]);
  await store.end();
});

test('clients of an older schema are found by their keys, also those that an older process writes', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  using old = new DatabaseSync(store.statePath);
  old.function('mail_key', (text) => text);
  for (const migration of STATE.migrations.slice(0, BEFORE_CLIENT_KEYS)) old.exec(migration);
  old.exec(`PRAGMA user_version = ${BEFORE_CLIENT_KEYS}`);
  const pairs = Array.from({ length: 3 }, () => {
    const pair = generateKeyPairSync('ed25519');
    const jwk = { ...pair.publicKey.export({ format: 'jwk' }) };
    return { jwk, id: keptJwk(jwk)?.id ?? '' };
  });
  const recordWith = (id: string, ...some: typeof pairs) =>
    JSON.stringify({ ...someClient(id), jwks: { keys: some.map(({ jwk }) => jwk) } });
  const insert = old.prepare('INSERT INTO client VALUES (?, ?)');
  insert.run('plain', JSON.stringify(someClient('plain')));
  // More than are indexed at once.
  for (let n = 0; n < 120; n += 1) insert.run(`client-${n}`, recordWith(`client-${n}`, pairs[0]!));
  await using stores = await store.open();
  const found = () => Promise.all(pairs.map(({ id }) => stores.clients.withKey(id)));
  expect((await found()).map(({ length }) => length)).toEqual([120, 0, 0]);
  old
    .prepare("UPDATE client SET record = ? WHERE client_id = 'client-7'")
    .run(recordWith('client-7', pairs[1]!));
  insert.run('late', recordWith('late', pairs[1]!, pairs[2]!));
  old.exec("DELETE FROM client WHERE client_id = 'client-8'");
  expect((await found()).map(({ length }) => length)).toEqual([118, 2, 1]);
  old.exec('DELETE FROM client');
  expect(await found()).toEqual([[], [], []]);
  await store.end();
});

/** Brings a file up to date as another process would, but takes longer than a write waits for another. */
const SLOW_MIGRATION = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const { path, migrations } = workerData;
  const database = new DatabaseSync(path);
  // Nobody is there whose address it would be asked for.
  database.function('mail_key', (text) => text);
  database.exec('BEGIN EXCLUSIVE');
  parentPort.postMessage('begun');
  for (const migration of migrations) database.exec(migration);
  database.exec('PRAGMA user_version = ' + migrations.length);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  database.exec('COMMIT');
  database.close();
`;

test('a process that starts while another brings the schema up to date waits for it', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  const workerData = { path: store.statePath, migrations: STATE.migrations };
  const other = new Worker(SLOW_MIGRATION, { eval: true, workerData });
  const ended = once(other, 'exit');
  await once(other, 'message');
  await using stores = await store.open();
  expect(await everybodyIn(stores)).toEqual([]);
  expect(await ended).toEqual([0]);
  await store.end();
});
