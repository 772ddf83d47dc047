import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ONE_STORE } from '../flows/flow.ts';
import {
  makeCertificate,
  startOrigin,
  startProxySite,
  startServer,
} from '../interop/proxy-site.ts';
import type { Origin, ProxySite } from '../interop/proxy-site.ts';
import { ALICE, identity, JASON } from '../interop/site.ts';
import { startPair } from '../pair/pair.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { TemporaryFolder } from '../parts/temporary-folder.ts';
import { mutualClient } from './mutual/mutual-python.ts';
import type { Happened } from './mutual/mutual-python.ts';

/**
 * Mutual (RFC 8120, RFC 8121) with the Python client, which was written only from the RFCs and refuses a
 * success without a valid proof: in clear text, over TLS, and at a proxy.
 */
const ALGORITHMS = [
  'iso-kam3-dl-2048-sha256',
  'iso-kam3-dl-4096-sha512',
  'iso-kam3-ec-p256-sha256',
  'iso-kam3-ec-p521-sha512',
] as const;
type Algorithm = (typeof ALGORITHMS)[number];

const parts = new AsyncDisposableStack();
let folder: TemporaryFolder;
let origin: Origin;
beforeAll(async () => {
  folder = parts.use(await temporaryFolder());
  origin = parts.use(await startOrigin());
});
afterAll(async () => parts.disposeAsync());

/** The arguments `--user` and `--password-file`, or the same for a proxy. */
async function as({ name, password }: typeof ALICE, at = ''): Promise<string[]> {
  const file = join(folder.path, `${name} ${password.length}`);
  await writeFile(file, `${password}\n`);
  return [`--${at}user`, name, `--${at}password-file`, file];
}

/** The messages in order, and the result of each request. */
const story = (happened: readonly Happened[]) =>
  happened.map(({ message, nc, verdict, reason }) =>
    [message, nc, verdict, reason].filter((member) => member !== undefined).join(' '),
  );

const EXCHANGED = [
  '401-INIT initial',
  'req-KEX-C1',
  '401-KEX-S1',
  'req-VFY-C 0',
  '200-VFY-S',
  'AUTH-SUCCEED',
];
const AGAIN = ['req-VFY-C 1', '200-VFY-S', 'AUTH-SUCCEED'];
const REFUSED = [...EXCHANGED.slice(0, 4), '401-INIT auth-failed', 'AUTH-REQUIRED'];

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  /** The port of each proxy by its algorithm. */
  const proxies = new Map<Algorithm, number>();
  beforeAll(async () => {
    const proxy = (algorithm: Algorithm) => ({
      realm: algorithm,
      schemes: ['Mutual'],
      mutual: { algorithm },
      destinations: [origin.at],
    });
    site = await startProxySite(
      kind,
      () => proxy(ALGORITHMS[0]),
      ({ resource }) => ({
        spaces: ALGORITHMS.map((algorithm) => ({
          url: `${resource}/${algorithm}/`,
          realm: algorithm,
          schemes: ['Mutual'],
          mutual: { algorithm },
          serves: 'identity',
        })),
      }),
    );
    for (const algorithm of ALGORITHMS) {
      const { port } = await site.startBeside({ proxy: proxy(algorithm) });
      proxies.set(algorithm, port);
    }
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const ca = () => ['--tls-ca', join(site.pair.data, 'tls/certificate.pem')];

  describe.each(ALGORITHMS)('%s', (algorithm) => {
    test.each([ALICE, JASON])(
      '$name is admitted in clear text, with validation by host',
      async (person) => {
        const url = `${site.pair.resource}/${algorithm}/`;
        const asked = ['--url', url, '--requests', '2', ...(await as(person))];
        const { happened, exitCode } = await mutualClient(...asked);
        expect(story(happened)).toEqual([...EXCHANGED, ...AGAIN]);
        expect(happened.at(-1)?.body).toBe(identity('Mutual', algorithm, person));
        expect(exitCode).toBe(0);
      },
    );

    test('a person is admitted over TLS, with validation by tls-server-end-point', async () => {
      const url = `${site.pair.resourceTls}/${algorithm}/`;
      const asked = ['--url', url, '--requests', '2', ...ca(), ...(await as(ALICE))];
      const { happened, exitCode } = await mutualClient(...asked);
      expect(story(happened)).toEqual([...EXCHANGED, ...AGAIN]);
      expect(happened.at(-1)?.body).toBe(identity('Mutual', algorithm));
      expect(exitCode).toBe(0);
    });

    test('RFC 8120 section 14: a person is admitted at a proxy', async () => {
      const proxy = `http://127.0.0.1:${proxies.get(algorithm)}`;
      const asked = ['--url', `http://${origin.at}/`, '--requests', '2', '--proxy', proxy];
      const { happened } = await mutualClient(...asked, ...(await as(ALICE, 'proxy-')));
      const beyond = ['normal response', 'UNAUTHENTICATED'];
      const [exchanged, again] = [EXCHANGED, AGAIN].map((messages) => messages.slice(0, -1));
      expect(story(happened)).toEqual([exchanged, beyond, again, beyond].flat());
      expect(happened.at(-1)?.body).toBe('hello');
    });

    test('a wrong password and an unknown name get the same answers', async () => {
      const url = `${site.pair.resource}/${algorithm}/`;
      for (const person of [
        { ...ALICE, password: 'wrong' },
        { ...ALICE, name: 'nobody' },
      ]) {
        const { happened, exitCode } = await mutualClient('--url', url, ...(await as(person)));
        expect(story(happened)).toEqual(REFUSED);
        expect(exitCode).toBe(4);
      }
    });
  });
});

