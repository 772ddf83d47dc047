import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { formatChallenge, formatInfo, parseChallenges } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';
import { KAM3 } from './kam3.ts';
import { kam3Threads } from './kam3-threads.ts';
import { readMessage } from './message.ts';
import { vi, vs } from './octets.ts';
import { piOf } from './pi.ts';
import { endPoint, validationOf } from './validation.ts';
import { verificationValue } from './verification.ts';
import { requestOf } from '../../judge/auth.fixture.ts';

/**
 * Every value that a server computes, from an implementation in Python that was written only from the RFCs; the
 * Python folder's README.md explains the members.
 */
interface Vectors {
  readonly VI: readonly { readonly number: string; readonly octets: string }[];
  readonly VS: readonly { readonly string: string; readonly octets: string }[];
  readonly certificates: readonly {
    readonly name: string;
    readonly DER: string;
    readonly vh: string;
  }[];
  readonly algorithms: readonly {
    readonly algorithm: MutualAlgorithmName;
    readonly elements: readonly { readonly octets: string; readonly valid: boolean }[];
    readonly exchanges: readonly Exchange[];
  }[];
}

interface Exchange {
  readonly given: Readonly<
    Record<
      'name' | 'role' | 'validation' | 'auth-scope' | 'realm' | 'user' | 'password' | 'sid',
      string
    >
  > & { readonly place?: string; readonly certificate?: string };
  readonly 'key exchange': Readonly<Record<string, string>>;
  readonly vh: string;
  readonly requests: readonly Readonly<Record<'nc' | 'VK_c' | 'VK_s', string>>[];
  readonly fields: readonly Readonly<Record<string, string>>[];
}

const VECTORS = JSON.parse(
  readFileSync('e2e/clients/mutual/mutual-vectors.json', 'utf8'),
) as Vectors;

const hex = (text = '') => Buffer.from(text, 'hex');
/** Returns text as node:http gives fields: one character for each octet. */
const wire = (text: string) => Buffer.from(text).toString('latin1');

test.each(VECTORS.VI)('RFC 8120 section 12.1: VI($number)', ({ number, octets }) => {
  expect(vi(BigInt(number)).toString('hex')).toBe(octets);
});

test('RFC 8120 section 12.1: VS has the values of the vectors', () => {
  for (const { string, octets } of VECTORS.VS) expect(vs(hex(string)).toString('hex')).toBe(octets);
});

test.each(VECTORS.certificates)('RFC 5929 section 4.1: $name', ({ DER, vh }) => {
  expect(endPoint(hex(DER)).toString('hex')).toBe(vh);
});

describe.each(VECTORS.algorithms)('$algorithm', ({ algorithm, elements, exchanges }) => {
  const { octets, format, hashOctets } = MUTUAL_ALGORITHMS[algorithm];
  const filled = (number = '') => hex(number.padStart(2 * octets, '0')).subarray(-octets);

  test('values that may be a K_c1 are accepted, and all other vectors are refused', () => {
    expect(elements.length).toBeGreaterThan(5);
    for (const element of elements) {
      const [of, valid] = [element.octets, KAM3[algorithm].isElement(hex(element.octets))];
      expect({ octets: of, valid }).toEqual(element);
    }
  });

  test.each(exchanges.map((exchange) => [exchange.given.name, exchange] as const))(
    'the exchange %s has the computed values',
    async (_, { given, 'key exchange': values, vh, requests }) => {
      const { 'auth-scope': scope, realm, user: name, password } = given;
      const pi = await piOf({ algorithm, scope, realm, name }, password);
      expect(pi).toEqual(hex(values['pi']?.padStart(2 * hashOctets, '0')));
      const verifier = await kam3Threads.verifier(ALONE, algorithm, pi);
      expect(verifier.toString('hex')).toBe(values['J']);
      const clientValue = hex(values['K_c1']);
      const secret = filled(values['S_s1']);
      const exchanged = await kam3Threads.exchange(
        ALONE,
        algorithm,
        secret,
        pi,
        clientValue,
        verifier,
      );
      // A person without a verifier gets an answer computed from the substitute for pi.
      const same = await kam3Threads.exchange(ALONE, algorithm, secret, pi, clientValue);
      expect(same).toEqual(exchanged);
      expect(exchanged?.serverValue.toString('hex')).toBe(values['K_s1']);
      expect(exchanged?.z.toString('hex')).toBe(values['z of the server']);
      const { serverValue = hex(), z = hex() } = exchanged ?? {};
      for (const { nc, VK_c, VK_s } of requests) {
        const bound = { nc: BigInt(nc), vh: hex(vh) };
        const value = (side: 'client' | 'server') =>
          verificationValue(side, algorithm, { clientValue, serverValue, z }, bound);
        expect([value('client'), value('server')]).toEqual([hex(VK_c), hex(VK_s)]);
      }
    },
  );

  test.each(exchanges.map((exchange) => [exchange.given.name, exchange] as const))(
    '%s: vh, and the fields of every message, have the values of the vectors',
    (_, { given, 'key exchange': values, vh, requests, fields }) => {
      const { place, validation, 'auth-scope': scope, realm } = given;
      if (place !== undefined) {
        const request = requestOf([], { origin: place });
        expect(validationOf(request, undefined)?.vh().toString('hex')).toBe(vh);
      }
      const terms = { algorithm, validation, scope, realm: wire(realm) };
      const proofs = requests.values();
      for (const [message = '', field = ''] of fields.flatMap((one) => Object.entries(one))) {
        const value = wire(field.slice(field.indexOf(':') + 2));
        if (message.startsWith('req')) {
          const params = parseCredentials(value)?.params ?? {};
          const { nc = '', VK_c } = message === 'req-VFY-C' ? (proofs.next().value ?? {}) : {};
          expect(readMessage(params, terms)).toEqual(
            message === 'req-KEX-C1'
              ? { user: given.user, clientValue: hex(values['K_c1']) }
              : { sid: given.sid, nc: BigInt(nc), proof: hex(VK_c) },
          );
        } else if (message.startsWith('200')) {
          const [parsed] = parseChallenges(`Mutual ${value}`) ?? [];
          expect(formatInfo('Mutual', parsed?.params ?? {})).toBe(value);
        } else {
          const [parsed] = parseChallenges(value) ?? [];
          expect(parsed && formatChallenge(parsed)).toBe(value);
          const { ks1 } = parsed?.params ?? {};
          if (ks1 !== undefined) expect(ks1).toBe(hex(values['K_s1']).toString(format));
        }
      }
      expect(proofs.next().done).toBe(true);
    },
  );
});
