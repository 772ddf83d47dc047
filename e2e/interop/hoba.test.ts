import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { signedIn } from '#shared/auth/schemes/hoba/signed-in.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { run } from '../clients/digest/exchange.ts';
import type { HttpRequest, Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { hobaClient, signed } from '../clients/hoba/hoba-client.ts';
import type { HobaOptions } from '../clients/hoba/hoba-client.ts';
import { newKey } from '../clients/hoba/keys.ts';
import { LIES, RSA_SHA1 } from '../clients/hoba/lies.ts';
import {
  challengeIn,
  getChallenge,
  logout,
  register,
  registrationIn,
} from '../clients/hoba/well-known.ts';
import { tlsAgent } from '../clients/private-token/tls-agent.ts';
import { ONE_STORE, startFlowOn } from '../flows/flow.ts';
import type { Flow } from '../flows/flow.ts';
import { overHttp2 } from './over-http2.ts';

const UNLIMITED = { burst: 1_000_000, per: 0.001 };

/** The client that was written from RFC 7486 alone, and false claims that the server must refuse. */
describe.each(ONE_STORE)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let flow: Flow;
  let ca: Buffer;
  let origin: string;
  beforeAll(async () => {
    const limits = { credentials: UNLIMITED, signIn: UNLIMITED };
    flow = parts.use(await startFlowOn(kind, { settings: { limits } }));
    ca = await readFile(join(flow.pair.data, 'tls/certificate.pem'));
    origin = flow.pair.resourceTls;
  });
  afterAll(async () => parts.disposeAsync());

  function overHttp1(): Send {
    const place = { host: 'localhost', port: Number(new URL(origin).port) };
    return overHttp({ ...place, agent: tlsAgent(place, ca) });
  }

  describe.each<[version: string, open: () => Send]>([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', () => parts.use(overHttp2(origin)).send],
  ])('a HOBA client over %s', (version, open) => {
    const key = newKey();
    let send: Send;
    let id: string;
    beforeAll(async () => {
      send = open();
      ({ id } = await flow.pair.addPerson(`with-${version.slice(5).replace('.', '-')}`));
      const answered = await through(options(), register(origin, { key, more: [await secret()] }));
      expect(registrationIn(answered)).toBe('regok');
    });

    const options = (): HobaOptions => ({ key, origin });
    const page = () => get(`${origin}/schemes/hoba/`);
    const through = (lying: HobaOptions, request: HttpRequest) =>
      run(hobaClient(lying).exchange(request), send);
    async function secret(): Promise<readonly [string, string]> {
      const invitations = createInvitations({ stores: flow.stores, random: systemRandom });
      const store = { stores: flow.stores, clock: systemClock, longestLife: 600 };
      const invited = await signedIn(store, id);
      return ['secret', new URL(await invitations.invite(invited, origin)).hash.slice(1)];
    }

    test('is admitted by the challenge of a 401, and by a challenge of getchal, each once', async () => {
      const answer = await through(options(), page());
      expect([answer.status, JSON.parse(answer.content.toString())]).toMatchObject([
        200,
        { scheme: 'HOBA', principal: { kind: 'person' } },
      ]);
      const challenge = challengeIn(await send(getChallenge(origin)));
      const request = signed(page(), { challenge }, options());
      expect((await send(request)).status).toBe(200);
      expect((await send(request)).status).toBe(401);
    });

    test('is admitted where the space offers all schemes', async () => {
      const all = get(`${origin}/schemes/all/`);
      expect((await through(options(), all)).status).toBe(200);
    });

    test('signs out, which voids earlier challenges', async () => {
      const challenge = challengeIn(await send(getChallenge(origin)));
      expect((await through(options(), logout(origin))).status).toBe(204);
      expect((await send(signed(page(), { challenge }, options()))).status).toBe(401);
      expect((await through(options(), page())).status).toBe(200);
    });

    test("cannot register a key without a secret, or under another key's kid", async () => {
      const stranger = newKey();
      const tries = [
        { key: stranger },
        { key: { ...stranger, kid: key.kid }, more: [await secret()] },
      ];
      for (const registration of tries) {
        const lying = { ...options(), key: stranger };
        const answer = await through(lying, register(origin, registration));
        expect(registrationIn(answer)).toBe('failed');
      }
      expect((await through({ ...options(), key: stranger }, page())).status).toBe(401);
    });

    test.each([...LIES, ['RSA-SHA1', RSA_SHA1] as const])(
      'is refused with false credentials: %s',
      async (_, lie) => {
        const { status } = await through(lie(options()), page());
        expect(status).toBe(401);
      },
    );
  });
});
