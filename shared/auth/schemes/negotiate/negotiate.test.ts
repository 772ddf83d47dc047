import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { type Gss, GssRefused, type Step } from '../parts/gss.ts';
import * as client from './token.fixture.ts';
import type { Rate, Spent } from '#shared/stores/limits/limits.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { memoryReplay, requestOf } from '../../judge/auth.fixture.ts';
import { judge } from '../../judge/judge.ts';
import { schemeOf, spaceOf } from '../../judge/judge.fixture.ts';
import { type AuthRequest, ORIGIN, PROXY } from '../../scheme.ts';
import { negotiate } from './negotiate.ts';

const { KERBEROS, NTLM, NTLM_MESSAGE } = client;
const PEOPLE = new Map([['alice@EXAMPLE.COM', { id: 'p1', name: 'alice' }]]);
const PROOF = Buffer.from('proof of the server');
const DONE: Step = { done: true, principal: 'alice@EXAMPLE.COM', token: PROOF };
const MORE: Step = { done: false, token: Buffer.from('more') };

const clock = new ManualClock();
let replay = memoryReplay(clock);
/** The results of GSS for the messages, in order; GSS refuses all further messages. */
let answers: (Step | Error)[];
/** How many messages GSS received, for each handshake. */
let seen: number[];
let made: number;

const gss: Gss = {
  accept() {
    const handshake = seen.push(0) - 1;
    return {
      async step() {
        seen[handshake] = (seen[handshake] ?? 0) + 1;
        const answer = answers.shift() ?? new GssRefused('Invalid token was supplied');
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
  },
};
const options = {
  realm: 'documents',
  gss,
  verifiers: { kerberos: async (principal: string) => PEOPLE.get(principal) },
  clock,
};
/** How many failed attempts one address may make in a burst. */
const FEW = 50;
const attemptsOf = () => {
  const spent = new Map<string, number>();
  const spend = async (namespace: string, key: string, { burst }: Rate): Promise<Spent> => {
    const name = `${namespace} ${key}`;
    const used = (spent.get(name) ?? 0) + 1;
    spent.set(name, used);
    return used > burst
      ? { ok: false, retryAfter: 7 }
      : { ok: true, remaining: burst - used, reset: 1 };
  };
  const [account, address] = [
    { burst: FEW, per: 1 },
    { burst: 1000, per: 1 },
  ];
  return createAttempts({ limits: { spend }, account, address });
};
let attempts = attemptsOf();
let scheme = negotiate({ ...options, replay, attempts });

beforeEach(() => {
  answers = [];
  seen = [];
  made = 0;
  replay = memoryReplay(clock);
  attempts = attemptsOf();
  scheme = negotiate({ ...options, replay, attempts });
});

/** Returns a new Kerberos request, different from all others. */
function fresh(): Buffer {
  made += 1;
  return client.kerberosToken(`authenticator ${made}`);
}
const spnego = (request = fresh()) => client.negTokenInit([KERBEROS, NTLM], request);

const peer = { address: '127.0.0.1', connection: {}, http2: false, trusted: false };
const send = async (token: Buffer | string, more: Partial<AuthRequest> = {}) =>
  scheme.authenticate(
    {
      scheme: 'negotiate',
      rest: '',
      token68: typeof token === 'string' ? token : token.toString('base64'),
    },
    requestOf([], { peer, ...more }),
  );
const refusedFor = (reason: string) => ({
  kind: 'refused',
  refusal: expect.stringMatching(/^negotiate-/),
  reason: expect.stringContaining(reason),
  untold: true,
});

describe('a handshake of one message (RFC 4559 section 5)', () => {
  test('section 4.1: the first challenge carries no token', () => {
    expect(scheme.challenge(requestOf())).toEqual([{ scheme: 'Negotiate' }]);
  });

  test.each([
    ['SPNEGO', () => spnego()],
    ['Kerberos without SPNEGO (RFC 4121 section 4.1)', () => fresh()],
  ])("%s is granted, and the answer carries the server's proof", async (_what, token) => {
    answers = [DONE];
    expect(await send(token())).toEqual({
      kind: 'granted',
      principal: { kind: 'person', realm: 'documents', name: 'alice', claims: { sub: 'p1' } },
      proof: {
        ask: { scheme: 'Negotiate', token68: PROOF.toString('base64') },
        fields: { 'Persistent-Auth': 'false' },
      },
    });
  });

  test('a client that asks for no proof of the server gets none', async () => {
    answers = [{ done: true, principal: 'alice@EXAMPLE.COM' }];
    expect(await send(spnego())).toMatchObject({
      kind: 'granted',
      proof: { fields: { 'Persistent-Auth': 'false' } },
    });
  });

  test('Persistent-Auth is about the origin, so a proxy does not send it', async () => {
    answers = [DONE, DONE];
    const [origin, proxy] = [
      await send(spnego(), { at: ORIGIN }),
      await send(spnego(), { at: PROXY }),
    ];
    expect(origin).toHaveProperty('proof.fields');
    expect(proxy).not.toHaveProperty('proof.fields');
    expect(proxy).toHaveProperty('proof.ask');
  });

  test.each([
    ['HTTP/2', { http2: true }],
    ['a balancer', { trusted: true }],
  ])('one message is enough over %s', async (_what, via) => {
    answers = [DONE];
    expect(await send(spnego(), { peer: { ...peer, ...via } })).toMatchObject({ kind: 'granted' });
  });

  test('a ticket does not authenticate the connection: the next request needs a ticket, too', async () => {
    answers = [DONE];
    await send(spnego());
    expect(await judge(spaceOf([scheme]), requestOf([], { peer }))).toMatchObject({ status: 401 });
  });

  test('a ticket of 48 KiB is read', async () => {
    answers = [DONE];
    const large = client.kerberosToken(Buffer.alloc(48 * 1024, 7));
    expect(await send(spnego(large))).toMatchObject({ kind: 'granted' });
  });
});

describe('the principal of a ticket', () => {
  test.each([
    'alice@OTHER.EXAMPLE',
    'alice',
    'ALICE@EXAMPLE.COM',
    'alice/admin@EXAMPLE.COM',
    String.raw`alice\@EXAMPLE.COM@OTHER.EXAMPLE`,
    'bob@EXAMPLE.COM',
  ])('a ticket of %s is not accepted for alice@EXAMPLE.COM', async (principal) => {
    answers = [{ ...DONE, principal }];
    expect(await send(spnego())).toEqual(refusedFor(`no person has the principal ${principal}`));
  });

  test('section 4.1: an unknown principal gets a challenge without a token, which would ask the client to continue', async () => {
    answers = [{ ...DONE, principal: 'bob@EXAMPLE.COM' }];
    const space = spaceOf([scheme, schemeOf('Basic')]);
    const credentials = `Negotiate ${spnego().toString('base64')}`;
    expect(await judge(space, requestOf([['Authorization', credentials]]))).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': ['Negotiate', 'Basic realm="documents"'] },
    });
  });
});

