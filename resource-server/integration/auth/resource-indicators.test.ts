/** A resource whose URL has no slash at the end, as MCP servers have, at each interface of the server. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { somePerson } from '#shared/stores/contract/samples.ts';
import { type Application, startApplication } from '../gateway.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

const BOTH = 'notes:read notes:write';
/** A client that is not registered. */
const DOCUMENT = 'https://client.example/metadata.json';
const APP = 'https://app.example/mcp';

let rs: TestResourceServer;
let application: Application;
beforeAll(async () => {
  application = await startApplication();
  const notes = {
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['notes:read'], unsafe: BOTH.split(' ') },
  };
  rs = await startResourceServer({
    spaces: [
      {
        ...notes,
        url: `${RESOURCE}/mcp`,
        realm: 'gateway',
        serves: 'upstream',
        upstream: { url: application.url },
      },
      { ...notes, url: APP, realm: 'application', serves: 'verify' },
      {
        ...notes,
        url: `${RESOURCE}/staff`,
        realm: 'staff',
        serves: 'identity',
        documentClients: BOTH.split(' '),
        allow: { people: ['alice'], clients: [DOCUMENT] },
      },
    ],
  });
});
afterAll(async () => {
  await rs?.[Symbol.asyncDispose]();
  await application?.[Symbol.asyncDispose]();
});

const PUBLIC = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'app.example' };
/** The interfaces: each with its resource, and a function that sends a POST with these fields through it. */
const DOORS = {
  'the gateway': {
    resource: `${RESOURCE}/mcp`,
    metadata: {},
    ask: (headers: object, query = '') =>
      rs.ask('POST', `/mcp${query}`, { headers: { ...headers }, body: '{}' }),
  },
  '/verify': {
    resource: APP,
    metadata: PUBLIC,
    ask: (headers: object, query = '') =>
      rs.ask('GET', '/verify', {
        headers: {
          ...PUBLIC,
          'X-Forwarded-Method': 'POST',
          'X-Forwarded-Uri': `/mcp${query}`,
          ...headers,
        },
      }),
  },
};

describe.each(Object.entries(DOORS))('%s', (_, { resource, metadata, ask }) => {
  const { origin } = new URL(resource);
  const bearer = (scope: string, aud = resource) => ({
    Authorization: `Bearer ${rs.token(scope, { aud })}`,
  });
  const challenge = async (headers: object, query?: string) => {
    const reply = await ask(headers, query);
    return [reply.status, String(reply.headers['www-authenticate'])] as const;
  };
  const named = expect.stringContaining(
    `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
  );

  test('RFC 9728 section 3.3: the metadata names the resource by exactly its URL', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp';
    const reply = await rs.ask('GET', path, { headers: metadata });
    expect(JSON.parse(reply.text)).toMatchObject({ resource });
    expect(await challenge({})).toEqual([401, named]);
  });

  test('RFC 6750 section 3: the challenges name all scopes of the method', async () => {
    const [status, field] = await challenge({});
    expect([status, field.split(`scope="${BOTH}"`).length]).toEqual([401, 3]);
  });

  test("RFC 6750 section 3.1: a 403 names all needed scopes in one challenge, with the client's scopes", async () => {
    const few = bearer('notes:read profile');
    const [status, field] = await challenge(few);
    expect([status, field]).toEqual([403, named]);
    expect(field).toMatch(/^Bearer [^]*error="insufficient_scope"/);
    expect(field).toContain(`scope="${BOTH} profile"`);
  });

  test('a token with these scopes, for exactly this resource, is accepted', async () => {
    const { status } = await ask(bearer(BOTH));
    expect(status).toBeLessThan(300);
  });

  test.each([
    ['with a last slash', `${resource}/`],
    ['in another case', resource.replace('/mcp', '/MCP')],
    ['percent-encoded', resource.replace('/mcp', '/%6dcp')],
    ['the origin alone', origin],
    ['of another space', 'https://other.example/mcp'],
  ])('RFC 8707 section 2: a token for the resource %s is refused', async (__, aud) => {
    expect(await challenge(bearer(BOTH, aud))).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });

  test('MCP 2026-07-28, token handling: a token in the query is refused', async () => {
    const token = rs.token(BOTH, { aud: resource });
    const [status] = await challenge({}, `?access_token=${token}`);
    expect(status).toBe(401);
  });
});

describe('a token of an unregistered client, for a space that lists who may enter', () => {
  const ask = (sub: string) => {
    const claims = { aud: `${RESOURCE}/staff`, client_id: DOCUMENT, sub, sub_gen: 0 };
    const Authorization = `Bearer ${rs.token(BOTH, claims)}`;
    return rs.ask('GET', '/staff', { headers: { Authorization } });
  };

  test('the token of an unregistered client is admitted if `allow` lists its person', async () => {
    for (const id of ['alice', 'mallory']) await rs.stores.people.add({ ...somePerson(id), id });
    expect((await ask('alice')).status).toBe(200);
    const { status, headers } = await ask('mallory');
    expect([status, headers['www-authenticate']]).toEqual([403, undefined]);
  });
});
