import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { octets } from '#shared/auth/schemes/mutual/octets.ts';
import { CLIENT_GROUPS } from '#shared/auth/schemes/mutual/client.fixture.ts';
import type { mutualClient } from '#shared/auth/schemes/mutual/client.fixture.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import { UNLIMITED } from './attacked-pair.fixture.ts';
import { ALICE, BOB, credentials, P_256, startMutualSite } from './mutual.fixture.ts';
import type { Answer, Door, MutualSite } from './mutual.fixture.ts';

/** Attacks on Mutual (RFC 8120) by a stranger, by a server in between, and by an account holder. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let site: MutualSite;
  beforeAll(async () => {
    site = await startMutualSite(kind);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  type Client = ReturnType<typeof mutualClient>;
  const say = (params: AuthParams, door: Door = 0, realm: string = P_256) =>
    site.ask(door, realm, credentials(params));

  async function begin(client: Client = site.client(P_256), door: Door = 0, realm: string = P_256) {
    const { status, asked } = await say(client.kex(), door, realm);
    expect([status, asked['reason']]).toEqual([401, undefined]);
    return client.session(asked);
  }

  const expectGranted = ({ status, info }: Answer, vks: string) => {
    expect([status, info['vks']]).toEqual([200, vks]);
  };
  /** A refusal has no value that a client could take for the server's proof. */
  const expectRefused = ({ status, asked, info }: Answer, reason: string) => {
    expect([status, asked['reason'], info['vks'], asked['ks1']]).toEqual([
      401,
      reason,
      undefined,
      undefined,
    ]);
  };

  describe('replay (RFC 8120 section 6)', () => {
    test('a replay of the first proof ends the session, at both processes', async () => {
      const { vfy, vks } = await begin();
      expectGranted(await say(vfy(0), 1), vks(0));
      expectRefused(await say(vfy(0), 0), 'stale-session');
      for (const door of [0, 1] as const) expectRefused(await say(vfy(1), door), 'stale-session');
    });

    test('if one nc is used fifty times at once at two processes, one request is admitted', async () => {
      const { vfy } = await begin();
      expect((await say(vfy(0))).status).toBe(200);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => say(vfy(1), n % 2 ? 1 : 0)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expectRefused(answer, 'stale-session');
      }
    });

    test('if the first proof is sent fifty times at once, at most one request is admitted', async () => {
      const { vfy } = await begin();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => say(vfy(0), n % 2 ? 1 : 0)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    test('fifty requests of a session at once, each with its own nc, are all admitted', async () => {
      const { vfy, vks } = await begin();
      expectGranted(await say(vfy(0)), vks(0));
      const counts = Array.from({ length: 50 }, (_, n) => 1 + ((n * 7) % 50));
      await Promise.all(
        counts.map(async (nc) => expectGranted(await say(vfy(nc), nc % 2 ? 1 : 0), vks(nc))),
      );
    });

    test('fifty password guesses in one session at once: the server checks one', async () => {
      const { vfy } = await begin(site.client(P_256, { password: 'guess' }));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => say(vfy(n), n % 2 ? 1 : 0)),
      );
      const reasons = answers.map(({ asked }) => asked['reason']);
      expect(reasons.filter((reason) => reason === 'auth-failed')).toHaveLength(1);
      expect(reasons.filter((reason) => reason === 'stale-session')).toHaveLength(49);
    });

    test('a client without the secret cannot end a session that is proved', async () => {
      const { vfy, vks } = await begin();
      expectGranted(await say(vfy(0)), vks(0));
      for (const nc of ['0', '1', '127', '1000000', '99999999999999999999']) {
        const wrong = { ...vfy(1), nc };
        expectRefused(
          await say(nc === '1' ? { ...wrong, vkc: '00'.repeat(32) } : wrong, 1),
          'auth-failed',
        );
      }
      expectGranted(await say(vfy(1)), vks(1));
    });
  });

  describe('a proof for another place is refused', () => {
    test('a session of one realm at another realm is refused (section 6)', async () => {
      const { vfy, vks } = await begin();
      expectRefused(await say(vfy(0), 0, 'other'), 'invalid-parameters');
      expectRefused(await say({ ...vfy(0), realm: 'other' }, 0, 'other'), 'stale-session');
      expectGranted(await say(vfy(0)), vks(0));
    });

    test('a session from clear text is refused over TLS, and a session from TLS in clear text', async () => {
      const plain = await begin();
      const secure = await begin(site.overTls(P_256), 'tls');
      expectRefused(await say(plain.vfy(0), 'tls'), 'invalid-parameters');
      const { validation = '', 'auth-scope': scope = '' } = secure.vfy(0);
      const bent = { ...plain.vfy(0), validation, 'auth-scope': scope };
      expectRefused(await say(bent, 'tls'), 'stale-session');
      expectRefused(await say(secure.vfy(0)), 'invalid-parameters');
      expectGranted(await say(plain.vfy(0)), plain.vks(0));
      expectGranted(await say(secure.vfy(0), 'tls'), secure.vks(0));
    });

    test('a proof made for a server in between, with another certificate or name, is refused (section 7)', async () => {
      const { vfy } = await begin(site.overTls(P_256), 'tls');
      expectRefused(await say(vfy(0, Buffer.alloc(32)), 'tls'), 'auth-failed');
      const plain = await begin();
      expectRefused(await say(plain.vfy(0, Buffer.from('http://evil.example:80'))), 'auth-failed');
    });

    test("the proof of one person's session is refused in another person's session", async () => {
      const alice = await begin();
      const bob = await begin(site.client(P_256, BOB));
      const { sid } = alice;
      expectRefused(await say({ ...bob.vfy(0), sid }), 'auth-failed');
      expectGranted(await say(bob.vfy(0)), bob.vks(0));
      const { status, info } = await say({ ...bob.vfy(1), sid: bob.sid });
      expect([status, info['vks']]).toEqual([200, bob.vks(1)]);
    });

    test('a sid next to a known sid is refused', async () => {
      const { sid, vfy, vks } = await begin();
      for (const change of [-1n, 1n]) {
        const other = octets(BigInt(`0x${sid}`) + change, 16).toString('hex');
        expectRefused(await say({ ...vfy(0), sid: other }), 'stale-session');
      }
      expectGranted(await say(vfy(0)), vks(0));
    });
  });

  describe('a weaker variant is refused', () => {
    test.each([
      { algorithm: 'iso-kam3-dl-2048-sha256' },
      { algorithm: 'none' },
      { algorithm: '' },
      { validation: 'tls-server-end-point' },
      { validation: 'tls-unique' },
      { version: '0' },
      { version: '2' },
      { 'auth-scope': 'http://127.0.0.1' },
      { 'auth-scope': '*.0.0.1' },
      { realm: '' },
    ])('%j in place of the offered value is refused', async (change) => {
      expectRefused(await say({ ...site.client(P_256).kex(), ...change }), 'invalid-parameters');
      const { vfy, vks } = await begin();
      expectRefused(await say({ ...vfy(0), ...change }), 'invalid-parameters');
      expectGranted(await say(vfy(0)), vks(0));
    });

    test('validation by host is refused over TLS (section 7)', async () => {
      const bent = { validation: 'host', vh: Buffer.from(site.pair.resourceTls) };
      const client = site.overTls(P_256, bent);
      expectRefused(await say(client.kex(), 'tls'), 'invalid-parameters');
    });

    test('the K_c1 of one algorithm is refused at a space of another', async () => {
      const short = site.client(P_256).kex();
      const algorithm = 'iso-kam3-ec-p521-sha512';
      const bent = { ...short, algorithm, realm: algorithm };
      expectRefused(await say(bent, 0, algorithm), 'invalid-parameters');
    });
  });

  describe('a K_c1 that would reveal a password is refused (RFC 8121 section 3)', () => {
    const dl = 'iso-kam3-dl-2048-sha256';
    const q = 2n * CLIENT_GROUPS[dl].order + 1n;
    const base64 = (number: bigint, length = 256) => octets(number, length).toString('base64');
    const hex = (number: bigint, length = 33) => octets(number, length).toString('hex');
    const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;

    test.each([
      ['0', dl, base64(0n)],
      ['1', dl, base64(1n)],
      ['q - 1', dl, base64(q - 1n)],
      ['q', dl, base64(q)],
      ['q + 1', dl, base64(q + 1n)],
      ['all ones', dl, base64(2n ** 2048n - 1n)],
      ['an octet more', dl, base64(4n, 257)],
      ['an octet less', dl, base64(4n, 255)],
      ['off the curve', P_256, hex(2n)],
      ['off the curve, odd', P_256, hex(3n)],
      ['x = q', P_256, hex(2n * p)],
      ['x = q + 5', P_256, hex(2n * (p + 5n))],
      ['all ones', P_256, 'ff'.repeat(33)],
      ['an uncompressed point', P_256, `04${'11'.repeat(64)}`],
      ['a compressed point', P_256, `02${'11'.repeat(32)}`],
    ])('K_c1 = %s gets invalid-parameters in the realm %s', async (_, realm, kc1) => {
      const client = site.client(realm);
      expectRefused(await say({ ...client.kex(), kc1 }, 1, realm), 'invalid-parameters');
    });

    test('a K_c1 that is no square, in the group of twice the order, gets the answer to a wrong password', async () => {
      const kc1 = base64(q - 2n);
      const { status, asked } = await say({ ...site.client(dl).kex(), kc1 }, 0, dl);
      expect([status, asked['reason']]).toEqual([401, undefined]);
      const session = site.client(dl).session(asked);
      expectRefused(await say(session.vfy(0), 1, dl), 'auth-failed');
    });
  });

  describe('malformed messages are refused', () => {
    const spoils: readonly (readonly [string, (value: string) => string])[] = [
      ['cut off', (value) => value.slice(0, -1)],
      ['empty', () => ''],
      ['an octet behind it', (value) => `${value}00`],
      ['a zero before it', (value) => `0${value}`],
      ['white space behind it', (value) => `${value} `],
      ['not ASCII', (value) => `${value}é`],
      ['long', (value) => value.repeat(40)],
    ];

    test.each(spoils)('each parameter %s', async (what, spoil) => {
      const messages = [site.client(P_256).kex(), (await begin()).vfy(0)];
      for (const message of messages) {
        for (const name of Object.keys(message)) {
          const value = spoil(message[name] ?? '');
          const latin = Buffer.from(value).toString('latin1');
          const { status, info } = await say({ ...message, [name]: latin }, 1);
          expect([what, name, status, info['vks']]).toEqual([what, name, 401, undefined]);
        }
      }
    });

    test('any parameter twice gets 401 (RFC 9110 section 11.2)', async () => {
      for (const message of [site.client(P_256).kex(), (await begin()).vfy(0)]) {
        for (const [name, value] of Object.entries(message)) {
          for (const again of [name, name.toUpperCase()]) {
            const twice = `${credentials(message)}, ${again}="${value}"`;
            expect((await site.ask(0, P_256, twice)).status).toBe(401);
          }
        }
      }
    });

    test('the Authorization field twice', async () => {
      const { vfy } = await begin();
      const twice = [credentials(vfy(0)), credentials(vfy(0))];
      expect((await site.ask(0, P_256, twice)).status).toBe(400);
    });

    test.each([
      ['nothing behind the scheme', 'Mutual'],
      ['a token68', 'Mutual abcdef=='],
      ['another scheme', 'Mutua1 version=1'],
      ['kc1 and vkc', `Mutual version=1, kc1=00, vkc=00`],
      ['an open quote', 'Mutual version="1'],
      ['commas', 'Mutual ,,,,'],
      [
        'a hundred parameters',
        `Mutual ${Array.from({ length: 100 }, (_, n) => `a${n}=1`).join(', ')}`,
      ],
      ['12 KiB of digits in nc', `Mutual version=1, nc=${'9'.repeat(12_000)}`],
      ['12 KiB of a name', `Mutual version=1, user="${'u'.repeat(12_000)}"`],
    ])('the server refuses a message: %s', async (_, value) => {
      const { status, info } = await site.ask(1, P_256, value);
      expect([400, 401]).toContain(status);
      expect(info).toEqual({});
    });

    test('a field over the limit of all fields gets 431', async () => {
      const { status } = await site.ask(0, P_256, `Mutual user="${'u'.repeat(100_000)}"`);
      expect(status).toBe(431);
    });

    test('unknown names and a person without a password all get the same answers', async () => {
      await site.pair.cli('user', 'invite', 'carol');
      const seen = new Set<string>();
      for (const user of [
        'carol',
        'nobody',
        '..',
        "a' OR 1=1",
        'ALICE',
        'alice ',
        '*',
        'u'.repeat(128),
      ]) {
        const { status, asked } = await say({ ...site.client(P_256).kex(), user });
        expect(Buffer.from(asked['ks1'] ?? '', 'hex')).toHaveLength(33);
        const { vfy } = site.client(P_256, { user }).session(asked);
        const refused = await say(vfy(0));
        expectRefused(refused, 'auth-failed');
        seen.add(JSON.stringify([status, Object.keys(asked), refused]));
      }
      expect(seen.size).toBe(1);
    });
  });

  test('a new password and a disabled person end sessions at once', async () => {
    const { vfy, vks } = await begin(site.client(P_256, BOB));
    expectGranted(await say(vfy(0)), vks(0));
    const begun = await begin(site.client(P_256, BOB));
    await site.pair.setPassword(BOB.user, 'a new password');
    expectRefused(await say(vfy(1), 1), 'stale-session');
    expectRefused(await say(begun.vfy(0), 1), 'auth-failed');
    const bob = { ...BOB, password: 'a new password' };
    const again = await begin(site.client(P_256, bob));
    expectGranted(await say(again.vfy(0)), again.vks(0));
    await site.pair.cli('user', 'disable', BOB.user);
    expectRefused(await say(again.vfy(1), 1), 'stale-session');
    const last = await begin(site.client(P_256, bob));
    expectRefused(await say(last.vfy(0)), 'auth-failed');
  });
});

describe.each(STORE_KINDS)('on %s: a flood of key exchanges', (kind) => {
  let site: MutualSite;
  beforeAll(async () => {
    const exchanges = { burst: 20, per: 3600 };
    site = await startMutualSite(kind, { credentials: UNLIMITED, signIn: UNLIMITED, exchanges });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  test('an address opens at most as many sessions as its limit, at two processes; another address is admitted', async () => {
    const kex = credentials(site.client(P_256, { user: 'nobody' }).kex());
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => site.ask(n % 2 ? 1 : 0, P_256, kex, '127.0.0.2')),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80);
    const client = site.client(P_256, ALICE);
    const { asked } = await site.ask(0, P_256, credentials(client.kex()));
    const { vfy, vks } = client.session(asked);
    const { status, info } = await site.ask(1, P_256, credentials(vfy(0)));
    expect([status, info['vks']]).toEqual([200, vks(0)]);
  });
});
