import type { Middleware } from 'koa';
import type Provider from 'oidc-provider';
import type { PagesServer } from '../../base/server.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { createBrowserSessions } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { activityPage } from '../views/activity.ts';
import { activityOf } from './entries.ts';

export const ACTIVITY_PATH = '/account/activity';

/** Events on a page. */
const PAGE = 50;
/** Events that are read for the account page, and the entries of them that it shows. */
const RECENT = 20;
const FEW = 5;

/** The page on which a person reads what happened in the account. */
export function activityHandler(server: PagesServer, provider: Provider): Middleware {
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  return async (ctx) => {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, ACTIVITY_PATH);
    const { person } = visitor;
    const view = viewOf(ctx, person);
    const after = placeIn(ctx.querystring);
    const slice = { after, limit: PAGE };
    const { entries, next } = await activityOf(server, person.id, view.language, slice);
    const page = activityPage(view, {
      entries,
      isFirst: after === undefined,
      ...(next !== undefined && { older: `${ACTIVITY_PATH}?after=${next}` }),
      newest: ACTIVITY_PATH,
      back: TO_ACCOUNT.href,
    });
    answerWith(ctx, page);
  };
}

/** Returns the newest entries for the account page. */
export async function newestActivity(
  server: PagesServer,
  person: string,
  language: Parameters<typeof activityOf>[2],
) {
  const { entries } = await activityOf(server, person, language, { limit: RECENT });
  return entries.slice(0, FEW);
}

/** Undefined: the newest, also if the query says nothing that can be meant. */
function placeIn(querystring: string): number | undefined {
  const place = new URLSearchParams(querystring).get('after') ?? '';
  return /^[1-9]\d{0,14}$/.test(place) ? Number(place) : undefined;
}
