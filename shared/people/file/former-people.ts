import * as z from 'zod';
import { realmName } from '#shared/base/members.ts';
import { scramRow } from '#shared/stores/people/former-verifiers.ts';

const scram = z.record(
  z.string(),
  z.strictObject({
    salt: z.string(),
    iterations: z.int(),
    stored_key: z.string(),
    server_key: z.string(),
  }),
);

const verifiers = z.record(
  realmName,
  z.strictObject({
    digest: z.record(z.string(), z.string()).exactOptional(),
    scram: scram.exactOptional(),
  }),
);

/**
 * A person in files of version 1, which had SCRAM's keys in each realm, and 2, which had them beside the
 * verifiers, as they are written today; what else they have is passed on.
 */
export const formerPerson = z
  .looseObject({ scram: scram.exactOptional(), verifiers: verifiers.exactOptional() })
  .transform(({ scram: everywhere, verifiers: byRealm = {}, ...person }) => {
    // SCRAM's keys of all realms are of the same password.
    const keys: z.infer<typeof scram> = Object.assign(
      {},
      ...Object.values(byRealm).map((kept) => kept.scram),
      everywhere,
    );
    return {
      ...person,
      verifiers: [
        ...Object.entries(byRealm).flatMap(([realm, { digest = {} }]) =>
          Object.entries(digest).map(([hash, value]) => ({ kind: `digest ${hash}`, realm, value })),
        ),
        ...Object.entries(keys).map(([hash, kept]) => scramRow(hash, kept)),
      ],
    };
  });
