import { describe, expect, test } from '@jest/globals';
import {
  answer,
  credentialsIn,
  endOf,
  get,
  sentBy,
  withTrailer,
} from '../digest/answers.fixture.ts';
import { credentials, quoted, token, valueOf } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import type { Exchange, Field, HttpRequest } from '../digest/exchange.ts';
import { scramClient } from './scram-client.ts';
import type { ScramOptions } from './scram-client.ts';

const GET = get('/resource');
const base64 = (text: string) => Buffer.from(text).toString('base64');

const asks = (scheme: string, ...params: readonly Param[]): Field => [
  'WWW-Authenticate',
  params.length === 0 ? scheme : credentials(scheme, params),
];
const next = (scheme: string, message: string) =>
  answer(401, [asks(scheme, token('sid', 'AAAABBBBCCCCDDDD'), quoted('data', base64(message)))]);
const last = (message: string, sid = 'AAAABBBBCCCCDDDD'): Field => [
  'Authentication-Info',
  credentials('', [token('sid', sid), quoted('data', base64(message))]).trim(),
];

/** The message in the credentials of a request. */
function messageOf(request: HttpRequest, field?: string): string {
  const data = valueOf(credentialsIn(request, field).params, 'data') ?? '';
  return Buffer.from(data, 'base64').toString();
}

