import type { RealmNeeds, VerifierKind } from '#shared/people/verifier-kind.ts';
import { SCHEMES, type VerifierSettings } from './list.ts';
import type { SchemeEntry } from './parts/scheme-entry.ts';

/** A protection space, or the proxy. */
interface Offer extends VerifierSettings {
  /** The URL of the space or proxy. */
  readonly url: string;
  readonly realm: string;
  readonly schemes: readonly string[];
}

const entries: readonly SchemeEntry[] = SCHEMES;

/** Returns the verifiers that each realm needs for the configured schemes. Realms that need none are left out. */
export function realmNeeds({
  spaces,
  proxy,
}: {
  readonly spaces: readonly Offer[];
  readonly proxy?: Offer | undefined;
}): RealmNeeds[] {
  const needs = new Map<string, Map<string, VerifierKind>>();
  for (const offer of [...spaces, ...(proxy ? [proxy] : [])]) {
    const known = needs.get(offer.realm) ?? new Map<string, VerifierKind>();
    needs.set(offer.realm, known);
    for (const scheme of offer.schemes) {
      const verifier = entries.find(({ name }) => name === scheme)?.verifier;
      for (const kind of verifier?.neededBy(offer as never) ?? []) {
        known.set(`${kind.kind} ${kind.scope}`, kind);
      }
    }
  }
  return [...needs]
    .map(([realm, kinds]) => ({ realm, kinds: [...kinds.values()] }))
    .filter(({ kinds }) => kinds.length > 0);
}
