import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { DIRECTORY_PATH, DIRECTORY_TYPE } from '#shared/private-token/issuer-directory.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { Send } from '../clients/digest/exchange.ts';
import { offersIn, redeem } from '../clients/private-token/private-token-client.ts';
import { encodeChallenge } from '../clients/private-token/token-challenge.ts';
import type { ServerProcess } from '../pair/pair.ts';
import {
  mint,
  offerOf,
  type RogueKey,
  rogueKey,
  type TokenServers,
} from './private-token.fixture.ts';
import {
  certificate,
  directory,
  documentOf,
  expectUnavailable,
  now,
  startOrigin,
  startStranger,
  startWithRogue,
  statusOf,
  type Stranger,
} from './private-token-strangers.fixture.ts';

/** Other issuers that are malicious or misconfigured. */

let servers: TokenServers;
let rogue: RogueKey;
let parts: AsyncDisposableStack;
beforeAll(async () => {
  ({ servers, rogue } = await startWithRogue());
  parts = new AsyncDisposableStack();
  parts.use(servers);
});
afterAll(() => parts.disposeAsync());

describe("another issuer than the pair's own (RFC 9578 section 4)", () => {
  /** The directory answers of the bad issuers. */
  const bad: Readonly<Record<string, RequestListener>> = {};
  const strangers = new Map<string, Stranger>();
  let good: Stranger;
  let copy: Stranger;
  let send: Send;
  let server: ServerProcess;
  let untrusting: Send;
  const DAY = 86_400;

  beforeAll(async () => {
    const key = { ...rogue, notBefore: now() - 60 };
    const right = documentOf([key]);
    good = parts.use(await startStranger(directory(right)));
    copy = parts.use(await startStranger(directory(right)));
    const elsewhere = `https://${good.name}${DIRECTORY_PATH}`;
    const plain = await plainRsa();
    Object.assign(bad, {
      huge: directory(right + ' '.repeat(2 ** 24)),
      endless: (_, response) => {
        response.writeHead(200, { 'Content-Type': DIRECTORY_TYPE });
        const more = () =>
          response.destroyed || response.write(' '.repeat(1000), () => setImmediate(more));
        more();
      },
      silent: () => undefined,
      'half an answer': (_, response) => {
        response.writeHead(200, { 'Content-Type': DIRECTORY_TYPE, 'Content-Length': right.length });
        response.write(right.slice(0, 100), () => response.destroy());
      },
      ...Object.fromEntries(
        [301, 302, 303, 307, 308].map((status): [string, RequestListener] => [
          `redirect ${status}`,
          (_, response) => void response.writeHead(status, { Location: elsewhere }).end(right),
        ]),
      ),
      ...Object.fromEntries(
        [203, 206, 304, 401, 404, 500].map((status): [string, RequestListener] => [
          `status ${status}`,
          (_, response) =>
            void response.writeHead(status, { 'Content-Type': DIRECTORY_TYPE }).end(right),
        ]),
      ),
      'another media type': directory(right, { 'Content-Type': 'application/json' }),
      'no JSON': directory(right.slice(1)),
      'JSON that is deep': directory('['.repeat(30_000)),
      'not an object': directory('[]'),
      'requests elsewhere': directory(documentOf([key], 'https://issuer.example/request')),
      'requests in clear text': directory(documentOf([key], 'http://localhost/request')),
      'too many keys': directory(documentOf(Array.from({ length: 65 }, () => key))),
      'no keys': directory(documentOf([])),
      'keys of another type': directory(documentOf([{ ...generateVoprfKey(), notBefore: now() }])),
      'a key that calls itself of this type': directory(
        right.replace(
          /"token-key":"[^"]*"/,
          `"token-key":"${generateVoprfKey().publicKey.toString('base64url')}"`,
        ),
      ),
      'a key for everything': directory(
        right.replace(/"token-key":"[^"]*"/, `"token-key":"${plain}"`),
      ),
      'a key without a beginning': directory(documentOf([{ ...rogue }])),
      'a key of tomorrow': directory(documentOf([{ ...rogue, notBefore: now() + DAY }])),
      'a key of last month': directory(documentOf([{ ...rogue, notBefore: now() - 32 * DAY }])),
    } satisfies Record<string, RequestListener>);
    for (const [what, answer] of Object.entries(bad)) {
      strangers.set(what, parts.use(await startStranger(answer)));
    }
    const space = (name: string, issuer: string) => ({
      url: `${servers.flow.pair.resource}/${name}/`,
      realm: name,
      schemes: ['PrivateToken'],
      serves: 'identity',
      privateToken: { issuer, types: ['blind-rsa-2048'] },
    });
    const spaces = [
      space('tokens', good.name),
      space('copy', copy.name),
      ...[...strangers.values()].map(({ name }, index) => space(`bad-${index}`, name)),
    ];
    const ca = join(servers.flow.pair.data, 'strangers.pem');
    await writeFile(ca, String(certificate.cert));
    ({ send, server } = await startOrigin(servers, parts, { spaces }, { NODE_EXTRA_CA_CERTS: ca }));
    ({ send: untrusting } = await startOrigin(servers, parts, { spaces }));
  });

  const at = (path: string, token: Uint8Array) => send(redeem(get(path), token));
  const origin = () => new URL(servers.flow.pair.resource).host;
  async function challengeAt(path: string): Promise<Buffer> {
    const [offer] = offersIn(await send(get(path)), origin());
    if (offer === undefined) throw new Error(`no challenge at ${path}`);
    return offer.octets;
  }
  /** Returns a challenge that names this issuer. */
  const challengeOf = (issuer: string) =>
    encodeChallenge({ type: 2, issuer, context: Buffer.alloc(0), origins: [origin()] });

  test('its tokens are valid only in spaces that name it, even if another issuer has the same keys', async () => {
    const [mine, copied] = [await challengeAt('/tokens/'), await challengeAt('/copy/')];
    expect([mine, copied]).toEqual([challengeOf(good.name), challengeOf(copy.name)]);
    const token = rogue.token(mine);
    expect((await at('/copy/', token)).status).toBe(401);
    expect((await at('/tokens/', rogue.token(copied))).status).toBe(401);
    const { octets } = await offerOf(servers, 'tokens', 2);
    expect((await at('/tokens/', (await mint(servers, octets)).token)).status).toBe(401);
    expect(await statusOf(servers.origin(0), token)).toBe(401);
    expect([(await at('/tokens/', token)).status, (await at('/tokens/', token)).status]).toEqual([
      200, 401,
    ]);
  });

  test('an issuer with an untrusted certificate gets no request, and its space answers 503', async () => {
    const before = good.asked.length;
    await expectUnavailable(untrusting);
    const { status } = await untrusting(
      redeem(get('/tokens/'), rogue.token(challengeOf(good.name))),
    );
    expect(status).toBe(503);
    expect(good.asked).toHaveLength(before);
  });

  test('if a directory is unusable, its space answers 503 without a challenge and accepts no token', async () => {
    expect(strangers.size).toBeGreaterThan(25);
    const before = good.asked.length;
    await Promise.all(
      [...strangers.entries()].map(async ([what, { name }], index) => {
        const path = `/bad-${index}/`;
        const [challenge, shown] = await Promise.all([
          send(get(path)),
          at(path, rogue.token(challengeOf(name))),
        ]);
        expect([what, challenge.status]).toEqual([what, 503]);
        expect([what, [401, 503].includes(shown.status)]).toEqual([what, true]);
        expect(valuesOf(challenge.fields, 'WWW-Authenticate')).toEqual([]);
      }),
    );
    // The server followed no redirect.
    expect(good.asked.length - before).toBeLessThanOrEqual(1);
    for (const [what, { asked }] of strangers) {
      expect([what, new Set(asked)]).toEqual([what, new Set([DIRECTORY_PATH])]);
    }
    expect((await at('/tokens/', rogue.token(challengeOf(good.name)))).status).toBe(200);
  });

  test('a flood of tokens with unknown keys makes the server fetch the directory at most once a second', async () => {
    await expect(challengeAt('/copy/')).resolves.toEqual(challengeOf(copy.name));
    const before = copy.asked.length;
    const unknown = await rogueKey();
    const token = unknown.token(challengeOf(copy.name));
    const began = now();
    for (let time = 0; time < 20; time += 1) {
      const all = Array.from({ length: 20 }, () => at('/copy/', token));
      for (const { status } of await Promise.all(all)) expect(status).toBe(401);
    }
    expect(copy.asked.length - before).toBeLessThanOrEqual(now() - began + 3);
  });

  test('the process still runs, no logged error is a defect, and the log has no token', () => {
    const lines = server.log.split('\n');
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(lines.some((line) => line.includes('private-token.directory'))).toBe(true);
    expect(server.log).not.toContain(rogue.id.toString('hex'));
  });
});

/** An RSA key in the usual encoding (RFC 3279), which is not allowed for tokens. */
async function plainRsa(): Promise<string> {
  const { publicKey } = await generateBlindRsaKey();
  // rsaEncryption in place of RSASSA-PSS.
  const changed = Buffer.from(publicKey);
  changed[changed.indexOf(Buffer.from('2a864886f70d01010a', 'hex')) + 8] = 1;
  return changed.toString('base64url');
}