test("behind a proxy that terminates TLS and asks /verify, the proxy's certificate is configured (RFC 8120 section 7)", async () => {
  const files = parts.use(await makeCertificate());
  let resource = '';
  const tls = { cert: await readFile(files.certificate), key: await readFile(files.key) };
  const front = parts.use(
    await startServer(
      createServer(tls, (request, response) => {
        const { host = '', authorization } = request.headers;
        const headers = {
          'X-Forwarded-Method': request.method ?? '',
          'X-Forwarded-Proto': 'https',
          'X-Forwarded-Host': host,
          'X-Forwarded-Uri': request.url ?? '',
          ...(authorization && { authorization }),
        };
        const verdict = fetch(`${resource}/verify`, { headers });
        void verdict.then(({ status, headers: told }) => {
          for (const name of ['www-authenticate', 'authentication-info']) {
            const value = told.get(name);
            if (value !== null) response.setHeader(name, value);
          }
          response.writeHead(status === 204 ? 200 : status).end(told.get('x-auth-name'));
        });
      }),
    ),
  );
  const url = (path: string) => `https://localhost:${front.port}/${path}/`;
  const space = (realm: string, mutual: object) => ({
    url: url(realm),
    realm,
    schemes: ['Mutual'],
    mutual,
    serves: 'verify',
  });
  const spaces = [space('named', { certificate: files.certificate }), space('unnamed', {})];
  const settings = { spaces, trustedProxies: ['127.0.0.1'] };
  const pair = parts.use(await startPair({ settings }));
  resource = pair.resource;
  await pair.addPerson(ALICE.name, ALICE.password);
  const who = ['--tls-ca', files.certificate, ...(await as(ALICE))];
  const named = await mutualClient('--url', url('named'), '--requests', '2', ...who);
  expect(story(named.happened)).toEqual([...EXCHANGED, ...AGAIN]);
  expect(named.happened.at(-1)?.body).toBe(ALICE.name);
  const unnamed = await mutualClient('--url', url('unnamed'), ...who);
  expect(unnamed.happened.at(-1)).toMatchObject({ status: 403, verdict: 'UNAUTHENTICATED' });
});
