import * as z from 'zod';
import { ASSERTION_ALGORITHMS, importPublicJwk } from '#shared/jose/algorithms.ts';
import { holdsPrivateKey } from '#shared/jose/private-members.ts';
import { jsonIn } from './json-in.ts';
import { SPELLINGS } from '../texts.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

const NO_SET = fault(said('jwk-set'));

const publicJwk = z
  .looseObject({ kid: z.string().min(1).optional() })
  .refine((jwk) => !holdsPrivateKey(jwk), fault(said('private-key')))
  .refine(
    (jwk) => [...ASSERTION_ALGORITHMS.values()].some((alg) => importPublicJwk(jwk, alg)),
    fault(said('jwk-alg', { algs: [...ASSERTION_ALGORITHMS.keys()].join(', ') })),
  );

/** Reads a JWK Set; for text that is not JSON the schema reports the mistake. */
export const jwksIn = (text: string): unknown => jsonIn(text) ?? text;

/** A JWK Set (RFC 7517 section 5) of public keys. */
export const publicJwks = z
  .strictObject({ keys: z.array(publicJwk, NO_SET).min(1, NO_SET).max(20, NO_SET) }, NO_SET)
  .exactOptional()
  .describe('the public keys of the client, a JWK Set (RFC 7517), for private_key_jwt')
  .register(SPELLINGS, { read: jwksIn });
