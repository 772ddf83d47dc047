import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { sentBy } from '../clients/digest/answers.fixture.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import type { HttpResponse } from '../clients/digest/exchange.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  authorization,
  basic,
  challengesOf,
  get,
  inTurn,
  masked,
  REALMS,
  startAttackedPair,
  UNLIMITED,
  converse,
} from './attacked-pair.fixture.ts';
import type { Realm, Somebody, AttackedPair } from './attacked-pair.fixture.ts';
import { expectSound, wireOf } from './wire.fixture.ts';
import type { Wire } from './wire.fixture.ts';

/** The parameters of Digest credentials. */
const PARAMETERS =
  'username username* userhash realm uri nonce opaque algorithm qop nc cnonce response stale'.split(
    ' ',
  );

/** Requests with hostile values: each is refused, and no part of a value appears in the answer. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let attacked: AttackedPair;
  let wire: Wire;
  let who: Somebody;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: UNLIMITED, signIn: UNLIMITED });
    wire = wireOf(attacked);
    who = await attacked.newcomer();
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  const status = async (...args: Parameters<Wire>) => (await wire(...args)).status;

  /** Expects only texts and fields that the server also sends to a request without credentials. */
  async function expectOwnWords(answer: HttpResponse, realm: Realm): Promise<void> {
    const clean = await wire(0, realm, []);
    const names = new Set(clean.fields.map(([name]) => name));
    expect(answer.fields.filter(([name]) => !names.has(name))).toEqual([]);
    const own = masked(clean).split('\n');
    const challenges = masked(answer)
      .split('\n')
      .filter((line) => line.startsWith('WWW-Authenticate'));
    expect(own).toEqual(expect.arrayContaining(challenges));
  }

  const NASTY: readonly string[] = [
    '',
    '""',
    '"',
    '"a',
    String.raw`"a\"`,
    String.raw`"a\", stale=\"true"`,
    String.raw`"\\\"\\"`,
    '"a"b"',
    '"a", stale="true"',
    '"a", realm="digest"',
    '"a\r\nSet-Cookie: a=b"',
    '"a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"',
    '"a\r\n b"',
    '"a\nSet-Cookie: a=b"',
    '"a\rSet-Cookie: a=b"',
    '"%0d%0aSet-Cookie:%20a=b"',
    "UTF-8''%0d%0aSet-Cookie:%20a=b",
    "utf-8''%ff%00",
    '"a\0b"',
    '"\x7f\x1b[2J"',
    '"\xc3\xa9\xff"',
    '"<script>alert(1)</script>"',
    '"__proto__"',
    '"constructor"',
    '-1',
    'ffffffff',
    '00000000',
    '1e999999',
    `"${'a'.repeat(60_000)}"`,
    `"${String.raw`\"`.repeat(30_000)}"`,
    ','.repeat(60_000),
  ];

  describe('quotes, CR LF and other hostile values in every parameter (RFC 9110 sections 5.5 and 11.2)', () => {
    test.each([...PARAMETERS, 'domain', 'x'])(
      'are refused or ignored in the Digest parameter %s',
      async (name) => {
        const client = digestClient(who);
        expect((await converse(client, get('digest'), attacked.send(0))).answer.status).toBe(200);
        const values = [];
        for (const nasty of NASTY) {
          const good = authorization(await sentBy(client.exchange(get('digest'))));
          const there = new RegExp(`(?<=[ ,]${name.replace('*', String.raw`\*`)}=)("[^"]*"|[^,]*)`);
          values.push(
            there.test(good) ? good.replace(there, () => nasty) : `${good}, ${name}=${nasty}`,
          );
        }
        const answers = await inTurn(values, (value, server) =>
          wire(server, 'digest', [`Authorization: ${value}`]),
        );
        const ignored = ['stale', 'domain', 'x'].includes(name);
        for (const answer of answers) {
          expect(ignored ? [200, 400, 401] : [400, 401]).toContain(answer.status);
          if (answer.status !== 200) await expectOwnWords(answer, 'digest');
        }
      },
    );

    test('an unusual cnonce returns quoted and unchanged (RFC 7616 section 3.5)', async () => {
      for (const cnonce of [String.raw`a"b\c`, '", rspauth="', "~!@#$%^&*()'", ' ']) {
        const client = digestClient({ ...who, cnonce: () => cnonce });
        const { answer } = await converse(client, get('digest'), attacked.send(1));
        expect([cnonce, answer.status]).toEqual([cnonce, 200]);
      }
    });

    test.each(['realm', 'sid', 'data', 'x'])(
      'are refused in the SCRAM parameter %s',
      async (name) => {
        const others = ['realm', 'sid', 'data']
          .filter((one) => one !== name)
          .map((one) => `${one}="${one === 'realm' ? 'scram-256' : 'YQ=='}"`);
        const values = NASTY.map((value) => [`${name}=${value}`, ...others].join(', '));
        const answers = await inTurn(values, (value, server) =>
          wire(server, 'scram-256', [`Authorization: SCRAM-SHA-256 ${value}`]),
        );
        for (const refused of answers) {
          expect([400, 401]).toContain(refused.status);
          await expectOwnWords(refused, 'scram-256');
        }
      },
    );

    test('are refused in a SCRAM message; the value of r= returns only within base64 (RFC 5802 section 7)', async () => {
      const messages = [
        ...NASTY.map((value) => `n,,n=${value},r=abc`),
        ...NASTY.map((value) => `n,,n=alice,r=${value}`),
        ...NASTY.map((value) => `${value},,n=alice,r=abc`),
        ...NASTY.map((value) => `c=biws,r=${value},p=YWJj`),
        ...'n,, n,,n=a n,,n=,r=a y,,n=a,r=a p=tls-unique,,n=a,r=a n,a=b,n=a,r=a'.split(' '),
        ...'n,,m=x,n=a,r=a n,,n=a,n=b,r=a n,,n=a,r=a,r=b n,,n=a=2D,r=a ,,n=a,r=a'.split(' '),
      ];
      const answers = await inTurn(messages, (message, server) => {
        const data = Buffer.from(message, 'latin1').toString('base64');
        return wire(server, 'scram-256', [`Authorization: SCRAM-SHA-256 data="${data}"`]);
      });
      for (const answer of answers) {
        expect([400, 401, 431]).toContain(answer.status);
        for (const { scheme, params } of challengesOf(answer)) {
          expect(scheme).toBe('SCRAM-SHA-256');
          expect(['realm sr ttl', 'sid data']).toContain(params.map((one) => one.name).join(' '));
        }
        expect(valuesOf(answer.fields, 'Set-Cookie')).toEqual([]);
      }
    });

    test('are refused in an API key', async () => {
      const answers = await inTurn(NASTY, (value, server) =>
        wire(server, 'keys', [`X-API-Key: ${value}`]),
      );
      for (const answer of answers) {
        expect([400, 403]).toContain(answer.status);
        await expectOwnWords(answer, 'keys');
      }
    });
  });

  describe('each value has one accepted spelling in base64 (RFC 4648 section 3.5)', () => {
    test('Basic refuses all other spellings of its credentials', async () => {
      const value = basic(who)[1].slice('Basic '.length);
      const octets = Buffer.from(`${who.username}:${who.password}`);
      expect(value).toMatch(/[^=]==?$/);
      const last = value.search(/.=+$/);
      const spare = String.fromCharCode(value.charCodeAt(last) + 1);
      const inUtf16 = Buffer.from(octets.toString(), 'utf16le').toString('base64');
      const wrong = [
        value.replace(/=+$/, ''),
        `${value}=`,
        value.replace(/=+$/, '===='),
        `${value.slice(0, last)}${spare}${value.slice(last + 1)}`,
        `${value}${value}`,
        `${value}.`,
        `${value}-_`,
        value.replace(/=+$/, '.'),
        `-${value}`,
        Buffer.from(value).toString('base64'),
        octets.toString('base64url'),
        octets.toString('hex'),
        inUtf16,
        `data=${value}`,
        '',
        '=',
        'Og',
      ];
      expect(await status(1, 'basic', [`Authorization: Basic ${value}`])).toBe(200);
      for (const scheme of ['basic', 'BASIC', 'Basic ', 'bAsIc  ']) {
        expect(await status(0, 'basic', [`Authorization: ${scheme} ${value}`])).toBe(200);
      }
      const statuses = await inTurn(wrong, (one, server) =>
        status(server, 'basic', [`Authorization: Basic ${one}`]),
      );
      expect(statuses.filter((one) => one !== 401 && one !== 400)).toEqual([]);
    });

    test.each([
      ['no colon', Buffer.from('alice')],
      ['nothing', Buffer.from(':')],
      ['NUL', `U:P\0`],
      ['CR LF', `U:P\r\n`],
      ['DEL', `\x7fU:P`],
      ['C1', `U\u0085:P`],
      ['a zero width space', `U\u200b:P`],
      ['a lone octet', Buffer.from([0xff, 0x3a, 0x61])],
      ['an overlong colon', Buffer.from([0x61, 0xc0, 0xba, 0x61])],
      ['a surrogate', Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80])],
      ['a byte order mark', `\ufeffU:P`],
    ])('Basic refuses %s (RFC 7617 section 2)', async (_, userPass) => {
      const octets =
        typeof userPass === 'string'
          ? Buffer.from(userPass.replace('U', who.username).replace('P', who.password))
          : userPass;
      const lines = [`Authorization: Basic ${octets.toString('base64')}`];
      expect(await inTurn([0, 1], (server) => status(server, 'basic', lines))).toEqual([401, 401]);
    });

    test('SCRAM accepts base64 with or without padding, and no other form (RFC 7804 section 7)', async () => {
      const first = Buffer.from('n,,n=alice,r=?>?>').toString('base64');
      expect(first).toMatch(/[+/].*=$/);
      const begun = async (data: string) => {
        const answer = await wire(0, 'scram-256', [`Authorization: SCRAM-SHA-256 data="${data}"`]);
        const [challenge] = challengesOf(answer);
        return [answer.status, challenge?.params.some(({ name }) => name === 'sid')];
      };
      expect(await begun(first)).toEqual([401, true]);
      expect(await begun(first.replaceAll('=', ''))).toEqual([401, true]);
      for (const data of [
        `${first}=`,
        `${first}.`,
        ` ${first}`,
        first.replace(/[+/]/, '-'),
        `${first}${first}`,
      ]) {
        expect([data, await begun(data)]).toEqual([data, [401, false]]);
      }
    });
  });

  test('a thousand random values of Authorization cause no 5xx, and none is admitted', async () => {
    const octet = fc.constantFrom(
      ...'aZ09=,;" \t\\/+-_.%\'()<>{}[]:@\0\x01\x7f\x80\xff\xc3\xa9\r\n'.split(''),
    );
    const text = fc.oneof(
      fc.string({ unit: octet, maxLength: 40 }),
      fc.base64String({ maxLength: 60 }),
      fc.constantFrom('n,,n=a,r=b', 'c=biws,r=a,p=YQ==', '00000001', 'SHA-256', 'auth-int'),
    );
    const encoded = text.map((one) => Buffer.from(one, 'latin1').toString('base64'));
    const value = fc.oneof(
      text.map((one) => `"${one.replaceAll(/["\\]/g, String.raw`\$&`)}"`),
      encoded.map((one) => `"${one}"`),
      text,
    );
    const name = fc.constantFrom(...PARAMETERS, 'data', 'sid', 'sr', 'ttl', '__proto__', 'a b');
    const params = fc
      .array(
        fc.tuple(name, value).map((pair) => pair.join('=')),
        { maxLength: 12 },
      )
      .map((all) => all.join(', '));
    const scheme = fc.constantFrom(
      ...'Basic Digest SCRAM-SHA-1 scram-sha-256 Bearer DPoP Negotiate NTLM API-Key'.split(' '),
      'toString',
      '',
      'Basic Basic',
      'Ba\0sic',
      '"Basic"',
    );
    const made = fc
      .tuple(
        scheme,
        fc.constantFrom(' ', '  ', '\t', '', ','),
        fc.oneof(text, encoded, params, params),
      )
      .map((parts) => parts.join(''));
    const used = [
      await converse(digestClient(who), get('all'), attacked.send(0)),
      await converse(scramClient({ ...who, hash: 'SHA-256' }), get('all'), attacked.send(0)),
    ];
    const genuine = used.flatMap(({ sent }) => sent.map(authorization)).filter(Boolean);
    const mutant = fc
      .tuple(fc.constantFrom(...genuine), fc.nat(400), fc.nat(3), text)
      .map(([good, at, cut, instead]) => good.slice(0, at) + instead + good.slice(at + cut));
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...REALMS), fc.oneof(made, mutant), async (realm, shape) => {
        turn += 1;
        const answer = await wire(turn % 2, realm, [`Authorization: ${shape}`]);
        expect([400, 401, 403]).toContain(answer.status);
        expect(challengesOf(answer).length).toBeGreaterThanOrEqual(answer.status === 401 ? 1 : 0);
      }),
      { numRuns: 1000, seed: 20_261_101 },
    );
  });

  test('after these tests both servers still run, no logged error is a defect, and the log has no secret', async () => {
    await expectSound(attacked, [who.password, basic(who)[1]]);
    const good = [basic(who).join(': ')];
    expect(await inTurn([0, 1], (server) => status(server, 'basic', good))).toEqual([200, 200]);
  });
});
