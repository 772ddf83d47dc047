import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import type { Clock } from '#shared/base/clock.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import { allowedItems, askedItems } from '../interaction/asked.ts';
import { leastAcr } from '../../base/acr-values.ts';
import { createCsrf } from '../frame/csrf.ts';
import type { DeviceCode } from '../../base/device-code.ts';
import { createDeviceDecisions, hasEnough } from './device-decision.ts';
import { lookUp, openOrDecided } from './device-lookup.ts';
import type { Open } from './device-lookup.ts';
import { PageError } from '../frame/page-error.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith, noteDone, seeOther } from '../frame/respond.ts';
import { createBrowserSessions } from '../sign-in/session.ts';
import type { Visitor } from '../sign-in/session.ts';
import { asksFor } from '../sign-in/asks-for.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { displayUserCode, normaliseUserCode } from '../../base/user-code.ts';
import { createViewOf } from '../frame/view-of.ts';
import { deviceConfirmPage } from '../views/device-confirm.ts';
import { deviceEndPage, type DeviceEndProps } from '../views/device-end.ts';
import { deviceEntryPage, type DeviceEntryProps } from '../views/device-entry.ts';
import { otherPersonPage } from '../views/other-person.ts';

const PATH = '/device';
/** The longest part of a wrong code that the page repeats. */
const LONGEST_SHOWN = 64;
const UNKNOWN = { kind: 'unknown' } as const;

/**
 * The page where a person connects a device (RFC 8628 section 3.3). The page looks a code up only after sign-in. The
 * code can be entered until a person has decided.
 */
