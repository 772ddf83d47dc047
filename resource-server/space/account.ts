import { subjectOf } from '#shared/auth/person.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { siteOf } from '#shared/http/forwarded.ts';
import { accountName } from '#shared/stores/trees/tree-names.ts';

/** Who asks where nothing says who. */
export const ANONYMOUS = 'anonymous';

/**
 * Whose something is: a person's by the id that stays theirs alone, an application's by its own. All who
 * are anonymous are one, since nothing may tell them apart.
 */
export function accountOf(principal: Principal): string {
  const id = subjectOf(principal);
  return id === undefined || principal.kind === 'anonymous'
    ? ANONYMOUS
    : accountName(principal.kind, id);
}

/** One of those who share a thing, and the part of it that one may hold alone. */
export interface Holder {
  readonly name: string;
  readonly part: number;
}

/** Of one account; and of one address, where nothing else tells who asks. */
const PART = 1 / 4;
/** Of one address, however many accounts ask there: more than of one account, so that none has all of it. */
const PART_OF_ADDRESS = 1 / 3;

/**
 * As whose a request counts where what it takes is shared by all who ask: its account's, and its address's (of IPv6 a
 * network of 48 bits). Without an account, or an anonymous one, its address's alone.
 * `address` as `clientAddress` gives it.
 */
export function holdersOf(principal: Principal | undefined, address: string): readonly Holder[] {
  const account = principal ? accountOf(principal) : ANONYMOUS;
  const site = `at ${siteOf(address)}`;
  return account === ANONYMOUS
    ? [{ name: site, part: PART }]
    : [
        { name: account, part: PART },
        { name: site, part: PART_OF_ADDRESS },
      ];
}
