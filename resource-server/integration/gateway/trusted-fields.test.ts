import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TRUSTED_FIELDS } from '#shared/http/trusted-fields.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

/** Fields that applications trust from their proxy, sent by clients that are not trusted. */
const VALUE = 'somebody-else';

/** Fields named in reports of attacks, independent of the server's table. */
const KNOWN = `
Client-Cert Client-Cert-Chain Proxy Remote-User X-Remote-User X-WEBAUTH-USER X-Client-IP
True-Client-IP CF-Connecting-IP X-Host X-Original-Host X-Url-Scheme Front-End-Https
X-SSL-Client-Verify X-Forwarded-User X-Forwarded-Email X-Forwarded-Groups
X-Forwarded-Access-Token X-Forwarded-Preferred-Username X-Auth-Request-User X-Real-IP
X-Original-URL X-Rewrite-URL X-Forwarded-Port X-Forwarded-Server X-Forwarded-Ssl
X-Cluster-Client-IP Fastly-Client-IP X-Authenticated-User Remote-Name Remote-Email
Remote-Groups X-HTTP-Method-Override X-Forwarded-Prefix-Extra Concealed-Auth-Export
`
  .trim()
  .split(/\s+/);
/** Fields that another space of the same server configures. */
const CONFIGURED = ['X-Staff-Member'];
const NAMES = [
  ...new Set([
    ...[...KNOWN, ...CONFIGURED].map((name) => name.toLowerCase()),
    ...Object.values(TRUSTED_FIELDS)
      .flat()
      .map((name) => name.replace('*', 'any')),
  ]),
];

/** A request has a limited number of lines, so the names are split. */
const PARTS = [NAMES.slice(0, 45), NAMES.slice(45, 90), NAMES.slice(90)];

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startApplication();
  const upstream = { url: application.url };
  gateway = await startGateway(
    {
      open: { upstream, schemes: [], scopes: {} },
      told: { upstream, identity: { fields: { 'X-Staff-Member': 'subject' } } },
      passing: {
        upstream: { ...upstream, pass: ['CF-Connecting-IP', 'Client-Cert'] },
        schemes: [],
        scopes: {},
      },
    },
    { trustedProxies: ['127.0.0.2'] },
  );
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});
beforeEach(() => void application.asked.splice(0));

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly from?: string;
  readonly content?: string;
  readonly trailers?: readonly [string, string][];
}

/** Sends `fields` unchanged over HTTP/1.1. Resolves to the request that the application got. */
async function send(fields: readonly [string, string][], sent: Sent = {}) {
  const { method = 'GET', path = '/open/x', from, content, trailers } = sent;
  const request = http.request({
    port: gateway.listening.port,
    host: '127.0.0.1',
    method,
    path,
    headers: [['Host', 'localhost'], ...fields].flat(),
    agent: false,
    ...(from !== undefined && { localAddress: from }),
  });
  request.on('error', () => {});
  if (trailers) request.addTrailers(trailers);
  request.end(content);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'close');
  return cameToApplication();
}

function cameToApplication() {
  const [one, ...more] = application.asked;
  expect(more).toEqual([]);
  if (one === undefined) throw new Error('nothing came');
  return one;
}
const lines = (names: readonly string[], value = VALUE): [string, string][] =>
  names.map((name) => [name, value]);
/** The names in the header and trailer sections that the application gets. */
const namesIn = ({ raw, trailers }: Application['asked'][number]) =>
  [...raw, ...trailers].filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());

const titled = (name: string) =>
  name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());

const SPELLINGS: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'lower case': (name) => [name],
  'upper case': (name) => [name.toUpperCase()],
  'each word in upper case': (name) => [titled(name)],
  'underscores for hyphens': (name) => [name.replaceAll('-', '_')],
  'an underscore for the first hyphen': (name) => [name.replace('-', '_')],
  'an underscore for the last hyphen': (name) => [name.replace(/-(?=[^-]*$)/, '_')],
  'underscores in upper case': (name) => [name.replaceAll('-', '_').toUpperCase()],
  'dots for hyphens': (name) => [name.replaceAll('-', '.')],
  'two lines': (name) => [name, name],
  'two spellings': (name) => [titled(name), name.replaceAll('-', '_')],
};

