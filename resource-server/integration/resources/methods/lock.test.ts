import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { clientsOf, LOCK_INFO, tokenOf } from '../webdav/locking.fixture.ts';

let rs: TestResourceServer;
let alice: ReturnType<typeof clientsOf>['alice'];
let bob: typeof alice;
let lock: ReturnType<typeof clientsOf>['lock'];
beforeAll(async () => {
  rs = await startResourceServer();
  ({ alice, bob, lock } = clientsOf(rs));
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `lock-${++made}`;
const XML = { 'Content-Type': 'application/xml' };
const statusesOf = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);
const ten = Array.from({ length: 10 });
const nine = (status: number) => Array.from({ length: 9 }, () => status);

async function document(): Promise<string> {
  const path = fresh();
  await alice('PUT', path, {}, 'content');
  return path;
}

async function collection(): Promise<string> {
  const path = fresh();
  await alice('MKCOL', path);
  await alice('PUT', `${path}/a`, {}, 'a');
  return path;
}

describe('RFC 4918 section 9.10.1: a lock on an existing resource', () => {
  test('LOCK is 200 with the token in Lock-Token and lockdiscovery, and all granted values', async () => {
    const path = await document();
    const owner = '<D:owner><D:href>mailto:a@example.org</D:href></D:owner>';
    const reply = await alice(
      'LOCK',
      path,
      { ...XML, Timeout: 'Second-100' },
      LOCK_INFO('shared', owner),
    );
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/xml; charset="utf-8"');
    const token = tokenOf(reply);
    expect(token).toMatch(/^<urn:uuid:[-\da-f]{36}>$/);
    for (const part of [
      '<D:prop xmlns:D="DAV:"><D:lockdiscovery><D:activelock>',
      '<D:locktype><D:write/></D:locktype>',
      '<D:lockscope><D:shared/></D:lockscope>',
      '<D:depth>infinity</D:depth>',
      '<D:href>mailto:a@example.org</D:href>',
      '<D:timeout>Second-100</D:timeout>',
      `<D:locktoken><D:href>${token.slice(1, -1)}</D:href></D:locktoken>`,
      `<D:lockroot><D:href>/documents/${path}</D:href></D:lockroot>`,
    ]) {
      expect(reply.text).toContain(part);
    }
  });

  test.each([
    ['Second-60', 60],
    ['Infinite', 86_400],
    ['Infinite, Second-4100000000', 86_400],
    ['Second-99999999999999999999', 86_400],
    ['Second-0', 1],
    ['Extend-x, Second-7', 7],
    ['second-5', 5],
    ['', 3600],
    ['soon', 3600],
    ['Second--1', 3600],
  ])('section 10.7: LOCK with Timeout: %s', async (timeout, seconds) => {
    const reply = await lock(alice, await document(), { Timeout: timeout });
    expect(reply.text).toContain(`<D:timeout>Second-${seconds}</D:timeout>`);
  });

  test('section 6.6: a lock expires after its timeout', async () => {
    const path = await document();
    await lock(alice, path, { Timeout: 'Second-60' });
    expect((await bob('PUT', path, {}, 'x')).status).toBe(423);
    rs.clock.advance(61);
    expect((await bob('PUT', path, {}, 'x')).status).toBe(204);
    expect((await lock(bob, path)).status).toBe(200);
  });

  test('section 9.10.5: LOCK beside an exclusive lock is refused, and the answer names the root of that lock', async () => {
    const path = await document();
    await lock(alice, path);
    for (const [client, scope] of [
      [bob, 'exclusive'],
      [bob, 'shared'],
      [alice, 'exclusive'],
    ] as const) {
      const reply = await lock(client, path, { scope });
      expect(reply.status).toBe(423);
      expect(reply.headers['lock-token']).toBeUndefined();
      expect(reply.text).toContain(
        `<D:no-conflicting-lock><D:href>/documents/${path}</D:href></D:no-conflicting-lock>`,
      );
    }
  });

  test('section 6.2: a shared lock is granted beside shared locks, and an exclusive lock is not', async () => {
    const path = await document();
    const tokens = [
      await lock(alice, path, { scope: 'shared' }),
      await lock(bob, path, { scope: 'shared' }),
    ];
    expect(statusesOf(tokens)).toEqual([200, 200]);
    expect(new Set(tokens.map(tokenOf)).size).toBe(2);
    expect((await lock(alice, path)).status).toBe(423);
  });

  test('section 9.10.3: a lock covers a collection with its members, or without', async () => {
    const path = await collection();
    const token = tokenOf(await lock(alice, path, { Depth: '0' }));
    expect((await bob('PUT', `${path}/a`, {}, 'x')).status).toBe(204);
    expect((await bob('PUT', `${path}/new`, {}, 'x')).status).toBe(423);
    expect((await bob('DELETE', `${path}/a`)).status).toBe(423);
    await alice('UNLOCK', path, { 'Lock-Token': token });
    await lock(alice, path);
    const refused = await bob('PUT', `${path}/a`, {}, 'y');
    expect(refused.status).toBe(423);
    expect(refused.text).toContain(
      `<D:lock-token-submitted><D:href>/documents/${path}/</D:href></D:lock-token-submitted>`,
    );
  });

  test('section 9.10.3: LOCK with a locked member is 207, with 424 for the target, and nothing is locked', async () => {
    const path = await collection();
    await lock(bob, `${path}/a`);
    const reply = await lock(alice, path);
    expect(reply.status).toBe(207);
    expect(reply.headers['lock-token']).toBeUndefined();
    const [member = '', target = ''] = reply.text.split('</D:response>');
    expect(member).toContain(`<D:href>/documents/${path}/a</D:href>`);
    expect(member).toContain('HTTP/1.1 423 ');
    expect(member).toContain('<D:no-conflicting-lock/>');
    expect(target).toContain(`<D:href>/documents/${path}/</D:href>`);
    expect(target).toContain('HTTP/1.1 424 ');
    expect((await bob('PUT', `${path}/b`, {}, 'x')).status).toBe(201);
  });

  test('the root can be locked', async () => {
    const reply = await lock(alice, '', { Depth: '0' });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('<D:lockroot><D:href>/documents/</D:href></D:lockroot>');
    expect((await bob('PUT', fresh(), {}, 'x')).status).toBe(423);
    const unlocked = await alice('UNLOCK', '', { 'Lock-Token': tokenOf(reply) });
    expect(unlocked.status).toBe(204);
  });
});

describe('RFC 4918 sections 7.3 and 9.10.4: a lock on a missing resource', () => {
  test('LOCK of a missing resource creates an empty document with 201, which stays after the lock', async () => {
    const path = fresh();
    const reply = await lock(alice, path);
    expect(reply.status).toBe(201);
    expect(await bob('GET', path)).toMatchObject({ status: 200, text: '' });
    expect((await bob('GET', path)).headers['content-length']).toBe('0');
    expect((await bob('PUT', path, {}, 'x')).status).toBe(423);
    const If = `(${tokenOf(reply)})`;
    expect((await alice('PUT', path, { If }, 'content')).status).toBe(204);
    expect((await alice('MKCOL', path, { If })).status).toBe(405);
    await alice('UNLOCK', path, { 'Lock-Token': tokenOf(reply) });
    expect((await bob('GET', path)).text).toBe('content');
  });

  test('LOCK of a missing resource needs the token of its collection, if that is locked without its members', async () => {
    const path = await collection();
    const If = `</documents/${path}/> (${tokenOf(await lock(alice, path, { Depth: '0' }))})`;
    expect((await lock(bob, `${path}/new`)).status).toBe(423);
    expect((await lock(alice, `${path}/new`)).status).toBe(423);
    expect((await lock(alice, `${path}/new`, { If })).status).toBe(201);
  });

  test('LOCK without a parent collection or below a document is 409, and creates no document', async () => {
    const before = await rs.contents();
    expect((await lock(alice, `${fresh()}/x`)).status).toBe(409);
    expect(await rs.contents()).toEqual(before);
    expect((await lock(alice, `${await document()}/x`)).status).toBe(409);
  });

  test('one of ten exclusive locks requested at the same time on a missing resource is granted, and creates the document', async () => {
    const path = fresh();
    const contents = (await rs.contents()).length;
    const replies = await Promise.all(ten.map(() => lock(alice, path)));
    expect(statusesOf(replies)).toEqual([201, ...nine(423)]);
    expect(await rs.contents()).toHaveLength(contents + 1);
  });

  test('ten shared locks requested at the same time on a missing resource are granted, and create one empty document', async () => {
    const path = fresh();
    const contents = (await rs.contents()).length;
    const replies = await Promise.all(ten.map(() => lock(alice, path, { scope: 'shared' })));
    expect(statusesOf(replies)).toEqual([...nine(200), 201]);
    expect(new Set(replies.map(tokenOf)).size).toBe(10);
    expect(await rs.contents()).toHaveLength(contents + 1);
  });

  test('one of ten exclusive locks requested at the same time on one document is granted', async () => {
    const path = await document();
    const replies = await Promise.all(ten.map(() => lock(alice, path)));
    expect(statusesOf(replies)).toEqual([200, ...nine(423)]);
  });
});

describe('RFC 4918 section 9.10.2: refreshing', () => {
  test('refreshing a lock restarts its time, without Lock-Token and with any Depth', async () => {
    const path = await document();
    const token = tokenOf(await lock(alice, path, { Timeout: 'Second-100' }));
    rs.clock.advance(60);
    const If = `(${token})`;
    const reply = await alice('LOCK', path, { If, Timeout: 'Second-500', Depth: '1' });
    expect(reply.status).toBe(200);
    expect(reply.headers['lock-token']).toBeUndefined();
    expect(reply.text).toContain('<D:timeout>Second-500</D:timeout>');
    expect(reply.text).toContain(token.slice(1, -1));
    const without = await alice('LOCK', path, { If });
    expect(without.text).toContain('<D:timeout>Second-500</D:timeout>');
    rs.clock.advance(450);
    expect((await bob('PUT', path, {}, 'x')).status).toBe(423);
  });

  test('a lock can be refreshed through a member of the locked collection', async () => {
    const path = await collection();
    const If = `(${tokenOf(await lock(alice, path))})`;
    const reply = await alice('LOCK', `${path}/a`, { If });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(`<D:lockroot><D:href>/documents/${path}/</D:href></D:lockroot>`);
  });

  test('refreshing a lock of another resource or an expired lock is 412', async () => {
    const path = await document();
    const elsewhere = await document();
    const token = tokenOf(await lock(alice, path, { Timeout: 'Second-10' }));
    const If = `(${token}) (Not <DAV:no-lock>)`;
    const reply = await alice('LOCK', elsewhere, { If });
    expect(reply.status).toBe(412);
    expect(reply.text).toContain('<D:lock-token-matches-request-uri/>');
    expect((await alice('LOCK', fresh(), { If })).status).toBe(412);
    expect((await alice('LOCK', path, { If: `(${token})` })).status).toBe(200);
    rs.clock.advance(11);
    expect((await alice('LOCK', path, { If: `(${token})` })).status).toBe(412);
  });

  test("refreshing is 400 without a lock or with two of the resource, and 403 for another person's lock", async () => {
    const path = await document();
    const options = { scope: 'shared' };
    const [mine, hers] = [await lock(alice, path, options), await lock(bob, path, options)].map(
      tokenOf,
    );
    expect((await alice('LOCK', path)).status).toBe(400);
    expect((await alice('LOCK', path, { If: `(${mine} ${hers})` })).status).toBe(400);
    expect((await alice('LOCK', path, { If: `(${hers})` })).status).toBe(403);
    expect((await alice('LOCK', path, { If: `(${mine})` })).status).toBe(200);
  });
});

describe('RFC 4918 section 9.11: UNLOCK', () => {
  test('UNLOCK is 204 and unlocks the whole collection, and a second UNLOCK is 409', async () => {
    const path = await collection();
    const token = tokenOf(await lock(alice, path));
    const fields = { 'Lock-Token': token };
    expect(await alice('UNLOCK', `${path}/a`, fields)).toMatchObject({ status: 204, text: '' });
    expect((await bob('PUT', `${path}/a`, {}, 'x')).status).toBe(204);
    const again = await alice('UNLOCK', path, fields);
    expect(again.status).toBe(409);
    expect(again.text).toContain('<D:lock-token-matches-request-uri/>');
  });

  test('UNLOCK by another person is 403, and the lock stays', async () => {
    const path = await document();
    const token = tokenOf(await lock(alice, path));
    expect((await bob('UNLOCK', path, { 'Lock-Token': token })).status).toBe(403);
    expect((await bob('PUT', path, {}, 'x')).status).toBe(423);
  });

  test.each([
    undefined,
    '',
    'urn:uuid:1',
    '<urn:uuid:1> ',
    '<urn:a> <urn:b>',
    'urn:a> <urn:b',
    '<<urn:a>>',
    '<relative>',
    '(<urn:a>)',
  ])('UNLOCK with the Lock-Token %s is 400 or names no lock', async (value) => {
    const path = await document();
    const reply = await alice('UNLOCK', path, value === undefined ? {} : { 'Lock-Token': value });
    expect(reply.status).toBe(value?.includes('urn:uuid:1') ? 409 : 400);
  });

  test('UNLOCK with a lock of another resource, of a member or an expired lock is 409, and of a missing resource 404', async () => {
    const path = await collection();
    const member = tokenOf(await lock(alice, `${path}/a`, { Timeout: 'Second-5' }));
    const fields = { 'Lock-Token': member };
    expect((await alice('UNLOCK', path, fields)).status).toBe(409);
    expect((await alice('UNLOCK', await document(), fields)).status).toBe(409);
    expect((await alice('UNLOCK', fresh(), fields)).status).toBe(404);
    rs.clock.advance(6);
    expect((await alice('UNLOCK', `${path}/a`, fields)).status).toBe(409);
  });

  test('If is checked for UNLOCK, too', async () => {
    const path = await document();
    const fields = { 'Lock-Token': tokenOf(await lock(alice, path)) };
    expect((await alice('UNLOCK', path, { ...fields, If: '(["other"])' })).status).toBe(412);
    expect((await alice('UNLOCK', path, fields)).status).toBe(204);
  });
});

describe('invalid LOCK requests', () => {
  test.each([
    ['1', 400],
    ['2', 400],
    ['infinity, 0', 400],
    ['-1', 400],
    ['INFINITY', 200],
  ])('section 9.10.3: LOCK with Depth: %s is %d', async (depth, status) => {
    expect((await lock(alice, await document(), { Depth: depth })).status).toBe(status);
  });

  const info = (inner: string) => `<D:lockinfo xmlns:D="DAV:">${inner}</D:lockinfo>`;
  const write = '<D:locktype><D:write/></D:locktype>';
  test.each([
    ['<D:lockinfo', 400],
    ['not xml', 400],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 400],
    ['<lockinfo/>', 422],
    ['<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>', 422],
    [info(''), 422],
    [info(write), 422],
    [info('<D:lockscope><D:exclusive/></D:lockscope>'), 422],
    [info(`<D:lockscope/>${write}`), 422],
    [info(`<D:lockscope><D:exclusive/><D:shared/></D:lockscope>${write}`), 422],
    [info(`<D:lockscope><exclusive/></D:lockscope>${write}`), 422],
    [info('<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:read/></D:locktype>'), 422],
    [LOCK_INFO('exclusive', `<D:owner>${'x'.repeat(2048)}</D:owner>`), 413],
  ])('section 14.11: LOCK with %.60s is %d, and nothing is locked', async (body, status) => {
    const path = await document();
    expect((await alice('LOCK', path, XML, body)).status).toBe(status);
    expect((await bob('PUT', path, {}, 'x')).status).toBe(204);
  });

  test('section 20.2: a principal may have 50 locks, even if requested at the same time, and a further LOCK is 507', async () => {
    await using another = await startResourceServer({}, (stores) => ({
      ...stores,
      trees: {
        ...stores.trees,
        async look(...asked) {
          const view = await stores.trees.look(...asked);
          await turn();
          return view;
        },
      },
    }));
    const { alice: carol, bob: dave, lock: grant } = clientsOf(another);
    const shared = { scope: 'shared', Timeout: 'Second-10' };
    const sixty = Array.from({ length: 60 }, (_, n) => `new-${n}`);
    const granted = await Promise.all(sixty.map((path) => grant(carol, path, shared)));
    expect(granted.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(granted.filter(({ status }) => status === 507)).toHaveLength(10);
    expect((await grant(carol, 'doc', shared)).status).toBe(507);
    expect(await another.contents()).toHaveLength(50);
    expect((await grant(dave, 'doc', shared)).status).toBe(201);
    another.clock.advance(11);
    expect((await grant(carol, 'doc', shared)).status).toBe(200);
  });
});

test('RFC 4918 section 14.17: the owner of a lock has at most 2048 octets, and a longer one is 413', async () => {
  const owner = (bytes: number) => {
    const empty = '<D:owner xmlns:D="DAV:"></D:owner>';
    return `<D:owner>${'x'.repeat(bytes - empty.length)}</D:owner>`;
  };
  const statusOf = async (bytes: number) =>
    (await alice('LOCK', await document(), XML, LOCK_INFO('exclusive', owner(bytes)))).status;
  expect([await statusOf(2048), await statusOf(2049)]).toEqual([200, 413]);
});
