import * as z from 'zod';
import {
  endCompromisedKey,
  type KeyLifecycle,
  listKeys,
  rotateKey,
} from '#shared/keys/signing-key-lifecycle.ts';
import type { StoredKey } from '#shared/stores/keys/keys.ts';
import { Conflict, InputError, Missing, operation } from '../operation.ts';
import { gateway, lifeOf } from './signing-keys.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

type Alg = StoredKey['alg'];

const ALGS = ['ES256', 'RS256', 'EdDSA'] as const satisfies readonly Alg[];

export const rotateSigningKey = operation({
  name: 'signing-keys rotate',
  summary: 'replace a signing key while the servers run; valid tokens stay valid',
  effect: 'changes',
  input: z.strictObject({
    kid: z
      .string()
      .min(1, fault(said('reference', { what: 'the kid of a key' })))
      .max(512, fault(said('reference', { what: 'the kid of a key' })))
      .exactOptional()
      .describe('the key that others may have; default: the one that signs'),
    alg: z.enum(ALGS).exactOptional().describe('ES256, RS256 or EdDSA; default: ES256'),
    gateway,
    compromised: z
      .boolean()
      .default(false)
      .describe('the key may have leaked: refuse all tokens of this key at once'),
  }),
  operands: ['kid'],
  parts: ['kid'],
  output: z.strictObject({
    ended: z.string().exactOptional().describe('the kid of the key that was dropped'),
    kid: z.string().exactOptional().describe('that of the new key, if one was made'),
    alg: z.string().exactOptional(),
    signs_from: z.iso.datetime().exactOptional().describe('absent: at once'),
  }),
  async run({ kid, alg, compromised, gateway: ofGateway }, house) {
    if (kid !== undefined && !compromised) {
      throw new InputError(['kid'], said('compromised-only'));
    }
    if (kid !== undefined && alg !== undefined) {
      throw new InputError(['kid'], said('kid-beside-alg'));
    }
    const life = await lifeOf(house, ofGateway);
    return compromised ? endKey(life, kid, alg) : startRotation(life, alg);
  },
});

async function startRotation(life: KeyLifecycle, alg: Alg = 'ES256') {
  const { kid, signsFrom, ...key } = await rotateKey(life, alg);
  return { kid, alg: key.alg, signs_from: new Date(signsFrom).toISOString() };
}

async function endKey(life: KeyLifecycle, kid: string | undefined, alg: Alg = 'ES256') {
  const keys = await listKeys(life);
  const ended = keys.find(({ key, state }) =>
    kid === undefined ? key.alg === alg && state === 'signing' : key.kid === kid,
  );
  if (ended === undefined) {
    throw kid === undefined
      ? new Conflict(said('no-signing-key', { alg: alg ?? '' }))
      : new Missing(said('no-key', { id: kid }));
  }
  const key = await endCompromisedKey(life, ended.key.kid);
  return { ended: ended.key.kid, ...(key && { kid: key.kid, alg: key.alg }) };
}
