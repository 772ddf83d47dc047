import { subjectOf } from '#shared/auth/person.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { siteOf } from '#shared/http/forwarded.ts';
import { accountName } from '#shared/stores/trees/tree-names.ts';

/** The anonymous account. */
export const ANONYMOUS = 'anonymous';

/**
 * Returns the account of a principal: a person by an id that is never reused, an application by its id. All anonymous
 * clients share one account, since they must not be distinguishable.
 */
export function accountOf(principal: Principal): string {
  const id = subjectOf(principal);
  return id === undefined || principal.kind === 'anonymous'
    ? ANONYMOUS
    : accountName(principal.kind, id);
}

/** An account or address that shares a limit, and the part that it may use alone. */
export interface Holder {
  readonly name: string;
  readonly part: number;
}

/** Returns the first of these holders, for limits that apply to one holder only. */
export const holderOf = (principal: Principal, address: string): string =>
  holdersOf(principal, address)[0].name;

/** The part of one account, and of one address without an account. */
const PART = 1 / 4;
/**
 * The part of one address with all its accounts. It exceeds one account's part, so that an account does not use all of
 * it.
 */
const PART_OF_ADDRESS = 1 / 3;

/**
 * Returns the holders of a request for limits that all clients share: its account and its address (for IPv6 a network
 * of 48 bits). Without an account, or with the anonymous one, only its address. `address`: as `clientAddress` gives it.
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
