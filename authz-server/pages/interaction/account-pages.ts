import type { Context } from 'koa';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import { shownName } from '../../consent/shown-name.ts';
import type { PagesServer } from '../../base/server.ts';
import { expired } from '../frame/page-error.ts';
import { answerWith } from '../frame/respond.ts';
import type { Interaction } from '../frame/same-browser.ts';
import { createViewOf } from '../frame/view-of.ts';
import type { Visitor } from '../sign-in/session.ts';
import { type OtherPersonProps, otherPersonPage } from '../views/other-person.ts';
import { selectAccountPage } from '../views/select-account.ts';

/** A client's request that waits for a person's decision. */
export interface Waiting {
  readonly interaction: Interaction;
  readonly client: ClientRecord;
  readonly visitor: Visitor | undefined;
}

/** The reasons of a sign-in for a person whom the request names: by `id_token_hint`, or by `sub` in `claims`. */
const NAMES_PERSON = new Set(['id_token_hint', 'claims_id_token_sub_value']);

/** Returns why the client needs another person than the one who is signed in. Undefined: it needs no other person. */
export function whyOther(
  { interaction, client }: Waiting,
  { person }: Visitor,
): OtherPersonProps['reason'] | undefined {
  if (interaction.prompt.reasons.some((reason) => NAMES_PERSON.has(reason))) return 'expected';
  return isFor(client, person) ? undefined : 'rule';
}

/** Makes the pages that offer another account. */
export function createAccountPages(server: PagesServer) {
  const viewOf = createViewOf(server);

  /** Returns what both pages show. Throws the 'expired' page if no person is signed in. */
  function shown(ctx: Context, { interaction, client, visitor }: Waiting) {
    if (visitor === undefined) throw expired();
    const { uid, params } = interaction;
    const view = viewOf(ctx, visitor.person, params['ui_locales']);
    const props = {
      client: shownName(client),
      person: visitor.person.name,
      other: `/interaction/${uid}?account=other`,
    };
    return { view, props, path: `/interaction/${uid}` };
  }

  return {
    /** Offers another account for a client that expects another person, or is not for this person. */
    offerOther(ctx: Context, waiting: Waiting, reason: OtherPersonProps['reason']): void {
      const { view, props, path } = shown(ctx, waiting);
      const page = otherPersonPage(view, { ...props, reason, action: `${path}/abort` });
      answerWith(ctx, page);
    },

    /** Shows the account that is signed in, for `prompt=select_account` (OpenID Connect Core 1.0 section 3.1.2.1). */
    showAccount(ctx: Context, waiting: Waiting): void {
      const { view, props, path } = shown(ctx, waiting);
      const forms = { action: `${path}/account`, cancel: `${path}/abort` };
      answerWith(ctx, selectAccountPage(view, { ...props, ...forms }));
    },
  };
}
