import { subjectOf } from '#shared/auth/person.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { siteOf } from '#shared/http/forwarded.ts';
import { accountName } from '#shared/stores/trees/tree-names.ts';

/** The anonymous account. */
export const ANONYMOUS = 'anonymous';

/**
 * Returns the account of a principal: a person's by the id that stays theirs alone, an application's by its own. All
 * anonymous clients share one account, since nothing may tell them apart.
 */
export function accountOf(principal: Principal): string {
  const id = subjectOf(principal);
  return id === undefined || principal.kind === 'anonymous'
    ? ANONYMOUS
    : accountName(principal.kind, id);
}

/** An account or address that shares something, and the part of it that it may hold alone. */
export interface Holder {
  readonly name: string;
  readonly part: number;
}

/** Returns the first of these holders: for what counts for one alone. */
export const holderOf = (principal: Principal, address: string): string =>
  holdersOf(principal, address)[0].name;

/** The part of one account, and of one address if nothing else identifies the client. */
const PART = 1 / 4;
/** The part of one address, for all of its accounts: more than one account's, so that no account uses all of it. */
const PART_OF_ADDRESS = 1 / 3;

/**
 * Returns the holders that a request counts for where all clients share something: its account and its address (for
 * IPv6 a network of 48 bits). Without an account, or with the anonymous one, its address alone.
 * `address` as `clientAddress` gives it.
 */
export function holdersOf(
  principal: Principal | undefined,
  address: string,
): readonly [Holder, ...Holder[]] {
  const account = principal ? accountOf(principal) : ANONYMOUS;
  const site = `at ${siteOf(address)}`;
  return account === ANONYMOUS
    ? [{ name: site, part: PART }]
    : [
        { name: account, part: PART },
        { name: site, part: PART_OF_ADDRESS },
      ];
}
