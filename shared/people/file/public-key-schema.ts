import * as z from 'zod';
import { httpsOrigin } from '#shared/base/members.ts';
import { ACRS } from '#shared/jose/acr.ts';
import { isVisibleName } from '../names/visible-name.ts';
import { PublicKeyError, readPublicKey } from '../public-key.ts';
import { checked, id, time } from './person-schema.ts';

export const visibleName = checked(isVisibleName, '1 to 100 characters, none of them invisible');

const members = {
  /** The id, which must be the one computed from the key. */
  id: z.string(),
  owner: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('person'), id }),
    z.strictObject({ kind: z.literal('application'), id: visibleName }),
  ]),
  spki: z.string(),
  name: visibleName,
  acr: z.enum(ACRS).exactOptional(),
  created_at: time,
  used_at: time.exactOptional(),
  signed_out_at: time.exactOptional(),
};

/** A key as `formatDirectoryFile` writes it. */
export const publicKey = z
  .discriminatedUnion('scheme', [
    z.strictObject({ ...members, scheme: z.literal('Concealed') }),
    z.strictObject({ ...members, scheme: z.literal('HOBA'), origin: httpsOrigin }),
  ])
  .superRefine(({ id: of, spki, scheme }, context) => {
    try {
      const key = readPublicKey(Buffer.from(spki, 'base64url'), scheme);
      if (key.id === of && key.spki === spki) return;
    } catch (error) {
      if (!(error instanceof PublicKeyError)) throw error;
    }
    context.addIssue({
      code: 'custom',
      path: ['spki'],
      message: `must be a key for ${scheme} in DER, and id its fingerprint`,
    });
  });
