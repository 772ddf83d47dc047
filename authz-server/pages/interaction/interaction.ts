import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { discardGrant, findAccess } from '#shared/people/access/grants.ts';
import { recordConsent, removeConsents, scopesOf } from '#shared/people/access/consents.ts';
import { endSignIn } from '#shared/people/access/sign-ins.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { FetchLater } from '#shared/client-documents/document-clients.ts';
import { describedSince } from '../../consent/described-since.ts';
import { shownName } from '../../consent/shown-name.ts';
import { consentKey } from '../../consent/consented.ts';
import { asPerson } from '../../base/acting.ts';
import { createAccountPages, type Waiting, whyOther } from './account-pages.ts';
import {
  answersBefore,
  createResults,
  NOT_EXPECTED,
  NOT_FOR,
  REFUSED,
  SIGN_IN_PROMPTS,
  UNMET,
} from './results.ts';
import { isEnough, leastAcr } from '../../base/acr-values.ts';
import { allowedItems, askedItems } from './asked.ts';
import { createCsrf } from '../frame/csrf.ts';
import { createGiveGrant } from '../../consent/give-grant.ts';
import { expired, PageError } from '../frame/page-error.ts';
import type { PagesServer } from '../../base/server.ts';
import { createAskForPasskey } from '../sign-in/ask-for-passkey.ts';
import { createAttempt } from '../sign-in/attempt-with.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import { createSameBrowser } from '../frame/same-browser.ts';
import type { Interaction } from '../frame/same-browser.ts';
import { soon } from '../frame/soon.ts';
import { createBrowserSessions, originOf } from '../sign-in/session.ts';
import type { AskedItem } from '../frame/view.ts';
import { asksFor, isInReachOfProviders } from '../sign-in/asks-for.ts';
import { createViewOf } from '../frame/view-of.ts';
import { consentPage } from '../views/consent.ts';
import { recoveryCodesPage } from '../views/recovery-codes.ts';
import { secondStepPage } from '../views/second-step.ts';
import { signInPage, type SignInProps } from '../views/sign-in.ts';
import { sourceLinks } from '../sign-in/source-links.ts';
import { wayBack } from '../frame/way-back.ts';

type Decide = (ctx: Context, form: URLSearchParams, waiting: Waiting) => Promise<void>;

