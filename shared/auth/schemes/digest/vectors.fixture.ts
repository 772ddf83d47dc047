import type { DigestAlgorithmName } from '#shared/http/auth/digest-algorithms.ts';
import type { Signed } from './response.ts';

interface Vector {
  readonly source: string;
  readonly algorithm: DigestAlgorithmName;
  readonly name: string;
  readonly realm: string;
  readonly password: string;
  readonly signed: Signed;
  readonly response: string;
}

const mufasa = {
  method: 'GET',
  uri: '/dir/index.html',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  nc: '00000001',
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  qop: 'auth',
} as const;

const lion = { name: 'Mufasa', realm: 'http-auth@example.org', password: 'Circle of Life' };

export const VECTORS: readonly Vector[] = [
  {
    source: 'RFC 7616 section 3.9.1',
    algorithm: 'MD5',
    ...lion,
    signed: mufasa,
    response: '8ca523f5e9506fed4657c9700eebdbec',
  },
  {
    source: 'RFC 7616 section 3.9.1',
    algorithm: 'SHA-256',
    ...lion,
    signed: mufasa,
    response: '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  },
  {
    source: 'RFC 7616 section 3.9.2, corrected',
    algorithm: 'SHA-512-256',
    name: 'Jäsøn Doe',
    realm: 'api@example.org',
    password: 'Secret, or not?',
    signed: {
      method: 'GET',
      uri: '/doe.json',
      nonce: '5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK',
      nc: '00000001',
      cnonce: 'NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v',
      qop: 'auth',
    },
    response: '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5',
  },
  {
    source: 'RFC 2617 section 3.5',
    algorithm: 'MD5',
    name: 'Mufasa',
    realm: 'testrealm@host.com',
    password: 'Circle Of Life',
    signed: {
      method: 'GET',
      uri: '/dir/index.html',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      nc: '00000001',
      cnonce: '0a4f113b',
      qop: 'auth',
    },
    response: '6629fae49393a05397450978507c4ef1',
  },
];

/**
 * The wrong values of RFC 7616 section 3.9.2. Its authors truncated SHA-512 to 256 bits, while the section names
 * SHA-512/256, which has different initial values (FIPS 180-4).
 */
export const WRONG_IN_RFC_7616 = {
  userhash: '488869477bf257147b804c45308cd62ac4e25eb717b12b298c79e62dcea254ec',
  response: 'ae66e67d6b427bd3f120414a82e4acff38e8ecd9101d6c861229025f607a79dd',
};

/** `userhash` (RFC 7616 section 3.4.4). */
export const USERHASHES = [
  {
    source: 'RFC 7616 section 3.9.2, corrected',
    hash: 'SHA-512-256',
    name: 'Jäsøn Doe',
    realm: 'api@example.org',
    userhash: '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
  },
  {
    source: 'curl, tests/data/test2066',
    hash: 'SHA-256',
    name: 'testuser',
    realm: 'testrealm',
    userhash: '75af8a3500f771e58a52093a25e7905d6e428a511285c12ea1420c73078dfd61',
  },
] as const;
