import { isFor } from '#shared/stores/oauth/use-rules.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { isEnough } from '../../base/acr-values.ts';
import type { PagesServer } from '../../base/server.ts';
import type { PendingGrant } from '../../gnap/records.ts';
import { isExpected } from '../../gnap/user-hint.ts';
import type { Visitor } from '../sign-in/session.ts';
import type { OtherPersonProps } from '../views/other-person.ts';

/** Why a visitor may not decide: the wrong person, or a sign-in that is too weak for the client. */
export type Fault = OtherPersonProps['reason'] | 'too-weak';

/** A request of GNAP that waits for a person. */
export interface Waiting {
  readonly pending: PendingGrant;
  readonly client: ClientRecord;
}

/** Returns why a visitor may not decide about a request; undefined if they may. */
export async function faultOf(
  { directory }: Pick<PagesServer, 'directory'>,
  { pending, client }: Waiting,
  { person, signIn }: Visitor,
): Promise<Fault | undefined> {
  // The current record, since a hint may name a new address.
  const now = (await directory.find(person.id)) ?? person;
  if (!isExpected(now, pending.expected)) return 'expected';
  if (!isFor(client, now)) return 'rule';
  return isEnough(signIn.assurance.acr, undefined, client.minimum_acr) ? undefined : 'too-weak';
}