describe('a replayed ticket', () => {
  test.each([
    ['the same message', (request: Buffer) => spnego(request)],
    ['without SPNEGO', (request: Buffer) => request],
    ['offered otherwise', (request: Buffer) => client.negTokenInit([KERBEROS], request)],
  ])(
    'a ticket that another server accepted is refused, even if GSS accepts it: %s',
    async (_what, again) => {
      answers = [DONE, DONE];
      const request = fresh();
      expect(await send(spnego(request))).toMatchObject({ kind: 'granted' });
      const elsewhere = negotiate({ ...options, replay, attempts });
      const verdict = await elsewhere.authenticate(
        { scheme: 'negotiate', rest: '', token68: again(request).toString('base64') },
        requestOf(),
      );
      expect(verdict).toEqual({ kind: 'refused', ...refuse('negotiate-used'), untold: true });
    },
  );

  test('one of ten requests at the same time with one ticket is admitted', async () => {
    answers = Array.from({ length: 10 }, () => DONE);
    const token = spnego();
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, () => send(token, { peer: { ...peer, connection: {} } })),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
  });

  test('a ticket is remembered as long as Kerberos may accept it, with clocks off to either side (RFC 4120 section 10)', async () => {
    answers = [DONE, DONE];
    const token = spnego();
    await send(token);
    clock.advance(2 * 300 + 60);
    expect(await send(token)).toEqual({
      kind: 'refused',
      ...refuse('negotiate-used'),
      untold: true,
    });
  });

  test('a refused ticket is not remembered', async () => {
    answers = [new GssRefused('Clock skew too great'), DONE];
    const token = spnego();
    expect(await send(token)).toEqual(refusedFor('Clock skew'));
    expect(await send(token)).toMatchObject({ kind: 'granted' });
  });

  test('a ticket that cannot be remembered is not accepted', async () => {
    answers = [DONE, DONE];
    expect(await send(client.negTokenInit([KERBEROS]))).toEqual(refusedFor('without a request'));
    replay.down = true;
    await expect(send(spnego())).rejects.toThrow(StoreUnavailable);
  });
});