describe('a field that applications trust from their proxy is never passed on from a client (RFC 9440 section 2.4)', () => {
  test.each(Object.entries(SPELLINGS))('the application does not get %s', async (_, spelled) => {
    for (const names of PARTS) {
      application.asked.splice(0);
      expect(JSON.stringify(await send(lines(names.flatMap(spelled))))).not.toContain(VALUE);
    }
  });

  test.each(Object.entries(SPELLINGS))(
    'the application does not get trusted fields in trailers: %s',
    async (_, spelled) => {
      const trailers = [...lines(NAMES.flatMap(spelled)), ...lines(['X-Sum'], '1')];
      const fields: [string, string][] = [['Transfer-Encoding', 'chunked']];
      const one = await send(fields, { method: 'POST', content: 'x', trailers });
      expect(one).toMatchObject({ body: 'x', trailers: ['X-Sum', '1'] });
      expect(JSON.stringify(one)).not.toContain(VALUE);
    },
  );

  test('the application does not get trusted fields that Connection nominates', async () => {
    const one = await send([['Connection', NAMES.join(', ')], ...lines(NAMES)]);
    expect(JSON.stringify(one)).not.toContain(VALUE);
  });

  test('the application does not get trusted fields over HTTP/2', async () => {
    const session = http2.connect(`http://127.0.0.1:${gateway.listening.port}`);
    for (const names of PARTS) {
      application.asked.splice(0);
      const spelled = names.flatMap((name) => [name, name.replaceAll('-', '_')]);
      const fields = Object.fromEntries(lines(spelled));
      const stream = session.request({ ':path': '/open/x', ...fields });
      await once(stream.resume(), 'end');
      expect(JSON.stringify(cameToApplication())).not.toContain(VALUE);
    }
    session.destroy();
  });

  test('the application does not get trusted fields with the handshake of a WebSocket (RFC 6455 section 4.1)', async () => {
    const one = await send([
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ...lines(NAMES),
    ]);
    expect(one.fields.upgrade).toBe('websocket');
    expect(JSON.stringify(one)).not.toContain(VALUE);
  });

  test('the application gets all other fields', async () => {
    const names = ['X-Custom', 'Accept-Language', 'X-Csrf-Token', 'Remote', 'X-User-Id'];
    const came = namesIn(await send(lines(names)));
    expect(names.filter((name) => !came.includes(name.toLowerCase()))).toEqual([]);
  });
});

describe('upstream.pass', () => {
  const FIELDS = lines(['CF-Connecting-IP', 'Client-Cert']);
  const path = '/passing/x';
  const passed = (one: Application['asked'][number]) =>
    namesIn(one).filter((name) => /^(?:cf|client)[-_]/.test(name));

  test('upstream.pass passes on the field from trusted proxies', async () => {
    const one = await send([...FIELDS, ...lines(['CF-IPCountry'])], { path, from: '127.0.0.2' });
    expect(passed(one)).toEqual(['cf-connecting-ip', 'client-cert']);
    expect(one.fields['cf-connecting-ip']).toBe(VALUE);
  });

  test('upstream.pass does not pass on the field from other clients, or in another space', async () => {
    expect(passed(await send(FIELDS, { path }))).toEqual([]);
    application.asked.splice(0);
    expect(passed(await send(FIELDS, { from: '127.0.0.2' }))).toEqual([]);
  });

  test('upstream.pass passes on a single line in the usual spelling, since a proxy passes on other spellings from the client', async () => {
    const from = '127.0.0.2';
    const aliases = lines(['CF_Connecting_IP', 'Client_Cert'], 'alias');
    const one = await send([...FIELDS, ...aliases], { path, from });
    expect(passed(one)).toEqual(['cf-connecting-ip', 'client-cert']);
    expect(JSON.stringify(one)).not.toContain('alias');
    application.asked.splice(0);
    expect(passed(await send([...FIELDS, ...FIELDS], { path, from }))).toEqual([]);
    application.asked.splice(0);
    const trailers = FIELDS;
    const asked = { method: 'POST', content: 'x', path, from, trailers };
    expect(passed(await send([['Transfer-Encoding', 'chunked']], asked))).toEqual([]);
  });
});
