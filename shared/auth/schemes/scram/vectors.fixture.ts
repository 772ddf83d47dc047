import type { ScramHash } from './hashes.ts';

export interface Vector {
  readonly source: string;
  readonly hash: ScramHash;
  readonly password: string;
  readonly clientFirst: string;
  readonly serverFirst: string;
  readonly withoutProof: string;
  readonly proof: string;
  readonly signature: string;
}

export const VECTORS: readonly Vector[] = [
  {
    source: 'RFC 5802 section 5',
    hash: 'SHA-1',
    password: 'pencil',
    clientFirst: 'n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL',
    serverFirst: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
    withoutProof: 'c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j',
    proof: 'v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
    signature: 'rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    source: 'RFC 7677 section 3',
    hash: 'SHA-256',
    password: 'pencil',
    clientFirst: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
    serverFirst:
      'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    withoutProof: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
    proof: 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    signature: '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
  {
    // The nonce is that of the RFC without `$k0`. Proof and signature are those that belong to it, since the RFC
    // printed those of RFC 7677 (see also erratum 6633 about the base64).
    source: 'RFC 7804 section 5, corrected',
    hash: 'SHA-256',
    password: 'pencil',
    clientFirst: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
    serverFirst:
      'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    withoutProof: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF',
    proof: '2Co9/7Q6ALsppyR+n1iwWmzVJJJ1zzcgLokVX3Qm5cs=',
    signature: '8hijqPrqPCmSN/gl2kogo4dBQD8q6AB/l4k9skRkz1s=',
  },
];

/** The messages of RFC 7804 section 5 as printed, with folded lines joined. */
export const PRINTED_IN_RFC_7804 = {
  clientFirst: 'biwsbj11c2VyLHI9ck9wck5HZndFYmVSV2diTkVrcU8K',
  clientFinal:
    'Yz1iaXdzLHI9ck9wck5HZndFYmVSV2diTkVrcU8laHZZRHBXVWEyUmFUQ0FmdXhGSWxqKWhObEYscD1kSHpiWmFwV0lrNGpVaE4rVXRlOXl0YWc5empmTUhnc3FtbWl6N0FuZFZRPQo=',
  proof: 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
};