describe('a handshake of several messages (RFC 4559 section 5)', () => {
  const opening = () => client.negTokenInit([NTLM, KERBEROS], NTLM_MESSAGE);
  const continued = {
    kind: 'continued',
    challenge: { scheme: 'Negotiate', token68: MORE.token?.toString('base64') },
  };

  test('a handshake continues on its connection, in one GSS context', async () => {
    answers = [MORE, DONE];
    expect(await send(opening())).toEqual(continued);
    expect(await send(client.negTokenResp(fresh()))).toMatchObject({ kind: 'granted' });
    expect(seen).toEqual([2]);
  });

  test("a replay of the first message's request is refused at the last message", async () => {
    answers = [MORE, DONE, MORE, DONE];
    const first = spnego();
    await send(first);
    expect(await send(client.negTokenResp())).toMatchObject({ kind: 'granted' });
    await send(first);
    expect(await send(client.negTokenResp())).toEqual(refusedFor('a replay'));
  });

  test('a second Kerberos request in one handshake is refused', async () => {
    answers = [MORE, DONE];
    await send(spnego());
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('two requests'));
    expect(seen).toEqual([1]);
  });

  test.each([
    ['of another connection, over HTTP/1.1', () => ({ connection: {} })],
    ['of another connection, over HTTP/2', () => ({ connection: {}, http2: true })],
  ])('a later message %s does not reach GSS', async (_what, via) => {
    answers = [MORE, DONE];
    await send(opening());
    const verdict = await send(client.negTokenResp(fresh()), { peer: { ...peer, ...via() } });
    expect(verdict).toEqual(refusedFor('was not begun here'));
    expect(seen).toEqual([1]);
  });

  test('after the end of a handshake, and after a refusal, a later message is refused', async () => {
    answers = [MORE, DONE, MORE];
    await send(opening());
    await send(client.negTokenResp(fresh()));
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('was not begun here'));
    await send(opening());
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('Invalid token'));
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('was not begun here'));
  });

  test('one of two later messages at the same time is granted', async () => {
    answers = [MORE, DONE, DONE];
    await send(opening());
    const both = await Promise.all([
      send(client.negTokenResp(fresh())),
      send(client.negTokenResp(fresh())),
    ]);
    expect(both.map(({ kind }) => kind)).toEqual(['granted', 'refused']);
  });

  test('a new first message begins a new handshake', async () => {
    answers = [MORE, MORE, DONE];
    await send(opening());
    await send(opening());
    await send(client.negTokenResp(fresh()));
    expect(seen).toEqual([1, 2]);
  });

  test('a handshake that takes too long is forgotten', async () => {
    answers = [MORE, DONE];
    await send(opening());
    clock.advance(30);
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('was not begun here'));
  });

  test('further messages do not extend the time of a handshake', async () => {
    answers = [MORE, MORE, DONE];
    await send(opening());
    clock.advance(20);
    expect(await send(client.negTokenResp())).toEqual(continued);
    clock.advance(20);
    expect(await send(client.negTokenResp(fresh()))).toEqual(refusedFor('was not begun here'));
  });

  test('RFC 9113 section 7: over HTTP/2 a handshake of several messages gets HTTP_1_1_REQUIRED', async () => {
    answers = [MORE, DONE];
    const http2 = { ...peer, http2: true };
    expect(await send(opening(), { peer: http2 })).toMatchObject({ as: 'http-1.1' });
    expect(await send(client.negTokenResp(fresh()), { peer: http2 })).toEqual(
      refusedFor('was not begun here'),
    );
  });

  test('section 6: a handshake of several messages is refused behind a balancer, which mixes connections', async () => {
    answers = [MORE, DONE];
    const trusted = { ...peer, trusted: true };
    expect(await send(opening(), { peer: trusted })).toEqual(refusedFor('through a proxy'));
    expect(await send(client.negTokenResp(fresh()), { peer: trusted })).toEqual(
      refusedFor('was not begun here'),
    );
  });
});

