import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { isEnough, leastAcr } from '../../base/acr-values.ts';
import type { PagesServer } from '../../base/server.ts';
import type { PendingGrant } from '../../gnap/records.ts';
import { isExpected } from '../../gnap/user-hint.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { asksFor } from '../sign-in/asks-for.ts';
import type { Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { type OtherPersonProps, otherPersonPage } from '../views/other-person.ts';
import { nameOf } from './words.ts';

/** Why a visitor may not decide: the wrong person, or a sign-in that is too weak for the client. */
type Fault = OtherPersonProps['reason'] | 'too-weak';

/** A request of GNAP that waits for a person. */
export interface Waiting {
  readonly pending: PendingGrant;
  readonly client: ClientRecord;
}

/** Finds and shows why a visitor may not decide about a request. */
export function createFaults(server: PagesServer, provider: Provider) {
  const { directory } = server;
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  /** Returns why a visitor may not decide; undefined if they may. */
  async function faultOf(
    { pending, client }: Waiting,
    { person, signIn }: Visitor,
  ): Promise<Fault | undefined> {
    // The current record, since a hint may name a new address.
    const now = (await directory.find(person.id)) ?? person;
    if (!isExpected(now, pending.expected)) return 'expected';
    if (!isFor(client, now)) return 'rule';
    return isEnough(signIn.assurance.acr, undefined, client.minimum_acr) ? undefined : 'too-weak';
  }

  /** Offers another account, or asks for a stronger sign-in. */
  function showFault(
    ctx: Context,
    { pending, client }: Waiting,
    { person }: Visitor,
    fault: Fault,
  ): void {
    const view = viewOf(ctx, person, pending.locales);
    const shown = { client: nameOf(client, view.language) };
    if (fault === 'too-weak') {
      return ask(ctx, ctx.path, {
        ...shown,
        ...asksFor(leastAcr(undefined, client.minimum_acr)),
        name: person.name,
        locales: pending.locales,
        cancel: { action: ctx.path, hidden: { decision: 'deny' } },
      });
    }
    const props = {
      ...shown,
      reason: fault,
      person: person.name,
      action: ctx.path,
      other: `${ctx.path}?account=other`,
    };
    answerWith(ctx, otherPersonPage(view, props));
  }

  return { faultOf, showFault };
}
