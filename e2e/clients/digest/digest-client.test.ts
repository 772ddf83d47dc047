import { describe, expect, test } from '@jest/globals';
import { answer, credentialsIn, endOf, get, sentBy, withTrailer } from './answers.fixture.ts';
import { credentials, quoted, token, valueOf } from './challenges.ts';
import type { Param } from './challenges.ts';
import { digestClient } from './digest-client.ts';
import type { DigestOptions } from './digest-client.ts';
import { run } from './exchange.ts';
import type { Field } from './exchange.ts';
import { RESPONSES } from './responses.fixture.ts';

/** The nonce of RFC 7616 section 3.9.1. */
const NONCE = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v';
const CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
const OPAQUE = 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS';
const MUFASA = {
  username: 'Mufasa',
  password: 'Circle of Life',
  cnonce: () => CNONCE,
} as const satisfies DigestOptions;
const INDEX = get('/dir/index.html');
const POST = { ...INDEX, method: 'POST', content: Buffer.from('content of the request') };

const challenge = (algorithm: string, ...more: readonly Param[]): Field => [
  'WWW-Authenticate',
  credentials('Digest', [
    quoted('realm', 'http-auth@example.org'),
    quoted('qop', 'auth, auth-int'),
    token('algorithm', algorithm),
    quoted('nonce', NONCE),
    quoted('opaque', OPAQUE),
    ...more,
  ]),
];
const both = answer(401, [challenge('SHA-256'), challenge('MD5')]);

/** An Authentication-Info field for the first request of a session. */
function info(rspauth: string, changes: Readonly<Record<string, Param | undefined>> = {}): Field {
  const right = {
    rspauth: quoted('rspauth', rspauth),
    cnonce: quoted('cnonce', CNONCE),
    nc: token('nc', '00000001'),
    qop: token('qop', 'auth'),
  };
  const params = Object.values({ ...right, ...changes }).filter((param) => param !== undefined);
  return ['Authentication-Info', credentials('', params).trim()];
}

async function proved(options: DigestOptions, request = INDEX) {
  const exchange = digestClient(options).exchange(request);
  await sentBy(exchange);
  const sent = await sentBy(exchange, both);
  return { exchange, params: credentialsIn(sent).params };
}

describe('vectors of RFC 7616 section 3.9', () => {
  test.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ] as const)('example 3.9.1, %s', async (algorithm, response) => {
    const { params } = await proved({ ...MUFASA, algorithm });
    expect(params).toEqual([
      quoted('username', 'Mufasa'),
      quoted('realm', 'http-auth@example.org'),
      quoted('uri', '/dir/index.html'),
      token('algorithm', algorithm),
      quoted('nonce', NONCE),
      token('nc', '00000001'),
      quoted('cnonce', CNONCE),
      token('qop', 'auth'),
      quoted('response', response),
      quoted('opaque', OPAQUE),
    ]);
  });

  /** The RFC computed its example with SHA-512 truncated to 256 bits. These values are of SHA-512/256. */
  const JASON = {
    username: 'J\u00e4s\u00f8n Doe',
    password: 'Secret, or not?',
    cnonce: () => 'NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v',
  };
  const asked = answer(401, [
    [
      'WWW-Authenticate',
      credentials('Digest', [
        quoted('realm', 'api@example.org'),
        quoted('qop', 'auth'),
        token('algorithm', 'SHA-512-256'),
        quoted('nonce', '5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK'),
        quoted('opaque', 'HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS'),
        token('charset', 'UTF-8'),
        token('userhash', 'true'),
      ]),
    ],
  ]);
  const RESPONSE = '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5';
  const USERHASH = '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b';

  test.each([
    ['the hash of the name', {}, quoted('username', USERHASH), 'true'],
    ['username*', { userhash: false }, token('username*', "UTF-8''J%C3%A4s%C3%B8n%20Doe"), 'false'],
    [
      'a name not in NFC',
      { username: 'Ja\u0308s\u00f8n Doe' },
      quoted('username', USERHASH),
      'true',
    ],
  ])('example 3.9.2 with the right hash, %s', async (_title, options, name, userhash) => {
    const exchange = digestClient({ ...JASON, ...options }).exchange(get('/doe.json'));
    await sentBy(exchange);
    const { params } = credentialsIn(await sentBy(exchange, asked));
    expect(params[0]).toEqual(name);
    expect(valueOf(params, 'userhash')).toBe(userhash);
    expect(valueOf(params, 'response')).toBe(RESPONSE);
    expect(valueOf(params, name.name === 'username' ? 'username*' : 'username')).toBeUndefined();
  });
});

