import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { randomId } from '#shared/base/random.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import { note } from '#shared/server/message/request-log.ts';
import { discardGrant } from '#shared/people/access/grants.ts';
import { writeUnlessKeysOfPeople } from '#shared/operations/clients/keys-of-client.ts';
import { Conflict } from '#shared/operations/operation.ts';
import { recordConsent, type ScopeItem, scopesOf } from '#shared/people/access/consents.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { PagesServer } from '../../base/server.ts';
import { consented, consentKey, type Unasked } from '../../consent/consented.ts';
import { createGiveGrant, type GrantDecision } from '../../consent/give-grant.ts';
import {
  type Access,
  type AllowedRight,
  allowedRights,
  isPlain,
  itemsOf,
  resolveAccess,
} from '../../gnap/access.ts';
import { addRights } from '../../gnap/rights.ts';
import { clientOf } from '../../gnap/clients.ts';
import { GnapError } from '../../gnap/gnap-error.ts';
import { type Decision, findByUid, hashed, replacePending } from '../../gnap/records.ts';
import { subjectItems } from '../../gnap/subject.ts';
import { displayUserCode } from '../../base/user-code.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired, PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate } from '../frame/respond.ts';
import type { AskedItem, Language } from '../frame/view.ts';
import { createViewOf, frameOf } from '../frame/view-of.ts';
import { allowedItems, itemsInWords, told } from '../interaction/asked.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { accessEndPage } from '../views/access-end.ts';
import { consentPage } from '../views/consent.ts';
import { goOnPage } from '../views/go-on.ts';
import { deviceConfirmPage } from '../views/device-confirm.ts';
import { deviceEndPage } from '../views/device-end.ts';
import { createFaults, type Waiting } from './fault.ts';
import { finished, push, withQuery } from './finished.ts';
import { nameOf, rightsInWords } from './words.ts';

/** The page where people enter user codes. */
const DEVICE = '/device';

/** Limits how many unknown clients one person can allow for the first time. */
const UNKNOWN_CLIENTS = { burst: 20, per: 3600 };

