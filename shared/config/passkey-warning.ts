import type { Mistake } from '#shared/base/mistake.ts';
import type { Passkeys } from '#shared/stores/credentials/passkeys.ts';
import { relyingPartyId } from './relying-party.ts';
import type { Config } from './schema.ts';

/**
 * Says which passkeys sign nobody in, because they were made for another domain (RP ID, WebAuthn section 4) than that of
 * the configuration; undefined: none of the first `most`.
 */
export async function passkeyWarning(
  config: Pick<Config, 'issuer' | 'people'>,
  passkeys: Pick<Passkeys, 'list'>,
  most = Infinity,
): Promise<Mistake | undefined> {
  const domain = relyingPartyId(config);
  const others = await otherDomains(passkeys, domain, most);
  if (others.size === 0) return undefined;
  const names = [...others].map(([name, count]) => `${name} (${count})`).join(', ');
  const message =
    domain === undefined
      ? `fits no passkey: browsers use none at ${config.issuer}, and people have some for ${names}. Use https and a domain`
      : `is ${domain}, and people have passkeys for ${names}, which sign nobody in. Set it to the former domain, or let people make new ones`;
  return { path: 'people.passkeys.rpId', message };
}

/** Counts passkeys by domain, without those of `domain`, among the first `most`. */
async function otherDomains(
  passkeys: Pick<Passkeys, 'list'>,
  domain: string | undefined,
  most: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let seen = 0;
  for await (const slice of passkeys.list()) {
    for (const { rpId } of slice) {
      if (rpId !== domain) counts.set(rpId, (counts.get(rpId) ?? 0) + 1);
    }
    seen += slice.length;
    if (seen >= most) break;
  }
  return counts;
}