/** Exchanges as data: RFC 5802 section 5, RFC 7677 section 3, and a corrected RFC 7804 section 5. */
const VECTORS = [
  {
    source: 'RFC 5802 section 5',
    hash: 'SHA-1',
    nonce: 'fyko+d2lbbFgONRv9qkxdawL',
    serverFirst: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
    clientFinal:
      'c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
    serverFinal: 'v=rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    source: 'RFC 7677 section 3',
    hash: 'SHA-256',
    nonce: 'rOprNGfwEbeRWgbNEkqO',
    serverFirst:
      'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    clientFinal:
      'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
  {
    source: 'RFC 7804 section 5, whose own proof and signature belong to the nonce of RFC 7677',
    hash: 'SHA-256',
    nonce: 'rOprNGfwEbeRWgbNEkqO',
    serverFirst:
      'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    clientFinal:
      'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF,p=2Co9/7Q6ALsppyR+n1iwWmzVJJJ1zzcgLokVX3Qm5cs=',
    serverFinal: 'v=8hijqPrqPCmSN/gl2kogo4dBQD8q6AB/l4k9skRkz1s=',
  },
] as const;

const USER = { username: 'user', password: 'pencil' };
const [, SHA256, RFC7804] = VECTORS;
const options = (changes: Partial<ScramOptions> = {}): ScramOptions => ({
  ...USER,
  hash: 'SHA-256',
  nonce: () => SHA256.nonce,
  ...changes,
});

/** Runs the vector of RFC 7677 up to the last message. */
async function halfway(changes: Partial<ScramOptions> = {}) {
  const exchange = scramClient(options(changes)).exchange(GET);
  await sentBy(exchange);
  await sentBy(exchange, answer(401, [asks('SCRAM-SHA-256', quoted('realm', 'r'))]));
  const sent = await sentBy(exchange, next('SCRAM-SHA-256', SHA256.serverFirst));
  return { exchange, sent };
}

test.each(VECTORS)('the client sends the messages of the vector of $source', async (vector) => {
  const { hash, nonce, serverFirst, clientFinal, serverFinal } = vector;
  const exchange = scramClient({ ...USER, hash, nonce: () => nonce }).exchange(GET);
  expect(await sentBy(exchange)).toBe(GET);
  const challenges = ['SCRAM-SHA-256', 'SCRAM-SHA-1'].map((name) =>
    asks(name, quoted('realm', 'r')),
  );
  const first = await sentBy(exchange, answer(401, challenges));
  expect(messageOf(first)).toBe(`n,,n=user,r=${nonce}`);
  expect(credentialsIn(first)).toMatchObject({
    scheme: `SCRAM-${hash}`,
    params: [quoted('realm', 'r'), { name: 'data' }],
  });
  const final = await sentBy(exchange, next(`SCRAM-${hash}`, serverFirst));
  expect(messageOf(final)).toBe(clientFinal);
  expect(credentialsIn(final).params).toMatchObject([
    token('sid', 'AAAABBBBCCCCDDDD'),
    { name: 'data' },
  ]);
  expect(await endOf(exchange, answer(200, [last(serverFinal)]))).toMatchObject({ status: 200 });
});

describe('RFC 7804 section 5: the client refuses a server without a valid proof', () => {
  test.each([
    ['no Authentication-Info', []],
    ['the signature of another exchange', [last(RFC7804.serverFinal)]],
    ['a signature cut short', [last('v=6rriTRBi23WpRR/wtup+mA==')]],
    ['an error (RFC 5802 section 5.1)', [last('e=other-error')]],
    ['another sid', [last(SHA256.serverFinal, 'EEEE')]],
    ['base64 that is not canonical', [last('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=')]],
    ['data with a newline, as in the RFC', [last(`${SHA256.serverFinal}\n`)]],
    ['a mandatory extension', [last(`${SHA256.serverFinal},m=x`)]],
    ['the field twice', [last(SHA256.serverFinal), last(SHA256.serverFinal)]],
  ] as const)('the client refuses an answer with %s', async (_title, fields) => {
    const { exchange } = await halfway();
    await expect(endOf(exchange, answer(200, fields))).rejects.toThrow();
  });

  test('a success before the proof was sent', async () => {
    const exchange = scramClient(options()).exchange(GET);
    await sentBy(exchange);
    await sentBy(exchange, answer(401, [asks('SCRAM-SHA-256')]));
    await expect(endOf(exchange, answer(200))).rejects.toThrow('missing');
  });

  test('section 6: the signature may be in the trailer, with optional extensions', async () => {
    const { exchange } = await halfway();
    const granted = withTrailer(answer(200), last(`${SHA256.serverFinal},x=1`));
    expect(await endOf(exchange, granted)).toMatchObject({ status: 200 });
  });

  test('an error may have no proof, but not a wrong one', async () => {
    const { exchange } = await halfway();
    expect(await endOf(exchange, answer(429))).toMatchObject({ status: 429 });
    const wrong = (await halfway()).exchange;
    const refusal = answer(404, [last(RFC7804.serverFinal)]);
    await expect(endOf(wrong, refusal)).rejects.toThrow('signature');
  });
});

describe('RFC 5802 section 5.1: a server-first-message', () => {
  const { nonce } = SHA256;
  test.each([
    ['a nonce of its own', 'r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'],
    ["the client's nonce only", `r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`],
    ['a nonce with a space', `r=${nonce}a b,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`],
    ['a mandatory extension', `m=x,r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`],
    ['a salt without padding', `r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ,i=4096`],
    ['no salt', `r=${nonce}a,s=,i=4096`],
    ['few iterations (RFC 7677 section 4)', `r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095`],
    ['too many (RFC 7804 section 8)', `r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1000001`],
    ['a leading zero', `r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=04096`],
    ['another order', `r=${nonce}a,i=4096,s=W22ZaJ0SNY7soEsUEjb6gQ==`],
    ['a newline at the end', `r=${nonce}a,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096\n`],
  ])('the client refuses a server-first-message with %s', async (_title, message) => {
    const exchange = scramClient(options({ unprompted: true })).exchange(GET);
    await sentBy(exchange);
    await expect(sentBy(exchange, next('SCRAM-SHA-256', message))).rejects.toThrow();
  });

  test('may be missing: the client then returns the answer', async () => {
    for (const refused of [answer(401, [asks('SCRAM-SHA-256')]), answer(403), answer(429)]) {
      const exchange = scramClient(options({ unprompted: true })).exchange(GET);
      await sentBy(exchange);
      expect(await endOf(exchange, refused)).toBe(refused);
    }
  });

  test('without a challenge of the scheme or realm, the client returns the 401', async () => {
    for (const field of [asks('SCRAM-SHA-1'), asks('SCRAM-SHA-256', quoted('realm', 'other'))]) {
      const exchange = scramClient(options({ realm: 'r' })).exchange(GET);
      await sentBy(exchange);
      expect(await endOf(exchange, answer(401, [field]))).toMatchObject({ status: 401 });
    }
  });

  test('commas and equals signs of a name are escaped', async () => {
    const client = scramClient(options({ username: 'a=b,c', unprompted: true }));
    expect(messageOf(await sentBy(client.exchange(GET)))).toBe(`n,,n=a=3Db=2Cc,r=${nonce}`);
  });
});

describe("RFC 7804 section 5.1: reauthentication in one round trip; values computed with Python's hashlib", () => {
  const SR = '%hvYDpWUa2RaTCAfuxFIlj)hNlF';
  const announcing = (sr: string, ...more: readonly Param[]) =>
    answer(401, [asks('SCRAM-SHA-256', quoted('realm', 'r'), quoted('sr', sr), ...more)]);
  const again = (middle: string, proof: string) => `c=biws,r=${SHA256.nonce}${middle},p=${proof}`;
  const FIRST = again(`4096${SR}`, '4xf/gtFmWfitSTcgngN3UvQ/FEKSJQnLvP0i7KeNgNg=');
  const FIRST_SIGNED = 'v=c1YyMtGrShVAKX19uyZUZ/m9qGRZAMx1jV1ohn3PD9c=';
  const SECOND = again(`4097${SR}`, 'rm6SOj5BjPH3bqn4zhHW/btVus0l9ihx7CScQpDCO/0=');
  const RENEWED = again('4096AAABBBCCCDDD', '4UTp+M5hD34sEMY4hg0LISf4ZzIZ61G7v90Tt/A4GJ4=');
  const RENEWED_SIGNED = 'v=3elwPzJ7t1D4P1+qjCkSRe2tB+X2662OIqG/u7DNync=';

  async function authenticated(changes: Partial<ScramOptions> = {}) {
    const client = scramClient(options(changes));
    const exchange = client.exchange(GET);
    await sentBy(exchange);
    await sentBy(exchange, announcing(SR, token('ttl', '120')));
    await sentBy(exchange, next('SCRAM-SHA-256', RFC7804.serverFirst));
    await endOf(exchange, answer(200, [last(RFC7804.serverFinal)]));
    return client;
  }
  const restart = (client: { exchange(request: HttpRequest): Exchange }) => client.exchange(GET);

  test('the count begins with the iterations and increases with each success', async () => {
    const client = await authenticated();
    const one = restart(client);
    const sent = await sentBy(one);
    expect(messageOf(sent)).toBe(FIRST);
    expect(credentialsIn(sent).params.map(({ name }) => name)).toEqual(['realm', 'data']);
    await endOf(one, answer(200, [last(FIRST_SIGNED)]));
    expect(messageOf(await sentBy(restart(client)))).toBe(SECOND);
  });

  test('the client checks the signature here, too', async () => {
    const exchange = restart(await authenticated());
    await sentBy(exchange);
    const replayed = answer(200, [last(RFC7804.serverFinal)]);
    await expect(endOf(exchange, replayed)).rejects.toThrow('signature');
  });

  test('after stale=true the client uses the new sr with the same count', async () => {
    const exchange = restart(await authenticated());
    await sentBy(exchange);
    const sent = await sentBy(exchange, announcing('AAABBBCCCDDD', token('stale', 'TRUE')));
    expect(messageOf(sent)).toBe(RENEWED);
    await endOf(exchange, answer(200, [last(RENEWED_SIGNED)]));
  });

  test('after two stale answers, or another 401, the client stops and later starts from the beginning', async () => {
    for (const refusals of [
      [announcing('AAABBBCCCDDD', token('stale', 'true')), announcing(SR, token('stale', 'true'))],
      [announcing(SR, token('stale', 'false'))],
    ]) {
      const client = await authenticated();
      const exchange = restart(client);
      await sentBy(exchange);
      for (const refused of refusals.slice(0, -1)) await sentBy(exchange, refused);
      expect(await endOf(exchange, refusals.at(-1) ?? answer(500))).toMatchObject({ status: 401 });
      expect((await sentBy(restart(client))).fields).toEqual([]);
    }
  });

  test('if the server sends a new sr after an authentication, the client uses that sr for reauthentication', async () => {
    const client = scramClient(options());
    const exchange = restart(client);
    await sentBy(exchange);
    await sentBy(exchange, answer(401, [asks('SCRAM-SHA-256')]));
    await sentBy(exchange, next('SCRAM-SHA-256', RFC7804.serverFirst));
    await endOf(exchange, answer(200, [last(RFC7804.serverFinal)]));
    const later = restart(client);
    expect((await sentBy(later)).fields).toEqual([]);
    expect(messageOf(await sentBy(later, announcing(SR)))).toBe(FIRST);
  });

  test('a ttl with a leading zero is refused (section 7)', async () => {
    const exchange = scramClient(options()).exchange(GET);
    await sentBy(exchange);
    await expect(sentBy(exchange, announcing(SR, token('ttl', '012')))).rejects.toThrow('ttl');
  });
});

describe('the options for tests', () => {
  test('prepare changes the proved message: the gs2 header is also in c', async () => {
    const { sent } = await halfway({
      prepare: (leg, message) => (leg === 'first' ? message.replace('n,,', 'y,a=admin,') : message),
    });
    expect(messageOf(sent)).toMatch(new RegExp(`^c=${base64('y,a=admin,')},r=`));
  });

  test('tamper changes the sent parameters', async () => {
    const { sent } = await halfway({
      tamper: (leg, params) => (leg === 'final' ? [token('sid', 'guess')] : params),
    });
    expect(credentialsIn(sent).params).toEqual([token('sid', 'guess')]);
  });
});

test("RFC 9110 section 11.7: at a proxy the client uses 407 and the proxy's fields", async () => {
  const exchange = scramClient(options({ at: 'proxy' })).exchange(GET);
  await sentBy(exchange);
  const toProxy = (field: Field): Field => [field[0].replace('WWW', 'Proxy'), field[1]];
  const first = await sentBy(exchange, answer(407, [toProxy(asks('SCRAM-SHA-256'))]));
  expect(messageOf(first, 'Proxy-Authorization')).toBe(`n,,n=user,r=${SHA256.nonce}`);
  const leg = next('SCRAM-SHA-256', SHA256.serverFirst);
  const final = await sentBy(exchange, { ...leg, status: 407, fields: leg.fields.map(toProxy) });
  expect(messageOf(final, 'Proxy-Authorization')).toBe(SHA256.clientFinal);
  const [, value] = last(SHA256.serverFinal);
  await endOf(exchange, answer(204, [['Proxy-Authentication-Info', value]]));
});
