import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { notify } from '#shared/mail/notify.ts';
import {
  ADDRESS_PATH,
  type AddressClaim,
  confirmAddress,
  confirmedEmails,
  createAddressLinks,
  isVerifiedOfAnother,
} from '#shared/people/address-links.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import { PeopleError } from '#shared/people/people.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from '../frame/csrf.ts';
import { answerWith, noteDone, noteLate, seeOther } from '../frame/respond.ts';
import { createDoneNotes } from '../frame/done-notes.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import {
  addressConfirmedPage,
  addressesPage,
  addressGonePage,
  confirmAddressPage,
  type AddressesProps,
} from '../views/addresses.ts';
import { payForLink } from './mail-limits.ts';

/** The path of the page. Without `mail` in the configuration there is no such page. */
export const ADDRESSES_PATH = '/account/address';

/** The page where a person requests a link by mail to a new address, and the page of that link. */
export function addressHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'send' | 'open' | 'confirm', Middleware>> {
  const { checkForm } = createCsrf(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const links = createAddressLinks(server);
  const doneNotes = createDoneNotes(server);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks the person to sign in, or to sign in again if the last sign-in is too old. */
  async function recentVisitor(ctx: Context): Promise<Visitor | undefined> {
    const visitor = await currentVisitor(ctx);
    if (visitor !== undefined && isRecent(visitor, server)) return visitor;
    ask(ctx, ADDRESSES_PATH, visitor && { name: visitor.person.name, notice: 'again' });
    return undefined;
  }

  function showAddresses(
    ctx: Context,
    { person }: Visitor,
    more: Pick<AddressesProps, 'sent' | 'typed' | 'problem' | 'owner'> = {},
  ): void {
    const emails = person.profile?.emails ?? [];
    const props = { action: ADDRESSES_PATH, back: TO_ACCOUNT.href, emails, ...more };
    answerWith(ctx, addressesPage(viewOf(ctx, person), props));
  }

  /** Returns the title of the source that owns the addresses of a person. Undefined: the person changes them here. */
  async function ownerOf({ person }: Visitor): Promise<string | undefined> {
    const { origin } = (await server.stores.people.get(person.id)) ?? {};
    if (origin?.managed.includes('emails') !== true) return undefined;
    return server.sources.get(origin.source)?.title ?? origin.source;
  }

  /** Returns the pending change of the address behind a link, if the visitor may use the link. */
  async function claimOf(
    { person }: Visitor,
    look: Promise<AddressClaim | undefined>,
  ): Promise<AddressClaim | undefined> {
    const claim = await look;
    if (claim?.person !== person.id) return undefined;
    if (confirmedEmails(person.profile?.emails ?? [], claim) === undefined) return undefined;
    return (await isVerifiedOfAnother(server, person.id, claim.address)) ? undefined : claim;
  }

  const secretOf = (ctx: Context) => ctx.path.slice(ADDRESS_PATH.length);

  return {
    async show(ctx) {
      const visitor = await recentVisitor(ctx);
      const sent = doneNotes.read(ctx) === 'sent';
      if (visitor === undefined) return;
      const owner = await ownerOf(visitor);
      showAddresses(ctx, visitor, { sent, ...(owner !== undefined && { owner }) });
    },

    async send(ctx) {
      const form = await checkForm(ctx);
      const visitor = await recentVisitor(ctx);
      if (visitor === undefined) return;
      const owner = await ownerOf(visitor);
      if (owner !== undefined) {
        showAddresses(ctx, visitor, { owner });
        ctx.status = 403;
        return;
      }
      const { id, profile } = visitor.person;
      const typed = form.get('address') ?? '';
      const refuse = (problem: NonNullable<AddressesProps['problem']>) =>
        showAddresses(ctx, visitor, { typed, problem });
      const address = mailAddress(typed);
      if (address === undefined) return refuse({ kind: 'address' });
      const known = profile?.emails?.find((one) => addressKey(one.address) === addressKey(address));
      if (known?.verified) return refuse({ kind: 'verified' });
      const seconds = await payForLink(server, ['mail-account', id], address);
      if (seconds !== undefined) return refuse({ kind: 'later', seconds });
      // Only the owner of the mailbox learns that another account has the address: the link in the message does not
      // work.
      await notify(server, id, 'address-confirmation', viewOf(ctx).language, { to: address });
      seeOther(ctx, doneNotes.address(ctx, ADDRESSES_PATH, 'sent'));
    },

    async open(ctx) {
      const visitor = await currentVisitor(ctx);
      if (visitor === undefined) return ask(ctx, ctx.path);
      const view = viewOf(ctx, visitor.person);
      const claim = await claimOf(visitor, links.find(secretOf(ctx)));
      if (claim === undefined) return answerWith(ctx, addressGonePage(view));
      const { address, isNew, replaces } = claim;
      const former = isNew && replaces !== undefined && { former: replaces };
      answerWith(ctx, confirmAddressPage(view, { action: ctx.path, address, ...former }));
    },

    async confirm(ctx) {
      await checkForm(ctx);
      const visitor = await currentVisitor(ctx);
      if (visitor === undefined) return ask(ctx, ctx.path);
      const { person } = visitor;
      const view = viewOf(ctx, person);
      // A visitor to whom the link does not belong does not use it up.
      const claim =
        (await claimOf(visitor, links.find(secretOf(ctx)))) &&
        (await claimOf(visitor, links.redeem(secretOf(ctx))));
      if (claim === undefined) {
        noteLate(ctx);
        return answerWith(ctx, addressGonePage(view));
      }
      try {
        const former = await confirmAddress(asPerson(server, person.id, ctx), person, claim);
        if (former !== undefined) {
          await notify(server, person.id, 'address-changed', view.language, { to: former });
        }
      } catch (error) {
        // The addresses were changed meanwhile.
        if (error instanceof PeopleError) return answerWith(ctx, addressGonePage(view));
        throw error;
      }
      const { address } = claim;
      noteDone(ctx);
      answerWith(ctx, addressConfirmedPage(view, { address, account: TO_ACCOUNT.href }));
    },
  };
}
