import type { IncomingMessage } from 'node:http';
import { type Answer, notFound, withReason } from '#shared/http/answer.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { shownId } from '#shared/server/message/request-log.ts';
import type { PagesServer } from '../../base/server.ts';
import { errorProps } from '../frame/page-error.ts';
import { frameOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { errorPage } from './error.ts';

/** A person gets a page with a way on, a program problem details; the fields are the same. */
export function tellError(
  server: Pick<PagesServer, 'config' | 'development'>,
  request: IncomingMessage,
  error: unknown,
): Answer {
  const answer = errorAnswer(error);
  if (!prefersHtml(request.headers.accept)) return server.development ? withReason(answer) : answer;
  const { detail = '', status } = answer;
  const props = {
    back: TO_ACCOUNT,
    ...errorProps(error),
    ...(status === 404 && detail !== notFound().message && { detail }),
    id: shownId(request),
  };
  const page = errorPage(frameOf(server, request), props);
  return { ...page, fields: { ...answer.fields, ...page.fields } };
}