describe('messages that do not reach GSS', () => {
  const kerberos = () => spnego().toString('base64');
  test.each([
    ['no token', () => '', 'neither'],
    ['loose base64: no padding', () => Buffer.from('abcd1').toString('base64url'), 'no base64'],
    ['loose base64: more padding', () => `${kerberos()}=`, 'no base64'],
    ['loose base64: letters of base64url', () => '_-__', 'no base64'],
    ['loose base64: bits behind the end', () => 'YR==', 'no base64'],
    ['not a token', () => Buffer.from('hello').toString('base64'), 'neither'],
    ['cut off', () => spnego().subarray(0, 60).toString('base64'), 'neither'],
    ['NTLM', () => NTLM_MESSAGE.toString('base64'), 'NTLM'],
    ['NTLM in SPNEGO', () => client.negTokenInit([NTLM], NTLM_MESSAGE).toString('base64'), 'NTLM'],
  ])('a malformed token or NTLM does not reach GSS: %s', async (_what, token68, reason) => {
    expect(await send(token68())).toEqual(refusedFor(reason));
    expect(seen.reduce((sum, count) => sum + count, 0)).toBe(0);
  });

  test('parameters in place of a token are refused', async () => {
    const credentials = { scheme: 'negotiate', rest: 'a="b"', params: { a: 'b' } };
    const verdict = await scheme.authenticate(credentials, requestOf());
    expect(verdict).toEqual(refusedFor('no base64'));
  });

  test('any token68 gets a verdict that refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[A-Za-z0-9._~+/-]{1,80}={0,3}$/), async (token68) => {
        expect(await send(token68)).toMatchObject({ kind: 'refused' });
      }),
    );
  });
});

describe('failures of GSS', () => {
  test('errors of GSS are written to the log, and not sent to the client', async () => {
    answers = [new GssRefused('Wrong principal in request (HTTP/secret-name@EXAMPLE.COM)')];
    const credentials = `Negotiate ${spnego().toString('base64')}`;
    const outcome = await judge(spaceOf([scheme]), requestOf([['Authorization', credentials]]));
    expect(outcome).toMatchObject({ status: 401, reason: expect.stringContaining('Wrong') });
    expect(JSON.stringify({ ...outcome, reason: '' })).not.toContain('secret');
  });

  test('too many requests at the same time get 503', async () => {
    answers = [new StoreUnavailable('too many')];
    const credentials = `Negotiate ${spnego().toString('base64')}`;
    const outcome = await judge(spaceOf([scheme]), requestOf([['Authorization', credentials]]));
    expect(outcome).toMatchObject({ status: 503 });
  });

  test('without the native module other schemes are offered, and Negotiate admits no client', async () => {
    const off = negotiate({ ...options, replay, attempts, gss: undefined });
    const space = spaceOf([off, schemeOf('Basic')]);
    const credentials = `Negotiate ${spnego().toString('base64')}`;
    for (const fields of [[], [['Authorization', credentials] as const]]) {
      expect(await judge(space, requestOf(fields))).toMatchObject({
        status: 401,
        fields: { 'WWW-Authenticate': ['Basic realm="documents"'] },
      });
    }
    expect(await judge(spaceOf([off]), requestOf())).toMatchObject({ status: 503 });
  });

  test('tickets are ambient credentials, since browsers send them by themselves', () => {
    expect(scheme.ambient).toBe(true);
  });
});

describe('throttling', () => {
  const from = (address: string) => ({ peer: { ...peer, address, connection: {} } });

  test('an address with too many forged tickets gets 429 with Retry-After, even for a valid ticket; other addresses do not', async () => {
    const verdicts = await Promise.all(
      Array.from({ length: FEW + 10 }, () => send(spnego(), from('192.0.2.1'))),
    );
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(FEW);
    const tooMany = { kind: 'unavailable', status: 429, retryAfter: 7 };
    expect(verdicts.filter(({ kind }) => kind === 'unavailable')).toHaveLength(10);
    answers = [DONE];
    expect(await send(spnego(), from('192.0.2.1'))).toMatchObject(tooMany);
    expect(await send(spnego(), from('192.0.2.2'))).toMatchObject({ kind: 'granted' });
  });

  test('an address that signed in with a ticket uses up no attempts', async () => {
    for (let n = 0; n < FEW * 2; n += 1) {
      answers = [DONE];
      expect(await send(spnego())).toMatchObject({ kind: 'granted' });
    }
  });
});
