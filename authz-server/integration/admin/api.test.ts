import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { APP, basic, SECRET, type TestAuthz, testAuthz } from '../authz.fixture.ts';

const MACHINE = { ...APP, scope: 'admin admin:read documents:read' };
const often = { burst: 100_000, per: 1 };

let authz: TestAuthz;
let all: string;
let reads: string;
let ordinary: string;
beforeAll(async () => {
  authz = await testAuthz({ limits: { address: often, account: often } });
  await authz.stores.clients.add({ ...MACHINE, client_id: 'admin', admin: true });
  await authz.stores.clients.add({ ...MACHINE, client_id: 'ordinary' });
  all = await tokenOf('admin', 'admin');
  reads = await tokenOf('admin', 'admin:read');
  ordinary = await tokenOf('ordinary', 'admin');
});
afterAll(async () => authz[Symbol.asyncDispose]());

async function tokenOf(client: string, scope: string): Promise<string> {
  const resource = `${authz.config.issuer}/admin/api`;
  const form = { grant_type: 'client_credentials', scope, resource };
  const { body } = await authz.post('/token', form, basic(client, SECRET));
  return String(body['access_token']);
}

const ask = (operation: string, token = all) =>
  supertest(authz.url).get(`/admin/api/${operation}`).set('Authorization', `Bearer ${token}`);

const change = (operation: string, content: object | string, token = all) =>
  supertest(authz.url)
    .post(`/admin/api/${operation}`)
    .set('Authorization', `Bearer ${token}`)
    .type('application/json')
    .send(typeof content === 'string' ? content : JSON.stringify(content));

describe('operations over HTTP', () => {
  test('a list is paged by its `next`, and never shows a secret', async () => {
    const ids = ['a', 'b', 'c'].map((tail) => `paged-${tail}`);
    for (const id of ids) await authz.stores.clients.add(someClient(id));
    const first = await ask('client-list?search=paged-&limit=2');
    expect(first.status).toBe(200);
    expect(first.headers['cache-control']).toBe('no-store');
    const shown = ({ body }: { body: { items: { client_id: string }[] } }) =>
      body.items.map(({ client_id: id }) => id);
    expect(shown(first)).toEqual(ids.slice(0, 2));
    expect(first.body.next).toBe('paged-b');
    const second = await ask('client-list?search=paged-&limit=2&after=paged-b');
    expect(shown(second)).toEqual(ids.slice(2));
    expect(second.body.next).toBeUndefined();
    expect(first.text + second.text).not.toContain('secret_hash');
  });

  test('a change is done at once, and can be repeated without harm', async () => {
    await authz.stores.clients.add(someClient('goes'));
    const removed = await change('client-remove', { client_id: 'goes' });
    expect([removed.status, removed.body]).toEqual([
      200,
      { client_id: 'goes', client_name: 'Batch job', removed: true },
    ]);
    const again = await change('client-remove', { client_id: 'goes' });
    expect([again.status, again.body.detail]).toEqual([404, 'There is no client goes.']);
  });

  test('a refusal has a code and its values, and `detail` contains a name as it is written', async () => {
    expect((await change('user-add', { name: 'erin' })).status).toBe(200);
    expect((await change('user-disable', { name: 'erin' })).status).toBe(200);
    const { status, body } = await change('user-recover', { name: 'erin' });
    expect([status, body]).toEqual([
      409,
      {
        title: 'Conflict',
        status: 409,
        code: 'disabled',
        values: { name: 'erin' },
        detail: 'erin is disabled: user enable erin comes first.',
      },
    ]);
  });

  test.each([
    [422, 'client-remove', {}, { code: 'missing', values: {}, path: '/client_id' }],
    [404, 'user-disable', { name: 'nobody' }, { code: 'no-person', values: { name: 'nobody' } }],
    [422, 'user-add', { name: '' }, { code: 'person-name', values: {}, path: '/name' }],
    [422, 'client-set', { client_id: 'x' }, { code: 'no-setting', values: {}, path: '' }],
  ])('the answer is %d for %s with %j, with %j', async (status, operation, content, expected) => {
    const answer = await change(operation, content);
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining(expected)]);
  });

  test.each([
    ['a member that it does not know', { client_id: 'x', other: 1 }, '/other', /no member/],
    ['a member that is missing', {}, '/client_id', /is missing/],
    ['a member of another type', { client_id: 7 }, '/client_id', /string/],
    ['a member that is too long', { client_id: 'x'.repeat(513) }, '/client_id', /must be/],
    ['__proto__', '{"client_id":"x","__proto__":{"admin":true}}', '/__proto__', /is no member/],
    ['a member twice', '{"client_id":"x","client_id":"y"}', '/client_id', /is given twice/],
    ['no object', '[]', '', /object/],
  ])('%s gets 422, and `path` points to it (RFC 6901)', async (_, content, path, detail) => {
    const { status, body, headers } = await change('client-remove', content);
    expect([status, body.path]).toEqual([422, path]);
    expect(body.detail).toMatch(detail);
    expect(headers['content-type']).toBe('application/problem+json');
  });

  test.each([
    ['a limit that is no number', 'client-list?limit=many', '/limit'],
    ['a limit beyond the bounds', 'client-list?limit=101', '/limit'],
    ['a limit of 0', 'client-list?limit=0', '/limit'],
    ['a position that is too long', `client-list?after=${'x'.repeat(513)}`, '/after'],
    ['a parameter twice', 'client-list?limit=1&limit=2', '/limit'],
    ['an unknown parameter', 'client-list?all=1', '/all'],
    ['constructor', 'client-list?constructor=1', '/constructor'],
  ])('%s gets 422', async (_, asked, path) => {
    const { status, body } = await ask(asked);
    expect([status, body.path]).toEqual([422, path]);
    expect(body.detail).toMatch(/^\w+ (?:must have|must be|is no member|is given twice)/);
  });

  test.each([
    ['no JSON', '{', 400],
    ['a second value', '{}{}', 400],
    ['too long', JSON.stringify({ client_id: 'x'.repeat(70_000) }), 413],
  ])('content that is %s is refused', async (_, content, expected) => {
    expect((await change('client-remove', content)).status).toBe(expected);
  });

  test('another media type or a content coding gets 415, and members in the query of a change get 400', async () => {
    const form = change('client-remove', '{}').type('application/x-www-form-urlencoded');
    expect((await form).status).toBe(415);
    const coded = change('client-remove', '{}').set('Content-Encoding', 'gzip');
    expect((await coded).status).toBe(415);
    expect((await change('client-remove?client_id=x', '{}')).status).toBe(400);
  });

  test('RFC 9110 section 15.5.6: a reading operation refuses POST, and a changing one refuses GET', async () => {
    const posted = await change('client-list', {});
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const got = await ask('client-remove?client_id=x');
    expect([got.status, got.headers['allow']]).toEqual([405, 'OPTIONS, POST']);
  });
});

