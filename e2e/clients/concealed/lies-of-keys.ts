/** False proofs with ECDSA and RSA that a server must refuse. `lies.ts` has the other false proofs. */
import { constants, createPublicKey, sign } from 'node:crypto';
import { exporting } from './lies.ts';
import type { Lie, Lies } from './lies.ts';
import type { AlgorithmName, ConcealedKey } from './keys.ts';

const hashOf = ({ algorithm }: ConcealedKey) => algorithm.slice(-'sha256'.length);

const asSpki: Lie = (honest) => {
  const publicKey = createPublicKey(honest.key.privateKey).export({ format: 'der', type: 'spki' });
  return exporting(() => ({ publicKey }))(honest);
};

/** False proofs with an ECDSA key (RFC 8446 sections 4.2.3 and 4.2.8.2). */
export const LIES_OF_ECDSA: Lies = [
  [
    'p: two numbers instead of DER',
    (honest) => ({
      ...honest,
      sign: (content, key) =>
        sign(hashOf(key), content, { key: key.privateKey, dsaEncoding: 'ieee-p1363' }),
    }),
  ],
  [
    'a: a compressed point',
    exporting(({ publicKey }) => {
      const parity = Buffer.of(2 + ((publicKey.at(-1) ?? 0) & 1));
      const x = publicKey.subarray(1, (publicKey.length + 1) / 2);
      return { publicKey: Buffer.concat([parity, x]) };
    }),
  ],
  ['a: a SubjectPublicKeyInfo', asSpki],
];

const padded =
  (padding: number, saltLength?: number): Lie =>
  (honest) => ({
    ...honest,
    sign: (content, key) =>
      sign(hashOf(key), content, {
        key: key.privateKey,
        padding,
        ...(saltLength === undefined ? {} : { saltLength }),
      }),
  });

const labelled =
  (algorithm: AlgorithmName): Lie =>
  (honest) => ({ ...honest, key: { ...honest.key, algorithm } });

/** False proofs with a key of rsa_pss_rsae_sha256. */
export const LIES_OF_RSA: Lies = [
  ['p: PKCS #1 v1.5', padded(constants.RSA_PKCS1_PADDING)],
  ['p: no salt', padded(constants.RSA_PKCS1_PSS_PADDING, 0)],
  [
    'p: the longest salt',
    padded(constants.RSA_PKCS1_PSS_PADDING, constants.RSA_PSS_SALTLEN_MAX_SIGN),
  ],
  [
    's: a hash that is not the one of the key, with all that follows',
    labelled('rsa_pss_rsae_sha512'),
  ],
  [
    'a: BER that is not DER (RFC 9729 section 3.1.1)',
    exporting(({ publicKey }) => ({
      publicKey: Buffer.concat([Buffer.of(0x30, 0x83, 0), publicKey.subarray(2)]),
    })),
  ],
  ['a: a SubjectPublicKeyInfo', asSpki],
];
