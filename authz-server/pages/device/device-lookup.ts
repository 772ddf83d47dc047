import { findByUserCode } from '../../gnap/records.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { findDeviceCode } from '../../base/device-code.ts';
import type { DeviceCode } from '../../base/device-code.ts';
import { payForGuess } from '../sign-in/guesses.ts';
import type { PagesServer } from '../../base/server.ts';
import type { Visitor } from '../sign-in/session.ts';

/** The request behind a user code, as far as the person who entered it may know. */
type Found =
  /** No such code, an expired code, or a code about which another person has decided. */
  | { readonly kind: 'unknown' }
  /** This person has decided about the code. */
  | { readonly kind: 'decided'; readonly end: 'done' | 'denied'; readonly client: string }
  /** A user code of a GNAP grant, which has a page of its own. */
  | { readonly kind: 'gnap'; readonly uid: string }
  | { readonly kind: 'open'; readonly code: DeviceCode; readonly client: ClientRecord };

/**
 * A request without a decision. Call `giveBack` if the same form was sent twice at once: the lookup then does not count
 * against the limit.
 */
export type Open = Extract<Found, { kind: 'open' }> & { giveBack(): Promise<void> };

export type LookedUp =
  /**
   * The person looked up too many codes, so this code was not looked up. The next lookup is allowed after `seconds`.
   */
  { readonly kind: 'later'; readonly seconds: number } | Exclude<Found, { kind: 'open' }> | Open;

/**
 * Every lookup counts against the limit, whether the code is right or wrong (RFC 8628 section 5.1). The lookup of a
 * code about which this person has decided does not count: the form was sent again. `userCode` is normalised.
 */
export async function lookUp(
  server: PagesServer,
  { person }: Visitor,
  address: string,
  userCode: string,
): Promise<LookedUp> {
  const paid = await payForGuess(server, person.id, address);
  if (!paid.ok) return { kind: 'later', seconds: paid.retryAfter };
  const { giveBack } = paid;
  const found = await openOrDecided(server, person.id, userCode);
  if (found.kind === 'decided') await giveBack();
  return found.kind === 'open' ? { ...found, giveBack } : found;
}

/** As `lookUp`, for a code that this person has already looked up. It does not count against the limit. */
export async function openOrDecided(
  server: PagesServer,
  accountId: string,
  userCode: string,
): Promise<Found> {
  const code = await findDeviceCode(server, userCode);
  if (code === undefined) {
    return ofGnap(server, accountId, userCode);
  }
  const client = await server.stores.clients.get(code.clientId);
  if (client === undefined) return { kind: 'unknown' };
  if (code.accountId === undefined) return { kind: 'open', code, client };
  if (code.accountId !== accountId) return { kind: 'unknown' };
  const end = code.error === undefined ? 'done' : 'denied';
  return { kind: 'decided', end, client: client.client_name };
}

/** Looks up the user code of a GNAP grant, which has a page of its own. */
async function ofGnap(server: PagesServer, accountId: string, userCode: string): Promise<Found> {
  const pending = await findByUserCode(server, userCode);
  if (pending === undefined) return { kind: 'unknown' };
  const { uid, decision, clientId } = pending;
  if (decision === undefined) return { kind: 'gnap', uid };
  if (decision.accountId !== accountId) return { kind: 'unknown' };
  const client = (await server.stores.clients.get(clientId))?.client_name ?? clientId;
  return { kind: 'decided', end: decision.kind === 'approved' ? 'done' : 'denied', client };
}
