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

/** The number of events on a page. */
const PAGE = 50;
/** The number of events that the account page reads, and the number of entries that it shows. */
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

/**
 * Returns the position in the log that the query names. Undefined: the newest events, also if the query has no valid
 * position.
 */
function placeIn(querystring: string): number | undefined {
  const place = new URLSearchParams(querystring).get('after') ?? '';
  return /^[1-9]\d{0,14}$/.test(place) ? Number(place) : undefined;
}