describe("sections 3.4 and 3.5: algorithms and qop give the values of Python's hashlib", () => {
  test.each(RESPONSES)('$algorithm, $qop', async ({ algorithm, qop, response, rspauth }) => {
    const asked = answer(401, [challenge('constructor'), challenge(algorithm)]);
    const granted = answer(200, [], 'content of the response');
    const field = info(rspauth, { qop: token('qop', qop) });
    const start = async () => {
      const exchange = digestClient({ ...MUFASA, algorithm, qop }).exchange(POST);
      await sentBy(exchange);
      const { params } = credentialsIn(await sentBy(exchange, asked));
      expect(valueOf(params, 'response')).toBe(response);
      return exchange;
    };
    expect(await endOf(await start(), { ...granted, fields: [field] })).toMatchObject({
      status: 200,
    });
    expect(await endOf(await start(), withTrailer(granted, field))).toMatchObject({ status: 200 });
    const wrong = info(`${rspauth.slice(1)}0`, { qop: token('qop', qop) });
    await expect(endOf(await start(), { ...granted, fields: [wrong] })).rejects.toThrow('rspauth');
    const spoilt = { ...granted, content: Buffer.from('content of the responsf'), fields: [field] };
    const ending = endOf(await start(), spoilt);
    await (qop === 'auth-int'
      ? expect(ending).rejects.toThrow('rspauth')
      : expect(ending).resolves.toMatchObject({ status: 200 }));
  });
});

describe('section 3.5: the client refuses a server without a valid proof', () => {
  const RSPAUTH = '86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0';

  test.each([
    ['no Authentication-Info', []],
    ['no rspauth', [info(RSPAUTH, { rspauth: undefined })]],
    ['an rspauth cut short', [info(RSPAUTH.slice(0, 32))]],
    ['an rspauth in capitals', [info(RSPAUTH.toUpperCase())]],
    ['another cnonce', [info(RSPAUTH, { cnonce: quoted('cnonce', NONCE) })]],
    ['another nc', [info(RSPAUTH, { nc: token('nc', '00000002') })]],
    ['no nc', [info(RSPAUTH, { nc: undefined })]],
    ['another qop', [info(RSPAUTH, { qop: token('qop', 'auth-int') })]],
    ['qop in quotes', [info(RSPAUTH, { qop: quoted('qop', 'auth') })]],
    ['rspauth without quotes', [info(RSPAUTH, { rspauth: token('rspauth', RSPAUTH) })]],
    ['the field twice', [info(RSPAUTH), info(RSPAUTH)]],
  ] as const)('the client refuses an answer with %s', async (_title, fields) => {
    const { exchange } = await proved(MUFASA);
    await expect(endOf(exchange, answer(200, fields))).rejects.toThrow();
  });

  test('an error, or an answer whose proof is optional, may lack a proof, but not have a wrong one', async () => {
    const unproved = (await proved(MUFASA)).exchange;
    expect(await endOf(unproved, answer(429))).toMatchObject({ status: 429 });
    const lenient = (await proved({ ...MUFASA, requireProof: false })).exchange;
    expect(await endOf(lenient, answer(200))).toMatchObject({ status: 200 });
    const wrong = (await proved({ ...MUFASA, requireProof: false })).exchange;
    await expect(endOf(wrong, answer(404, [info('0'.repeat(64))]))).rejects.toThrow('rspauth');
  });
});

