import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ORIGIN } from '#shared/auth/scheme.ts';
import type { SchemeEntry, SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { silentLog } from '#shared/base/log.ts';
import { configSchema } from '#shared/config/schema.ts';
import { problemAnswer } from '#shared/http/answer.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createOrder } from '../../order.ts';
import { identity } from '../../resources/identity.ts';
import { ask, type Call } from '#shared/server/wire/ask.fixture.ts';
import { RESOURCE } from '../resource-server.fixture.ts';
import { everyScheme, NO_SIGN_IN } from '../../space/spaces.fixture.ts';
import { createSpaces } from '../../space/spaces.ts';
import { endpointsOfSchemes } from '../../auth/scheme-endpoints.ts';
import { errorsOf } from '../../pages/errors.fixture.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };

const PATH = '/.well-known/made-up/register';
const OTHER = 'https://elsewhere.example';
const CLEAR = 'http://rs.example';
const recipient = { at: ORIGIN, proxies: trustedProxies([]), local: true };

/** A scheme for tests, which no server has. It records registrations and requests. */
function madeUp(name: string): SchemeEntry & { opened: number } {
  const entry = {
    name,
    forPeople: false,
    settings: {},
    opened: 0,
    open: async () => () => ({
      name,
      challenge: () => [{ scheme: name }],
      authenticate: () => ({ kind: 'refused', refusal: 'other-scheme', reason: 'nobody' }) as const,
    }),
    async endpoints({ master }: SchemeParts) {
      entry.opened += 1;
      return {
        [PATH]: {
          methods: ['POST'],
          answer(
            { origin, field }: { origin: string; field(name: string): string | undefined },
            content: Buffer,
          ) {
            if (content.toString() === 'down') throw new StoreUnavailable('down');
            if (content.length === 0) return problemAnswer(400, 'Send a key.');
            const body = `${master.toString()} ${origin} ${field('x-name')} ${content.toString()}`;
            return { status: 201, fields: { 'X-Registered': 'yes' }, body };
          },
        },
      };
    },
  };
  return entry;
}

/** The endpoints of the schemes, with the test scheme in place of `Bearer`. */
async function found(entries: readonly SchemeEntry[], ...urls: string[]) {
  const config = configSchema.parse({
    resource: RESOURCE,
    spaces: urls.map((url, n) => ({
      url,
      realm: `r${n}`,
      schemes: ['Bearer'],
      serves: url.startsWith(RESOURCE) ? 'identity' : 'verify',
    })),
  });
  const spaces = createSpaces(
    config,
    everyScheme((name) => () => ({
      name,
      challenge: () => [{ scheme: name }],
      authenticate: () => ({ kind: 'refused', refusal: 'other-scheme', reason: 'nobody' }),
    })),
    NO_SIGN_IN,
    systemClock,
  );
  const parts = { master: Buffer.from('master') } as SchemeParts; // the only part that the test scheme reads
  const ofSchemes = await endpointsOfSchemes(entries, parts, spaces.all, recipient);
  return { config, spaces, ofSchemes };
}

test('only a scheme that a space uses has endpoints, which are created once for all its spaces', async () => {
  const [had, other] = [madeUp('Bearer'), madeUp('Digest')];
  const { ofSchemes } = await found([had, other], `${RESOURCE}/a/`, `${RESOURCE}/b/`, `${OTHER}/`);
  expect([...ofSchemes.keys()]).toEqual([RESOURCE, OTHER]);
  expect(ofSchemes.get(RESOURCE)?.get(PATH)).toMatchObject({ methods: ['POST'] });
  expect([had.opened, other.opened]).toEqual([1, 0]);
});

test('the endpoints of a scheme that needs TLS exist only at https origins, and the scheme gets the origin', async () => {
  let told: unknown;
  const scheme: SchemeEntry = {
    ...madeUp('Bearer'),
    overTls: true,
    async endpoints(_, places) {
      told = places.map(({ url, origin }) => ({ url, origin }));
      return { [PATH]: { methods: ['POST'], answer: () => problemAnswer(400, '') } };
    },
  };
  const { ofSchemes } = await found([scheme], `${CLEAR}/a/`, `${OTHER}/b/`);
  expect([...ofSchemes.keys()]).toEqual([OTHER]);
  expect(told).toEqual([{ url: `${OTHER}/b/`, origin: OTHER }]);
  const clear = { ...madeUp('Bearer'), overTls: true } as const;
  expect((await found([clear], `${CLEAR}/a/`)).ofSchemes.size).toBe(0);
  expect(clear.opened).toBe(0);
});

describe('over HTTP', () => {
  let server: Listening;
  beforeAll(async () => {
    const { config, spaces, ofSchemes } = await found([madeUp('Bearer')], `${RESOURCE}/a/`);
    const handler = createOrder({
      config,
      spaces,
      ofSchemes,
      signIn: NO_SIGN_IN,
      clock: systemClock,
      resources: new Map(spaces.all.map((one) => [one, identity])),
      gateways: new Map(),
      standing: NEVER_ENDS,
      ready: async () => {},
      log: silentLog,
      brand: BRAND,
      errors: errorsOf(),
      recipient,
    });
    server = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
  });
  afterAll(() => server.close(0));
  const call = (method: string, path: string, more: Call = {}) =>
    ask(server.port, method, path, more);

  test("a scheme's endpoint needs no credentials, and receives the request and its content", async () => {
    const answer = await call('POST', PATH, { body: 'key', headers: { 'X-Name': 'phone' } });
    expect(answer).toMatchObject({ status: 201, text: `master ${RESOURCE} phone key` });
    expect(answer.headers).toMatchObject({ 'x-registered': 'yes' });
  });

  test.each([
    ['what it refuses', { body: '' }, 400],
    ['a store that does not answer', { body: 'down' }, 503],
    ['content that is too long', { body: 'x'.repeat(65_537) }, 413],
    ['a field that came twice', { body: 'key', headers: { 'X-Name': ['a', 'b'] } }, 400],
  ])('an endpoint answers a request %s', async (_, more, status) => {
    expect(await call('POST', PATH, more)).toMatchObject({ status });
  });

  test("another method at a scheme's endpoint is 405, and an address beside it is 404", async () => {
    const wrong = await call('GET', PATH);
    expect(wrong).toMatchObject({ status: 405, headers: { allow: 'OPTIONS, POST' } });
    expect(await call('OPTIONS', PATH)).toMatchObject({ status: 204 });
    for (const path of [`${PATH}/`, `${PATH}x`, '/.well-known/made-up']) {
      expect(await call('POST', path, { body: 'key' })).toMatchObject({ status: 404 });
    }
  });
});