describe('requests without the right to administer', () => {
  const operations = ['client-list', 'client-remove', 'user-disable', 'nothing', 'constructor'];

  test.each(operations)(
    'at %s an ordinary client gets 404 and learns nothing',
    async (operation) => {
      const { status, body } = await ask(operation, ordinary);
      const changed = await change(operation, { client_id: 'app' }, ordinary);
      expect([status, changed.status]).toEqual([404, 404]);
      const nowhere = await supertest(authz.url).get('/nowhere');
      expect(body).toEqual(nowhere.body);
      expect(changed.body).toEqual(nowhere.body);
      expect(await authz.stores.clients.get('app')).toBeDefined();
    },
  );

  test('without a token every operation, known or not, gets the same 401', async () => {
    const answers = await Promise.all(
      operations.map(async (operation) => {
        const { status, headers, text } = await supertest(authz.url).get(`/admin/api/${operation}`);
        return JSON.stringify([status, headers['www-authenticate'], text]);
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('admin:read');
  });

  test('a token of another resource gets 401', async () => {
    const form = { grant_type: 'client_credentials', scope: 'documents:read' };
    const { body } = await authz.post('/token', form, basic('admin', SECRET));
    expect((await ask('client-list', String(body['access_token']))).status).toBe(401);
  });

  test('RFC 6750 section 3.1: the scope admin:read permits only reading; the scope admin permits reading, too', async () => {
    expect((await ask('client-show?client_id=app', reads)).status).toBe(200);
    expect((await ask('client-show?client_id=app', all)).status).toBe(200);
    const refused = await change('client-remove', { client_id: 'app' }, reads);
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('insufficient_scope');
    expect(await authz.stores.clients.get('app')).toBeDefined();
  });

  test('a client that loses the right to administer is refused from the next request on', async () => {
    const former = { ...MACHINE, client_id: 'former', admin: true };
    await authz.stores.clients.add(former);
    const token = await tokenOf('former', 'admin');
    expect((await ask('client-show?client_id=app', token)).status).toBe(200);
    await authz.stores.clients.replace({ ...former, admin: false });
    expect((await ask('client-show?client_id=app', token)).status).toBe(404);
  });

  test('a client that loses the right to administer while its content arrives changes nothing', async () => {
    const slow = { ...MACHINE, client_id: 'slow', admin: true };
    await authz.stores.clients.add(slow);
    const authorization = `Bearer ${await tokenOf('slow', 'admin')}`;
    const { status } = await sendSlowly(
      {
        url: `${authz.url}/admin/api/client-set`,
        headers: { authorization, 'content-type': 'application/json' },
        content: Buffer.from(JSON.stringify({ client_id: 'slow', admin: true })),
      },
      () => authz.stores.clients.replace({ ...slow, admin: false }),
    );
    expect(status).toBe(404);
    expect((await authz.stores.clients.get('slow'))?.admin).toBe(false);
  });
});
