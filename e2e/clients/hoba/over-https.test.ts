import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { overHttp2 } from '../../interop/over-http2.ts';
import { makeCertificate } from '../../interop/proxy-site.ts';
import type { Behind } from '../../interop/proxy-site.ts';
import { get } from '../digest/answers.fixture.ts';
import { run } from '../digest/exchange.ts';
import type { HttpRequest, Send } from '../digest/exchange.ts';
import { overHttp } from '../digest/over-http.ts';
import { tlsAgent } from '../private-token/tls-agent.ts';
import { hobaClient, signed } from './hoba-client.ts';
import type { HobaOptions } from './hoba-client.ts';
import { newKey } from './keys.ts';
import { LIES, RSA_SHA1 } from './lies.ts';
import { REALM, SECRET, startHobaServer } from './server.fixture.ts';
import { challengeIn, getChallenge, logout, register, registrationIn } from './well-known.ts';

const parts = new AsyncDisposableStack();
const key = newKey();
let ca: Buffer;
let server: Behind;
let origin: string;
beforeAll(async () => {
  const files = parts.use(await makeCertificate());
  ca = await readFile(files.certificate);
  server = parts.use(await startHobaServer({ cert: ca, key: await readFile(files.key) }));
  origin = `https://localhost:${server.port}`;
});
afterAll(async () => parts.disposeAsync());

function overHttp1(): Send {
  const place = { host: 'localhost', port: server.port };
  return overHttp({ ...place, agent: tlsAgent(place, ca) });
}

describe.each<[version: string, open: () => Send]>([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', () => parts.use(overHttp2(origin)).send],
])('the HOBA client over %s', (_version, open) => {
  let send: Send;
  beforeAll(async () => {
    send = open();
    const secret = ['secret', SECRET] as const;
    const answered = await send(register(origin, { key, more: [secret] }));
    expect(registrationIn(answered)).toBe('regok');
  });
  const options = (): HobaOptions => ({ key, origin });
  const page = () => get(`${origin}/page`);
  const through = async (lying: HobaOptions, request: HttpRequest) =>
    (await run(hobaClient(lying).exchange(request), send)).status;

  test("is admitted with an answer to the server's challenge, by a registered key only", async () => {
    expect(await through(options(), page())).toBe(204);
    expect(await through({ ...options(), key: newKey() }, page())).toBe(401);
    expect(await through({ ...options(), realm: 'another' }, page())).toBe(401);
  });

  test('section 6.4: is admitted once with a challenge of getchal', async () => {
    const challenge = challengeIn(await send(getChallenge(origin)));
    const request = signed(page(), { challenge, realm: REALM }, options());
    expect((await send(request)).status).toBe(204);
    expect((await send(request)).status).toBe(401);
  });

  test('section 6.3: signs out through a challenge', async () => {
    expect((await send(logout(origin))).status).toBe(401);
    expect(await through(options(), logout(origin))).toBe(204);
  });

  test("section 6.1: cannot register without the server's additional fields, or with a wrong kid", async () => {
    const stranger = newKey();
    const secret = ['secret', SECRET] as const;
    const tries = [{ key: stranger }, { key: { ...stranger, kid: key.kid }, more: [secret] }];
    for (const registration of tries) {
      expect(registrationIn(await send(register(origin, registration)))).toBe('failed');
    }
    expect(await through({ ...options(), key: stranger }, page())).toBe(401);
  });

  test.each([...LIES, ['RSA-SHA1', RSA_SHA1] as const])(
    'is refused with a false answer: %s',
    async (_what, lie) => {
      expect(await through(lie(options()), page())).toBe(401);
    },
  );
});
