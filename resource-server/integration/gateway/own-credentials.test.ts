import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { cookieName } from '#shared/auth/schemes/session/cookie.ts';
import { type Application, RESOURCE, startApplication, startGateway } from '../gateway.fixture.ts';

/** Credentials that this server has issued never reach an application, at any place in a request. */
const KEY = newApiKey(systemRandom).key;
const SECRET = 'A'.repeat(43);
const SESSION = `${cookieName(`${RESOURCE}/signed/`, 'session')}=${SECRET}`;
const VISIT = `${cookieName(`${RESOURCE}/signed/`, 'visit')}=${SECRET}`;

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startApplication();
  const upstream = { url: application.url };
  gateway = await startGateway({
    open: { upstream, schemes: [], scopes: {} },
    bearer: { upstream },
    passing: { upstream: { ...upstream, authorization: 'pass' } },
    keys: { upstream, schemes: ['API-Key'], apiKey: { field: 'X-Partner', query: 'partner' } },
    verified: {
      serves: 'verify',
      schemes: ['API-Key'],
      apiKey: { field: 'X-Door', query: 'door' },
    },
    signed: { serves: 'verify', signIn: true },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});
beforeEach(() => void application.asked.splice(0));

type Lines = readonly (readonly [string, string])[];

interface Sent {
  readonly path: string;
  readonly fields?: Lines;
  readonly trailers?: Lines;
}

/** The parts of the single request that reached the application. */
function came() {
  const [one, ...more] = application.asked;
  expect(more).toEqual([]);
  if (one === undefined) throw new Error('nothing came');
  return one;
}

async function overHttp1({ path, fields = [], trailers = [] }: Sent, more: Lines = []) {
  const method = trailers.length > 0 ? 'POST' : 'GET';
  const lines: Lines = [['Host', 'localhost'], ...fields, ...more];
  const headers = lines.flat();
  const { port } = gateway.listening;
  const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false });
  request.on('error', () => {});
  request.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
  request.end(trailers.length > 0 ? 'x' : undefined);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  await once(response.resume(), 'close');
  return came();
}

const asHandshake = async (sent: Sent) =>
  overHttp1(sent, [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ]);

async function overHttp2({ path, fields = [] }: Sent) {
  const session = http2.connect(`http://127.0.0.1:${gateway.listening.port}`);
  const stream = session.request({ ':path': path, ...Object.fromEntries(fields) });
  await once(stream.resume(), 'end');
  session.destroy();
  return came();
}

const WAYS = { 'HTTP/1.1': overHttp1, 'HTTP/2': overHttp2, 'a handshake': asHandshake };

/** The credentials with which the space admits the client. */
const credentials = (space: string): Lines =>
  space === 'open'
    ? []
    : [['Authorization', `Bearer ${gateway.token(`${space}:read ${space}:write`)}`]];

describe.each(['open', 'bearer', 'passing'])('at a space that takes no keys: %s', (space) => {
  describe.each(Object.entries(WAYS))('own credentials over %s', (_way, send) => {
    const ask = (fields: Lines, query = '') =>
      send({ path: `/${space}/x${query}`, fields: [...credentials(space), ...fields] });

    test.each([
      ['X-API-Key', KEY],
      ['x_api_key', KEY],
      ['X-Partner', KEY],
      ['X_PARTNER', KEY],
      ['X-Door', KEY],
      ['X-Door', `other, ${KEY}`],
      ['X-Partner', KEY.toUpperCase()],
      ['X-Partner', KEY.slice(0, -9)],
      ['Referer', `${RESOURCE}/keys/x?partner=${KEY}`],
    ])('an API key in %s is removed, case %#', async (name, value) => {
      const one = await ask([[name, value]]);
      expect(JSON.stringify(one).toLowerCase()).not.toContain(KEY.slice(3, 19));
    });

    test('an API key in the query is removed in any spelling, and other parameters stay', async () => {
      const encoded = KEY.replaceAll('_', '%5f').replace('c', '%63');
      const query = `?a=%2F&partner=${KEY}&door=${KEY}&%64oor=${encoded}&b`;
      expect((await ask([], query)).url).toBe('/x?a=%2F&b');
    });

    test("the application's own key in the same places is passed on", async () => {
      const fields = [
        ['X-Partner', 'cs_own'],
        ['X-API-Key', 'secret'],
        ['Referer', `${RESOURCE}/keys/x?partner=own`],
      ] as const;
      const one = await ask(fields, '?partner=own&door=cs_own');
      expect(one).toMatchObject({
        url: '/x?partner=own&door=cs_own',
        fields: {
          'x-partner': 'cs_own',
          'x-api-key': 'secret',
          referer: `${RESOURCE}/keys/x?partner=own`,
        },
      });
    });

    test.each([
      ['a session', SESSION],
      ['a sign-in under way', VISIT],
    ])('the cookie of %s is removed, and other cookies are passed on', async (_what, cookie) => {
      const { raw, fields } = await ask([['Cookie', `a=1; ${cookie}; b=2`]]);
      expect(fields.cookie).toBe('a=1; b=2');
      expect(JSON.stringify(raw)).not.toContain(SECRET);
    });

    test.each([
      'X-Auth-Statement',
      'X_Auth_Statement',
      'Concealed-Auth-Export',
      'Proxy-Authorization',
    ])('%s is removed from the request', async (name) => {
      expect(JSON.stringify(await ask([[name, SECRET]]))).not.toContain(SECRET);
    });

    if (space === 'bearer') {
      test('a token and its proof are removed from the request', async () => {
        const text = JSON.stringify(await ask([['DPoP', 'a.proof.c']]));
        expect(text).not.toContain('a.proof.c');
        expect(text).not.toContain('Bearer ');
      });
    }
  });

  test.each([
    ['X-API-Key', KEY],
    ['x_partner', KEY],
    ['Cookie', SESSION],
    ['X-Auth-Statement', SECRET],
    ['Concealed-Auth-Export', SECRET],
    ['Proxy-Authorization', SECRET],
    ['Authorization', `Bearer ${SECRET}`],
  ])('credentials in trailers are removed: %s', async (name, value) => {
    const chunked = ['Transfer-Encoding', 'chunked'] as const;
    const fields = [...credentials(space), chunked];
    const trailers = [
      [name, value],
      ['X-Sum', '1'],
    ] as const;
    const one = await overHttp1({ path: `/${space}/x`, fields, trailers });
    expect(one.trailers).toEqual(['X-Sum', '1']);
  });
});