export function deviceHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'enter' | 'decide', Middleware>> {
  const { config, clock } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const viewOf = createViewOf(server);
  const { ask } = createSignIn(server, provider);
  const { approve, deny } = createDeviceDecisions(server, provider);

  async function enter(ctx: Context): Promise<void> {
    const typed = new URLSearchParams(ctx.querystring).getAll('user_code');
    const [first = ''] = typed;
    const userCode = typed.length === 1 ? normaliseUserCode(first) : undefined;
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, pathWith(userCode));
    // The person chose another account on the page for a device that is not for them.
    if (ctx.query['account'] === 'other') return ask(ctx, pathWith(userCode));
    if (typed.length === 0) return askForCode(ctx, visitor);
    if (userCode === undefined) {
      const props = { userCode: first.slice(0, LONGEST_SHOWN), problem: UNKNOWN };
      return askForCode(ctx, visitor, props);
    }

    const found = await lookUp(server, visitor, ctx.ip, userCode);
    if (found.kind === 'gnap') return seeOther(ctx, `/gnap/interact/${found.uid}?by=code`);
    if (found.kind === 'open') return confirm(ctx, visitor, found);
    if (found.kind === 'decided') return showEnd(ctx, visitor, found);
    const problem = found.kind === 'later' ? found : UNKNOWN;
    askForCode(ctx, visitor, { userCode: displayUserCode(userCode), problem });
  }

  async function decide(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const decision = form.get('decision');
    if (decision !== 'allow' && decision !== 'deny') throw badRequest();
    const userCode = normaliseUserCode(form.get('user_code') ?? '');
    if (userCode === undefined) throw badRequest();
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, pathWith(userCode));

    const found = await lookUp(server, visitor, ctx.ip, userCode);
    if (found.kind === 'gnap') return seeOther(ctx, `/gnap/interact/${found.uid}?by=code`);
    if (found.kind === 'decided') return showEnd(ctx, visitor, found);
    if (found.kind === 'unknown') return showEnd(ctx, visitor, { end: 'expired' });
    if (found.kind === 'later') {
      return askForCode(ctx, visitor, { userCode: displayUserCode(userCode), problem: found });
    }
    const { code, client } = found;
    if (decision === 'allow' && !isFor(client, visitor.person)) {
      return offerOther(ctx, visitor, found);
    }
    if (decision === 'allow' && !suits(visitor, found)) return askAgain(ctx, visitor, found);
    const asked = askedItems(config, client, code.params, 'en');
    const allowed = decision === 'allow' ? allowedItems(asked, form) : [];
    const won = await (allowed.length > 0
      ? approve(visitor, code, allowed)
      : deny(visitor, code, client));
    if (!won) return showWhatStands(ctx, visitor, found);
    const end = allowed.length > 0 ? 'done' : 'denied';
    showEnd(ctx, visitor, { end, client: client.client_name });
  }

  /** Shows the earlier decision after a decision that came too late. */
  async function showWhatStands(
    ctx: Context,
    visitor: Visitor,
    { code, giveBack }: Open,
  ): Promise<void> {
    const found = await openOrDecided(server, visitor.person.id, code.userCode);
    if (found.kind !== 'decided') return showEnd(ctx, visitor, { end: 'expired' });
    await giveBack();
    showEnd(ctx, visitor, found);
  }

  const suits = ({ signIn }: Visitor, { code, client }: Open) =>
    hasEnough(signIn, code, client) && !isTooOld(signIn, code, clock);

  /**
   * Asks for another sign-in. The page has a button to give up, since the person may have no stronger way to sign in.
   */
  function askAgain(ctx: Context, { person, signIn }: Visitor, { code, client }: Open): void {
    const { userCode, params, iat } = code;
    const missing = !hasEnough(signIn, code, client);
    ask(ctx, pathWith(userCode), {
      name: person.name,
      client: client.client_name,
      ...(!missing && { since: signIn.since }),
      ...(missing && asksFor(leastAcr(params['acr_values'], client.minimum_acr))),
      ...(missing && signIn.since >= iat * 1000 && { notice: 'not-enough' }),
      cancel: { action: PATH, hidden: { user_code: userCode, decision: 'deny' } },
    });
  }

  /** Offers another account for a device that is not for this person. */
  function offerOther(ctx: Context, { person }: Visitor, { code, client }: Open): void {
    const view = viewOf(ctx, person);
    const props = {
      reason: 'rule' as const,
      client: client.client_name,
      person: person.name,
      action: PATH,
      hidden: { user_code: code.userCode },
      other: `${pathWith(code.userCode)}&account=other`,
    };
    answerWith(ctx, otherPersonPage(view, props));
  }

  function confirm(ctx: Context, visitor: Visitor, found: Open): void {
    const { code, client } = found;
    if (!isFor(client, visitor.person)) return offerOther(ctx, visitor, found);
    if (!suits(visitor, found)) return askAgain(ctx, visitor, found);
    const { ip, ua } = code.deviceInfo ?? {};
    const view = viewOf(ctx, visitor.person);
    const page = deviceConfirmPage(view, {
      action: PATH,
      client: client.client_name,
      userCode: displayUserCode(code.userCode),
      items: askedItems(config, client, code.params, view.language, visitor.person),
      from: {
        ...(ip !== undefined && { address: ip }),
        ...(ua !== undefined && { agent: ua }),
        at: code.iat * 1000,
      },
    });
    answerWith(ctx, page);
  }

  function askForCode(
    ctx: Context,
    { person }: Visitor,
    props: Omit<DeviceEntryProps, 'action'> = {},
  ): void {
    answerWith(ctx, deviceEntryPage(viewOf(ctx, person), { action: PATH, ...props }));
  }

  function showEnd(
    ctx: Context,
    { person }: Visitor,
    { end, client }: Omit<DeviceEndProps, 'again'>,
  ): void {
    const props = { end, ...(client !== undefined && { client }), again: PATH };
    if (end !== 'expired') noteDone(ctx);
    answerWith(ctx, deviceEndPage(viewOf(ctx, person), props));
  }

  return { enter, decide };
}

/**
 * Whether the device wants a more recent sign-in (`max_age`, OpenID Connect Core 1.0 section 3.1.2.1). A sign-in after
 * the device's request is always recent enough, so that the person is not asked twice.
 */
function isTooOld({ since }: SignIn, { params, iat }: DeviceCode, clock: Clock): boolean {
  // oidc-provider turns `max_age=0` into `prompt=login`.
  const maxAge = params['prompt'] === 'login' ? 0 : params['max_age'];
  if (maxAge === undefined || since >= iat * 1000) return false;
  return clock.now() - since > Number(maxAge) * 1000;
}

/** Returns the URL path of this page with the code that was entered. */
const pathWith = (userCode: string | undefined) =>
  userCode === undefined ? PATH : `${PATH}?user_code=${displayUserCode(userCode)}`;

const badRequest = () => new PageError(400, 'request', { back: { href: PATH, text: 'device' } });