/** The page on which a person decides about a request of GNAP (RFC 9635 section 4). */
export function gnapHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'decide', Middleware>> & {
  /** Whether the client has continued the grant after the decision, or given it up. */
  isTaken(ctx: Context): Promise<boolean>;
} {
  const { config, stores, random } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor, hasSession } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);
  const giveGrant = createGiveGrant(server, provider);
  const { faultOf, showFault } = createFaults(server, provider);

  /** Returns the error for a form after a decision. The decision may come from the same form, sent before. */
  function tooLate(ctx: Context): PageError {
    if (hasSession(ctx)) noteLate(ctx);
    return expired();
  }

  /** Loads the request. Throws the 'expired' page if the request has ended or a person has decided. */
  async function load(ctx: Context): Promise<Waiting> {
    const pending = await findByUid(server, String(ctx['params'].uid));
    if (pending === undefined || pending.decision !== undefined) throw tooLate(ctx);
    const client = await clientOf({ ...server, demoClients: server.development }, pending);
    if (client === undefined) throw expired();
    return { pending, client };
  }

  /** Returns the requested access. Throws the 'expired' page if the client is no longer allowed to have it. */
  function accessesOf({ pending, client }: Waiting): readonly Access[] {
    const spaces = gnapSpaces(config);
    try {
      return pending.tokens.map(({ access }) => resolveAccess(spaces, client, access));
    } catch (error) {
      throw error instanceof GnapError ? expired() : error;
    }
  }

  function askedItems(
    { pending, client }: Waiting,
    language: Language,
    visitor?: Visitor,
  ): readonly AskedItem[] {
    const accesses = accessesOf({ pending, client });
    const items = [...subjectItems(pending.subject), ...accesses.flatMap(itemsOf)];
    const unique = new Map(items.map((item) => [`${item.resource} ${item.scope}`, item]));
    const described = rightsInWords(accesses, language);
    return itemsInWords(config, [...unique.values()], language, (item) =>
      item.resource === undefined ? told(visitor?.person, item.scope, client) : described(item),
    );
  }

  async function show(ctx: Context): Promise<void> {
    const waiting = await load(ctx);
    const visitor = await currentVisitor(ctx);
    const { pending, client } = waiting;
    if (visitor === undefined) return ask(ctx, ctx.path, { locales: pending.locales });
    if (ctx.query['account'] === 'other') return ask(ctx, ctx.path, { locales: pending.locales });
    const fault = await faultOf(waiting, visitor);
    if (fault !== undefined) return showFault(ctx, waiting, visitor, fault);
    if (await goOnUnasked(ctx, waiting, visitor)) return;
    const view = viewOf(ctx, visitor.person, pending.locales);
    const props = {
      action: ctx.path,
      client: nameOf(client, view.language),
      items: askedItems(waiting, view.language, visitor),
      ...(client.gnap?.unknown && { unknown: pending.clientId.replace('gnap-', '') }),
    };
    const { userCode, from, iat, finish: end } = pending;
    const after = end && { [end.method === 'push' ? 'pushUri' : 'redirectUri']: end.uri };
    // With a redirect only the person's own browser returns to the client. Without it, an attacker may have sent the
    // link or the code to the person.
    const isOwnBrowser = end?.method === 'redirect' && ctx.query['by'] !== 'code';
    const page = isOwnBrowser
      ? consentPage(view, { ...props, ...after })
      : deviceConfirmPage(view, {
          ...props,
          ...(userCode !== undefined && { userCode: displayUserCode(userCode) }),
          from: { ...from, at: iat * 1000 },
          ...after,
        });
    answerWith(ctx, page);
  }

  /**
   * Grants without a question what the person has allowed this client before, as in OAuth. The page always asks about
   * unregistered clients and clients on other devices.
   */
  async function goOnUnasked(ctx: Context, waiting: Waiting, visitor: Visitor): Promise<boolean> {
    const { pending, client } = waiting;
    const { finish: end, userCode } = pending;
    if (end?.method !== 'redirect' || userCode !== undefined || client.gnap?.unknown) return false;
    if (!accessesOf(waiting).every(isPlain)) return false;
    const asked = askedItems(waiting, 'en').map(itemOf);
    const before = await consented(server, client, visitor.person.id, {
      asked,
      redirectUri: end.uri,
    });
    if (before === undefined) return false;
    await approve(ctx, waiting, visitor, before);
    return true;
  }

  async function decide(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const waiting = await load(ctx);
    const visitor = await currentVisitor(ctx);
    const { pending } = waiting;
    if (visitor === undefined) return ask(ctx, ctx.path, { locales: pending.locales });
    const decision = form.get('decision');
    if (decision !== 'allow' && decision !== 'deny') throw new PageError(400, 'request');
    const fault = await faultOf(waiting, visitor);
    if (fault === 'expected') {
      return finish(ctx, waiting, refusedBy(visitor, 'unknown_user'), visitor);
    }
    if (decision === 'allow' && fault !== undefined) {
      return showFault(ctx, waiting, visitor, fault);
    }
    const asked = askedItems(waiting, 'en');
    const allowed = allowedItems(asked, form);
    const isNothing = allowed.length === 0 || rightsOf(waiting, allowed).length === 0;
    const isAboutPerson = allowed.some(({ resource }) => resource === undefined);
    if (decision === 'deny' || (isNothing && !isAboutPerson)) {
      return finish(ctx, waiting, refusedBy(visitor, 'user_denied'), visitor);
    }
    const refused = asked.filter((item) => !allowed.includes(item)).map(itemOf);
    await remember(waiting, visitor, allowed, refused);
    await approve(ctx, waiting, visitor, { allowed: allowed.map(itemOf), refused, asked: true });
  }

  async function approve(
    ctx: Context,
    waiting: Waiting,
    visitor: Visitor,
    { allowed, refused, byOperator, asked }: Unasked & Pick<GrantDecision, 'asked'>,
  ): Promise<void> {
    const { pending, client } = waiting;
    if (client.gnap?.unknown) await keep(client, visitor);
    const { clientId, from, extends: extend, finish: end } = pending;
    const { signIn, person } = visitor;
    const where = end?.method === 'redirect' ? { redirectUri: end.uri } : { device: from };
    const grantId = await giveGrant({
      clientId,
      signIn,
      allowed,
      extend,
      ...(refused && { refused }),
      ...(byOperator && { byOperator }),
      ...(asked && { asked }),
      ...where,
    });
    if (grantId === undefined) throw expired();
    const added = rightsOf(waiting, allowed);
    await addRights(server, grantId, { added, refused: refused ?? [] }, config.people.grant);
    const decision = {
      kind: 'approved',
      grantId,
      accountId: person.id,
      authTime: Math.floor(signIn.since / 1000),
      assurance: signIn.assurance,
    } as const;
    await finish(ctx, waiting, decision, visitor);
  }

  /**
   * Stores an unknown client when a person first allows it access, so that the person can end the access. The number of
   * such clients per person is limited.
   */
  async function keep(client: ClientRecord, { person }: Visitor): Promise<void> {
    if ((await stores.clients.get(client.client_id)) !== undefined) return;
    const spent = await stores.limits.spend('gnap-clients', person.id, UNKNOWN_CLIENTS);
    if (!spent.ok) throw new PageError(429, 'later');
    const changing = (kind: 'client.added' | 'client.removed') =>
      server.recorder.changing('clients', { kind, client: client.client_id });
    await writeUnlessKeysOfPeople(stores.publicKeys, client, {
      write: () => changing('client.added').add(client),
      undo: () => changing('client.removed').remove(client.client_id, client),
    }).catch((error: unknown) => {
      throw error instanceof Conflict ? expired() : error;
    });
  }

  /** Returns the rights that the allowed items give. An action needs all of its scopes. */
  function rightsOf(waiting: Waiting, allowed: readonly ScopeItem[]): readonly AllowedRight[] {
    return accessesOf(waiting).flatMap((access) => {
      const here = allowed.filter(({ resource }) => resource === access.space.url);
      return allowedRights(access, new Set(here.map(({ scope }) => scope)));
    });
  }

  /** Remembers the consent for the person's other browsers, if only the client itself can receive the answer. */
  async function remember(
    waiting: Waiting,
    { signIn: { accountId, generation } }: Visitor,
    allowed: readonly ScopeItem[],
    refused: readonly ScopeItem[],
  ): Promise<void> {
    const { pending, client } = waiting;
    const { finish: end } = pending;
    const isLasting =
      end?.method === 'redirect' && !client.gnap?.unknown && accessesOf(waiting).every(isPlain);
    const key = isLasting && consentKey(client, accountId, end.uri);
    if (!key) return;
    const consent = {
      ...key,
      generation,
      since: server.clock.now(),
      allowed: scopesOf(allowed),
      refused: scopesOf(refused),
    };
    await recordConsent(server, consent, client, config.people.grant);
  }

  /**
   * Stores a decision, and redirects the browser to the client if the client asked for that. Of two simultaneous
   * decisions the first is kept.
   */
  async function finish(
    ctx: Context,
    { pending, client }: Waiting,
    decision: Decision,
    { person }: Visitor,
  ): Promise<void> {
    const ref = pending.finish && randomId(random);
    const decided = {
      ...pending,
      decision,
      ...(ref !== undefined && { interactRef: hashed(ref) }),
    };
    if (!(await replacePending(server, decided, pending))) {
      if (decision.kind === 'approved' && decision.grantId !== pending.extends) {
        await discardGrant(server, decision.grantId);
      }
      throw tooLate(ctx);
    }
    noteDone(ctx);
    note(ctx.req, { client: pending.clientId });
    if (pending.finish && ref !== undefined) {
      const news = finished(config.issuer, pending.finish, ref);
      if (pending.finish.method === 'redirect') {
        const frame = frameOf(server, ctx.req, pending.locales);
        const href = withQuery(pending.finish, news);
        return answerWith(ctx, goOnPage(frame, { href, client: nameOf(client, frame.language) }));
      }
      await push(server, ctx, pending.finish, news);
    }
    const end = decision.kind === 'approved' ? 'done' : 'denied';
    const view = viewOf(ctx, person, pending.locales);
    const props = { end, client: nameOf(client, view.language) } as const;
    const page =
      pending.userCode === undefined
        ? accessEndPage(view, props)
        : deviceEndPage(view, { ...props, again: DEVICE });
    answerWith(ctx, page);
  }

  async function isTaken(ctx: Context): Promise<boolean> {
    const pending = await findByUid(server, String(ctx['params'].uid));
    return pending === undefined || pending.taken === true;
  }

  return { show, decide, isTaken };
}

const refusedBy = ({ person }: Visitor, code: 'unknown_user' | 'user_denied') =>
  ({ kind: 'refused', code, accountId: person.id }) as const;

const itemOf = ({ scope, resource }: ScopeItem): ScopeItem =>
  resource === undefined ? { scope } : { scope, resource };
