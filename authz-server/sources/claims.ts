import type { SourceConfig } from '#shared/config/schema.ts';
import type { Arrival } from '#shared/people/arrive.ts';
import { mailAddress } from '#shared/people/names/mail-address.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';
import type { Statements } from './provider.ts';

/** How many groups of a person a source may bring (`profileSchema`). */
const MOST_GROUPS = 100;

/**
 * Returns the person whom a provider describes. An address is verified only if the provider says so and the
 * configuration believes the source for the domain: what a provider calls verified may be what its customer typed.
 */
export function arrivalOf(
  { name: source, emails: { verifiedFor }, groups }: SourceConfig,
  { subject, claims }: Pick<Statements, 'subject' | 'claims'>,
): Arrival {
  const text = (claim: string) => {
    const value = claims[claim];
    return typeof value === 'string' ? value : '';
  };
  const shown = text('name').normalize('NFC').trim();
  const address = mailAddress(text('email'));
  // Apple sends the text "true".
  const isVerified = claims['email_verified'] === true || text('email_verified') === 'true';
  const domain = address?.split('@')[1]?.toLowerCase() ?? '';
  return {
    source,
    subject,
    names: [text('preferred_username'), text('email'), shown].filter((one) => one !== ''),
    profile: {
      ...(isVisibleName(shown) && { display_name: shown }),
      ...(address !== undefined && {
        emails: [{ address, verified: isVerified && verifiedFor.includes(domain) }],
      }),
      ...(groups && { groups: groupsIn(claims[groups.from], groups.map) }),
    },
  };
}

/** A claim that is no list of texts gives no groups. */
function groupsIn(claim: unknown, map: Readonly<Record<string, string>>): readonly string[] {
  const there: readonly unknown[] = Array.isArray(claim) ? claim : [];
  const here = there.flatMap((group) =>
    typeof group === 'string' && Object.hasOwn(map, group) ? [map[group] ?? ''] : [],
  );
  return [...new Set(here)].slice(0, MOST_GROUPS).toSorted();
}
