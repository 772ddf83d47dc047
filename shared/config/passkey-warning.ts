import type { Passkeys } from '#shared/stores/credentials/passkeys.ts';
import { relyingPartyId } from './relying-party.ts';
import type { Config } from './schema.ts';
import { warn, type Warning } from './warning-texts.ts';

/**
 * Says which passkeys sign nobody in, because they were made for another domain (RP ID, WebAuthn section 4) than that of
 * the configuration; undefined: none of the first `most`.
 */
export async function passkeyWarning(
  config: Pick<Config, 'issuer' | 'people'>,
  passkeys: Pick<Passkeys, 'list'>,
  most = Infinity,
): Promise<Warning | undefined> {
  const domain = relyingPartyId(config);
  const others = await otherDomains(passkeys, domain, most);
  if (others.size === 0) return undefined;
  const names = [...others].map(([name, count]) => `${name} (${count})`).join(', ');
  const words =
    domain === undefined
      ? warn('no-passkey-domain', { issuer: config.issuer, domains: names })
      : warn('other-passkey-domain', { domain, domains: names });
  return { path: 'people.passkeys.rpId', ...words };
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
