import { createPublicKey, verify } from 'node:crypto';
import { createVerifier, httpbis } from 'http-message-signatures';
import { epochSeconds, systemClock } from '#shared/base/clock.ts';
import { es256ToDer } from '#shared/base/der.ts';
import { gnapPolicy } from '#shared/gnap/prove.ts';
import { lines } from '#shared/http/fields.ts';
import { MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import { PROOF_WINDOW } from '#shared/jose/proof-life.ts';
import { BadSignature, type SignedRequest } from '#shared/signatures/message.ts';
import { claimedSignature, verifySignature } from '#shared/signatures/verify.ts';
import type { HttpRequest } from './requests.ts';

/** A client's key, and the origin for which it signs. */
export interface SigningParty {
  readonly alg: 'ES256' | 'Ed25519';
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly origin: string;
}

/**
 * Prepares requests. The returned function verifies each of them once, and returns the number of valid
 * ones.
 */
type Verifier = (requests: readonly HttpRequest[]) => () => number | Promise<number>;

const keyOf = ({ jwk }: SigningParty) => createPublicKey({ key: jwk, format: 'jwk' });

/** The request in the server's form, with GNAP's requirements for its signature. */
function known({ origin }: SigningParty, { method, path, fields }: HttpRequest) {
  const raw = Object.entries(fields).flat();
  const message: SignedRequest = {
    method,
    targetUri: origin + path,
    requestTarget: path,
    lines: (name) => lines(raw, name),
  };
  const hasToken = 'authorization' in fields;
  return { message, policy: gnapPolicy({ hasToken, hasContent: 'content-digest' in fields }) };
}

type Known = ReturnType<typeof known>;

const now = () => epochSeconds(systemClock);

/** Only the signature arithmetic; everything else is prepared. */
function byCrypto(party: SigningParty): Verifier {
  const key = keyOf(party);
  const [hash, inDer] =
    party.alg === 'ES256'
      ? ['sha256', (signature: Buffer) => es256ToDer(signature) ?? signature]
      : [null, (signature: Buffer) => signature];
  return (requests) => {
    const ready = requests.map((request) => {
      const { message, policy } = known(party, request);
      const { base, signature } = claimedSignature(message, policy, now());
      return { octets: Buffer.from(base, 'latin1'), signature: inDer(signature) };
    });
    return () =>
      ready.filter(({ octets, signature }) => verify(hash, octets, key, signature)).length;
  };
}

function byOurs(party: SigningParty): Verifier {
  const algorithm = MESSAGE_ALGORITHMS.get(party.alg);
  if (algorithm === undefined) throw new Error(`${party.alg} is not known`);
  const own = { algorithm, key: keyOf(party) };
  function isRight({ message, policy }: Known): boolean {
    try {
      verifySignature(claimedSignature(message, policy, now()), own);
      return true;
    } catch (error) {
      if (error instanceof BadSignature) return false;
      throw error;
    }
  }
  return (requests) => {
    const ready = requests.map((request) => known(party, request));
    return () => ready.filter(isRight).length;
  };
}

const REGISTERED = { ES256: 'ecdsa-p256-sha256', Ed25519: 'ed25519' } as const;

/** The library checks the same requirements, except the value of `tag`, which it cannot check. */
function byLibrary(party: SigningParty): Verifier {
  const own = { verify: createVerifier(keyOf(party), REGISTERED[party.alg]) };
  const demands = {
    keyLookup: async () => own,
    requiredParams: ['created', 'keyid', 'tag'],
    maxAge: PROOF_WINDOW,
  };
  return (requests) => {
    const ready = requests.map((request) => {
      const { method, path, fields: headers } = request;
      const { covered } = known(party, request).policy;
      const requiredFields = covered.map((component) => component.slice(1, -1));
      const config = { ...demands, requiredFields };
      return { config, message: { method, url: party.origin + path, headers: { ...headers } } };
    });
    return async () => {
      let right = 0;
      for (const { config, message } of ready) {
        if ((await httpbis.verifyMessage(config, message)) === true) right += 1;
      }
      return right;
    };
  };
}

export const VERIFIERS = {
  'node:crypto': byCrypto,
  'shared/signatures': byOurs,
  'http-message-signatures': byLibrary,
} as const;

export type VerifierName = keyof typeof VERIFIERS;
