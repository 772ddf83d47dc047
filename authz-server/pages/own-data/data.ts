import { Readable } from 'node:stream';
import type { Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { note } from '#shared/server/message/request-log.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { dataPage } from '../views/data.ts';
import { dataOf } from './data-of.ts';

export const DATA_PATH = '/account/data';
export const FILE_PATH = '/account/data/file';
export const REMOVAL_PATH = '/account/remove';

/** The page about the data of a person, and their file, which needs a sign-in of the last five minutes. */
export function dataHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'download', Middleware>> {
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  return {
    async show(ctx) {
      const visitor = await currentVisitor(ctx);
      if (visitor === undefined) return ask(ctx, DATA_PATH);
      const page = dataPage(viewOf(ctx, visitor.person), {
        file: FILE_PATH,
        back: TO_ACCOUNT.href,
        ...(server.config.people.removeThemselves && { removal: REMOVAL_PATH }),
      });
      answerWith(ctx, page);
    },

    async download(ctx) {
      const visitor = await currentVisitor(ctx);
      if (visitor === undefined) return ask(ctx, DATA_PATH);
      const { id, name } = visitor.person;
      // After a sign-in the browser shows the page: a file alone would leave the form of the sign-in there.
      if (!isRecent(visitor, server))
        return ask(ctx, DATA_PATH, { name, notice: 'again-for-data' });
      const data = await dataOf(server, id);
      const { recorder } = asPerson(server, id, ctx);
      if (ctx.method === 'GET') await recorder.record({ kind: 'person.data-sent', person: id });
      answerWith(ctx, {
        status: 200,
        fields: {
          'Content-Type': 'application/json',
          'Content-Disposition': 'attachment; filename="account.json"',
          'X-Content-Type-Options': 'nosniff',
          'Cache-Control': 'no-store',
        },
      });
      ctx.body = Readable.from(data);
      // The answer has begun, so a failure or a browser that leaves only ends it; koa would print the error.
      Object.assign(ctx, {
        onerror: (error: Error | null) => error && note(ctx.req, { reason: error.message }),
      });
    },
  };
}
