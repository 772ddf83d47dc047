import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import mixed from '../../../shared/private-token/vectors/rfc9577-challenge-mixed-headers.json' with { type: 'json' };
import headers from '../../../shared/private-token/vectors/rfc9577-challenge.json' with { type: 'json' };
import type1 from '../../../shared/private-token/vectors/rfc9578-type1-go.json' with { type: 'json' };
import { answer, credentialsIn, get } from '../digest/answers.fixture.ts';
import { valueOf } from '../digest/challenges.ts';
import { valuesOf } from '../digest/exchange.ts';
import type { HttpRequest, HttpResponse } from '../digest/exchange.ts';
import { decode, encode } from './base64url.ts';
import { DIRECTORY_PATH } from './directory.ts';
import { obtain, offersIn, redeem } from './private-token-client.ts';
import type { Offer } from './private-token-client.ts';
import { encodeChallenge, readChallenge } from './token-challenge.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const ORIGIN = 'origin.example';
const asks = (...lines: readonly string[]) =>
  answer(
    401,
    lines.map((line) => ['WWW-Authenticate', line]),
  );

describe('challenges (RFC 9577 section 2.1.3)', () => {
  const challenge = { type: 1, issuer: 'issuer.example', context: Buffer.alloc(0), origins: [] };
  const asking = (changes: object, more = '') =>
    `PrivateToken challenge="${encode(encodeChallenge({ ...challenge, ...changes }))}"${more}`;

  test('appendix A.2: the client skips unknown parameters, Basic and a reserved type', () => {
    const read = headers.map((vector) =>
      offersIn(asks(vector['WWW-Authenticate']), ORIGIN).map(({ key, octets, maxAge }) => [
        octets.toString('hex'),
        key?.toString('hex'),
        maxAge,
      ]),
    );
    const said = headers.map((vector) =>
      [
        [vector['token-challenge-0'], vector['token-key-0'], vector['max-age-0']],
        [vector['token-challenge-1'], vector['token-key-1'], vector['max-age-1']],
      ].filter(([octets]) => /^000[12]/.test(String(octets))),
    );
    expect(read).toEqual(said);
    expect(read.map(({ length }) => length)).toEqual([1, 2, 1]);
  });

  test('an unquoted value with padding is no token (RFC 9110 section 5.6.2), even if other clients send it', () => {
    for (const vector of mixed) {
      const line = vector['WWW-Authenticate'];
      expect(() => offersIn(asks(line), ORIGIN)).toThrow(SyntaxError);
      const quoted = line.replace(/challenge=([^,]*)/, 'challenge="$1"');
      const [offer] = offersIn(asks(quoted), ORIGIN);
      expect(offer?.octets.toString('hex')).toBe(vector['token-challenge-0']);
      expect(offer?.key?.toString('hex')).toBe(vector['token-key-0']);
    }
  });

  test('the client reads several lines, several schemes, and names in any case', () => {
    const lines = ['Basic realm="a, b", PRIVATETOKEN ' + asking({}).slice(13), 'Negotiate YQ=='];
    expect(offersIn(asks(...lines, asking({ type: 2 })), ORIGIN)).toHaveLength(2);
  });

  test('a challenge for other origins is skipped; case does not matter', () => {
    const lines = [asking({ origins: ['a.example', 'Origin.Example'] })];
    expect(offersIn(asks(...lines), ORIGIN)).toHaveLength(1);
    expect(offersIn(asks(...lines), 'b.example')).toEqual([]);
    expect(offersIn(asks(...lines), `${ORIGIN}:8443`)).toEqual([]);
    expect(offersIn(asks(asking({})), 'b.example')).toHaveLength(1);
  });

  test.each([
    ['a context of 16 octets', asking({ context: Buffer.alloc(16) })],
    ['an unknown type', asking({ type: 0xda7a })],
    ['a reserved type', asking({ type: 0x2e96 })],
    ['one octet', 'PrivateToken challenge="AA=="'],
    ['no challenge', 'PrivateToken max-age=1'],
    ['another scheme', asking({}).replace('PrivateToken', 'PublicToken')],
  ])('a challenge with %s is skipped', (_what, line) => {
    expect(offersIn(asks(line), ORIGIN)).toEqual([]);
  });

  test.each([
    ['a challenge without padding', asking({ issuer: 'a.example' }).replace('=="', '"')],
    ['a key in base64', asking({}, ', token-key="++++"')],
    ['a key without padding', asking({}, ', token-key="AA"')],
    ['an age that is no number', asking({}, ', max-age="-1"')],
    ['two challenges in one', asking({}, `, challenge="AAAA"`)],
  ])('%s is refused', (_what, line) => {
    expect(() => offersIn(asks(line), ORIGIN)).toThrow(SyntaxError);
  });

  test('any text is read, or refused as a syntax error', () => {
    fc.assert(
      fc.property(fc.string(), fc.base64String(), (text, base64) => {
        for (const line of [text, `PrivateToken challenge="${base64}"`]) {
          try {
            offersIn(asks(line), ORIGIN);
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        }
      }),
    );
  });
});

describe('obtaining a token (RFC 9578 section 5)', () => {
  const [vector] = type1;
  if (vector === undefined) throw new Error('no vectors');
  const octets = hex(vector.token_challenge);
  const challenge = readChallenge(octets);
  if (challenge === undefined) throw new Error('not a challenge');
  const offer: Offer = { challenge, octets, key: undefined, maxAge: undefined };
  const draws = [hex(vector.nonce), hex(vector.blind)];
  const drawn = (length: number) => draws.find((one) => one.length === length) ?? Buffer.alloc(0);

  const directory = {
    'issuer-request-uri': '/request?a',
    'token-keys': [{ 'token-type': 1, 'token-key': encode(hex(vector.pkS)) }],
  };
  /** An issuer with a fixed answer to token requests. */
  function issuerWith(changes: Partial<HttpResponse> = {}, published: object = directory) {
    const sent: HttpRequest[] = [];
    const send = (request: HttpRequest): Promise<HttpResponse> => {
      sent.push(request);
      const type = `application/private-token-${request.method === 'GET' ? 'issuer-directory' : 'response'}`;
      const content = hex(vector?.token_response ?? '');
      return Promise.resolve(
        request.method === 'GET'
          ? answer(200, [['Content-Type', type]], JSON.stringify(published))
          : { ...answer(200, [['Content-Type', type]]), content, ...changes },
      );
    };
    const fields = [['Authorization', 'Bearer access']] as const;
    return { sent, issuer: { name: 'issuer.example', send, fields } };
  }

  test('the client asks for the directory without credentials, and for the token with them', async () => {
    const { sent, issuer } = issuerWith();
    expect(await obtain(offer, issuer, 0, drawn)).toEqual(hex(vector.token));
    const [first, second, ...more] = sent;
    if (first === undefined || second === undefined) throw new Error('two requests were due');
    expect(more).toEqual([]);
    expect([first.method, first.target]).toEqual(['GET', DIRECTORY_PATH]);
    expect(valuesOf(first.fields, 'Authorization')).toEqual([]);
    expect([second.method, second.target]).toEqual(['POST', '/request?a']);
    expect(second.fields).toEqual([
      ['Accept', 'application/private-token-response'],
      ['Content-Type', 'application/private-token-request'],
      ['Authorization', 'Bearer access'],
    ]);
    expect(second.content).toEqual(hex(vector.token_request));
  });

  test("the challenge's key is used if the directory has it", async () => {
    const { issuer } = issuerWith();
    const key = hex(vector.pkS);
    expect(await obtain({ ...offer, key }, issuer, 0, drawn)).toEqual(hex(vector.token));
    const other = hex(type1[1]?.pkS ?? '');
    const refused = obtain({ ...offer, key: other }, issuer, 0, drawn);
    await expect(refused).rejects.toThrow('not in the directory');
  });

  test('a challenge for another issuer causes no request', async () => {
    const { sent, issuer } = issuerWith();
    const refused = obtain(offer, { ...issuer, name: 'other.example' }, 0, drawn);
    await expect(refused).rejects.toThrow('tokens of issuer.example');
    expect(sent).toEqual([]);
  });

  test.each([
    ['a refusal', answer(422), 'answers 422'],
    ['another type', answer(200, [['Content-Type', 'text/plain']]), 'sends text/plain'],
    ['an empty response', { content: Buffer.alloc(0) }, 'not a response'],
    ['a response to somebody else', { content: hex(type1[1]?.token_response ?? '') }, 'the key'],
  ])('%s gives no token', async (_what, changes, why) => {
    const refused = obtain(offer, issuerWith(changes).issuer, 0, drawn);
    await expect(refused).rejects.toThrow(why);
  });

  test('a request URL at another origin is refused, because it would get the credentials', async () => {
    const elsewhere = { ...directory, 'issuer-request-uri': 'https://other.example/request' };
    const { sent, issuer } = issuerWith({}, elsewhere);
    await expect(obtain(offer, issuer, 0, drawn)).rejects.toThrow('two origins');
    expect(sent).toHaveLength(1);
  });
});

test('a token is sent quoted and padded (RFC 9577 section 2.2.2)', () => {
  const token = randomBytes(146);
  const { scheme, params } = credentialsIn(redeem(get('/'), token));
  expect(scheme).toBe('PrivateToken');
  expect(params.map(({ name, quoted }) => [name, quoted])).toEqual([['token', true]]);
  const text = valueOf(params, 'token') ?? '';
  expect([text.length % 4, decode(text)]).toEqual([0, token]);
});

test('base64url has one spelling (RFC 4648 sections 3.5 and 5)', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (octets) => {
      expect(decode(encode(octets))).toEqual(Buffer.from(octets));
    }),
  );
  for (const text of [
    'AA',
    'AB==',
    'AA=',
    'AA===',
    '+A==',
    'A',
    'AAA',
    'AA==\n',
    ' AA==',
    'A\u00e4==',
  ]) {
    expect(() => decode(text)).toThrow(SyntaxError);
  }
});