describe('section 3.6: the session', () => {
  const SILENT = '86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0';

  async function opened(options: DigestOptions, first: Field = info(SILENT)) {
    const client = digestClient(options);
    const exchange = client.exchange(INDEX);
    await sentBy(exchange);
    await sentBy(exchange, both);
    await endOf(exchange, answer(200, [first]));
    return client;
  }

  test('nc increases with each request, also for requests that overlap', async () => {
    const client = await opened(MUFASA);
    const counts = [];
    for (const exchange of Array.from({ length: 15 }, () => client.exchange(INDEX))) {
      counts.push(valueOf(credentialsIn(await sentBy(exchange)).params, 'nc'));
    }
    expect(counts[0]).toBe('00000002');
    expect(counts.at(-1)).toBe('00000010');
  });

  test('nextnonce restarts nc, and a -sess algorithm keeps the key of its first nonce', async () => {
    const next = quoted('nextnonce', 'next+nonce');
    const plain = await opened(MUFASA, info(SILENT, { next }));
    const { params } = credentialsIn(await sentBy(plain.exchange(INDEX)));
    expect(valueOf(params, 'nonce')).toBe('next+nonce');
    expect(valueOf(params, 'nc')).toBe('00000001');

    const rspauth = 'd4ad609d150eafce2281da5c3179878fdb37e6a16021272f4bed1a082f5c2324';
    for (const [sessionNonce, response] of [
      ['first', '8b4362e8396c7dc34913229057b9ec13fd467806e86f80bb49795d0a70d6b49c'],
      ['current', 'de5791e3c722d50a42b59a06e5425a4a6c31c12b171a8f83c9dea6f49ec233de'],
    ] as const) {
      const client = digestClient({ ...MUFASA, algorithm: 'SHA-256-sess', sessionNonce });
      const exchange = client.exchange(INDEX);
      await sentBy(exchange);
      await sentBy(exchange, answer(401, [challenge('SHA-256-sess')]));
      await endOf(exchange, answer(200, [info(rspauth, { next })]));
      const later = credentialsIn(await sentBy(client.exchange(POST)));
      expect(valueOf(later.params, 'response')).toBe(response);
    }
  });

  test('a nextnonce beside a wrong rspauth is ignored', async () => {
    const client = digestClient(MUFASA);
    const exchange = client.exchange(INDEX);
    await sentBy(exchange);
    await sentBy(exchange, both);
    const unproved = info('0'.repeat(64), { next: quoted('nextnonce', 'next+nonce') });
    await expect(endOf(exchange, answer(200, [unproved]))).rejects.toThrow('rspauth');
    const { params } = credentialsIn(await sentBy(client.exchange(INDEX)));
    expect(valueOf(params, 'nonce')).toBe(NONCE);
  });

  test('after stale=true the client uses the new nonce, and after another 401 it stops', async () => {
    const client = await opened(MUFASA);
    const stale = answer(401, [challenge('SHA-256', token('stale', 'TRUE'))]);
    const exchange = client.exchange(INDEX);
    expect(valueOf(credentialsIn(await sentBy(exchange)).params, 'nc')).toBe('00000002');
    const again = credentialsIn(await sentBy(exchange, stale));
    expect(valueOf(again.params, 'nc')).toBe('00000001');
    expect(await endOf(exchange, both)).toMatchObject({ status: 401 });
    const fresh = await sentBy(client.exchange(INDEX));
    expect(fresh.fields).toEqual([]);
  });

  test('the client stops after two stale answers in a row', async () => {
    let requests = 0;
    const stale = answer(401, [challenge('SHA-256', token('stale', 'true'))]);
    const response = await run(digestClient(MUFASA).exchange(INDEX), () => {
      requests += 1;
      return Promise.resolve(stale);
    });
    expect(response.status).toBe(401);
    expect(requests).toBe(3);
  });
});

describe('section 3.7: the choice among challenges', () => {
  const algorithmOf = async (options: DigestOptions) =>
    valueOf((await proved(options)).params, 'algorithm');

  test('the client answers the first known algorithm, or the configured one', async () => {
    expect(await algorithmOf(MUFASA)).toBe('SHA-256');
    expect(await algorithmOf({ ...MUFASA, algorithm: 'MD5' })).toBe('MD5');
  });

  test('without a suitable challenge the exchange ends with the 401', async () => {
    for (const options of [{ algorithm: 'SHA-512-256' }, { realm: 'another' }] as const) {
      const exchange = digestClient({ ...MUFASA, ...options }).exchange(INDEX);
      await sentBy(exchange);
      expect(await endOf(exchange, both)).toMatchObject({ status: 401 });
    }
  });

  test.each([
    ['no qop (section 3.3)', 'Digest realm="r", nonce="n", algorithm=SHA-256'],
    ['no nonce', 'Digest realm="r", qop="auth", algorithm=SHA-256'],
    ['a quoted algorithm', 'Digest realm="r", nonce="n", qop="auth", algorithm="SHA-256"'],
    ['a bare nonce', 'Digest realm="r", nonce=n, qop="auth", algorithm=SHA-256'],
    ['another charset', 'Digest realm="r", nonce="n", qop="auth", charset=latin1'],
    ['an unknown qop alone', 'Digest realm="r", nonce="n", qop="auth-conf"'],
    ['realm twice', 'Digest realm="r", nonce="n", qop="auth", realm="r"'],
  ])('the client refuses a challenge with %s', async (_title, value) => {
    const exchange = digestClient(MUFASA).exchange(INDEX);
    await sentBy(exchange);
    await expect(sentBy(exchange, answer(401, [['WWW-Authenticate', value]]))).rejects.toThrow();
  });
});

describe('the options for tests', () => {
  test('tamper changes the sent parameters, and prepare the proved claims', async () => {
    const spoilt = await proved({
      ...MUFASA,
      tamper: (params) => params.map((p) => (p.name === 'nc' ? token('nc', 'zz') : p)),
    });
    expect(valueOf(spoilt.params, 'nc')).toBe('zz');
    expect(valueOf(spoilt.params, 'response')).toBe(
      '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    );
    const legacy = await proved({
      ...MUFASA,
      algorithm: 'MD5',
      prepare: (claims) => ({ ...claims, qop: undefined }),
    });
    expect(legacy.params.map(({ name }) => name)).not.toContain('qop');
    expect(valueOf(legacy.params, 'response')).toBe('7b2cc3b30e75b4777ea31027084363fd');
  });

  test('a quote and a backslash in the name are escaped (RFC 9110 section 5.6.4)', async () => {
    const { params } = await proved({ ...MUFASA, username: 'a"b\\c' });
    expect(params[0]).toEqual(quoted('username', 'a"b\\c'));
  });
});