/** Handles the engine's interactions with a person: to sign in, and to allow the scopes that a client asks for. */
export function interactionHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'signIn' | 'arrive' | 'select' | 'consent' | 'abort', Middleware>> {
  const { config, stores, clock } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { formMark, isRepeated } = createSameBrowser(server, provider);
  const viewOf = createViewOf(server);
  const askForPasskey = createAskForPasskey(server);
  const attemptWith = createAttempt(server);
  const giveGrant = createGiveGrant(server, provider);
  const { finish } = createResults(server, provider);
  const { offerOther, showAccount } = createAccountPages(server);

  const resume = (uid: string) => provider.urlFor('resume', { uid });

  /**
   * Handles a form of an interaction. If a browser on a slow line sends the form again, it gets the same answer, and
   * nothing changes.
   */
  const posted =
    (decide: Decide): Middleware =>
    async (ctx) =>
      handled(ctx, await checkForm(ctx), decide);

  async function handled(ctx: Context, form: URLSearchParams, decide: Decide): Promise<void> {
    if (await isRepeated(ctx, form)) return seeOther(ctx, resume(ctx['params'].uid));
    await decide(ctx, form, await load(ctx));
  }

  /**
   * Loads the interaction. Throws the 'expired' page unless it exists, is the interaction of the URL, and belongs to
   * the person who is signed in.
   */
  async function load(ctx: Context): Promise<Waiting> {
    const interaction: Interaction = await provider.interactionDetails(ctx.req, ctx.res);
    const client = await stores.clients.get(String(interaction.params['client_id']));
    const visitor = await currentVisitor(ctx);
    const { uid, session } = interaction;
    if (uid !== ctx['params'].uid || (session && session.uid !== visitor?.session.uid)) {
      throw expired(wayBack(client?.redirect_uris));
    }
    if (client === undefined) throw new PageError(400, 'request');
    return { interaction, client, visitor };
  }

  /** Remembers the consent for the person's other browsers, if only the client itself can receive the code. */
  async function remember(
    client: ClientRecord,
    { accountId, generation }: SignIn,
    params: Interaction['params'],
    { allowed, refused }: Record<'allowed' | 'refused', readonly AskedItem[]>,
  ): Promise<void> {
    const key = consentKey(client, accountId, params['redirect_uri']);
    if (key === undefined) return;
    const consent = {
      ...key,
      generation,
      since: clock.now(),
      allowed: scopesOf(allowed),
      refused: scopesOf(refused),
      ...(client.document && { describedSince: describedSince(client) }),
    };
    await recordConsent(server, consent, client, config.people.grant);
  }

  const PROMPTS: Readonly<Record<string, (ctx: Context, waiting: Waiting) => void>> = {
    create: (ctx, waiting) => askToSignIn(ctx, waiting),
    login: (ctx, waiting) => askToSignIn(ctx, waiting),
    select_account: (ctx, waiting) =>
      isOther(ctx) ? askToSignIn(ctx, waiting) : showAccount(ctx, waiting),
    consent: askForConsent,
  };

  /**
   * Continues a request whose person no longer may use the client: the engine then asks for another person. Throws the
   * 'expired' page if the person may use the client.
   */
  async function askAnew(ctx: Context, waiting: Waiting): Promise<void> {
    const { interaction, visitor } = waiting;
    if (visitor === undefined || whyOther(waiting, visitor) === undefined) throw expired();
    await finish(ctx, interaction, answersBefore(interaction));
  }

  function askToSignIn(
    ctx: Context,
    { interaction, client, visitor }: Waiting,
    tried?: Pick<SignInProps, 'name' | 'problem'>,
  ): void {
    const { params } = interaction;
    const hint = asText(params['login_hint']) ?? (isOther(ctx) ? undefined : visitor?.person.name);
    const view = viewOf(ctx, undefined, params['ui_locales']);
    const page = signInPage(view, {
      ...doorOf(interaction, client),
      ...asksFor(leastFor(client, params)),
      hasSecondFactors: config.people.secondFactor !== 'off',
      ...(server.config.mail && { forgotten: '/recover' }),
      ...(config.people.registration === 'open' && { register: '/register' }),
      ...askForPasskey(ctx, view),
      ...(isInReachOfProviders(leastFor(client, params)) && {
        sources: sourceLinks(server, `/interaction/${interaction.uid}`),
      }),
      ...(hint !== undefined && { name: hint }),
      ...(visitor &&
        interaction.prompt.reasons.includes('max_age') && { since: visitor.signIn.since }),
      isNew: interaction.prompt.name === 'create',
      ...tried,
    });
    answerWith(ctx, page);
  }

  /** Whether the client accepts only a passkey, though browsers cannot make passkeys for this issuer. */
  const isOutOfReach = (ctx: Context, { interaction, client }: Waiting): boolean =>
    interaction.prompt.name === 'login' &&
    asksFor(leastFor(client, interaction.params)).asks === 'passkey' &&
    askForPasskey(ctx, viewOf(ctx)).passkey === undefined;

  function askForConsent(ctx: Context, { interaction, client, visitor }: Waiting): void {
    const { uid, params } = interaction;
    const view = viewOf(ctx, visitor?.person, params['ui_locales']);
    const page = consentPage(view, {
      action: `/interaction/${uid}/consent`,
      client: shownName(client),
      logo: client.logo_uri,
      ...(client.document && {
        described: {
          name: client.client_name,
          native: isNative(client),
          registered: client.document.registered === true,
          since: describedSince(client),
        },
      }),
      redirectUri: String(params['redirect_uri']),
      items: askedItems(config, client, params, view.language, visitor?.person),
    });
    answerWith(ctx, page);
  }

  async function completeSignIn(
    ctx: Context,
    form: URLSearchParams,
    waiting: Waiting,
  ): Promise<void> {
    const { interaction, client, visitor } = waiting;
    if (!SIGN_IN_PROMPTS.has(interaction.prompt.name)) {
      throw expired(wayBack(client.redirect_uris));
    }
    const least = leastFor(client, interaction.params);
    const attempt = await attemptWith(ctx, form, least);
    if ('problem' in attempt) {
      const first = async () => (await isRepeated(ctx, form)) || undefined;
      // The form was sent twice at once, and its code works only once.
      if (attempt.problem.kind === 'step-over' && (await soon(first))) {
        return seeOther(ctx, interaction.returnTo);
      }
      return askToSignIn(ctx, waiting, { name: form.get('name') ?? '', ...attempt });
    }
    if ('step' in attempt) {
      const view = viewOf(ctx, undefined, interaction.params['ui_locales']);
      const again = `/interaction/${interaction.uid}`;
      const props = { ...doorOf(interaction, client), ...attempt.step, again };
      return answerWith(ctx, secondStepPage(view, props));
    }
    const { means, codes, since = clock.now() } = attempt;
    const { acr, amr } = means.assurance;
    const view = viewOf(ctx, attempt.person, interaction.params['ui_locales']);
    const page = codes && recoveryCodesPage(view, { codes, goOn: interaction.returnTo });
    if (!isEnough(acr, interaction.params['acr_values'], client.minimum_acr)) {
      await finish(ctx, interaction, UNMET, page);
      return;
    }
    const { id, generation } = attempt.person;
    const result = {
      // Keeps the time of the sign-in, which must not change when the person allows something later.
      login: { accountId: id, acr, amr: [...amr], ts: Math.floor(since / 1000), remember: true },
      // A person who signs in has chosen the account.
      create: {},
      select_account: {},
      signIn: { generation, since, ...means, ...originOf(ctx) },
      form: formMark(form),
    };
    await finish(ctx, interaction, result, page);
    if (visitor && visitor.person.id !== id) {
      const { uid, accountId: person } = visitor.signIn;
      const ended = { kind: 'sign-in.ended', person, id: uid } as const;
      await endSignIn(asPerson(server, person, ctx), visitor.signIn, ended);
    }
  }

  return {
    async show(ctx) {
      if (await isRepeated(ctx)) return seeOther(ctx, resume(ctx['params'].uid));
      const waiting = await load(ctx);
      const { interaction, visitor } = waiting;
      const { name } = interaction.prompt;
      const reason = visitor && !isOther(ctx) && whyOther(waiting, visitor);
      if (reason && name === 'login') return offerOther(ctx, waiting, reason);
      if (reason && name === 'consent') return askAnew(ctx, waiting);
      if (isOutOfReach(ctx, waiting)) {
        await finish(ctx, interaction, UNMET);
        return;
      }
      const ask = PROMPTS[name];
      if (ask === undefined) throw new PageError(400, 'request');
      ask(ctx, waiting);
    },

    signIn: posted(completeSignIn),

    async arrive(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      // HEAD is safe, so it must not use the ticket up (RFC 9110 section 9.2.1).
      if (!query.has('arrival') || ctx.method === 'HEAD') {
        return seeOther(ctx, `/interaction/${ctx['params'].uid}`);
      }
      await handled(ctx, query, completeSignIn);
    },

    select: posted(async (ctx, _form, { interaction, client, visitor }) => {
      if (interaction.prompt.name !== 'select_account' || visitor === undefined) {
        throw expired(wayBack(client.redirect_uris));
      }
      await finish(ctx, interaction, { ...answersBefore(interaction), select_account: {} });
    }),

    consent: posted(async (ctx, form, { interaction, client, visitor }) => {
      if (interaction.prompt.name !== 'consent' || visitor === undefined) {
        throw expired(wayBack(client.redirect_uris));
      }
      // The client's description has changed since the person read it.
      if (client.document && form.get('since') !== String(describedSince(client))) {
        return askForConsent(ctx, { interaction, client, visitor });
      }
      const decision = form.get('decision');
      if (decision !== 'allow' && decision !== 'deny') throw new PageError(400, 'request');
      const asked = askedItems(config, client, interaction.params, 'en');
      const allowed = allowedItems(asked, form);
      if (decision === 'deny' || allowed.length === 0) {
        await finish(ctx, interaction, REFUSED);
        return;
      }
      // Use the session's present grant. Another tab may have made it since this request began, and all grants of a
      // session must be in it, so that they end with it.
      const extend =
        interaction.result?.consent?.grantId ?? visitor.session.grantIdFor(client.client_id);
      const refused = asked.filter((item) => !allowed.includes(item));
      const { signIn } = visitor;
      const clientId = client.client_id;
      const redirectUri = interaction.params['redirect_uri'];
      await server.documents.keep(client, signIn.accountId).catch((error: unknown) => {
        throw error instanceof FetchLater ? new PageError(429, 'later') : error;
      });
      const described = client.document && { describedSince: describedSince(client) };
      const decided = { clientId, signIn, redirectUri, allowed, refused, ...described };
      const grantId = await giveGrant({ ...decided, extend, asked: true });
      if (grantId === undefined) return askAnew(ctx, await load(ctx));
      const result = { ...answersBefore(interaction), consent: { grantId } };
      const stands = await finish(ctx, interaction, result);
      // A form that is sent twice makes only one grant.
      if (!stands && grantId !== extend) await discardGrant(server, grantId);
      if (!stands) return;
      await remember(client, signIn, interaction.params, { allowed, refused });
      // If the person ended the application's access meanwhile, that request did not see the consent that was just
      // written.
      if ((await findAccess(server, grantId)) === undefined) {
        await removeConsents(server, signIn.accountId, (consent) => consent.clientId === clientId);
      }
    }),

    abort: posted(async (ctx, _form, waiting) => {
      const { interaction, client, visitor } = waiting;
      const { prompt, params } = interaction;
      const reason = visitor && whyOther(waiting, visitor);
      if (reason) {
        await finish(ctx, interaction, reason === 'rule' ? NOT_FOR : NOT_EXPECTED);
        return;
      }
      const asks = prompt.name === 'login' && asksFor(leastFor(client, params)).asks;
      await finish(ctx, interaction, asks ? UNMET : REFUSED);
    }),
  };
}

/** Whether the person wants to use another account than the one that is signed in. */
const isOther = (ctx: Context) => ctx.query['account'] === 'other';

/** The weakest sign-in that the request and the operator's rule for the client accept. */
const leastFor = ({ minimum_acr }: ClientRecord, params: Interaction['params']) =>
  leastAcr(params['acr_values'], minimum_acr);

/** Returns the URL for the forms of a sign-in, and the client that the sign-in is for. */
const doorOf = ({ uid }: Interaction, client: ClientRecord) => ({
  action: `/interaction/${uid}/login`,
  cancel: { action: `/interaction/${uid}/abort` },
  client: shownName(client),
  logo: client.logo_uri,
});

const isNative = ({ application_type }: ClientRecord) => application_type === 'native';

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined);
